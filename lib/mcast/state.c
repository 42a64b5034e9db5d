/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/state.h"

#include "base/clock.h"
#include "base/mem.h"
#include "mcast/revise.h"

#include <stdlib.h>

/* Sums of loads cost as much as the loads; most rules do not look at them. */
static bool needs_adjacent(const struct fab_mcast_engine *engine)
{
	return engine->root_rule == FAB_ROOT_LEAST_ADJACENT || engine->choose_root ||
	       engine->solve;
}

void fab_mcast_state_init(struct fab_mcast_state *s,
			  const struct fab_mcast_problem *problem,
			  const struct fab_mcast_engine *engine)
{
	const struct fab_fabric *f = problem->f;

	*s = (struct fab_mcast_state){.problem = problem};
	s->load = FAB_NEW0(f->n_switch_links, uint32_t);
	if (problem->weights)
		s->units = FAB_NEW0(f->n_switch_links, uint64_t);
	s->root_use = FAB_NEW0(f->n_switches, uint32_t);
	if (needs_adjacent(engine))
		s->adjacent = FAB_NEW0(f->n_switches, uint32_t);
	s->mark = FAB_NEW0(f->n_switches, uint32_t);
	s->scratch = engine->scratch_new ? engine->scratch_new(problem) : NULL;
	s->scratch_free = engine->scratch_free;
	fab_forest_init(&s->forest, problem->groups->n);
	for (uint32_t i = 0; i < problem->groups->n; i++) {
		s->forest.root[i] = FAB_NONE;
		s->forest.height[i] = 0;
	}
}

void fab_mcast_state_fini(struct fab_mcast_state *s)
{
	free(s->load);
	free(s->units);
	free(s->root_use);
	free(s->adjacent);
	free(s->mark);
	if (s->scratch_free)
		s->scratch_free(s->scratch);
	else
		free(s->scratch);
	fab_forest_fini(&s->forest);
}

const uint32_t *fab_mcast_root_value(const struct fab_mcast_state *s,
				     enum fab_root_rule rule)
{
	switch (rule) {
	case FAB_ROOT_LEAST_USED:
		return s->root_use;
	case FAB_ROOT_LEAST_ADJACENT:
		return s->adjacent;
	case FAB_ROOT_FIRST:
		break;
	}
	return NULL;
}

static uint64_t units_of(const struct fab_mcast_state *s, uint32_t group)
{
	return s->units ? s->problem->weights->units[group] : 0;
}

void fab_mcast_state_count(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			   const uint32_t *cable, uint64_t n_edges)
{
	const struct fab_fabric *f = s->problem->f;
	uint64_t units = units_of(s, group);

	s->root_use[root]++;
	for (uint64_t e = 0; e < n_edges; e++) {
		uint32_t c = cable[e];

		s->load[c]++;
		if (s->adjacent) {
			s->adjacent[f->port_node[f->cable_a[c]]]++;
			s->adjacent[f->port_node[f->cable_b[c]]]++;
		}
		if (s->units)
			s->units[c] += units;
	}
}

/* Hops from the root to the farthest member's switch. */
static uint8_t height_of(const struct fab_mcast_problem *p, uint32_t group, uint32_t root)
{
	const uint8_t *row = fab_dist_row(p->dist, root);
	uint8_t height = 0;

	for (uint64_t i = p->groups->sw_first[group]; i < p->groups->sw_first[group + 1];
	     i++)
		if (row[p->groups->sw[i]] > height)
			height = row[p->groups->sw[i]];
	return height;
}

void fab_mcast_state_grow(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, uint32_t group, uint32_t root)
{
	uint64_t first = s->n_edges;

	s->forest.root[group] = root;
	s->forest.height[group] = engine->may_be_higher
					  ? height_of(s->problem, group, root)
					  : fab_roots_radius(roots, group);
	s->forest.first[group] = first;
	fab_forest_reserve(&s->forest, first, s->problem->f->n_switches);
	s->mark[root] = ++s->stamp;
	engine->grow(s, group);
	s->forest.first[group + 1] = s->n_edges;
	fab_mcast_state_count(s, group, root, s->forest.cable + first,
			      s->n_edges - first);
}

void fab_mcast_state_drop(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			  const uint32_t *cable, uint64_t n_edges)
{
	const struct fab_fabric *f = s->problem->f;
	uint64_t units = units_of(s, group);

	s->root_use[root]--;
	for (uint64_t e = 0; e < n_edges; e++) {
		uint32_t c = cable[e];

		s->load[c]--;
		if (s->adjacent) {
			s->adjacent[f->port_node[f->cable_a[c]]]--;
			s->adjacent[f->port_node[f->cable_b[c]]]--;
		}
		if (s->units)
			s->units[c] -= units;
	}
}

uint32_t fab_mcast_max_load(const struct fab_mcast_state *s)
{
	uint32_t max = 0;

	for (uint32_t c = 0; c < s->problem->f->n_switch_links; c++)
		max = s->load[c] > max ? s->load[c] : max;
	return max;
}

double fab_mcast_max_level(const struct fab_mcast_state *s)
{
	double max = 0;

	for (uint32_t c = 0; c < s->problem->f->n_switch_links; c++)
		max = fab_mcast_level(s, c) > max ? fab_mcast_level(s, c) : max;
	return max;
}

void fab_mcast_state_start(struct fab_mcast_state *s, const struct fab_forest *t)
{
	struct fab_revision r = fab_revision_begin(s);

	for (uint32_t g = 0; g < t->n; g++) {
		fab_revision_take_out(&r, g);
		fab_revision_put(&r, g, t->root[g], t->height[g], fab_forest_size(t, g),
				 t->sw + t->first[g], t->cable + t->first[g]);
	}
	fab_revision_end(&r);
}

void fab_mcast_state_copy_trees(struct fab_mcast_state *s, struct fab_forest *out)
{
	struct fab_revision r = fab_revision_begin(s);

	fab_revision_copy(&r, out);
	fab_revision_end(&r);
}

bool fab_mcast_is_over(const struct fab_mcast_options *o)
{
	return (o->until > 0 && fab_now() > o->until) ||
	       (o->is_over && o->is_over(o->is_over_context));
}

double fab_mcast_bound_of(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_options *options)
{
	return problem->weights ? options->load_bound : options->bound;
}

static uint32_t *sum_adjacent(const struct fab_mcast_state *s)
{
	const struct fab_fabric *f = s->problem->f;
	uint32_t *sum = FAB_NEW0(f->n_switches, uint32_t);

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		sum[f->port_node[f->cable_a[c]]] += s->load[c];
		sum[f->port_node[f->cable_b[c]]] += s->load[c];
	}
	return sum;
}

void fab_mcast_state_take(struct fab_mcast_state *s, struct fab_mcast_state *other)
{
	struct fab_mcast_state old = *s;

	if (s->adjacent && !other->adjacent)
		other->adjacent = sum_adjacent(other);

	s->load = other->load;
	s->units = other->units;
	s->root_use = other->root_use;
	s->adjacent = other->adjacent;
	s->forest = other->forest;
	s->n_edges = other->n_edges;
	other->load = old.load;
	other->units = old.units;
	other->root_use = old.root_use;
	other->adjacent = old.adjacent;
	other->forest = old.forest;
	other->n_edges = old.n_edges;
}
