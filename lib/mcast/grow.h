/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of all groups, one after the other, by some engines side by side. */
#pragma once

#include "mcast/engine.h"

/* Bytes of candidate sets that are held at a time while trees are only grown. */
enum { FAB_GROW_ROOTS_BYTES = 16 << 20 };

/*
 * Candidates of the groups from `first` on: those of the problem, which begin with the
 * first group of all, or as many as are held at a time, found now in `own`, which is
 * zeroed; the caller ends it. O(as fab_roots_find()).
 */
const struct fab_roots *fab_grow_candidates(const struct fab_mcast_problem *problem,
					    uint32_t first, int n_threads,
					    struct fab_roots *own);

/* An engine at work; it has grow(). */
struct fab_mcast_grower {
	const struct fab_mcast_engine *engine;
	struct fab_mcast_state *state; /* as fab_mcast_state_init() leaves it */
	double cap;    /* trees of a level (fab_mcast_level()) as large are of no use; 0:
			* all are */
	bool is_trial; /* only loads and uses are kept, no trees */
	bool may_stop; /* when the options say that it is over */
	bool is_over;  /* one of these: the rest is not grown */
	double seconds;
};

/*
 * Distances and root candidates are shared; these are found, if the problem has none, and
 * *roots_seconds grows by the time for that.
 * Non-zero: progress stopped it. The same trees for any number of threads. O(per group:
 * as the engine says; candidates as fab_roots_find()).
 */
int fab_mcast_grow(const struct fab_mcast_problem *problem,
		   struct fab_mcast_grower *growers, size_t n_growers,
		   const struct fab_mcast_options *options, double *roots_seconds);
