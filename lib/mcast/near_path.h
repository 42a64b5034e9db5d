/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cheapest of a few shortest paths between the two halves of a tree
 * (mcast/loose_tree.h), by distances alone. It misses paths that are longer and yet
 * cheaper, but looks at what lies between two switches only, where a search for the
 * cheapest path (mcast/path_swap.h) looks at all that is within reach.
 */
#pragma once

#include "mcast/hops.h"
#include "mcast/loose_tree.h"
#include "mcast/prices.h"

struct fab_near_path; /* room for one path */

/* Both are borrowed. */
struct fab_near_path *fab_near_path_new(const struct fab_mcast_problem *problem,
					const struct fab_hops *hops);
void fab_near_path_free(struct fab_near_path *x);

/* What a path has to be like. */
struct fab_near_path_limit {
	int most_hops; /* between two members, with the path in the tree */
	unsigned hops; /* it has at most so many */
	double price;  /* it costs less */
};

/*
 * Between the halves of a tree that is split at node `at` (fab_loose_split()) and
 * measured, at most of limit->hops hops: of those as short as can be between a few pairs
 * of switches (by `seed` where there are more), and of the shortest between the ends of
 * the path that was taken out, the cheapest. False: none costs less than the limit.
 * O(switches of one half * those of the other + switches between the ends * cables of
 * a switch).
 */
bool fab_near_path_find(struct fab_near_path *x, const struct fab_loose_tree *tree,
			uint32_t at, const struct fab_prices *prices,
			const struct fab_near_path_limit *limit, uint64_t seed);
/* Edges of the last path that was found. */
uint32_t fab_near_path_n_edges(const struct fab_near_path *x);
const struct fab_loose_edge *fab_near_path_edges(const struct fab_near_path *x);
/* Cables and pairs that were looked at so far. O(1). */
uint64_t fab_near_path_steps(const struct fab_near_path *x);
