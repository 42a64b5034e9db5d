/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fewer trees on the fullest cables by moving few trees: for trees in use, where each one
 * that moves interrupts its group for a moment.
 */
#pragma once

#include "mcast/route.h"

/* Result of a relief. */
struct fab_relief {
	uint32_t before, after; /* largest EFI */
	uint32_t n_moved;	/* trees that are others than before */
	/* moves that the last target takes in all: more than n_moved where max_moved
	 * ended it on the way, and then the next relief goes on */
	uint32_t n_needed;
	bool is_out_of_time; /* stopped by `until` or is_over() of the options */
};

/*
 * Move at most max_moved of the trees of all groups, in place. The target is one less
 * than the largest EFI, again and again. Only trees on a cable above it move, those on
 * most of such cables first, each to a tree of minimal height with fewer of them. A
 * target that these moves do not reach moves nothing; one that takes more than max_moved
 * is approached as far as they go. The largest EFI never rises, whatever part of the
 * trees has moved. Options: bound, seed, until, is_over; n_threads is for root
 * candidates. O(targets * (edges of all trees + trees on full cables * (roots tried *
 * tree))).
 */
void fab_mcast_relieve(const struct fab_mcast_problem *problem, struct fab_forest *trees,
		       const struct fab_mcast_options *options, uint32_t max_moved,
		       struct fab_relief *out);
/* Is the tree of a group the same in both, edge by edge? O(edges). */
bool fab_forest_is_same(const struct fab_forest *a, const struct fab_forest *b,
			uint32_t group);
