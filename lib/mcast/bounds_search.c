/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/bounds.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* A set of switches that grows. */
struct search {
	const struct fab_mcast_problem *p;
	uint64_t *first; /* [n_switches + 1] into groups */
	uint32_t *group; /* groups with members at each switch */
	uint32_t *part;	 /* [n_switches] 0: in the set, else FAB_NONE */
	uint32_t *held;	 /* [groups] switches of it in the set */
	int64_t split, across;
	uint64_t steps, limit;
	FAB_VEC(uint32_t) border; /* neighbours of the set */
	bool *is_border;	  /* [n_switches] */
};

/* The groups of each switch. */
static void index_groups(struct search *x)
{
	const struct fab_groups *g = x->p->groups;
	uint32_t n = x->p->f->n_switches;

	x->first = FAB_NEW0((size_t)n + 2, uint64_t);
	x->group = FAB_NEW(g->sw_first[g->n] + 1, uint32_t);
	for (uint64_t i = 0; i < g->sw_first[g->n]; i++)
		x->first[g->sw[i] + 2]++;
	for (uint32_t s = 0; s < n; s++)
		x->first[s + 2] += x->first[s + 1];
	for (uint32_t i = 0; i < g->n; i++)
		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++)
			x->group[x->first[g->sw[s] + 1]++] = i;
}

/* How many groups more the set would split with this switch. */
static int64_t split_with(struct search *x, uint32_t sw)
{
	int64_t more = 0;

	x->steps += x->first[sw + 1] - x->first[sw];
	for (uint64_t i = x->first[sw]; i < x->first[sw + 1]; i++) {
		uint32_t g = x->group[i], all = fab_group_n_switches(x->p->groups, g);

		if (all < 2)
			continue;
		more += x->held[g] == 0;
		more -= x->held[g] == all - 1;
	}
	return more;
}

/* How many cables more would be across. */
static int64_t across_with(struct search *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	int64_t more = 0;

	x->steps += f->arc_first[sw + 1] - f->arc_first[sw];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		more += x->part[f->arc_peer[a]] == 0 ? -1 : 1;
	return more;
}

static void add(struct search *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;

	x->split += split_with(x, sw);
	x->across += across_with(x, sw);
	x->part[sw] = 0;
	for (uint64_t i = x->first[sw]; i < x->first[sw + 1]; i++)
		x->held[x->group[i]]++;
	for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1]; i++)
		if (!x->is_border[f->peer[i]]) {
			x->is_border[f->peer[i]] = true;
			FAB_PUSH(&x->border, f->peer[i]);
		}
}

/* The neighbour with which most groups for each cable are split; FAB_NONE: none. */
static uint32_t choose(struct search *x)
{
	uint32_t best = FAB_NONE;
	double most = -1;

	for (size_t i = 0; i < x->border.n && x->steps < x->limit; i++) {
		uint32_t sw = x->border.v[i];
		double ratio;
		int64_t across;

		if (x->part[sw] == 0) {
			x->border.v[i--] = x->border.v[--x->border.n];
			continue;
		}
		across = x->across + across_with(x, sw);
		if (across < 1)
			continue;
		ratio = (double)(x->split + split_with(x, sw)) / (double)across;
		if (ratio > most) {
			most = ratio;
			best = sw;
		}
	}
	return best;
}

static void keep(const struct search *x, struct fab_bound *out)
{
	uint32_t n = x->p->f->n_switches, value;

	if (x->across < 1 || x->split < 1)
		return;
	value = (uint32_t)((x->split + x->across - 1) / x->across);
	if (value <= out->value)
		return;
	out->kind = FAB_BOUND_CUT;
	out->value = value;
	if (!out->part)
		out->part = FAB_NEW(n, uint32_t);
	memcpy(out->part, x->part, n * sizeof(*x->part));
}

/* Grow a set from one switch until it holds half of all. */
static void grow_from(struct search *x, uint32_t sw, struct fab_bound *out)
{
	uint32_t n = x->p->f->n_switches;

	memset(x->part, 0xff, n * sizeof(*x->part));
	memset(x->held, 0, x->p->groups->n * sizeof(*x->held));
	memset(x->is_border, 0, n * sizeof(*x->is_border));
	x->border.n = 0;
	x->split = x->across = 0;
	for (uint32_t size = 1; sw != FAB_NONE && size <= n / 2 + 1; size++) {
		add(x, sw);
		keep(x, out);
		sw = choose(x);
	}
}

void fab_mcast_searched_bound(const struct fab_mcast_problem *problem,
			      const struct fab_bound_work *work, struct fab_bound *out)
{
	uint32_t n = problem->f->n_switches;
	struct search x = {.p = problem, .limit = work->steps};
	bool is_over = false;

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
	index_groups(&x);
	x.part = FAB_NEW(n, uint32_t);
	x.held = FAB_NEW(problem->groups->n + 1, uint32_t);
	x.is_border = FAB_NEW(n, bool);
	/* in an order that is spread over the fabric, for few may have their turn */
	for (uint32_t i = 0; i < n && x.steps < x.limit && !is_over; i++) {
		uint32_t sw = (uint32_t)(((uint64_t)i * 2654435761u) % n);

		fab_progress_report("bound by cuts", "switches", i, n);
		x.steps += n / 8 + problem->groups->n / 4;
		if (x.first[sw] < x.first[sw + 1])
			grow_from(&x, sw, out);
		is_over = fab_bound_is_over(work);
	}
	out->is_cut_short = is_over;
	free(x.first);
	free(x.group);
	free(x.part);
	free(x.held);
	free(x.is_border);
	free(x.border.v);
}
