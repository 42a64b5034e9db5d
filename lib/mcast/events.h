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
	bool is_lost; /* not received */
};

/* Requests by time; those of equal times in the order of the input. */
struct fab_events {
	struct fab_groups *groups; /* all that occur, with all members ever named */
	struct fab_event *v;
	size_t n;
	bool *is_initial; /* [seats] members at the start; NULL: there is no group then */
};

/* Frees everything; NULL is allowed. O(size). */
void fab_events_free(struct fab_events *events);

/*
 * Read a trace, a request a line:
 *   TIME join GROUP MEMBER COUNT [lost]
 *   TIME leave GROUP MEMBER [lost]
 * TIME as fab_parse_time_ns() takes it, never before that of the line above; names as in
 * files of groups; COUNT is the number of members that the group is to have; `#` starts a
 * comment. EINVAL `FILE:LINE: ...` for a line of another form, a member that is
 * unknown or that several nodes could be, members that are not connected; and for a text
 * without any request. `f` is borrowed during the call. The groups of `initial`, NULL:
 * none, are there at the start with all their members, and have the first numbers. O(text
 * + nodes + ports + members).
 */
int fab_events_read(const struct fab_fabric *f, const struct fab_groups *initial,
		    const char *file, const char *text, size_t len,
		    struct fab_events **out, struct fab_err *err) FAB_MUST_CHECK;

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

/* Is the spec well-formed? Checked without a fabric; EINVAL with a sentence. O(spec). */
int fab_events_check_pattern(const char *spec, struct fab_err *err) FAB_MUST_CHECK;

/*
 * The lifecycle of groups: requests are replayed by the clock of their trace.
 *
 * Batched (Chen et al. 2022, "Joining and leaving a group"): a group is absent until a
 * join is received, which says how many members it is to have; receiving-join until that
 * many have joined; computing until its routes are computed, once; ready until a member
 * leaves, which computes nothing; receiving-leave until all have left; destroying while
 * its routes are taken away, and absent again. receiving-join and receiving-leave end in
 * destroying timeout_ns after their beginning. Members that leave while routes are
 * computed have left when the group is ready.
 *
 * Plain (InfiniBand): a group exists while it has a member; its routes are computed for
 * every request that changes its members, the last one included.
 *
 * Coalesced (OpenSM): as plain, but a pass computes each group that has requests waiting
 * once, in the order of their first one, with the members it has then; requests received
 * meanwhile wait for the next pass.
 *
 * A group that is there at the start has routes, and has had no request.
 *
 * Routes are computed in the order of the requests, compute_ns each.
 * At one time computations end first, then requests are received, then time-outs end.
 * A request for a state that holds already (a member joins again) counts as repeated; one
 * of another state as refused: leave without join, join to a complete group or
 * with another number of members. After the last request the clock runs until no
 * computation and no time-out is left.
 *
 * Routed time: from the join that completes a group until every member has routes; not
 * measured when a member leaves before. Told time (batched): until all members know it:
 * the first that joined polls every poll_ns from its join on, and when it finds the group
 * ready notifies the others, which takes notify_ns. A group is unusable while it has
 * members that wait for routes: batched from the first join received until ready or
 * destroyed, else while a request of it waits or is computed and it has a member.
 */
enum fab_lifecycle_behaviour {
	FAB_LIFECYCLE_BATCHED,
	FAB_LIFECYCLE_PLAIN,
	FAB_LIFECYCLE_COALESCED,
	FAB_LIFECYCLE_N_BEHAVIOURS,
};

enum fab_lifecycle_state {
	FAB_LIFECYCLE_ABSENT,
	FAB_LIFECYCLE_RECEIVING_JOIN,
	FAB_LIFECYCLE_COMPUTING,
	FAB_LIFECYCLE_READY,
	FAB_LIFECYCLE_RECEIVING_LEAVE,
	FAB_LIFECYCLE_DESTROYING,
};

/* Who routes. */
struct fab_lifecycle_router {
	/*
	 * The routes of `group` are from now on those of these n endpoints, none when n
	 * is 0. Returns the table entries that change.
	 */
	uint64_t (*route)(void *context, uint32_t group, const fab_port_id *member,
			  uint32_t n);
	/* A group enters a state (batched only); may be NULL. */
	void (*enter)(void *context, uint32_t group, enum fab_lifecycle_state state,
		      uint64_t now_ns);
	void *context;
};

struct fab_lifecycle_options {
	enum fab_lifecycle_behaviour behaviour;
	uint64_t compute_ns, timeout_ns;
	uint64_t
		poll_ns; /* between two questions of the first member; 0: it just knows */
	uint64_t notify_ns; /* of its message to the others */
	double loss;	    /* probability that a request is lost that is not marked so */
	uint64_t seed;	    /* of this; the same requests are lost in all behaviours */
};

struct fab_lifecycle_outcome {
	uint64_t recomputations;
	uint64_t table_updates;		  /* sum of what route() returned */
	uint64_t timed_out;		  /* groups destroyed by a time-out */
	uint64_t lost, repeated, refused; /* requests */
	uint32_t alive;	 /* groups with routes in the end (batched: ready; plain: members)
			  */
	uint64_t passes; /* coalesced; else 0 */
	uint64_t completed, routed; /* times a group was, and then had a routed time */
	uint64_t polls;		    /* questions of first members, batched */
	/* over those that were routed; NaN: none was, or members are not notified */
	double routed_mean_s, routed_max_s;
	double told_mean_s, told_max_s;
	/* over the groups of the trace */
	double unusable_sum_s, unusable_mean_s, unusable_max_s;
};

/*
 * Replay a trace. O(requests + sum over computations of the group's members), and what
 * route() costs.
 */
void fab_lifecycle_replay(const struct fab_events *events,
			  const struct fab_lifecycle_options *options,
			  const struct fab_lifecycle_router *router,
			  struct fab_lifecycle_outcome *out);

/* "batched", "plain", "coalesced": borrowed static text. O(1). */
const char *fab_lifecycle_behaviour_name(enum fab_lifecycle_behaviour behaviour);
/* "absent", "receiving-join" and so on: borrowed static text. O(1). */
const char *fab_lifecycle_state_name(enum fab_lifecycle_state state);
