/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees, heights, loads and distances checked by a second, simpler path. */
#include "base/arena.h"
#include "base/progress.h"
#include "fabric/graph.h"
#include "mcast/route.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Plain searches that check the distance matrix: roots beyond these are not searched. */
enum { MAX_SEARCHES = 64 };

struct check {
	const struct fab_mcast_problem *p;
	const struct fab_mcast_result *r;
	struct fab_err *err;
	struct fab_arena *arena;
	uint32_t *parent; /* [n_switches] in the tree at hand */
	uint32_t *in;	  /* [n_switches] group + 1 whose tree the switch was last in */
	uint32_t *load;	  /* [n_switch_links] */
	double *demand;	  /* [n_switch_links] of the groups on it; NULL without weights */
};

static int wrong(const struct check *c, uint32_t group, const char *what)
{
	return fab_fail(c->err, EPROTO, "algorithm %s: tree of group \"%s\" %s",
			c->r->engine->name, fab_group_name(c->p->groups, group), what);
}

/* Each switch of the tree has one cable to its parent, the root has none. */
static int read_tree(struct check *c, uint32_t group)
{
	const struct fab_fabric *f = c->p->f;
	const struct fab_forest *t = &c->r->forest;
	uint32_t root = t->root[group];

	if (root >= f->n_switches)
		return wrong(c, group, "has no root");
	c->in[root] = group + 1;
	c->parent[root] = root;
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++) {
		uint32_t sw = t->sw[e], cable = t->cable[e];

		if (sw >= f->n_switches || cable >= f->n_switch_links)
			return wrong(c, group,
				     "has an edge that is no cable between switches");
		if (c->in[sw] == group + 1)
			return wrong(c, group, "has a loop: a switch has two parents");
		c->in[sw] = group + 1;
		uint32_t a = f->port_node[f->cable_a[cable]],
			 b = f->port_node[f->cable_b[cable]];
		c->parent[sw] = a == sw ? b : b == sw ? a : FAB_NONE;
		if (c->parent[sw] == FAB_NONE || c->parent[sw] == sw)
			return wrong(c, group, "has a cable that is not at its switch");
		c->load[cable]++;
		if (c->demand)
			c->demand[cable] += c->p->weights->demand[group];
	}
	return 0;
}

/* Hops up from a switch to the root, FAB_NONE when the walk does not end there. */
static uint32_t depth_of(const struct check *c, uint32_t group, uint32_t sw)
{
	uint32_t depth = 0, limit = fab_forest_size(&c->r->forest, group);

	while (c->parent[sw] != sw) {
		sw = c->parent[sw];
		if (c->in[sw] != group + 1 || depth++ == limit)
			return FAB_NONE;
	}
	return depth;
}

static int check_members(const struct check *c, uint32_t group)
{
	const struct fab_groups *g = c->p->groups;
	const struct fab_forest *t = &c->r->forest;
	uint32_t height = 0;

	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		if (depth_of(c, group, t->sw[e]) == FAB_NONE)
			return wrong(c, group,
				     "has a part that is cut off from the root");
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t sw = fab_port_switch(c->p->f, g->member[m]), depth;

		if (sw == FAB_NONE || c->in[sw] != group + 1)
			return wrong(c, group, "does not reach a member");
		depth = depth_of(c, group, sw);
		if (depth > height)
			height = depth;
	}
	if (height != t->height[group])
		return wrong(c, group, "is not as high as stated");
	return 0;
}

FAB_WIDE static void raise(uint8_t *restrict max, const uint8_t *restrict row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		max[i] = row[i] > max[i] ? row[i] : max[i];
}

static int check_distances(const struct check *c)
{
	const struct fab_fabric *f = c->p->f;
	uint32_t *hops = FAB_ARENA_NEW(c->arena, f->n_switches, uint32_t);
	uint32_t *order = FAB_ARENA_NEW(c->arena, f->n_switches, uint32_t);
	const struct fab_graph graph = fab_graph_of_arcs(f);
	uint32_t step = c->r->forest.n / MAX_SEARCHES + 1;
	int rc = 0;

	for (uint32_t g = 0; g < c->r->forest.n && !rc; g += step) {
		const uint8_t *row = fab_dist_row(c->p->dist, c->r->forest.root[g]);

		memset(hops, 0xff, f->n_switches * sizeof(*hops));
		order[0] = c->r->forest.root[g];
		hops[order[0]] = 0;
		(void)fab_graph_search(&graph, NULL, 1, hops, order, NULL);
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (row[s] !=
			    (hops[s] == FAB_NONE ? FAB_HOPS_UNREACHABLE : hops[s]))
				rc = wrong(c, g, "rests on a wrong distance");
	}
	return rc;
}

static int check_trees(struct check *c)
{
	const struct fab_groups *g = c->p->groups;
	uint32_t n = c->p->f->n_switches;
	uint8_t *max = FAB_ARENA_NEW(c->arena, n, uint8_t);
	uint8_t *least_of = FAB_ARENA_NEW(c->arena, g->n, uint8_t);
	int rc = 0;

	for (uint32_t i = 0; i < g->n && !rc; i++) {
		uint8_t least = UINT8_MAX, height = c->r->forest.height[i];

		fab_progress_report("verifying", "groups", i, g->n);
		rc = read_tree(c, i);
		if (!rc)
			rc = check_members(c, i);
		if (rc || c->r->engine->may_be_higher)
			continue;
		/* Hops from a switch to the farthest member at best; the whole row,
		 * without any bound. */
		if (g->same_as[i] == i) {
			memset(max, 0, n);
			for (uint64_t m = g->sw_first[i]; m < g->sw_first[i + 1]; m++)
				raise(max, fab_dist_row(c->p->dist, g->sw[m]), n);
			for (uint32_t s = 0; s < n; s++)
				least = max[s] < least ? max[s] : least;
			least_of[i] = least;
		}
		least = least_of[g->same_as[i]];
		if (height < least || height > least + c->r->height_slack)
			rc = wrong(c, i,
				   c->r->height_slack ? "is higher than it may be"
						      : "is not of minimal height");
	}
	return rc;
}

int fab_mcast_verify(const struct fab_mcast_problem *problem,
		     const struct fab_mcast_result *result, struct fab_err *err)
{
	const struct fab_fabric *f = problem->f;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct check c = {.p = problem,
			  .r = result,
			  .err = err,
			  .arena = &arena,
			  .parent = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t),
			  .in = FAB_ARENA_NEW0(&arena, f->n_switches, uint32_t),
			  .load = FAB_ARENA_NEW0(&arena, f->n_switch_links, uint32_t)};
	int rc = check_distances(&c);

	if (problem->weights)
		c.demand = FAB_ARENA_NEW0(&arena, f->n_switch_links, double);
	if (!rc)
		rc = check_trees(&c);
	/* The loads that are stated against those of the trees. */
	for (uint32_t i = 0; i < f->n_switch_links && !rc; i++)
		if (c.load[i] != result->load[i])
			rc = fab_fail(
				err, EPROTO,
				"algorithm %s: cable %u carries %u trees, %u stated",
				result->engine->name, i, c.load[i], result->load[i]);
	for (uint32_t i = 0; c.demand && i < f->n_switch_links && !rc; i++) {
		double load = c.demand[i] / problem->weights->capacity[i];

		if (fabs(load - result->weighted[i]) > 1e-9 * load + 1e-12)
			rc = fab_fail(err, EPROTO,
				      "algorithm %s: cable %u has the load %g, %g stated",
				      result->engine->name, i, load, result->weighted[i]);
	}
	return rc;
}
