/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <ctype.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Length of the well-formed UTF-8 sequence at s (RFC 3629), 0 for none; *code its value.
 */
static unsigned utf8_len(const unsigned char *s, uint32_t *code)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned n = s[0] < 0x80	     ? 1
		     : (s[0] & 0xe0) == 0xc0 ? 2
		     : (s[0] & 0xf0) == 0xe0 ? 3
		     : (s[0] & 0xf8) == 0xf0 ? 4
					     : 0;

	if (n <= 1) {
		*code = s[0];
		return n;
	}
	*code = s[0] & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < smallest[n] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return n;
}

/* Characters that steer a terminal or turn the reading direction round. */
static bool is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

char *fab_text_safe(const char *text, char *out, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0;

	if (!size)
		return out;
	while (*s) {
		uint32_t code;
		unsigned n = utf8_len(s, &code);

		if (n && !is_unsafe(code)) {
			if (at + n >= size)
				break;
			memcpy(out + at, s, n);
			at += n;
			s += n;
			continue;
		}
		for (unsigned i = 0; i < (n ? n : 1); i++, s++) {
			if (at + 4 >= size) {
				out[at] = '\0';
				return out;
			}
			snprintf(out + at, 5, "\\x%02x", *s);
			at += 4;
		}
	}
	out[at] = '\0';
	return out;
}

bool fab_text_is_safe(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		uint32_t code;
		unsigned n = utf8_len(s, &code);

		if (!n || is_unsafe(code))
			return false;
		s += n;
	}
	return true;
}

void fab_text_blank(char *text)
{
	unsigned char *s = (unsigned char *)text;

	while (*s) {
		uint32_t code;
		unsigned n = utf8_len(s, &code);
		bool is_control = n ? is_unsafe(code) : *s < 0xa0;

		for (unsigned i = 0; i < (n ? n : 1); i++, s++)
			if (is_control)
				*s = ' ';
	}
}

void fab_text_put_blanked(FILE *out, const char *text)
{
	FAB_AUTOFREE char *blanked = NULL;

	if (fab_text_is_safe(text)) {
		fputs(text, out);
		return;
	}
	blanked = fab_strdup(text);
	fab_text_blank(blanked);
	fputs(blanked, out);
}

char *fab_text_ascii(char *text)
{
	size_t n = strlen(text), n_wide = 0;
	char *plain, *to;

	for (const char *c = text; *c; c++)
		n_wide += (unsigned char)*c >= 0x80;
	if (!n_wide)
		return text;
	to = plain = fab_alloc(n + 3 * n_wide + 1, 1);
	for (const char *c = text; *c; c++)
		to += sprintf(to, (unsigned char)*c < 0x80 ? "%c" : "\\x%02x",
			      (unsigned char)*c);
	free(text);
	return plain;
}

char *fab_text_local(char *text)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") != 0 ? fab_text_ascii(text) : text;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Compare the runs of digits at *a and *b by value and step over them. */
static int cmp_numbers(const char **a, const char **b)
{
	size_t na, nb;
	int order;

	while (**a == '0')
		++*a;
	while (**b == '0')
		++*b;
	na = strspn(*a, "0123456789");
	nb = strspn(*b, "0123456789");
	if (na != nb)
		return na < nb ? -1 : 1;
	order = memcmp(*a, *b, na);
	*a += na;
	*b += nb;
	return order;
}

int fab_text_natural_cmp(const char *a, const char *b)
{
	const char *a0 = a, *b0 = b;

	while (*a && *b) {
		if (is_digit(*a) && is_digit(*b)) {
			int order = cmp_numbers(&a, &b);

			if (order)
				return order;
		} else if (*a != *b) {
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		} else {
			a++;
			b++;
		}
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return strcmp(a0, b0); /* only leading zeros differ */
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

/* Does `c` match the class at *pattern (behind the `[`)? Steps over the class. */
static bool match_class(const char **pattern, char c)
{
	const char *p = *pattern;
	bool negated = *p == '!' || *p == '^', found = false;
	const char *start;

	if (negated)
		p++;
	for (start = p; *p && (*p != ']' || p == start); p++) {
		char low = *p, high = *p;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			high = p[2];
			p += 2;
		}
		if (lower(c) >= lower(low) && lower(c) <= lower(high))
			found = true;
	}
	*pattern = *p ? p + 1 : p;
	return found != negated;
}

bool fab_text_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		const char *p = pattern;
		bool matched = false;

		if (*p == '*') {
			star = ++pattern;
			again = text;
			continue;
		}
		if (*p == '[') {
			p++;
			matched = match_class(&p, *text);
		} else if (*p) {
			matched = *p == '?' || lower(*p) == lower(*text);
			p++;
		}
		if (matched) {
			pattern = p;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

void fab_text_put_csv(FILE *out, const char *text, bool is_quoted)
{
	if (!is_quoted && !text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}
