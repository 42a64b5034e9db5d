/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/members.h"

#include <errno.h>

/* A quoted token ends at a quote before a blank, a colon, a comment or the end. */
static const char *closing_quote(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '"' && (at + 1 == end || fab_token_is_blank(at[1]) ||
				   at[1] == ':' || at[1] == '#'))
			return at;
	return NULL;
}

int fab_token_next(const struct fab_line_place *place, const char **at, const char *end,
		   bool stops_at_colon, struct fab_token *t)
{
	const char *start;

	while (*at < end && fab_token_is_blank(**at))
		++*at;
	*t = (struct fab_token){.text = *at};
	if (*at == end || **at == '#')
		return 0;
	if (**at == '"') {
		const char *close = closing_quote(*at + 1, end);

		if (!close)
			return fab_fail(
				place->err, EINVAL,
				"%s:%llu: a name begins with a quote, expected one at "
				"its end",
				place->file, (unsigned long long)place->line);
		t->text = *at + 1;
		t->len = (size_t)(close - t->text);
		t->is_quoted = true;
		*at = close + 1;
		return 0;
	}
	for (start = *at; *at < end && !fab_token_is_blank(**at); ++*at)
		if (stops_at_colon && **at == ':' &&
		    (*at + 1 == end || fab_token_is_blank((*at)[1])))
			break;
	t->len = (size_t)(*at - start);
	return 0;
}
