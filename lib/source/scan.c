/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/scan.h"

#include "fabric/fabric.h"

bool fab_take_hex(struct fab_span *s, uint64_t *out)
{
	/* 1 + the value of a digit, 0 for what is none. */
	static const uint8_t digit[256] = {
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
		['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};
	const char *p = s->p, *end = fab_span_len(s) > 16 ? p + 16 : s->end;
	uint64_t value = 0;

	for (; p < end; p++) {
		uint8_t d = digit[(unsigned char)*p];

		if (!d)
			break;
		value = value << 4 | (uint64_t)(d - 1);
	}
	if (p == s->p || (p < s->end && digit[(unsigned char)*p]))
		return false;
	s->p = p;
	*out = value;
	return true;
}

static uint8_t speed_of(const char *word, size_t n)
{
	for (unsigned speed = FAB_SDR; speed <= FAB_XDR; speed++) {
		const char *name = fab_speed_name(speed);

		if (name[0] == word[0] && strlen(name) == n && !memcmp(name, word, n))
			return (uint8_t)speed;
	}
	return FAB_SPEED_UNKNOWN;
}

static bool is_word_char(char c)
{
	return (c >= 'A' && c <= 'Z') || fab_is_digit(c);
}

bool fab_take_rate(struct fab_span *s, uint8_t *width, uint8_t *speed, bool *is_known)
{
	struct fab_span at = *s;
	uint32_t lanes = 0;
	const char *word;

	if (!FAB_TAKE(&at, "??") &&
	    !(fab_take_dec(&at, &lanes) && lanes < 256 && fab_take_char(&at, 'x')))
		return false;
	word = at.p;
	*speed = FAB_SPEED_UNKNOWN;
	*is_known = true;
	if (!FAB_TAKE(&at, "???")) {
		while (at.p < at.end && is_word_char(*at.p))
			at.p++;
		if (at.p == word)
			return false;
		*speed = speed_of(word, (size_t)(at.p - word));
		*is_known = *speed != FAB_SPEED_UNKNOWN;
	}
	*width = (uint8_t)lanes;
	*s = at;
	return true;
}

/* Control characters count as blanks, which they become in every dump. */
static char printable(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c;
}

bool fab_is_aggregation_name(const char *name, size_t n)
{
	static const char text[] = FAB_AGGREGATION_NAME;

	while (n && printable(name[n - 1]) == ' ')
		n--;
	if (n != sizeof(text) - 1)
		return false;
	for (size_t i = 0; i < n; i++)
		if (printable(name[i]) != text[i])
			return false;
	return true;
}
