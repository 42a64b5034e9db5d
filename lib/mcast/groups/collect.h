/* SPDX-License-Identifier: BSD-2-Clause */
/* Collecting groups: what files and patterns share. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "fabric/resolver.h"
#include "mcast/groups.h"

/* Where a group comes from: FILE and line, or a pattern and line 0. */
struct fab_group_origin {
	const char *source; /* NULL: from neither */
	uint64_t line;
};

struct fab_groups_builder {
	const struct fab_fabric *f;
	uint32_t *seen; /* [n_ports] number, from 1, of the last group that named it */
	FAB_VEC(size_t) first;
	FAB_VEC(uint32_t) member;
	FAB_VEC(uint8_t) scope; /* enum fab_member_kind of each member */
	FAB_VEC(uint64_t) name_at;
	FAB_VEC(char) names;
	FAB_VEC(struct fab_group_origin) origin; /* of each group */
	struct fab_group_origin here;		 /* of the next group */
	FAB_VEC(char *) sources;		 /* what origins point to */
	uint64_t n_unknown;
	struct fab_resolver *resolver; /* NULL until a file names members */
	struct fab_matches matches;
};

/* The groups that follow come from `source`, which is copied. */
void fab_groups_builder_enter(struct fab_groups_builder *b, const char *source);
void fab_groups_builder_leave(struct fab_groups_builder *b);

/* Words of a line: what the files of groups and of events have in common. */

/* Bytes of a name from input in a message, so that the rest is not cut off. */
enum { FAB_SHOWN_NAME = 80 };

/* Borrowed bytes of a line. */
struct fab_token {
	const char *text;
	size_t len;
	bool is_quoted;
};

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

/* EINVAL with `FILE:LINE: ` in front of the sentence. O(text). */
int fab_line_fail(const struct fab_line_place *place, const char *format, ...)
	FAB_PRINTF(2, 3);
/*
 * Give every line of a text to `use`, until one fails; place->line is its number. A byte
 * order mark at the beginning is skipped; EINVAL: a zero byte, where `what` is expected.
 * O(len), and `use`.
 */
int fab_lines_each(struct fab_line_place *place, const char *what, const char *text,
		   size_t len, int (*use)(void *context, const char *at, const char *end),
		   void *context) FAB_MUST_CHECK;

/*
 * The next token of the line *at .. end; len 0 without quotes at its end, where a comment
 * begins too. A missing quote is EINVAL. O(token).
 */
int fab_token_next(const struct fab_line_place *place, const char **at, const char *end,
		   bool stops_at_colon, struct fab_token *t) FAB_MUST_CHECK;
/* As above, for the name that a line begins with, and a colon behind it. */
int fab_name_next(const struct fab_line_place *place, const char **at, const char *end,
		  struct fab_token *name, bool *has_colon) FAB_MUST_CHECK;

/*
 * Groups out of what saquery(8) prints of the subnet administrator's member records:
 * `saquery -m` (a record a member), `saquery -g` before it (a record a group, which names
 * no members) and `saquery MCMR` (records in full). A line is a label, dots and a value:
 *
 *   MCMemberRecord member dump:
 *           MGID....................ff12:401b:ffff::ffff:ffff
 *           Mlid....................0xC000
 *           PortGid.................fe80::2:c903:0:5
 *           ScopeState..............0x21
 */

/* Does the text begin like such output? O(first lines). */
bool fab_is_saquery(const char *text, size_t len);

/*
 * Add a group for each MLID, called 0xc000 and so on, ascending: what has one MLID has
 * one tree, whatever its MGIDs. Members are those that receive (JoinState bit 0: full),
 * found by port GUID, the lower half of PortGid. One that is not in the fabric is EINVAL
 * `FILE:LINE: ...` or with ignore_unknown counted; EINVAL, too, are a number that is
 * none, a record cut off before its MLID, PortGid and state, and output without any
 * member. O(n log n + ports).
 */
int fab_saquery_read(struct fab_groups_builder *b, const char *file, const char *text,
		     size_t len, bool ignore_unknown, struct fab_err *err) FAB_MUST_CHECK;
