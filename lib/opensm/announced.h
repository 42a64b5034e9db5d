/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of which a launcher has said before how many members they will have: the
 * protocol of Chen et al. 2022, section 3.2, for an OpenSM that knows nothing of it. What
 * OpenSM has of a group, its members now, is turned into a state of figure 4 and into the
 * members that its tree is to have. Nothing in here knows OpenSM. Groups have numbers
 * (MLID - 0xc000), members the GUIDs of their ports; times are those of fab_now().
 *
 * A group receives joins until it has as many members as announced; then its tree is
 * computed, once, and it is ready when OpenSM's tables hold it. When a member leaves, the
 * tree stays unchanged; when all have left, it goes. While joins or leaves are received a
 * time-out takes the tree away. When all are members again while leaves are received, the
 * group is ready as before. Where OpenSM lets in what was not announced (a member more,
 * another port after the tree was computed), and where a group had a tree before it was
 * announced, it is given up: it is treated as any other group until it has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "mcast/events.h"

enum {
	FAB_ANNOUNCED_MAX = 16384,    /* groups, as there are multicast LIDs */
	FAB_ANNOUNCED_TIMEOUT_S = 60, /* where a line names none */
	FAB_ANNOUNCED_FILE_BYTES = 1 << 20,
};

struct fab_mgid {
	uint8_t raw[16];
};

struct fab_announced;

/* No group is announced. Numbers are 0 .. n_groups-1. The caller frees. O(groups). */
struct fab_announced *fab_announced_new(uint32_t n_groups);
void fab_announced_free(struct fab_announced *a);

/* Announcements of a file, read but not in force. */
struct fab_announcements;
void fab_announcements_free(struct fab_announcements *list);

/*
 * Read the groups of `text`: a line each,
 *   MGID MEMBERS [SECONDS]
 * MGID as an IPv6 address that is a multicast one (ff...), MEMBERS 1 .. 65535, SECONDS
 * the time-out (60), 0: none; `#` starts a comment. EINVAL `FILE:LINE: ...`. The caller
 * frees. O(text + groups log groups).
 */
int fab_announcements_parse(const char *file, const char *text,
			    struct fab_announcements **out,
			    struct fab_err *err) FAB_MUST_CHECK;
/* From now on these are announced, and no others. What is said of a group that has
 * members counts when it has ended. O(groups log groups). */
void fab_announced_take(struct fab_announced *a, const struct fab_announcements *list);

/* A group as OpenSM has it. */
struct fab_announced_group {
	uint32_t number;
	const struct fab_mgid *mgid; /* NULL: several share the number */
	const uint64_t *guid;	     /* [n] of the members, each once or more often */
	uint32_t n;
	bool has_tree; /* its members have one that no announcement led to */
	uint64_t pass; /* when: never less than before (fab_announced_computing()) */
};

enum fab_announced_tree {
	FAB_ANNOUNCED_ANY,  /* not announced, or given up: a tree of the members */
	FAB_ANNOUNCED_NONE, /* no tree */
	FAB_ANNOUNCED_HELD, /* a tree of the members that it had when it was computed */
};

struct fab_announced_order {
	enum fab_announced_tree tree;
	const uint64_t *guid; /* HELD: [n] ascending; borrowed until the next call */
	uint32_t n;
	bool is_first;	    /* HELD: it is computed now */
	const char *reason; /* given up now: borrowed static text, else NULL */
};

/* Tree that the group is to have now, from its members (none: it has ended) and its
 * state, which changes accordingly. O(members log members + log groups). */
struct fab_announced_order fab_announced_decide(struct fab_announced *a,
						const struct fab_announced_group *g,
						double now);
/* Is the number that of an announced group with members? O(1). */
bool fab_announced_is_active(const struct fab_announced *a, uint32_t number);
/* Groups that have members. O(1). */
uint32_t fab_announced_n_active(const struct fab_announced *a);
/* Are there groups whose trees have been computed, and are not known to be held? O(1). */
bool fab_announced_is_computing(const struct fab_announced *a);
/* Their numbers, of those computed in a pass before this one, at most `max`, into
 * number[max]; returns how many. The next call goes on after the last of them. O(groups).
 */
uint32_t fab_announced_computing(struct fab_announced *a, uint64_t pass, uint32_t max,
				 uint32_t *number);
/* OpenSM's tables hold the tree of this group: it is ready, unless it has changed or was
 * computed again since that pass. O(1). */
void fab_announced_note_held(struct fab_announced *a, uint32_t number, uint64_t pass,
			     double now);

/* Seconds for which there is no time-out; INFINITY: there will be none. O(1). */
double fab_announced_due(const struct fab_announced *a, double now);
/* Groups whose time has expired, whose trees are to be removed. Their numbers in
 * number[fab_announced_n_active()]; returns how many. O(groups). */
uint32_t fab_announced_expire(struct fab_announced *a, double now, uint32_t *number);

/* Has any state changed since fab_announced_print() began last? O(1). */
bool fab_announced_is_changed(const struct fab_announced *a);
/*
 * A line for each announced group: MGID, MLID (- while it has none), members now /
 * members announced, state, computations in all, and the states of its life with the
 * times when they began, in seconds of a clock that is `offset` later. Only n of them
 * from the one at `from` on, 0 for the first; returns where to go on, 0: all are printed.
 * O(n).
 */
size_t fab_announced_print(struct fab_announced *a, size_t from, size_t n, double offset,
			   FILE *out);
