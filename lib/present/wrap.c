/* SPDX-License-Identifier: BSD-2-Clause */
#include "present/wrap.h"

#include <string.h>
#include <wchar.h>

/* Bytes of the character at `text` (which is UTF-8, else 1) and the columns it takes. */
static size_t step(const char *text, size_t *columns)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 1;
	wchar_t code = n == 1 ? *s : (wchar_t)(*s & (0x7fu >> n));
	int width;

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*columns = 1;
			return 1;
		}
		code = code << 6 | (s[i] & 0x3f);
	}
	width = n == 1 ? 1 : wcwidth(code);
	*columns = width < 0 ? 1 : (size_t)width;
	return n;
}

size_t fab_display_width(const char *text)
{
	size_t width = 0, columns;

	while (*text) {
		text += step(text, &columns);
		width += columns;
	}
	return width;
}

size_t fab_longest_word(const char *text)
{
	size_t longest = 0, width = 0, columns;

	while (*text) {
		bool is_blank = *text == ' ';

		text += step(text, &columns);
		width = is_blank ? 0 : width + columns;
		if (width > longest)
			longest = width;
	}
	return longest;
}

size_t fab_wrap_line(const char **text, size_t width)
{
	const char *start = *text, *at = start, *blank = NULL, *mark = NULL, *end;
	size_t used = 0, columns;

	while (*at) {
		size_t n = step(at, &columns);

		if (*at == ' ' && at > start && at[-1] != ' ')
			blank = at;
		if (at > start && strchr("/_.,;:", at[-1]))
			mark = at;
		if (used + columns > width && at > start)
			break;
		used += columns;
		at += n;
	}
	end = !*at ? at : blank ? blank : mark ? mark : at;
	*text = end + strspn(end, *end == ' ' ? " " : "");
	return (size_t)(end - start);
}
