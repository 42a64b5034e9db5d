/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FULB-MC with a rule against two global cables (Chen et al. 2022: on a dragonfly paths
 * of fewest hops through a third group crowd out others): of the ports with the fewest
 * hops those with the fewest cables between groups ahead, of these the least loaded.
 */
#include "mcast/engines.h"

#include "base/mem.h"
#include "fabric/shape.h"
#include "mcast/ancestors.h"

#include <stdlib.h>

struct scratch {
	const struct fab_shape *shape; /* its groups; none: no dragonfly */
	struct fab_shape *own_shape;
	struct fab_ancestors on_path;
	uint8_t *ahead; /* [n_switches] least global cables to the root */
};

static void *scratch_new(const struct fab_mcast_problem *problem)
{
	struct scratch *x = FAB_NEW0(1, struct scratch);

	x->shape = fab_mcast_shape(problem, &x->own_shape);
	fab_ancestors_init(&x->on_path, problem->f->n_switches);
	x->ahead = FAB_NEW0(problem->f->n_switches, uint8_t);
	return x;
}

static void scratch_free(void *scratch)
{
	struct scratch *x = scratch;

	fab_shape_free(x->own_shape);
	fab_ancestors_fini(&x->on_path);
	free(x->ahead);
	free(x);
}

/* Global cables to the root through a neighbour one hop nearer. */
static unsigned ahead_by(const struct scratch *x, uint32_t sw, uint32_t peer)
{
	const uint32_t *group = x->shape->group;

	return x->ahead[peer] + (group && group[sw] != group[peer]);
}

static void count_ahead(struct scratch *x, const struct fab_fabric *f, const uint8_t *row,
			uint32_t sw)
{
	unsigned least = UINT8_MAX;

	for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1]; i++)
		if (row[f->peer[i]] + 1 == row[sw] && ahead_by(x, sw, f->peer[i]) < least)
			least = ahead_by(x, sw, f->peer[i]);
	x->ahead[sw] = (uint8_t)least;
}

/* The least loaded arc on a path with the fewest global cables; lowest port among equals.
 */
static uint32_t idlest_arc(const struct scratch *x, const struct fab_fabric *f,
			   const uint32_t *load, const uint8_t *row, uint32_t sw)
{
	uint32_t best = FAB_NONE;

	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];

		if (row[peer] + 1 == row[sw] && ahead_by(x, sw, peer) == x->ahead[sw] &&
		    (best == FAB_NONE ||
		     load[f->arc_cable[a]] < load[f->arc_cable[best]]))
			best = a;
	}
	return best;
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	struct scratch *x = s->scratch;
	uint32_t root = s->forest.root[group];
	const uint8_t *row = fab_dist_row(s->problem->dist, root);
	unsigned height = s->forest.height[group];

	fab_ancestors_list(&x->on_path, s->problem, group, row, height);
	x->ahead[root] = 0;
	for (uint32_t i = x->on_path.n; i-- > 0;)
		count_ahead(x, f, row, x->on_path.sw[i]);
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			uint32_t arc = idlest_arc(x, f, s->load, row, at);

			fab_mcast_join(s, at, f->arc_cable[arc]);
			at = f->arc_peer[arc];
		}
}

/* Elsewhere its trees are those of fulb. */
static bool is_dragonfly(const struct fab_mcast_problem *problem, int n_threads)
{
	struct fab_shape *own;
	bool has_groups = fab_mcast_shape(problem, &own)->group != NULL;

	(void)n_threads;
	fab_shape_free(own);
	return has_groups;
}

const struct fab_mcast_engine fab_mcast_fulb_local = {
	.name = "fulb-local",
	.summary = "fulb on paths with the fewest cables between dragonfly groups",
	.manual =
		"As `fulb`, but on a dragonfly only by ports on paths of fewest hops "
		"with the fewest cables between groups of switches; elsewhere the same.",
	.root_rule = FAB_ROOT_LEAST_USED,
	.is_rival = is_dragonfly,
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.grow = grow,
};
