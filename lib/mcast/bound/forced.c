/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cables that a group cannot avoid (fab_mcast_forced_bound()). In a tree of minimal
 * height from a given root, a member is reached by a path of at most that many hops;
 * walking back from the member, a cable is forced while it is the only one by which
 * the root can be reached in the hops that are left. A group chooses one of its
 * candidates, and with it the cables that are forced. Weights of cables that prove a
 * bound are found by multiplicative weights: groups take their cheapest candidates in
 * turn, and cables that many take become expensive.
 */
#include "base/arena.h"
#include "base/progress.h"
#include "mcast/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Groups of more candidates avoid most cables; cables looked at and forced ones listed at
 * most; and rounds, as many as fit the work of all. */
enum { MAX_ROOTS = 64, STEPS_MOST = 100000000, FORCED_MOST = 8000000 };
enum { ROUNDS_LEAST = 32, ROUNDS_MOST = 1500, ROUNDS_WORK = 60000000 };

/* Growth of the price of a cable with each group on it, and the largest weight. */
static const double RATE = 0.06, LARGEST = 1e6;

/* Tolerance of sums that are rounded up. */
static const double ROUNDING = 1e-9;

struct forced {
	const struct fab_mcast_problem *p;
	FAB_VEC(uint32_t) cable; /* forced, candidate by candidate */
	FAB_VEC(uint64_t) root;	 /* end of each candidate in them */
	FAB_VEC(uint64_t) end;	 /* end of each group in the candidates */
	FAB_VEC(uint32_t) n;	 /* groups with these switches */
	uint32_t *mark;		 /* [n_switch_links] == stamp: listed for the candidate */
	uint32_t stamp;
	uint32_t *candidate; /* [n_switches] of the group at hand */
	uint64_t steps;
};

/* Can the root be reached from a switch by way of its neighbour in `left` hops? Then
 * the neighbour is the root, or another switch next to it is near enough. */
static bool is_way(struct forced *x, const uint8_t *row, uint32_t sw, uint32_t by,
		   unsigned left)
{
	const struct fab_fabric *f = x->p->f;
	bool is_found = row[by] == 0;

	if (row[by] + 1u > left)
		return false;
	for (uint32_t a = f->arc_first[by]; a < f->arc_first[by + 1] && !is_found; a++) {
		x->steps++;
		is_found = f->arc_peer[a] != sw && row[f->arc_peer[a]] + 2u <= left;
	}
	return is_found;
}

/* List the cables that are forced by a root, each once; false: none is. */
static bool list_cables(struct forced *x, const uint32_t *sw, uint32_t n, uint32_t root,
			unsigned height)
{
	const struct fab_fabric *f = x->p->f;
	const uint8_t *row = fab_dist_row(x->p->dist, root);
	size_t before = x->cable.n;

	x->stamp++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = FAB_NONE, at = sw[i], cable, next;

		for (unsigned left = height; at != root; left--, from = at, at = next) {
			uint32_t n_ways = 0;

			cable = next = FAB_NONE;
			x->steps += f->arc_first[at + 1] - f->arc_first[at];
			for (uint32_t a = f->arc_first[at]; a < f->arc_first[at + 1]; a++)
				if (f->arc_peer[a] != from &&
				    is_way(x, row, at, f->arc_peer[a], left)) {
					n_ways++;
					cable = f->arc_cable[a];
					next = f->arc_peer[a];
				}
			if (n_ways != 1)
				break;
			if (x->mark[cable] != x->stamp)
				FAB_PUSH(&x->cable, cable);
			x->mark[cable] = x->stamp;
		}
	}
	FAB_PUSH(&x->root, x->cable.n);
	return x->cable.n > before;
}

/* List the candidates of a group that represents n, unless one of them forces nothing. */
static void list_group(struct forced *x, const struct fab_roots *r, uint32_t group,
		       uint32_t n)
{
	const struct fab_groups *g = x->p->groups;
	const uint64_t *bits = fab_roots_bits(r, group);
	size_t cables = x->cable.n, roots = x->root.n;
	uint32_t n_roots = fab_roots_list(bits, r->words, x->candidate);
	bool is_forced = n_roots <= MAX_ROOTS;

	for (uint32_t i = 0; i < n_roots && is_forced; i++)
		is_forced = list_cables(x, g->sw + g->sw_first[group],
					fab_group_n_switches(g, group), x->candidate[i],
					fab_roots_radius(r, group));
	if (is_forced) {
		FAB_PUSH(&x->end, x->root.n);
		FAB_PUSH(&x->n, n);
	} else {
		x->cable.n = cables;
		x->root.n = roots;
	}
}

/* All groups by their cheapest candidates at these weights: the sum of their weights;
 * adds the groups to the loads. */
static double choose(const struct forced *x, const double *weight, double *load)
{
	uint64_t root = 0, first = 0;
	double sum = 0;

	for (size_t i = 0; i < x->end.n; i++) {
		uint64_t best_first = 0, best_end = 0;
		double least = HUGE_VAL;

		for (; root < x->end.v[i]; first = x->root.v[root++]) {
			double cost = 0;

			for (uint64_t c = first; c < x->root.v[root]; c++)
				cost += weight[x->cable.v[c]];
			if (cost >= least)
				continue;
			least = cost;
			best_first = first;
			best_end = x->root.v[root];
		}
		sum += least * x->n.v[i];
		for (uint64_t c = best_first; c < best_end; c++)
			load[x->cable.v[c]] += x->n.v[i];
	}
	return sum;
}

/* Find weights; sets the bound and its certificate. */
static void weigh(const struct forced *x, uint32_t least, struct fab_arena *a,
		  struct fab_bound *out)
{
	uint32_t n = x->p->f->n_switch_links;
	double *weight = FAB_ARENA_NEW0(a, n, double);
	double *load = FAB_ARENA_NEW0(a, n, double), best = 0;
	uint64_t rounds = ROUNDS_WORK / (x->cable.n + n + 1);

	rounds = rounds < ROUNDS_LEAST ? ROUNDS_LEAST : rounds;
	rounds = rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST;
	for (size_t c = 0; c < x->cable.n; c++)
		weight[x->cable.v[c]] = 1;
	for (uint64_t round = 0; round < rounds; round++) {
		double total = 0, max = 0, value;

		for (uint32_t c = 0; c < n; c++)
			total += weight[c];
		value = choose(x, weight, load) / total;
		if (value > best) {
			best = value;
			out->weight = fab_realloc(out->weight, n, sizeof(*out->weight));
			for (uint32_t c = 0; c < n; c++)
				out->weight[c] = (uint32_t)weight[c];
		}
		for (uint32_t c = 0; c < n; c++)
			max = fmax(max, load[c]);
		/* No weights prove more than the mean of all rounds has on a cable. */
		if (ceil(max / (double)(round + 1)) <= fmax(ceil(best - ROUNDING), least))
			break;
		for (uint32_t c = 0; c < n; c++) /* whole numbers: sums are exact */
			weight[c] = floor(LARGEST * exp(RATE * (load[c] - max)));
	}
	out->value = (uint32_t)ceil(best - ROUNDING);
}

void fab_mcast_forced_bound(const struct fab_mcast_problem *problem, uint32_t least,
			    struct fab_bound *out)
{
	const struct fab_groups *g = problem->groups;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct forced x = {.p = problem};
	const struct fab_roots *roots = problem->roots;
	FAB_AUTO(fab_roots_fini) struct fab_roots own = {0};
	uint32_t *n_same;

	*out = (struct fab_bound){.kind = FAB_BOUND_NONE};
	if (!fab_dist_is_whole(problem->dist) || /* no row is made for a bound */
	    (!roots &&
	     !fab_roots_find_all(problem->dist, g, FAB_GROW_ROOTS_BYTES, 1, &own)))
		return;
	roots = roots ? roots : &own;
	x.mark = FAB_ARENA_NEW0(&arena, problem->f->n_switch_links, uint32_t);
	x.candidate = FAB_ARENA_NEW(&arena, problem->f->n_switches, uint32_t);
	n_same = FAB_ARENA_NEW0(&arena, g->n, uint32_t);
	for (uint32_t i = 0; i < g->n; i++)
		n_same[g->same_as[i]]++;
	for (uint32_t i = 0; i < g->n; i++) {
		fab_progress_report("bound by height: forced cables", "groups", i, g->n);
		if (n_same[i] && fab_group_n_switches(g, i) > 1)
			list_group(&x, roots, i, n_same[i]);
		if (x.steps > STEPS_MOST || x.cable.n > FORCED_MOST)
			break;
	}
	if (x.end.n) {
		out->kind = FAB_BOUND_FORCED;
		weigh(&x, least, &arena, out);
	}
	FAB_FREE_ALL(x.cable.v, x.root.v, x.end.v, x.n.v);
}
