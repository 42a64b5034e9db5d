/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of few cables where members lie far apart, by distances alone: the member
 * nearest to the tree is joined by turns, along the shortest path that comes nearest to
 * the others (Takahashi and Matsuyama, "An approximate solution for the Steiner problem
 * in graphs", 1980), no deeper than a limit. Prices decide only between parallel cables:
 * paths that always take the same of equal switches share more. It takes a small part of
 * the time of a tree of searches (mcast/deep_tree.h).
 */
#pragma once

#include "mcast/grown.h"
#include "mcast/hops.h"
#include "mcast/prices.h"

struct fab_near_tree; /* room for one tree */

/* Both are borrowed. */
struct fab_near_tree *fab_near_tree_new(const struct fab_mcast_problem *problem,
					const struct fab_hops *hops);
void fab_near_tree_free(struct fab_near_tree *tree);

/*
 * The tree of the switches sw[n] from `root`, none deeper than `height`, which is at
 * least the distance of the farthest. Members as near as others come by `seed`. O(edges *
 * n * cables of a switch).
 */
struct fab_grown fab_near_tree_grow(struct fab_near_tree *tree,
				    const struct fab_prices *prices, const uint32_t *sw,
				    uint32_t n, uint32_t root, unsigned height,
				    uint64_t seed);
