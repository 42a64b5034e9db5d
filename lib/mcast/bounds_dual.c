/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/bounds.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

/* One group at a time. */
struct ascent {
	const struct fab_mcast_problem *p;
	uint32_t stamp;
	uint32_t *used; /* [arcs] == stamp: used towards the switch that the arc is of */
	uint32_t search;
	uint32_t *seen; /* [n_switches] == search: in the set */
	uint32_t *set;	/* [n_switches] */
	uint32_t n_set;
	uint64_t steps;
	FAB_VEC(uint32_t) turn;
};

/* A member: how large its set was when it was last looked at. */
struct member {
	uint32_t sw, size;
	bool is_done;
};

/* The switches from which used arcs lead to `sw`; false: the root is one of them. */
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

			if (x->used[a] != x->stamp || x->seen[peer] == x->search)
				continue;
			if (peer == root)
				return false;
			x->seen[peer] = x->search;
			x->set[x->n_set++] = peer;
		}
	}
	return true;
}

/* Use all arcs into the set: used[a] is that of the arc that ends where `a` begins. */
static void use_cut(struct ascent *x)
{
	const struct fab_fabric *f = x->p->f;

	for (uint32_t i = 0; i < x->n_set; i++) {
		uint32_t s = x->set[i];

		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
			if (x->seen[f->arc_peer[a]] != x->search)
				x->used[a] = x->stamp;
	}
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

static void ascend(struct ascent *x, uint32_t group, uint64_t steps)
{
	const struct fab_groups *g = x->p->groups;
	const uint32_t *sw = g->sw + g->sw_first[group];
	uint32_t n = fab_group_n_switches(g, group) - 1, at;
	struct member *m = FAB_NEW((size_t)n + 1, struct member);

	x->stamp++;
	x->steps = 0;
	x->turn.n = 0;
	for (uint32_t i = 0; i < n; i++)
		m[i] = (struct member){sw[i + 1], 1, false};
	while (x->steps <= steps && (at = smallest(m, n)) != FAB_NONE) {
		uint32_t size = m[at].size;

		m[at].is_done = !find_set(x, m[at].sw, sw[0]);
		m[at].size = x->n_set;
		/* it has grown through those of others: maybe it is not its turn */
		if (m[at].is_done || x->n_set > 2 * size)
			continue;
		use_cut(x);
		FAB_PUSH(&x->turn, m[at].sw);
	}
	free(m);
}

static void ascent_init(struct ascent *x, const struct fab_mcast_problem *p)
{
	uint32_t n = p->f->n_switches;

	*x = (struct ascent){.p = p};
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
}

/* Turns of one group after the other; those of groups with equal switches are equal. */
static void collect(const struct fab_groups *g, uint32_t **turns, const uint32_t *n_turns,
		    uint32_t n_cables, struct fab_bound *out)
{
	uint64_t total = 0;

	out->first = FAB_NEW((size_t)g->n + 1, uint64_t);
	for (uint32_t i = 0; i < g->n; i++) {
		out->first[i] = total;
		total += n_turns[g->same_as[i]];
	}
	out->first[g->n] = total;
	out->turn = FAB_NEW(total + 1, uint32_t);
	for (uint32_t i = 0; i < g->n; i++)
		if (n_turns[g->same_as[i]])
			memcpy(out->turn + out->first[i], turns[g->same_as[i]],
			       n_turns[g->same_as[i]] * sizeof(**turns));
	out->kind = FAB_BOUND_DUAL;
	out->value = n_cables ? (uint32_t)((total + n_cables - 1) / n_cables) : 0;
}

void fab_mcast_dual_bound(const struct fab_mcast_problem *problem, uint64_t steps,
			  int n_threads, struct fab_bound *out)
{
	const struct fab_groups *g = problem->groups;
	uint32_t **turns = FAB_NEW0((size_t)g->n + 1, uint32_t *);
	uint32_t *n_turns = FAB_NEW0((size_t)g->n + 1, uint32_t);
	int n_workers = fab_threads_for(n_threads, g->sw_first[g->n] * 1000);

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
#pragma omp parallel num_threads(n_workers)
	{
		struct ascent x;

		ascent_init(&x, problem);
#pragma omp for schedule(dynamic, 1)
		for (uint32_t i = 0; i < g->n; i++) {
			fab_progress_report("dual bound", "groups", i, g->n);
			if (g->same_as[i] != i)
				continue;
			ascend(&x, i, steps);
			n_turns[i] = (uint32_t)x.turn.n;
			turns[i] = FAB_NEW(x.turn.n + 1, uint32_t);
			if (x.turn.n)
				memcpy(turns[i], x.turn.v, x.turn.n * sizeof(*x.turn.v));
		}
		ascent_fini(&x);
	}
	fab_threads_rest(n_workers);
	collect(g, turns, n_turns, problem->f->arc_first[problem->f->n_switches] / 2,
		out);
	for (uint32_t i = 0; i < g->n; i++)
		free(turns[i]);
	free(turns);
	free(n_turns);
}
