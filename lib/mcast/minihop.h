/* SPDX-License-Identifier: BSD-2-Clause */
/* What the engines of the minihop family share. */
#pragma once

#include "mcast/engine.h"

/*
 * From the root every member by the lowest-numbered port among those with the fewest
 * hops, no farther than max_hops from the root: what lies beyond stays outside the tree.
 * O(sum of the members' distances * ports of a switch).
 */
void fab_minihop_grow(struct fab_mcast_state *state, uint32_t group, uint32_t max_hops);
