/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MINIHOP-MC (Chen et al. 2022; OpenSM's default): top-down, every member leaves a switch
 * by the lowest-numbered port among those with the fewest hops to it.
 *
 * The path of a member does not depend on the other members, and paths that meet have
 * take the same path: if w lies on the chosen paths of two members, both chose the
 * smallest sequence of ports from the root to w. So walking member by member gives the
 * tree of the recursive definition.
 */
#include "base/order.h"
#include "mcast/engine/state.h"

#include <stdlib.h>
#include <string.h>

/* Paths end max_hops from the root: members beyond stay outside the tree. */
static void walk(struct fab_mcast_state *s, uint32_t group, uint32_t max_hops)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	uint32_t root = s->forest.root[group];

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++) {
		const uint8_t *row = fab_dist_row(s->problem->dist, g->sw[i]);

		for (uint32_t at = root, hops = 0; row[at] && hops < max_hops; hops++) {
			uint32_t arc = f->arc_first[at];

			while (row[f->arc_peer[arc]] + 1 != row[at])
				arc++; /* to the lowest port one hop nearer */
			at = f->arc_peer[arc];
			if (!fab_mcast_is_joined(s, at))
				fab_mcast_join(s, at, f->arc_cable[arc]);
		}
	}
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	walk(s, group, UINT32_MAX);
}

const struct fab_mcast_engine fab_mcast_minihop = {
	.name = "minihop",
	.summary = "first root, lowest port of fewest hops; balances nothing",
	.manual =
		"The root is the candidate that comes first. From it each member is reached by the lowest-numbered port with the fewest hops. Balances nothing.",
	.root_rule = FAB_ROOT_FIRST,
	.is_in_all = true,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_minihop_new = {
	.name = "minihop-new",
	.summary = "minihop from the root used least often",
	.manual = "As `minihop`; root: the candidate used least often so far.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_in_all = true,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_minihop_mean = {
	.name = "minihop-mean",
	.summary = "minihop from the root of least mean distance",
	.manual =
		"As `minihop`; root: the candidate with the least mean distance to the members, of equal ones that used least often.",
	.scratch_new = fab_mean_new,
	.choose_root = fab_mean_choose_root,
	.grow = grow,
};

/*
 * The trees that OpenSM 3.3.23 makes by default (engines minhop, updn, dnup, ftree, lash,
 * dor and file; sssp, dfsssp, nue and torus-2QoS have rules of their own), port for port.
 *
 * Root: the switches are scanned in the order of their GUIDs, which OpenSM keeps in
 * network order and compares as numbers: on the usual little-endian machine that is the
 * order of the byte-reversed GUIDs. A switch costs the largest number of hops to a switch
 * that has members, one more to those that are not members themselves; the first of least
 * cost is the root. Growth is that of minihop. Loads are never looked at. A tree ends
 * MAX_HOPS from its root, and a group of one member has none.
 */

/* OpenSM gives up at depth 64, counting the root as 1. */
enum { MAX_HOPS = 62 };

struct scratch {
	uint32_t *rank;	     /* [n_switches] place in OpenSM's order */
	uint32_t *member_of; /* [n_switches] last group + 1 that it is a member of */
	uint32_t *cost;	     /* [n_switches] */
};

struct keyed {
	uint64_t key;
	uint32_t sw;
};

FAB_ORDER(by_key, struct keyed, key, sw)

static void *scratch_new(const struct fab_mcast_problem *problem, struct fab_arena *a)
{
	const struct fab_fabric *f = problem->f;
	size_t n = f->n_switches;
	struct scratch *x = FAB_ARENA_NEW(a, 1, struct scratch);
	struct keyed *order = FAB_ARENA_NEW(a, n, struct keyed);

	x->rank = FAB_ARENA_NEW(a, n, uint32_t);
	x->member_of = FAB_ARENA_NEW0(a, n, uint32_t);
	x->cost = FAB_ARENA_NEW(a, n, uint32_t);
	for (uint32_t s = 0; s < n; s++)
		order[s] = (struct keyed){__builtin_bswap64(f->node_guid[s]), s};
	qsort(order, n, sizeof(*order), by_key);
	for (uint32_t i = 0; i < n; i++)
		x->rank[order[i].sw] = i;
	return x;
}

static uint32_t choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			    uint32_t group)
{
	const struct fab_groups *g = s->problem->groups;
	uint32_t n = s->problem->f->n_switches, best = 0, n_members = 0;
	struct scratch *x = s->scratch;

	/* Switches that are members themselves. */
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t node = s->problem->f->port_node[g->member[m]];

		if (!fab_node_is_switch(s->problem->f, node))
			continue;
		x->member_of[node] = group + 1;
		n_members++;
	}
	/* The largest cost of a candidate is its radius where all or none are members. */
	if (n_members == 0 || n_members == fab_group_n_switches(g, group)) {
		uint32_t *candidate = x->cost;

		n = fab_roots_list(fab_roots_bits(roots, group), roots->words, candidate);
		best = candidate[0];
		for (uint32_t i = 1; i < n; i++)
			if (x->rank[candidate[i]] < x->rank[best])
				best = candidate[i];
		return best;
	}
	memset(x->cost, 0, n * sizeof(*x->cost));
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++) {
		const uint8_t *row = fab_dist_row(s->problem->dist, g->sw[i]);
		uint32_t last = x->member_of[g->sw[i]] != group + 1;

		for (uint32_t sw = 0; sw < n; sw++) {
			uint32_t hops = row[sw] == FAB_HOPS_UNREACHABLE ? UINT32_MAX
									: row[sw] + last;

			if (hops > x->cost[sw])
				x->cost[sw] = hops;
		}
	}
	for (uint32_t sw = 1; sw < n; sw++)
		if (x->cost[sw] < x->cost[best] ||
		    (x->cost[sw] == x->cost[best] && x->rank[sw] < x->rank[best]))
			best = sw;
	return best;
}

static void grow_opensm(struct fab_mcast_state *s, uint32_t group)
{
	walk(s, group, MAX_HOPS);
}

const struct fab_mcast_engine fab_mcast_opensm = {
	.name = "opensm",
	.summary = "what OpenSM does by default: one root for most groups, lowest port",
	.manual =
		"As OpenSM 3.3.23 does by default, port for port: the trees of its engines minhop, ftree, lash, dor and file, and on trees of switches updn and dnup; dfsssp and sssp make others. The root is the switch with the fewest hops to the farthest switch that has members, one more to a switch that is not a member itself (so that a tree may be higher than need be when switches are members with adapters); among equals the first by GUIDs read backwards byte by byte, as OpenSM compares them on little-endian machines. From it as `minihop`. Members more than 62 hops from the root are cut off, as by OpenSM, which `--verify` finds. That all switches take part in multicast is assumed.",
	.may_be_higher = true,
	.scratch_new = scratch_new,
	.choose_root = choose_root,
	.grow = grow_opensm,
};
