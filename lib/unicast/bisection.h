/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a fabric takes permutations at worst, in flows that share a cable: what a cut asks
 * of any routing, and what forwarding tables do.
 */
#pragma once

#include "unicast/routes.h"

struct fab_bisection {
	uint32_t n_ends; /* cabled ports of hosts */
	/*
	 * A cut into halves by leaf switches, the one with the fewest cables of those
	 * that were tried: ends of the smaller half, cables between the halves (0:
	 * nothing joins them), and the first leaf of each. Where every end of a half
	 * sends to the other half, some cable has at least least_flows, whatever the
	 * routing.
	 */
	uint32_t n_half, n_cut, first_leaf[2];
	uint32_t least_flows;
	/*
	 * The most flows of one permutation that the tables put on a direction of a cable
	 * between switches (0: not computed, or no such cable), and its arc. Exact, or
	 * only a permutation that was found.
	 */
	uint32_t most_flows, arc;
	bool is_exact;
};

/*
 * Cuts: leaves by each coordinate of a grid, by the groups of a dragonfly, and by the
 * difference of their distances from two leaves far apart, for eight first ones; cables
 * by maximum flow (Dinic 1970). Permutations: the pairs of ends whose path has the cable,
 * of which those that share no end are counted by matching, for at most 16 cables with
 * the highest bound. Errors of fab_dist_new(). O(cuts * flow * cables
 * + ends * leaves * hops); of more than 2^27 pairs of end and leaf the second is left
 * out.
 */
int fab_bisection_find(const struct fab_routes *routes, int n_threads,
		       struct fab_bisection *out, struct fab_err *err) FAB_MUST_CHECK;
