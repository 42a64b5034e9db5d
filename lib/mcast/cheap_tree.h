/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of minimal height that avoids full cables: level by level from the farthest
 * members towards the root, each switch hangs on the parent that costs least, where a
 * parent that several switches can share is cheap for each of them; of equal ones that
 * behind the lowest port.
 */
#pragma once

#include "mcast/prices.h"

struct fab_cheap_tree; /* room for one tree */

struct fab_cheap_tree *fab_cheap_tree_new(const struct fab_mcast_problem *problem);
void fab_cheap_tree_free(struct fab_cheap_tree *tree);

/*
 * The tree of the switches sw[n] of a group from `root` at these prices: n_edges() edges,
 * edge i hangs sw()[i] on its parent by cable()[i]. Returns what its cables cost. Stops
 * when it costs `limit` or more, then the edges are not all there. O(edges * cables of a
 * switch).
 */
double fab_cheap_tree_grow(struct fab_cheap_tree *tree, const struct fab_prices *prices,
			   const uint32_t *sw, uint32_t n, uint32_t root, double limit);
uint32_t fab_cheap_tree_n_edges(const struct fab_cheap_tree *tree);
const uint32_t *fab_cheap_tree_sw(const struct fab_cheap_tree *tree);
const uint32_t *fab_cheap_tree_cable(const struct fab_cheap_tree *tree);
/* Cables that were looked at for it. O(1). */
uint64_t fab_cheap_tree_steps(const struct fab_cheap_tree *tree);
