/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SSSP-MC (Chen et al. 2022): since hops decide before load, the cheapest path of a
 * switch goes through the cheapest of its neighbours one hop nearer to the root. Only
 * switches that a member can hang below are looked at, each once: others do not change
 * its path.
 */
#include "mcast/engine/state.h"

struct scratch {
	struct fab_mean mean; /* of sssp-mean */
	uint64_t *cost;	      /* [n_switches] least sum of loads on a shortest path */
	uint32_t *parent; /* [n_switches] arc towards the root on such a path; of equal
			     ones the lowest port */
	uint32_t *known;  /* [n_switches] == stamp of the state: both are valid */
};

static void *scratch_new(const struct fab_mcast_problem *problem, struct fab_arena *a)
{
	uint32_t n = problem->f->n_switches;
	struct scratch *x = FAB_ARENA_NEW(a, 1, struct scratch);

	x->mean = *(struct fab_mean *)fab_mean_new(problem, a);
	x->cost = FAB_ARENA_NEW(a, n, uint64_t);
	x->parent = FAB_ARENA_NEW(a, n, uint32_t);
	x->known = FAB_ARENA_NEW0(a, n, uint32_t);
	return x;
}

/* The least cost of a switch, after those of switches nearer to the root: at most as deep
 * as paths are long. */
static uint64_t cost_of(const struct fab_mcast_state *s, const uint8_t *row, uint32_t sw)
{
	const struct fab_fabric *f = s->problem->f;
	struct scratch *x = s->scratch;
	uint64_t best = UINT64_MAX;

	if (x->known[sw] == s->stamp)
		return x->cost[sw];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];
		uint64_t cost;

		if (row[peer] + 1 != row[sw])
			continue;
		cost = cost_of(s, row, peer) + s->load[f->arc_cable[a]];
		if (cost < best) {
			best = cost;
			x->parent[sw] = a;
		}
	}
	x->known[sw] = s->stamp;
	x->cost[sw] = best;
	return best;
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	struct scratch *x = s->scratch;
	uint32_t root = s->forest.root[group];
	const uint8_t *row = fab_dist_row(s->problem->dist, root);

	x->known[root] = s->stamp;
	x->cost[root] = 0;
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++) {
		(void)cost_of(s, row, g->sw[i]);
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			uint32_t arc = x->parent[at];

			fab_mcast_join(s, at, f->arc_cable[arc]);
			at = f->arc_peer[arc];
		}
	}
}

const struct fab_mcast_engine fab_mcast_sssp = {
	.name = "sssp",
	.summary = "first root, shortest paths, least summed load among equal hops",
	.manual =
		"From the candidate that comes first, by the shortest paths with the least sum of loads.",
	.root_rule = FAB_ROOT_FIRST,
	.is_in_all = true,
	.scratch_new = scratch_new,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_sssp_new = {
	.name = "sssp-new",
	.summary = "sssp from the root used least often",
	.manual = "As `sssp`; root: the candidate used least often so far.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_in_all = true,
	.scratch_new = scratch_new,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_sssp_mean = {
	.name = "sssp-mean",
	.summary = "sssp from the root of least mean distance",
	.manual =
		"As `sssp`; root: the candidate with the least mean distance to the members, of equal ones that used least often.",
	.scratch_new = scratch_new,
	.choose_root = fab_mean_choose_root,
	.grow = grow,
};
