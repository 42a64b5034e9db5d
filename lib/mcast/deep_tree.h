/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cheap tree in which members may hang deeper than their distance from the root, as
 * long as none is deeper than a limit: where rows of members lie side by side, as on a
 * torus, it has far fewer cables than one of shortest paths.
 *
 * Members are joined by turns, the farthest from the root first, each by the cheapest
 * path to a switch of the tree that is high enough; other members on that path come for
 * little. A path that would end too deep runs on towards the root, and what it meets
 * hangs on it from then on.
 */
#pragma once

#include "mcast/grown.h"
#include "mcast/prices.h"

struct fab_deep_tree; /* room for one tree */

struct fab_deep_tree *fab_deep_tree_new(const struct fab_mcast_problem *problem);
void fab_deep_tree_free(struct fab_deep_tree *tree);

/*
 * The tree of the switches sw[n] from `root`, none deeper than `height`, which is at
 * least the distance of the farthest. Members as far from the root as others come by
 * `seed`. O(cables within reach * log(cables)) a member.
 */
struct fab_grown fab_deep_tree_grow(struct fab_deep_tree *tree,
				    const struct fab_prices *prices, const uint32_t *sw,
				    uint32_t n, uint32_t root, unsigned height,
				    uint64_t seed);
