/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the files of groups, demands and events, and the words of a line. */
#include "mcast/groups/collect.h"
#include "source/scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fab_token_next(const struct fab_line_place *place, const char **at, const char *end,
		   bool stops_at_colon, struct fab_token *t)
{
	const char *start;

	while (*at < end && fab_is_blank(**at))
		++*at;
	*t = (struct fab_token){.text = *at};
	if (*at == end || **at == '#')
		return 0;
	if (**at == '"') {
		const char *close = *at + 1;

		/* A quoted token ends at a quote before a blank, a colon, a comment or
		 * the end. */
		while (close < end &&
		       (*close != '"' || (close + 1 < end && !fab_is_blank(close[1]) &&
					  close[1] != ':' && close[1] != '#')))
			close++;
		if (close == end)
			return fab_line_fail(
				place,
				"a name begins with a quote, expected one at its end");
		t->text = *at + 1;
		t->len = (size_t)(close - t->text);
		t->is_quoted = true;
		*at = close + 1;
		return 0;
	}
	for (start = *at; *at < end && !fab_is_blank(**at); ++*at)
		if (stops_at_colon && **at == ':' &&
		    (*at + 1 == end || fab_is_blank((*at)[1])))
			break;
	t->len = (size_t)(*at - start);
	return 0;
}

int fab_name_next(const struct fab_line_place *place, const char **at, const char *end,
		  struct fab_token *name, bool *has_colon)
{
	int rc = fab_token_next(place, at, end, true, name);

	while (*at < end && fab_is_blank(**at))
		++*at;
	*has_colon = *at < end && **at == ':';
	*at += *has_colon;
	return rc;
}

int fab_line_fail(const struct fab_line_place *place, const char *format, ...)
{
	char text[sizeof(((struct fab_err *)0)->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fab_fail(place->err, EINVAL, "%s:%llu: %s", place->file,
			(unsigned long long)place->line, text);
}

int fab_lines_each(struct fab_line_place *place, const char *what, const char *text,
		   size_t len, int (*use)(void *context, const char *at, const char *end),
		   void *context)
{
	bool is_marked = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3);
	struct fab_lines lines = {.at = is_marked ? text + 3 : text, .end = text + len};
	struct fab_span line;
	int rc = 0;

	if (len && memchr(text, '\0', len))
		return fab_fail(place->err, EINVAL, "%s: a binary file, expected %s",
				place->file, what);
	while (!rc && fab_lines_next(&lines, &line)) {
		place->line++;
		rc = use(context, line.p, line.end);
	}
	return rc;
}
