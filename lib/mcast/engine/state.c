/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, uses and trees between two groups, forests, and revisions of trees. */
#include "mcast/engine/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"

const struct fab_shape *fab_mcast_shape(const struct fab_mcast_problem *problem,
					struct fab_shape **own)
{
	*own = problem->shape ? NULL : fab_shape_recognize(problem->f);
	return problem->shape ? problem->shape : *own;
}

void fab_forest_init(struct fab_forest *forest, uint32_t n)
{
	*forest = (struct fab_forest){.n = n};
	forest->root = fab_none_new(n);
	forest->height = FAB_NEW0(n, uint8_t);
	forest->first = FAB_NEW0((size_t)n + 1, uint64_t);
	/* lists that exist: trees without a cable point into them, too */
	fab_forest_reserve(forest, 0, 1);
}

void fab_forest_fini(struct fab_forest *forest)
{
	FAB_FREE_ALL(forest->root, forest->height, forest->first, forest->sw,
		     forest->cable);
	*forest = (struct fab_forest){0};
}

void fab_forest_reserve(struct fab_forest *forest, uint64_t at, uint64_t more)
{
	if (at + more <= forest->cap)
		return;
	forest->cap = fab_grow(forest->cap, at + more);
	forest->sw = fab_realloc(forest->sw, forest->cap, sizeof(*forest->sw));
	forest->cable = fab_realloc(forest->cable, forest->cap, sizeof(*forest->cable));
}

void fab_mcast_state_init(struct fab_mcast_state *s,
			  const struct fab_mcast_problem *problem,
			  const struct fab_mcast_engine *engine)
{
	const struct fab_fabric *f = problem->f;
	struct fab_arena *a = &s->arena;
	size_t padded = FAB_ROOTS_PADDED(f->n_switches);

	*s = (struct fab_mcast_state){.problem = problem};
	s->load = FAB_ARENA_NEW0(a, f->n_switch_links, uint32_t);
	if (problem->weights)
		s->units = FAB_ARENA_NEW0(a, f->n_switch_links, uint64_t);
	s->root_use = FAB_ARENA_NEW0(a, padded, uint32_t);
	/* sums of loads cost as much as the loads; most rules do not use them */
	if (engine->root_rule == FAB_ROOT_LEAST_ADJACENT || engine->choose_root ||
	    engine->solve)
		s->adjacent = FAB_ARENA_NEW0(a, padded, uint32_t);
	s->mark = FAB_ARENA_NEW0(a, f->n_switches, uint32_t);
	s->scratch = engine->scratch_new ? engine->scratch_new(problem, a) : NULL;
	fab_forest_init(&s->forest, problem->groups->n);
}

void fab_mcast_state_fini(struct fab_mcast_state *s)
{
	fab_forest_fini(&s->forest);
	fab_arena_free(&s->arena);
}

void fab_mcast_state_count(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			   const uint32_t *cable, uint64_t n_edges, int sign)
{
	const struct fab_fabric *f = s->problem->f;
	uint64_t units = s->units ? s->problem->weights->units[group] : 0;
	uint32_t more = (uint32_t)sign;

	s->root_use[root] += more;
	for (uint64_t e = 0; e < n_edges; e++) {
		uint32_t c = cable[e];

		s->load[c] += more;
		if (s->adjacent) {
			s->adjacent[f->port_node[f->cable_a[c]]] += more;
			s->adjacent[f->port_node[f->cable_b[c]]] += more;
		}
		if (s->units)
			s->units[c] += sign == 1 ? units : -units;
	}
}

uint32_t fab_mcast_choose_root(struct fab_mcast_state *s,
			       const struct fab_mcast_engine *engine,
			       const struct fab_roots *roots, enum fab_root_ties ties,
			       uint32_t group)
{
	const uint32_t *value = engine->root_rule == FAB_ROOT_LEAST_USED ? s->root_use
				: engine->root_rule == FAB_ROOT_LEAST_ADJACENT
					? s->adjacent
					: NULL;

	s->ties = ties;
	if (engine->choose_root)
		return engine->choose_root(s, roots, group);
	return fab_root_choose(fab_roots_bits(roots, group), roots->words, ties, value);
}

/*
 * Roots of least mean distance (Chen et al. 2022 describe roots by the largest and by the
 * mean one): of the candidates those with the least mean distance to the members, of
 * these the one used least often.
 */

/* Rows of distances are added whole where one switch in DENSE is a candidate. */
enum { DENSE = 32 };

void *fab_mean_new(const struct fab_mcast_problem *problem, struct fab_arena *a)
{
	struct fab_mean *x = FAB_ARENA_NEW(a, 1, struct fab_mean);
	size_t stride = fab_dist_stride(problem->dist);

	x->nearest = FAB_ARENA_NEW(a, stride / 64, uint64_t);
	x->sw = FAB_ARENA_NEW(a, problem->f->n_switches, uint32_t);
	x->sum = FAB_ARENA_NEW(a, stride, uint32_t);
	x->n_members = FAB_ARENA_NEW(a, problem->f->n_switches, uint32_t);
	return x;
}

FAB_WIDE static void add_row(uint32_t *restrict sum, const uint8_t *restrict row,
			     size_t n, uint32_t times)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += row[i] * times;
}

uint32_t fab_mean_choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			      uint32_t group)
{
	struct fab_mean *x = s->scratch;
	const uint64_t *bits = fab_roots_bits(roots, group);
	const struct fab_groups *g = s->problem->groups;
	size_t stride = fab_dist_stride(s->problem->dist);
	uint32_t n, least = UINT32_MAX;
	bool is_dense;

	n = fab_roots_list(bits, roots->words, x->sw);
	/* Hops from each of n candidates to all members of the group together. */
	is_dense = n > stride / DENSE;
	if (is_dense)
		memset(x->sum, 0, stride * sizeof(*x->sum));
	for (uint32_t i = 0; i < n && !is_dense; i++)
		x->sum[x->sw[i]] = 0;
	for (uint64_t m = g->sw_first[group]; m < g->sw_first[group + 1]; m++)
		x->n_members[g->sw[m]] = 0;
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		x->n_members[fab_port_switch(s->problem->f, g->member[m])]++;
	for (uint64_t m = g->sw_first[group]; m < g->sw_first[group + 1]; m++) {
		const uint8_t *row = fab_dist_row(s->problem->dist, g->sw[m]);
		uint32_t times = x->n_members[g->sw[m]];

		if (is_dense)
			add_row(x->sum, row, stride, times);
		for (uint32_t i = 0; i < n && !is_dense; i++)
			x->sum[x->sw[i]] += row[x->sw[i]] * times;
	}
	for (uint32_t i = 0; i < n; i++)
		least = x->sum[x->sw[i]] < least ? x->sum[x->sw[i]] : least;
	memset(x->nearest, 0, roots->words * sizeof(*x->nearest));
	for (uint32_t i = 0; i < n; i++)
		if (x->sum[x->sw[i]] == least)
			x->nearest[x->sw[i] / 64] |= (uint64_t)1 << x->sw[i] % 64;
	return fab_root_choose(x->nearest, roots->words, s->ties, s->root_use);
}

void fab_mcast_state_grow(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, uint32_t group, uint32_t root)
{
	const struct fab_mcast_problem *p = s->problem;
	uint64_t first = s->n_edges;
	uint8_t height = fab_roots_radius(roots, group);

	if (engine->may_be_higher) {
		const uint8_t *row = fab_dist_row(p->dist, root);

		for (uint64_t i = p->groups->sw_first[group];
		     i < p->groups->sw_first[group + 1]; i++)
			if (row[p->groups->sw[i]] > height)
				height = row[p->groups->sw[i]];
	}
	s->forest.root[group] = root;
	s->forest.height[group] = height;
	s->forest.first[group] = first;
	fab_forest_reserve(&s->forest, first, p->f->n_switches);
	s->mark[root] = ++s->stamp;
	engine->grow(s, group);
	s->forest.first[group + 1] = s->n_edges;
	fab_mcast_state_count(s, group, root, s->forest.cable + first, s->n_edges - first,
			      1);
}

double fab_mcast_max_level(const struct fab_mcast_state *s)
{
	double max = 0;

	for (uint32_t c = 0; c < s->problem->f->n_switch_links; c++)
		max = fab_mcast_level(s, c) > max ? fab_mcast_level(s, c) : max;
	return max;
}

enum fab_mcast_ended fab_mcast_why_over(const struct fab_mcast_options *o)
{
	if (o->is_over && o->is_over(o->is_over_context))
		return FAB_ENDED_STOPPED;
	return o->until > 0 && fab_now() > o->until ? FAB_ENDED_TIME : FAB_ENDED_DONE;
}

double fab_mcast_bound_of(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_options *options)
{
	return problem->weights ? options->load_bound : options->bound;
}

struct fab_revision fab_revision_begin(struct fab_mcast_state *s)
{
	uint32_t n = s->forest.n;
	struct fab_revision r = {.s = s, .n_edges = FAB_NEW0(n, uint32_t)};

	for (uint32_t g = 0; g < n; g++)
		if (s->forest.root[g] != FAB_NONE)
			r.n_edges[g] = fab_forest_size(&s->forest, g);
	return r;
}

void fab_revision_copy(const struct fab_revision *r, struct fab_forest *out)
{
	const struct fab_forest *t = &r->s->forest;
	uint64_t at = 0, total = 0;

	if (!out->n)
		fab_forest_init(out, t->n);
	for (uint32_t g = 0; g < t->n; g++)
		total += r->n_edges[g];
	fab_forest_reserve(out, 0, total);
	for (uint32_t g = 0; g < t->n; g++) {
		uint32_t n = r->n_edges[g];

		out->root[g] = t->root[g];
		out->height[g] = t->height[g];
		out->first[g] = at;
		memcpy(out->sw + at, t->sw + t->first[g], n * sizeof(*out->sw));
		memcpy(out->cable + at, t->cable + t->first[g], n * sizeof(*out->cable));
		at += n;
	}
	out->first[t->n] = at;
}

/* Replace the forest by a copy without the room of replaced trees. */
static void compact(struct fab_revision *r)
{
	struct fab_forest new = {0};

	fab_revision_copy(r, &new);
	fab_forest_fini(&r->s->forest);
	r->s->forest = new;
	r->s->n_edges = new.first[new.n];
}

void fab_revision_tidy(struct fab_revision *r)
{
	uint64_t used = 0;

	for (uint32_t g = 0; g < r->s->forest.n; g++)
		used += r->n_edges[g];
	if (r->s->n_edges > 2 * used)
		compact(r);
}

void fab_revision_end(struct fab_revision *r)
{
	compact(r);
	free(r->n_edges);
	*r = (struct fab_revision){0};
}

void fab_revision_restore(struct fab_revision *r, uint32_t g, const struct fab_forest *t)
{
	fab_revision_take_out(r, g);
	fab_revision_put(r, g, t->root[g], t->height[g], fab_forest_size(t, g),
			 t->sw + t->first[g], t->cable + t->first[g]);
}

void fab_revision_take_out(struct fab_revision *r, uint32_t group)
{
	fab_mcast_state_count(r->s, group, r->s->forest.root[group],
			      fab_revision_cables(r, group), r->n_edges[group], -1);
}

void fab_revision_put_back(struct fab_revision *r, uint32_t group)
{
	fab_mcast_state_count(r->s, group, r->s->forest.root[group],
			      fab_revision_cables(r, group), r->n_edges[group], 1);
}

/* In the place of the old one, or behind all edges if it is larger. */
void fab_revision_put(struct fab_revision *r, uint32_t group, uint32_t root,
		      uint8_t height, uint32_t n, const uint32_t *sw,
		      const uint32_t *cable)
{
	struct fab_mcast_state *s = r->s;
	struct fab_forest *forest = &s->forest;

	if (n > r->n_edges[group]) {
		fab_forest_reserve(forest, s->n_edges, n);
		forest->first[group] = s->n_edges;
		s->n_edges += n;
	}
	r->n_edges[group] = n;
	forest->root[group] = root;
	forest->height[group] = height;
	if (n) {
		memcpy(forest->sw + forest->first[group], sw, n * sizeof(*sw));
		memcpy(forest->cable + forest->first[group], cable, n * sizeof(*cable));
	}
	fab_revision_put_back(r, group);
}

void fab_mcast_state_start(struct fab_mcast_state *s, const struct fab_forest *trees)
{
	struct fab_revision r = fab_revision_begin(s);

	for (uint32_t g = 0; g < trees->n; g++)
		fab_revision_restore(&r, g, trees);
	fab_revision_end(&r);
}

void fab_mcast_state_copy_trees(struct fab_mcast_state *s, struct fab_forest *out)
{
	struct fab_revision r = fab_revision_begin(s);

	fab_revision_copy(&r, out);
	fab_revision_end(&r);
}
