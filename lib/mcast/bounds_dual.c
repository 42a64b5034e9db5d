/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/bounds_dual.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "mcast/reach.h"

#include <stdlib.h>
#include <string.h>

/* Cables looked at for a group at most, and how many times its share of them it may have,
 * for most groups need less. */
static const uint64_t STEPS_MOST = 50000000, SHARES = 4;

/* Steps between two questions whether it is over. */
static const uint64_t LOOK = 1000000;

/* One group at a time. */
struct ascent {
	const struct fab_mcast_problem *p;
	const uint32_t *weight; /* [n_switch_links]; NULL: 1 each */
	struct fab_reach reach; /* of the group at hand; none: all cables count */
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

static uint32_t left_of(const struct ascent *x, uint32_t arc)
{
	return (x->weight ? x->weight[x->p->f->arc_cable[arc]] : 1) - x->used[arc];
}

/* Is there an arc into the set from this switch to that one? */
static bool leads_in(const struct ascent *x, uint32_t from, uint32_t to)
{
	return x->seen[from] != x->search &&
	       (!x->reach.one || fab_reach_has(&x->reach, from, to));
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

/* What is left of the arc into the set that has least left. */
static uint32_t least_left(const struct ascent *x)
{
	const struct fab_fabric *f = x->p->f;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < x->n_set; i++) {
		uint32_t s = x->set[i];

		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
			if (leads_in(x, f->arc_peer[a], s) && left_of(x, a) < least)
				least = left_of(x, a);
	}
	return least;
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
		fab_reach_set(&x->reach, sw, n + 1);
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
		much = least_left(x);
		m[at].is_done = much == UINT32_MAX; /* nothing leads there */
		if (m[at].is_done)
			continue;
		use_cut(x, much);
		FAB_PUSH(&x->turn, m[at].sw);
	}
	x->is_limited |= x->steps > steps;
	free(m);
}

/* What counts: cables by weight, NULL: 1 each; those within reach of minimal height. */
struct ascent_of {
	const uint32_t *weight;
	bool is_low;
};

static void ascent_init(struct ascent *x, const struct fab_mcast_problem *p,
			const struct ascent_of *of)
{
	uint32_t n = p->f->n_switches;

	*x = (struct ascent){.p = p, .weight = of->weight};
	if (of->is_low)
		fab_reach_init(&x->reach, p->dist, n);
	x->used = FAB_NEW0((size_t)p->f->arc_first[n] + 1, uint32_t);
	x->seen = FAB_NEW0(n, uint32_t);
	x->set = FAB_NEW(n, uint32_t);
}

static void ascent_fini(struct ascent *x)
{
	free(x->used);
	free(x->seen);
	free(x->set);
	free(x->turn.v);
	free(x->touched.v);
	fab_reach_fini(&x->reach);
}

/* What a group's ascent came to. */
struct climbed {
	uint64_t total;
	uint32_t *turn, n_turns;
};

/* Turns of one group after the other; those of groups with equal switches are equal. */
static void collect(const struct fab_groups *g, const struct climbed *of,
		    struct fab_bound *out)
{
	uint64_t n = 0;

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
}

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

static struct selection select_groups(const struct fab_groups *g)
{
	struct selection s = {.group = FAB_NEW((size_t)g->n + 1, uint32_t)};

	for (uint32_t i = 0; i < g->n; i++)
		if (g->same_as[i] == i)
			s.group[s.n++] = i;
	return s;
}

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
		ascent_fini(&x);
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
	struct selection all = select_groups(g);
	struct climbed *of = FAB_NEW0((size_t)g->n + 1, struct climbed);
	uint64_t total = 0, sum = sum_of_weights(problem->f, out->weight);

	climb(problem, work, &how, &all, of, out);
	collect(g, of, out);
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

double fab_dual_estimate(const struct fab_mcast_problem *problem,
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
