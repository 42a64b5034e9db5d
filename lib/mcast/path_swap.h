/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree made cheaper piece by piece: a path between two switches that matter (members
 * and branches) is taken out, and the two halves are joined by the cheapest path there is
 * between any switches of the two, as long as the tree stays as low as it has to be.
 *
 * Of a tree without root that asks for no more than this: no two members are farther
 * apart in it than twice the height. Then its middle is a root.
 */
#pragma once

#include "mcast/grown.h"
#include "mcast/hops.h"
#include "mcast/prices.h"

struct fab_path_swap; /* room for one tree */

/* Both are borrowed. */
struct fab_path_swap *fab_path_swap_new(const struct fab_mcast_problem *problem,
					const struct fab_hops *hops);
void fab_path_swap_free(struct fab_path_swap *x);

/* The tree at hand: n_edges edges over the switches member[n_members] of a group, and
 * maybe others. Copied. O(edges). */
void fab_path_swap_take(struct fab_path_swap *x, const uint32_t *member,
			uint32_t n_members, uint32_t n_edges, const uint32_t *sw,
			const uint32_t *cable);
/* Which paths are tried, and what for. */
struct fab_path_swap_how {
	double least;  /* those that cost as much or more */
	bool is_near;  /* only for the nearest ones (mcast/near_path.h), not for all */
	uint64_t seed; /* of which of these */
	/* paths that are left when its time is over stay as they are; may be NULL */
	const struct fab_mcast_options *options;
};

/*
 * Try each path once, dearest first; returns what the tree costs in the end. Members are
 * at most 2 * height hops apart, as they have to be before. O(paths * (edges + cables
 * within reach * log(cables))), near ones O(paths * as fab_near_path_find()).
 */
double fab_path_swap_run(struct fab_path_swap *x, const struct fab_prices *prices,
			 unsigned height, const struct fab_path_swap_how *how);

/* The switch of the tree nearest to its middle; `old` if that is as low as `height`.
 * O(edges). */
uint32_t fab_path_swap_root(struct fab_path_swap *x, unsigned height, uint32_t old);
/* The tree as seen from a root in it. O(edges). */
struct fab_grown fab_path_swap_hang(struct fab_path_swap *x, uint32_t root);
/* Cables that were looked at since take(). O(1). */
uint64_t fab_path_swap_steps(const struct fab_path_swap *x);
