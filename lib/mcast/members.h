/* SPDX-License-Identifier: BSD-2-Clause */
/* Words of a line: what the files of groups and of events have in common. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Bytes of a name from input in a message, so that the rest is not cut off. */
enum { FAB_SHOWN_NAME = 80 };

/* Borrowed bytes of a line. */
struct fab_token {
	const char *text;
	size_t len;
	bool is_quoted;
};

static inline bool fab_token_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Bytes of a token in a message. */
static inline int fab_token_shown(const struct fab_token *t)
{
	return t->len < FAB_SHOWN_NAME ? (int)t->len : FAB_SHOWN_NAME;
}

/* Where a line stands, for messages. */
struct fab_line_place {
	const char *file;
	uint64_t line;
	struct fab_err *err;
};

/*
 * The next token of the line *at .. end; len 0 without quotes at its end, where a comment
 * begins too. A missing quote is EINVAL. O(token).
 */
int fab_token_next(const struct fab_line_place *place, const char **at, const char *end,
		   bool stops_at_colon, struct fab_token *t) FAB_MUST_CHECK;
