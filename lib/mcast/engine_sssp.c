/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SSSP-MC (Chen et al. 2022), breadth-first form: since hops decide before load, the
 * shortest-path tree is found level by level from the known distances to the root, with
 * no queue: a switch takes the cheapest of its neighbours one level up. Only the switches
 * that a member can hang below are looked at: others do not change its path.
 */
#include "mcast/engines.h"

#include "base/mem.h"
#include "mcast/ancestors.h"
#include "mcast/sssp.h"

#include <stdlib.h>

struct scratch {
	struct fab_sssp sssp;
	struct fab_ancestors on_path;
};

static void *scratch_new(const struct fab_mcast_problem *problem)
{
	uint32_t n = problem->f->n_switches;
	struct scratch *x = FAB_NEW0(1, struct scratch);

	x->sssp.cost = FAB_NEW(n, uint64_t);
	x->sssp.parent = FAB_NEW(n, uint32_t);
	fab_ancestors_init(&x->on_path, n);
	return x;
}

static void scratch_free(void *scratch)
{
	struct scratch *x = scratch;

	free(x->sssp.cost);
	free(x->sssp.parent);
	fab_ancestors_fini(&x->on_path);
	free(x);
}

/* The cheapest path of a switch of the list, from those of switches one hop nearer. */
static void relax(const struct fab_fabric *f, const uint32_t *load, struct scratch *x,
		  uint32_t at)
{
	const struct fab_ancestors *on_path = &x->on_path;
	uint64_t best = UINT64_MAX;
	uint32_t parent = FAB_NONE;

	for (uint32_t i = on_path->arc_first[at]; i < on_path->arc_first[at + 1]; i++) {
		uint32_t a = on_path->arc[i];
		uint64_t cost = x->sssp.cost[f->arc_peer[a]] + load[f->arc_cable[a]];

		parent = cost < best ? a : parent;
		best = cost < best ? cost : best;
	}
	x->sssp.parent[on_path->sw[at]] = parent;
	x->sssp.cost[on_path->sw[at]] = best;
}

void fab_sssp_keep(struct fab_mcast_state *s, uint32_t group, const uint32_t *parent)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			uint32_t arc = parent[at];

			fab_mcast_join(s, at, f->arc_cable[arc]);
			at = f->arc_peer[arc];
		}
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	struct scratch *x = s->scratch;
	uint32_t root = s->forest.root[group];
	const uint8_t *row = fab_dist_row(s->problem->dist, root);
	unsigned height = s->forest.height[group];

	fab_ancestors_list(&x->on_path, s->problem, group, row, height);
	x->sssp.cost[root] = 0;
	for (uint32_t i = x->on_path.n; i-- > 0;)
		relax(f, s->load, x, i);
	fab_sssp_keep(s, group, x->sssp.parent);
}

const struct fab_mcast_engine fab_mcast_sssp = {
	.name = "sssp",
	.summary = "first root, shortest paths, least summed load among equal hops",
	.manual = "The root is the candidate that comes first. Shortest paths "
		  "from it; among paths of equally many hops those with the least "
		  "sum of loads.",
	.root_rule = FAB_ROOT_FIRST,
	.is_in_all = true,
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.grow = grow,
};

const struct fab_mcast_engine fab_mcast_sssp_new = {
	.name = "sssp-new",
	.summary = "sssp from the root used least often",
	.manual = "The same from the candidate that was the root of the fewest "
		  "groups so far.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_in_all = true,
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.grow = grow,
};
