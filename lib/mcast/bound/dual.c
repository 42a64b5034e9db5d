/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dual ascent for each group (fab_mcast_dual_bound()); the same over cables within reach
 * of minimal height; and the same with weights of the kinds of cables, of which those
 * that all groups need most count for more: the weights are searched for kind by kind, by
 * dual ascent for some of the groups.
 */
#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "fabric/shape.h"
#include "mcast/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cables looked at for a group at most, and how many times its share of them it may have,
 * for most groups need less. */
static const uint64_t STEPS_MOST = 50000000, SHARES = 4;

/* Steps between two questions whether it is over. */
static const uint64_t LOOK = 1000000;

/*
 * The cables that a tree of minimal height can use at all: those with one end so near to
 * a candidate for the root, and the other so near to a member, that a member below them
 * is no deeper than that height.
 */
struct reach {
	struct fab_roots_one *one;
	uint32_t n;
	uint8_t *to_root, *to_member; /* [n] hops to the nearest one */
	unsigned height;
};

/* One group at a time. */
struct ascent {
	const struct fab_mcast_problem *p;
	const uint32_t *weight; /* [n_switch_links]; NULL: 1 each */
	struct reach reach;	/* of the group at hand; none: all cables count */
	/* [arcs] used so far, towards the switch that the arc is of */
	uint32_t *used;
	FAB_VEC(uint32_t) touched; /* arcs that are used */
	uint32_t search;
	uint32_t *seen; /* [n_switches] == search: in the set */
	uint32_t *set;	/* [n_switches] */
	uint32_t n_set;
	uint64_t steps, total;
	bool is_limited; /* the steps were too few for some group */
	FAB_VEC(uint32_t) turn;
};

static void lower(uint8_t *hops, const uint8_t *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		hops[i] = row[i] < hops[i] ? row[i] : hops[i];
}

static void reach_set(struct reach *r, const uint32_t *sw, uint32_t n)
{
	const struct fab_dist *dist = r->one->dist;

	r->height = fab_roots_one_find(r->one, sw, n);
	memset(r->to_root, FAB_HOPS_UNREACHABLE, r->n);
	memset(r->to_member, FAB_HOPS_UNREACHABLE, r->n);
	for (size_t w = 0; w < r->one->words; w++)
		for (uint64_t left = r->one->bits[w]; left; left &= left - 1) {
			uint32_t root =
				(uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);

			lower(r->to_root, fab_dist_row(dist, root), r->n);
		}
	for (uint32_t i = 0; i < n; i++)
		lower(r->to_member, fab_dist_row(dist, sw[i]), r->n);
}

static uint32_t left_of(const struct ascent *x, uint32_t arc)
{
	return (x->weight ? x->weight[x->p->f->arc_cable[arc]] : 1) - x->used[arc];
}

/* Is there an arc into the set from this switch to that one? */
static bool leads_in(const struct ascent *x, uint32_t from, uint32_t to)
{
	return x->seen[from] != x->search &&
	       (!x->reach.one || (x->reach.to_root[from] + 1u + x->reach.to_member[to] <=
					  x->reach.height ||
				  x->reach.to_root[to] + 1u + x->reach.to_member[from] <=
					  x->reach.height));
}

/* A member: how large its set was when it was last looked at. */
struct member {
	uint32_t sw, size;
	bool is_done;
};

/* The switches from which arcs that are all used lead to `sw`; false: the root is one of
 * them. */
static bool find_set(struct ascent *x, uint32_t sw, uint32_t root)
{
	const struct fab_fabric *f = x->p->f;

	x->search++;
	x->n_set = 0;
	x->set[x->n_set++] = sw;
	x->seen[sw] = x->search;
	for (uint32_t i = 0; i < x->n_set; i++) {
		uint32_t s = x->set[i];

		x->steps += f->arc_first[s + 1] - f->arc_first[s];
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
			uint32_t peer = f->arc_peer[a];

			if (!leads_in(x, peer, s) || left_of(x, a))
				continue;
			if (peer == root)
				return false;
			x->seen[peer] = x->search;
			x->set[x->n_set++] = peer;
		}
	}
	return true;
}

/* Use so much of all arcs into the set: used[a] is that of the arc that ends where `a`
 * begins. */
static void use_cut(struct ascent *x, uint32_t much)
{
	const struct fab_fabric *f = x->p->f;

	for (uint32_t i = 0; i < x->n_set; i++) {
		uint32_t s = x->set[i];

		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
			if (!leads_in(x, f->arc_peer[a], s))
				continue;
			if (!x->used[a])
				FAB_PUSH(&x->touched, a);
			x->used[a] += much;
		}
	}
	x->total += much;
}

/* The member whose set is smallest, FAB_NONE when all are done. */
static uint32_t smallest(const struct member *m, uint32_t n)
{
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < n; i++)
		if (!m[i].is_done && (best == FAB_NONE || m[i].size < m[best].size))
			best = i;
	return best;
}

static void ascend(struct ascent *x, uint32_t group, uint64_t steps,
		   const struct fab_bound_work *work)
{
	uint64_t look = LOOK;

	const struct fab_groups *g = x->p->groups;
	const uint32_t *sw = g->sw + g->sw_first[group];
	uint32_t n = fab_group_n_switches(g, group) - 1, at;
	struct member *m = FAB_NEW((size_t)n + 1, struct member);

	x->steps = x->total = 0;
	x->turn.n = 0;
	for (size_t i = 0; i < x->touched.n; i++)
		x->used[x->touched.v[i]] = 0;
	x->touched.n = 0;
	if (x->reach.one)
		reach_set(&x->reach, sw, n + 1);
	for (uint32_t i = 0; i < n; i++)
		m[i] = (struct member){sw[i + 1], 1, false};
	while (x->steps <= steps && (at = smallest(m, n)) != FAB_NONE) {
		uint32_t size = m[at].size, much;

		if (x->steps > look) {
			look += LOOK;
			if (fab_bound_is_over(work))
				break;
		}
		m[at].is_done = !find_set(x, m[at].sw, sw[0]);
		m[at].size = x->n_set;
		/* it has grown through those of others: maybe it is not its turn */
		if (m[at].is_done || x->n_set > 2 * size)
			continue;
		/* The least rest of the arcs into the set. */
		const struct fab_fabric *f = x->p->f;
		uint32_t least = UINT32_MAX;

		for (uint32_t i = 0; i < x->n_set; i++) {
			uint32_t s = x->set[i];

			for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
				if (leads_in(x, f->arc_peer[a], s) &&
				    left_of(x, a) < least)
					least = left_of(x, a);
		}
		much = least;
		m[at].is_done = much == UINT32_MAX; /* nothing leads there */
		if (m[at].is_done)
			continue;
		use_cut(x, much);
		FAB_PUSH(&x->turn, m[at].sw);
	}
	x->is_limited |= x->steps > steps;
	free(m);
}

/* Weights of cables (NULL: 1 each), and only cables within reach of minimal height? */
struct ascent_of {
	const uint32_t *weight;
	bool is_low;
};

static void ascent_init(struct ascent *x, const struct fab_mcast_problem *p,
			const struct ascent_of *of)
{
	uint32_t n = p->f->n_switches;

	*x = (struct ascent){.p = p, .weight = of->weight};
	if (of->is_low) {
		x->reach = (struct reach){.one = fab_roots_one_new(p->dist),
					  .n = n,
					  .to_root = FAB_NEW((size_t)n + 1, uint8_t),
					  .to_member = FAB_NEW((size_t)n + 1, uint8_t)};
	}
	x->used = FAB_NEW0((size_t)p->f->arc_first[n] + 1, uint32_t);
	x->seen = FAB_NEW0(n, uint32_t);
	x->set = FAB_NEW(n, uint32_t);
}

/* Result of a group's ascent. */
struct climbed {
	uint64_t total;
	uint32_t *turn, n_turns;
};

/* All cables between two switches together. */
static uint64_t sum_of_weights(const struct fab_fabric *f, const uint32_t *weight)
{
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint64_t sum = 0;

	if (!weight)
		return n_arcs / 2;
	for (uint32_t a = 0; a < n_arcs; a++)
		sum += weight[f->arc_cable[a]];
	return sum / 2;
}

/* The groups that are the first with their switches, whose turn it is: all, or those of
 * a sample. */
struct selection {
	uint32_t *group, n;
};

/* Sets is_cut_short when it was stopped before all were done, and is_limited. */
static void climb(const struct fab_mcast_problem *p, const struct fab_bound_work *work,
		  const struct ascent_of *how, const struct selection *s,
		  struct climbed *of, struct fab_bound *out)
{
	int n_workers = fab_threads_for(work->n_threads, (uint64_t)s->n * 16000);
	uint64_t steps = SHARES * work->steps / (s->n ? s->n : 1);
	bool is_over = false, is_limited = false;

#pragma omp parallel num_threads(n_workers) reduction(|| : is_limited)
	{
		struct ascent x;

		ascent_init(&x, p, how);
#pragma omp for schedule(dynamic, 1)
		for (uint32_t i = 0; i < s->n; i++) {
			struct climbed *c = &of[s->group[i]];

			fab_progress_report("dual bound", "groups", i, s->n);
			if (fab_bound_is_over(work)) {
#pragma omp atomic write
				is_over = true;
				continue;
			}
			ascend(&x, s->group[i], steps < STEPS_MOST ? steps : STEPS_MOST,
			       work);
			c->total = x.total;
			c->n_turns = (uint32_t)x.turn.n;
			c->turn = FAB_NEW(x.turn.n + 1, uint32_t);
			if (x.turn.n)
				memcpy(c->turn, x.turn.v, x.turn.n * sizeof(*x.turn.v));
		}
		is_limited = is_limited || x.is_limited;
		free(x.used);
		free(x.seen);
		free(x.set);
		free(x.turn.v);
		free(x.touched.v);
		fab_roots_one_free(x.reach.one);
		free(x.reach.to_root);
		free(x.reach.to_member);
	}
	fab_threads_rest(n_workers);
	out->is_cut_short = is_over;
	out->is_limited = is_limited;
}

/* The ascents of all groups; `out` has the kind and the weights. */
static void find(const struct fab_mcast_problem *problem,
		 const struct fab_bound_work *work, struct fab_bound *out)
{
	const struct fab_groups *g = problem->groups;
	const struct ascent_of how = {out->weight, out->kind == FAB_BOUND_REACH};
	struct selection all = {.group = FAB_NEW((size_t)g->n + 1, uint32_t)};
	struct climbed *of = FAB_NEW0((size_t)g->n + 1, struct climbed);
	uint64_t total = 0, n = 0, sum = sum_of_weights(problem->f, out->weight);

	for (uint32_t i = 0; i < g->n; i++)
		if (g->same_as[i] == i)
			all.group[all.n++] = i;
	climb(problem, work, &how, &all, of, out);
	/* turns group by group; those of groups with equal switches are equal */
	out->first = FAB_NEW((size_t)g->n + 1, uint64_t);
	for (uint32_t i = 0; i < g->n; i++) {
		out->first[i] = n;
		n += of[g->same_as[i]].n_turns;
	}
	out->first[g->n] = n;
	out->turn = FAB_NEW(n + 1, uint32_t);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct climbed *c = &of[g->same_as[i]];

		if (c->n_turns)
			memcpy(out->turn + out->first[i], c->turn,
			       c->n_turns * sizeof(*c->turn));
	}
	for (uint32_t i = 0; i < g->n; i++)
		total += of[g->same_as[i]].total;
	out->value = sum ? (uint32_t)((total + sum - 1) / sum) : 0;
	for (uint32_t i = 0; i < g->n; i++)
		free(of[i].turn);
	free(of);
	free(all.group);
}

void fab_mcast_dual_bound_of(const struct fab_mcast_problem *problem,
			     const struct fab_bound_work *work, uint32_t *weight,
			     struct fab_bound *out)
{
	*out = (struct fab_bound){.kind = weight ? FAB_BOUND_WEIGHTED : FAB_BOUND_DUAL,
				  .weight = weight};
	find(problem, work, out);
}

void fab_mcast_dual_bound(const struct fab_mcast_problem *problem,
			  const struct fab_bound_work *work, struct fab_bound *out)
{
	fab_mcast_dual_bound_of(problem, work, NULL, out);
}

void fab_mcast_reach_bound(const struct fab_mcast_problem *problem,
			   const struct fab_bound_work *work, struct fab_bound *out)
{
	*out = (struct fab_bound){.kind = FAB_BOUND_REACH};
	find(problem, work, out);
}

static double estimate(const struct fab_mcast_problem *problem,
		       const struct fab_bound_work *work, const uint32_t *weight,
		       const uint32_t *group, uint32_t n)
{
	const struct fab_groups *g = problem->groups;
	struct climbed *of = FAB_NEW0((size_t)g->n + 1, struct climbed);
	struct selection some = {.group = FAB_NEW((size_t)n + 1, uint32_t)};
	uint64_t total = 0, sum = sum_of_weights(problem->f, weight);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = g->same_as[group[i]];

		if (of[first].n_turns++ == 0) /* once each, as a mark until then */
			some.group[some.n++] = first;
	}
	climb(problem, work, &(struct ascent_of){.weight = weight}, &some, of,
	      &(struct fab_bound){0});
	for (uint32_t i = 0; i < n; i++)
		total += of[g->same_as[group[i]]].total;
	for (uint32_t i = 0; i < some.n; i++)
		free(of[some.group[i]].turn);
	free(of);
	free(some.group);
	return sum && n ? (double)total / (double)sum * g->n / n : 0;
}

/*
 * Cables of one kind that all groups need most decide: those count for more. Which
 * weights, is searched for kind by kind, by dual ascent for some of the groups.
 */

/* Weights begin with FIRST and are at most LARGEST; groups that estimates go by; and of
 * the steps one in SHARE for each estimate. */
enum { FIRST = 8, LARGEST = 512, SAMPLE = 32, SHARE = 24 };

struct weight_search {
	const struct fab_mcast_problem *p;
	struct fab_bound_work work; /* of an estimate */
	uint8_t *kind;		    /* [n_switch_links] */
	uint32_t n_kinds;
	uint32_t by_kind[FAB_SHAPE_DIMS_MAX], best[FAB_SHAPE_DIMS_MAX];
	double value; /* of the best */
	uint32_t *weight;
	uint32_t sample[SAMPLE], n_sample;
};

/* The dimension in which two switches differ. */
static uint8_t dimension_of(const struct fab_shape *shape, uint32_t a, uint32_t b)
{
	uint8_t dim = 0;

	while (dim + 1u < shape->n_dims && shape->coords[a * shape->n_dims + dim] ==
						   shape->coords[b * shape->n_dims + dim])
		dim++;
	return dim;
}

static void set_weights(struct weight_search *x, const uint32_t *by_kind)
{
	for (uint32_t c = 0; c < x->p->f->n_switch_links; c++)
		x->weight[c] = by_kind[x->kind[c]];
}

/* Is it better to give one kind another weight? */
static bool try_weight(struct weight_search *x, uint32_t kind, uint32_t weight)
{
	double value;

	if (weight > LARGEST || weight == x->best[kind])
		return false;
	memcpy(x->by_kind, x->best, sizeof(x->best));
	x->by_kind[kind] = weight;
	set_weights(x, x->by_kind);
	value = estimate(x->p, &x->work, x->weight, x->sample, x->n_sample);
	if (!(value > x->value))
		return false;
	x->value = value;
	memcpy(x->best, x->by_kind, sizeof(x->best));
	return true;
}

/* By factors of four while one helps, then of two. */
static void search_weights(struct weight_search *x)
{
	for (uint32_t factor = 4; factor > 1; factor /= 2) {
		bool helps = true;

		while (helps && !fab_bound_is_over(&x->work)) {
			helps = false;
			for (uint32_t k = 0; k < x->n_kinds; k++)
				helps |= try_weight(x, k, x->best[k] / factor) ||
					 try_weight(x, k, x->best[k] * factor);
		}
	}
}

void fab_mcast_weighted_bound(const struct fab_mcast_problem *problem,
			      const struct fab_bound_work *work, uint32_t least,
			      struct fab_bound *out)
{
	uint32_t n = problem->groups->n, n_cables = problem->f->n_switch_links;
	struct fab_shape *own_shape;
	struct weight_search x = {.p = problem,
				  .work = *work,
				  .kind = FAB_NEW0((size_t)n_cables + 1, uint8_t),
				  .weight = FAB_NEW0((size_t)n_cables + 1, uint32_t)};

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
	x.work.steps = work->steps / SHARE;
	const struct fab_shape *shape = fab_mcast_shape(problem, &own_shape);
	const struct fab_fabric *f = x.p->f;
	bool is_grid = shape->kind == FAB_SHAPE_TORUS || shape->kind == FAB_SHAPE_MESH ||
		       shape->kind == FAB_SHAPE_HYPERX;

	x.n_kinds = is_grid ? shape->n_dims : shape->group ? 2 : 1;
	for (uint32_t c = 0; c < f->n_switch_links && x.n_kinds > 1; c++) {
		uint32_t a = f->port_node[f->cable_a[c]];
		uint32_t b = f->port_node[f->cable_b[c]];

		x.kind[c] = is_grid ? dimension_of(shape, a, b)
				    : shape->group[a] != shape->group[b];
	}
	fab_shape_free(own_shape);
	for (uint32_t i = 0; i < SAMPLE && i < n; i++)
		x.sample[x.n_sample++] =
			(uint32_t)((uint64_t)i * n / (n < SAMPLE ? n : SAMPLE));
	for (uint32_t k = 0; k < x.n_kinds; k++)
		x.best[k] = FIRST;
	if (x.n_kinds > 1)
		search_weights(&x);
	if (ceil(x.value) > least) {
		set_weights(&x, x.best);
		fab_mcast_dual_bound_of(problem, work, x.weight, out);
		x.weight = NULL;
	}
	free(x.weight);
	free(x.kind);
}
