/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees of many groups replaced by cheaper ones (mcast/reroute.h), some groups side by
 * side over the same loads, each without its own tree; what is found is taken in their
 * order as long as it is still cheaper then.
 */
#pragma once

#include "mcast/reroute.h"

/* Bytes of candidate sets that are kept; those of other groups are found again and again.
 */
enum { FAB_MOVES_ROOTS_BYTES = 64 << 20 };

struct fab_moves; /* lanes, and the candidates of groups */

/* A round over all groups. */
struct fab_moves_round {
	struct fab_reroute_try how;
	uint32_t n_expected; /* groups that will be moved, about; 0: not known */
	/* Is the group to be moved, as loads are now? */
	bool (*is_wanted)(void *context, uint32_t group);
	/* Asked after each group that was moved, `done` groups into the round: shall it
	 * stop? */
	bool (*is_over)(void *context, uint32_t done);
	void *context;
};

/*
 * The trees of a revision, at prices that may change between two rounds; both are
 * borrowed. Rounds do not begin or end a revision. fab_moves_new: O(as fab_roots_find()),
 * fab_moves_free: O(size).
 */
struct fab_moves *fab_moves_new(struct fab_revision *revision, struct fab_prices *prices,
				const struct fab_mcast_options *options);
void fab_moves_free(struct fab_moves *moves);

/* false: is_over() said so. The same trees for any number of threads. O(groups wanted *
 * (as fab_reroute_find()) / threads + lanes * cables). */
bool fab_moves_run(struct fab_moves *moves, const struct fab_moves_round *round);
/* Cables that were looked at so far: a measure of time that repeats. O(lanes). */
uint64_t fab_moves_steps(const struct fab_moves *moves);
