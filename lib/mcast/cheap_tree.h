/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of minimal height that avoids full cables: level by level from the farthest
 * members towards the root, each switch hangs on the parent that costs least, where a
 * parent that several switches can share is cheap for each of them; of equal ones that
 * behind the lowest port.
 */
#pragma once

#include "mcast/grown.h"
#include "mcast/prices.h"

struct fab_cheap_tree; /* room for one tree */

struct fab_cheap_tree *fab_cheap_tree_new(const struct fab_mcast_problem *problem);
void fab_cheap_tree_free(struct fab_cheap_tree *tree);

/*
 * The tree of the switches sw[n] of a group from `root` at these prices. Stops when it
 * costs `limit` or more, then the edges are not all there. O(edges * cables of a switch).
 */
struct fab_grown fab_cheap_tree_grow(struct fab_cheap_tree *tree,
				     const struct fab_prices *prices, const uint32_t *sw,
				     uint32_t n, uint32_t root, double limit);
