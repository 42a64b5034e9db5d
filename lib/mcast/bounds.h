/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How low can the largest EFI be? Lower bounds that hold for any trees whatever.
 *
 * Cut bound: the groups with members both in a set of switches and outside it all need
 * one of the cables across, so some cable has at least ceil(groups / cables). Counted for
 * every switch alone, for every part that is left when the upper levels of a tree are
 * taken away (pods), for the groups of a dragonfly, and for the slabs between two planes
 * of a torus, mesh or HyperX (fabric/shape.h). Size bound: a tree that touches k of the
 * parts that the switches are divided into has at least k-1 cables between parts; all
 * trees together spread over all such cables.
 */
#pragma once

#include "mcast/engine.h"

/* The largest of the bounds. O(switches + cables + members, times the number of
 * families). */
uint32_t fab_mcast_lower_bound(const struct fab_mcast_problem *problem);

/*
 * A bound for trees of minimal height: at each switch the groups with members there and
 * elsewhere use one of the cables each that minimal height leaves them; the least largest
 * load over all choices, by matching. 0: not tried, with more than 4 million pairs of a
 * group and a member's switch. O(pairs * cables of a switch, and the candidates of each
 * group), more where groups compete for few cables.
 */
uint32_t fab_mcast_height_bound(const struct fab_mcast_problem *problem);

/*
 * Both bounds for one division of the switches into disjoint parts: part[sw] is the part
 * of a switch, below n_parts, or FAB_NONE for none of them. O(arcs + members).
 */
uint32_t fab_mcast_cut_bound(const struct fab_mcast_problem *problem,
			     const uint32_t *part, uint32_t n_parts);
