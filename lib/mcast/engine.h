/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast routing algorithms ("engines"): one table, one file each.
 *
 * An engine grows trees one group after the other (a rule that picks the root among a
 * group's candidates, and grow()), or solves all groups at once (solve()), or both: then
 * it revises what was grown. What it keeps (loads, how often a root was used) is in its
 * state. Engines give trees of minimal height unless they say otherwise.
 */
#pragma once

#include <stdbool.h>

#include "base/choice.h"
#include "base/progress.h"
#include "mcast/forest.h"
#include "mcast/problem.h"

struct fab_mcast_engine;

enum fab_root_rule {
	FAB_ROOT_FIRST,		/* lowest switch id */
	FAB_ROOT_LEAST_USED,	/* root of the fewest groups so far */
	FAB_ROOT_LEAST_ADJACENT /* least sum of loads on its cables */
};

/* Which of several candidates that the rule finds equally good. */
enum fab_root_ties {
	FAB_TIES_SPREAD, /* by a fixed shuffle of the switch ids */
	FAB_TIES_LOWEST	 /* lowest switch id */
};

/* Why an engine that improves trees stopped. */
enum fab_mcast_ended {
	FAB_ENDED_DONE,	   /* it has done what it does */
	FAB_ENDED_BOUND,   /* no trees have less than these */
	FAB_ENDED_EXACT,   /* no trees of heights that are allowed have less: all were
			    * compared */
	FAB_ENDED_STALL,   /* nothing that it tries helps any more */
	FAB_ENDED_TIME,	   /* the time is over: more time may give better trees */
	FAB_ENDED_STOPPED, /* somebody stopped it: the trees are sound, more may help */
	FAB_ENDED_FAILED   /* progress stopped it: there is no result */
};

/* "done", "bound", "exact", "stall", "time", "interrupt". O(1). */
const char *fab_mcast_ended_name(enum fab_mcast_ended ended);

/* Where an engine stands between two groups. */
struct fab_mcast_state {
	const struct fab_mcast_problem *problem;
	uint32_t *load;	    /* [n_switch_links] groups on each cable: its EFI so far */
	uint64_t *units;    /* [n_switch_links] their demands; NULL without weights */
	uint32_t *root_use; /* [n_switches] groups rooted there */
	uint32_t *adjacent; /* [n_switches] sum of the loads of its cables; NULL: no
			       rule of the engine asks for it */
	uint32_t *mark;	    /* [n_switches] == stamp: in the tree being grown */
	uint32_t stamp;
	struct fab_forest forest;
	uint64_t n_edges; /* of the groups so far and the one being grown */
	enum fab_mcast_ended ended;
	void *scratch;			     /* of the engine */
	void (*scratch_free)(void *scratch); /* NULL: free() */
};

struct fab_mcast_options {
	int n_threads; /* 0: as many as OpenMP gives */
	enum fab_root_ties root_ties;
	uint32_t bound;		  /* what fab_mcast_lower_bound() says; 0: not known */
	double load_bound;	  /* the same of weighted loads */
	fab_progress_fn progress; /* may be NULL */
	void *progress_context;
	unsigned height_slack; /* hops that trees may be higher than the least, of
				  engines that take it */
	uint64_t seed;	       /* of what is left to chance */
	double time_limit_s;   /* of `optimal` without `until`, from its first trees on;
				  0: none */
	double until;	       /* searches stop at this time (fab_now()); 0: at none */
	/* trees of this problem that searches start from, instead of a search without
	 * height_slack; they are as high as that allows at most. NULL: none */
	const struct fab_forest *start;
	/* called when all first trees are there and searches begin: from now on there is
	 * a result. May be NULL */
	void (*begin_search)(void);
	/* asked once by such engines, after some work, when they are above `bound`: a
	 * larger one that takes long to find; `until` this time (fab_now()), 0: any
	 * time. May be NULL */
	uint32_t (*raise_bound)(void *context, double until);
	void *raise_bound_context;
	/* asked by such engines, after each tree and by any thread: shall they stop with
	 * what they have? May be NULL */
	bool (*is_over)(void *context);
	void *is_over_context;
};

struct fab_mcast_engine {
	const char *name;
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	enum fab_root_rule root_rule;
	bool is_in_all; /* member of `--algorithm all`, and a rival of engines that
			   revise trees (mcast/rivals.h) */
	/* Can its trees be better than those of all rivals in `all`? Then it is one, too.
	 * NULL: no. */
	bool (*is_rival)(const struct fab_mcast_problem *problem, int n_threads);
	bool may_be_higher; /* its trees need not be of minimal height */
	bool takes_slack;   /* it heeds height_slack of the options */
	bool heeds_weights; /* it lowers the largest weighted load, where there is one */
	/* Scratch of the engine; NULL: none. scratch_free NULL: free(). */
	void *(*scratch_new)(const struct fab_mcast_problem *problem);
	void (*scratch_free)(void *scratch);
	/*
	 * The engine's own choice of the root of `group`, which `roots` has candidates
	 * for, instead of root_rule; any switch that the members can be reached from.
	 * NULL: by root_rule.
	 */
	uint32_t (*choose_root)(struct fab_mcast_state *state,
				const struct fab_roots *roots, uint32_t group);
	/*
	 * Grow the tree of `group` from forest.root[group]: call fab_mcast_join() for
	 * every edge. mark/stamp are fresh but for the root. NULL: only all groups at
	 * once.
	 */
	void (*grow)(struct fab_mcast_state *state, uint32_t group);
	/*
	 * Choose the roots and grow the trees of all groups that `roots` has candidates
	 * for, on so many threads at most, by fab_mcast_state_grow() with `engine` for
	 * each in their order. The same trees for any number of threads. NULL: one after
	 * the other by the two above.
	 */
	void (*grow_many)(struct fab_mcast_state *state,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, int n_threads);
	/*
	 * The trees of all groups at once, in any order and as often as it likes, by
	 * mcast/revise.h. `state` has those that were grown, or without grow() none.
	 * Non-zero: progress stopped it; the trees there are sound. The same trees for
	 * any number of threads. NULL: those that were grown stay.
	 */
	int (*solve)(const struct fab_mcast_problem *problem,
		     struct fab_mcast_state *state,
		     const struct fab_mcast_options *options);
};

/* Was a search ended by its time, by its caller or by progress? O(1). */
static inline bool fab_mcast_was_stopped(enum fab_mcast_ended ended)
{
	return ended == FAB_ENDED_TIME || ended == FAB_ENDED_STOPPED ||
	       ended == FAB_ENDED_FAILED;
}

/* Is the time of a search over, or was it asked to stop? Any thread. O(1). */
bool fab_mcast_is_over(const struct fab_mcast_options *options);

/* All engines, in the order in which they are documented. */
extern const struct fab_mcast_engine *const fab_mcast_engines[];
extern const size_t fab_mcast_n_engines;
extern const struct fab_choices fab_mcast_choices; /* the same, by name */

/* By name; NULL when there is none. O(engines). */
const struct fab_mcast_engine *fab_mcast_engine_find(const char *name, size_t len);

/* Hang switch `sw` onto its parent by `cable`. O(1). */
static inline void fab_mcast_join(struct fab_mcast_state *s, uint32_t sw, uint32_t cable)
{
	s->mark[sw] = s->stamp;
	s->forest.sw[s->n_edges] = sw;
	s->forest.cable[s->n_edges++] = cable;
}

/* What is balanced: the groups on a cable, or with weights their demands over its
 * capacity. O(1). */
static inline double fab_mcast_level(const struct fab_mcast_state *s, uint32_t cable)
{
	return s->units ? (double)s->units[cable] * s->problem->weights->per_unit[cable]
			: s->load[cable];
}

/* Is the switch in the tree of the group at hand? O(1). */
static inline bool fab_mcast_is_joined(const struct fab_mcast_state *s, uint32_t sw)
{
	return s->mark[sw] == s->stamp;
}
