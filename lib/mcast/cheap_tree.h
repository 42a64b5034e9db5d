/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of minimal height that avoids full cables: level by level from the farthest
 * members towards the root, each switch hangs on the parent that costs least, where a
 * parent that several switches can share is cheap for each of them; of equal ones that
 * behind the lowest port.
 *
 * A cable costs the more, the nearer its load is to the largest: price[load], which rises
 * by a constant factor a group and by another at the largest load, so that one group more
 * on a fullest cable costs more than any detour.
 */
#pragma once

#include "mcast/engine.h"

struct fab_cheap_tree; /* prices and room for one tree */

struct fab_cheap_tree *fab_cheap_tree_new(const struct fab_mcast_problem *problem);
void fab_cheap_tree_free(struct fab_cheap_tree *tree);

/* Prices for loads of which `max` is the largest. O(max - what it was before). */
void fab_cheap_tree_set_max(struct fab_cheap_tree *tree, uint32_t max);

/*
 * The tree of the switches sw[n] of a group from `root`, over `load` without the group:
 * n_edges() edges, edge i hangs sw()[i] on its parent by cable()[i]. Returns what its
 * cables cost. Stops when it costs `limit` or more, then the edges are not all there.
 * O(edges * cables of a switch).
 */
double fab_cheap_tree_grow(struct fab_cheap_tree *tree, const uint32_t *load,
			   const uint32_t *sw, uint32_t n, uint32_t root, double limit);
/* What such edges cost over `load` without them. O(n). */
double fab_cheap_tree_price(const struct fab_cheap_tree *tree, const uint32_t *load,
			    const uint32_t *cable, uint32_t n);
uint32_t fab_cheap_tree_n_edges(const struct fab_cheap_tree *tree);
const uint32_t *fab_cheap_tree_sw(const struct fab_cheap_tree *tree);
const uint32_t *fab_cheap_tree_cable(const struct fab_cheap_tree *tree);
