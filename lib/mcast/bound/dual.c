/* SPDX-License-Identifier: BSD-2-Clause */
/* Dual ascent for each group (fab_mcast_dual_bound()). */
#include "base/arena.h"
#include "base/progress.h"
#include "base/threads.h"
#include "mcast/bounds.h"

#include <stdlib.h>
#include <string.h>

/* Cables looked at for a group at most, and how many times its share of them it may have,
 * for most groups need less. */
static const uint64_t STEPS_MOST = 50000000, SHARES = 4;

/* Steps between two checks of the time. */
static const uint64_t LOOK = 1000000;

/* A member, and how large its set was when it was last looked at. */
struct member {
	uint32_t sw, size;
	bool is_done;
};

/* Room of a thread, for one group at a time. */
struct ascent {
	const struct fab_mcast_problem *p;
	bool *is_used;		   /* [arcs] towards the switch that the arc is of */
	FAB_VEC(uint32_t) touched; /* arcs that are used */
	uint32_t search;
	uint32_t *seen; /* [n_switches] == search: in the set */
	uint32_t *set;	/* [n_switches] */
	uint32_t n_set;
	struct member *member; /* [n_switches] */
	uint64_t steps;
	bool is_limited; /* the steps were too few for some group */
	FAB_VEC(uint32_t) turn;
};

/* Find the switches from which arcs that are all used lead to `sw`; false: the root is
 * one of them. */
static bool find_set(struct ascent *x, uint32_t sw, uint32_t root)
{
	const struct fab_fabric *f = x->p->f;

	x->search++;
	x->n_set = 0;
	x->set[x->n_set++] = sw;
	x->seen[sw] = x->search;
	for (uint32_t i = 0; i < x->n_set; i++) {
		uint32_t s = x->set[i];
		const bool *used = x->is_used + f->arc_first[s];
		const bool *end = x->is_used + f->arc_first[s + 1];

		x->steps += (uint64_t)(end - used);
		/* few arcs are used */
		for (; (used = memchr(used, true, (size_t)(end - used))); used++) {
			uint32_t peer = f->arc_peer[used - x->is_used];

			if (x->seen[peer] == x->search)
				continue;
			if (peer == root)
				return false;
			x->seen[peer] = x->search;
			x->set[x->n_set++] = peer;
		}
	}
	return true;
}

/* Use all arcs into the set: is_used[a] is of the arc that ends where `a` begins. False:
 * there is none. */
static bool use_cut(struct ascent *x)
{
	const struct fab_fabric *f = x->p->f;
	size_t n = x->touched.n;

	for (uint32_t i = 0; i < x->n_set; i++)
		for (uint32_t a = f->arc_first[x->set[i]];
		     a < f->arc_first[x->set[i] + 1]; a++)
			if (x->seen[f->arc_peer[a]] != x->search) {
				x->is_used[a] = true;
				FAB_PUSH(&x->touched, a);
			}
	return x->touched.n > n;
}

/* The turns of a group. */
static void ascend(struct ascent *x, uint32_t group, uint64_t steps,
		   const struct fab_mcast_options *options)
{
	const struct fab_groups *g = x->p->groups;
	const uint32_t *sw = g->sw + g->sw_first[group];
	uint32_t n = fab_group_n_switches(g, group) - 1;
	struct member *m = x->member;
	uint64_t look = LOOK;

	x->steps = 0;
	x->turn.n = 0;
	for (size_t i = 0; i < x->touched.n; i++)
		x->is_used[x->touched.v[i]] = false;
	x->touched.n = 0;
	for (uint32_t i = 0; i < n; i++)
		m[i] = (struct member){sw[i + 1], 1, false};
	while (x->steps <= steps) {
		uint32_t at = FAB_NONE, size;

		/* The member whose set is smallest. */
		for (uint32_t i = 0; i < n; i++)
			if (!m[i].is_done && (at == FAB_NONE || m[i].size < m[at].size))
				at = i;
		if (at == FAB_NONE)
			break;
		if (x->steps > look) {
			look += LOOK;
			if (fab_mcast_is_over(options))
				break;
		}
		size = m[at].size;
		m[at].is_done = !find_set(x, m[at].sw, sw[0]);
		m[at].size = x->n_set;
		/* it has grown through those of others: maybe it is not its turn */
		if (m[at].is_done || x->n_set > 2 * size)
			continue;
		m[at].is_done = !use_cut(x);
		if (!m[at].is_done)
			FAB_PUSH(&x->turn, m[at].sw);
	}
	x->is_limited |= x->steps > steps;
}

void fab_mcast_dual_bound(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_options *options, uint64_t steps,
			  struct fab_bound *out)
{
	const struct fab_groups *g = problem->groups;
	const struct fab_fabric *f = problem->f;
	uint32_t n_arcs = f->arc_first[f->n_switches], n_first = 0;
	int n_workers;
	bool is_over = false, is_limited = false;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	/* of groups that are the first with their switches */
	uint32_t *first = FAB_ARENA_NEW(&arena, g->n, uint32_t);
	uint32_t *n_turns = FAB_ARENA_NEW0(&arena, g->n, uint32_t);
	uint32_t **turns = FAB_ARENA_NEW0(&arena, g->n, uint32_t *);
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (g->same_as[i] == i)
			first[n_first++] = i;
	n_workers = fab_threads_for(options->n_threads, (uint64_t)n_first * 16000);
	steps = SHARES * steps / (n_first ? n_first : 1);
	steps = steps < STEPS_MOST ? steps : STEPS_MOST;
#pragma omp parallel num_threads(n_workers) reduction(|| : is_limited)
	{
		FAB_AUTO(fab_arena_free) struct fab_arena own = FAB_ARENA_INIT;
		struct ascent x = {
			.p = problem,
			.is_used = FAB_ARENA_NEW0(&own, n_arcs, bool),
			.seen = FAB_ARENA_NEW0(&own, f->n_switches, uint32_t),
			.set = FAB_ARENA_NEW(&own, f->n_switches, uint32_t),
			.member = FAB_ARENA_NEW(&own, f->n_switches, struct member)};

#pragma omp for schedule(dynamic, 1)
		for (uint32_t i = 0; i < n_first; i++) {
			uint32_t group = first[i];

			fab_progress_report("dual bound", "groups", i, n_first);
			if (fab_mcast_is_over(options)) {
#pragma omp atomic write
				is_over = true;
				continue;
			}
			ascend(&x, group, steps, options);
			n_turns[group] = (uint32_t)x.turn.n;
			turns[group] = x.turn.v;
			x.turn.v = NULL;
			x.turn.cap = 0;
		}
		is_limited = is_limited || x.is_limited;
		free(x.turn.v);
		free(x.touched.v);
	}
	fab_threads_rest(n_workers);
	*out = (struct fab_bound){.kind = FAB_BOUND_DUAL,
				  .is_cut_short = is_over,
				  .is_limited = is_limited};
	/* turns group by group; those of groups with equal switches are equal */
	out->first = FAB_NEW((size_t)g->n + 1, uint64_t);
	for (uint32_t i = 0; i < g->n; i++) {
		out->first[i] = n;
		n += n_turns[g->same_as[i]];
	}
	out->first[g->n] = n;
	out->turn = FAB_NEW(n, uint32_t);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t same = g->same_as[i];

		if (n_turns[same])
			memcpy(out->turn + out->first[i], turns[same],
			       n_turns[same] * sizeof(**turns));
	}
	for (uint32_t i = 0; i < n_first; i++)
		free(turns[first[i]]);
	out->value = n_arcs > 1 ? (uint32_t)((n + n_arcs / 2 - 1) / (n_arcs / 2)) : 0;
}
