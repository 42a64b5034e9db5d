/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of requests to join and to leave groups: from files and from patterns. */
#pragma once

#include "mcast/groups.h"

/* The latest time of a trace, and the longest time that a parameter may name. */
#define FAB_MAX_EVENT_NS ((uint64_t)4000000000 * 1000000000)
#define FAB_MAX_SPAN_NS ((uint64_t)1000000 * 1000000000)

struct fab_event {
	uint64_t time_ns;
	uint32_t group;
	uint32_t seat;	/* the member: groups->member[seat], a seat of this group */
	uint32_t count; /* join: members that the group is to have; leave: 0 */
	bool is_leave;
	bool is_lost; /* nobody receives it */
};

/* Requests by time; those of equal times in the order of the input. */
struct fab_events {
	struct fab_groups *groups; /* all that occur, with all members ever named */
	struct fab_event *v;
	size_t n;
};

/* Frees everything; NULL is allowed. O(size). */
void fab_events_free(struct fab_events *events);

/*
 * Read a trace, a request a line:
 *   TIME join GROUP MEMBER COUNT [lost]
 *   TIME leave GROUP MEMBER [lost]
 * TIME as fab_parse_time_ns() takes it, never before that of the line above; names as in
 * files of groups; COUNT is the number of members that the group is to have; `#` starts a
 * comment. EINVAL `FILE:LINE: ...` for what is no such line, a member that does not exist
 * or that several nodes could be, members that are not connected; and for a text without
 * any request. `f` is borrowed during the call. O(text + nodes + ports).
 */
int fab_events_read(const struct fab_fabric *f, const char *file, const char *text,
		    size_t len, struct fab_events **out,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * Make a trace: a group pattern (groups.h), and among its parameters
 *   gap=TIME    between the beginnings of two groups that follow each other (0)
 *   skew=TIME   members join, and leave, at random times within it (1ms)
 *   hold=TIME   after the last could have joined; then they leave (they stay)
 *   loss=P      probability that a request is lost (0)
 *   retry=TIME  a request that was lost is made again after it, up to 8 times in all
 *               (it is made once)
 * The pattern's seed, or `seed` where it names none, serves for these too. EINVAL with a
 * sentence as for patterns, or when the last group begins after FAB_MAX_EVENT_NS. O(as
 * the pattern + requests log requests).
 */
int fab_events_generate(const struct fab_fabric *f, const char *spec, uint64_t seed,
			struct fab_events **out, struct fab_err *err) FAB_MUST_CHECK;

/* Is the spec well-formed? The same sentence as above without a fabric. O(spec). */
int fab_events_check_pattern(const char *spec, struct fab_err *err) FAB_MUST_CHECK;
