/* SPDX-License-Identifier: BSD-2-Clause */
/* Members by name: what the files of groups and of events have in common. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/map.h"
#include "fabric/fabric.h"

/* Several nodes have the name. */
#define FAB_MEMBER_AMBIGUOUS (FAB_NONE - 1)

/* Bytes of a name from input in a message, so that the rest is not cut off. */
enum { FAB_SHOWN_NAME = 80 };

/* What a member can be named by. */
struct fab_members {
	struct fab_strmap *name; /* description or host name to endpoint */
	struct fab_map64 *guid;	 /* port GUID or node GUID to endpoint */
	struct fab_map64 *lid;
};

/* O(nodes + ports). */
void fab_members_init(struct fab_members *members, const struct fab_fabric *f);
void fab_members_fini(struct fab_members *members);

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

/*
 * The endpoint that a description, host name, GUID (`0x...`) or `lid:N` names; FAB_NONE
 * when there is none, FAB_MEMBER_AMBIGUOUS when there are several. O(token).
 */
uint32_t fab_members_find(const struct fab_members *members, const struct fab_token *t);

/*
 * Where a host sends and receives: the first connected port of the first of its adapters
 * by name, so that hosts take the same rail whatever the order of the input; those on a
 * switch go before others. FAB_NONE without a cable. O(adapters of the host).
 */
uint32_t fab_host_endpoint(const struct fab_fabric *f, fab_host_id host);
