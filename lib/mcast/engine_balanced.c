/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Balanced trees of minimal height: each group takes the cheapest tree of a few roots
 * (mcast/cheap_tree.h) over the loads that are there; then those on the fullest cables
 * are routed again (mcast/negotiate.h), from the better trees of others where there are
 * any.
 */
#include "mcast/engines.h"

#include "base/mem.h"
#include "base/rng.h"
#include "mcast/cheap_tree.h"
#include "mcast/choose.h"
#include "mcast/negotiate.h"
#include "mcast/rivals.h"
#include "mcast/state.h"

#include <stdlib.h>
#include <string.h>

enum { DRAWN_ROOTS = 2, ROUNDS = 6 };

/* Cables looked at when trees are revised: so many for each edge of all trees, but at
 * least and at most so many. */
enum { STEPS_EDGE = 80, STEPS_LEAST = 2000000, STEPS_MOST = 20000000 };

struct scratch {
	struct fab_cheap_tree *tree;
	struct fab_prices prices; /* none before the first tree */
	double max;		  /* largest level (fab_mcast_level()) so far */
	/* the tree of the root that was chosen last, until it is grown */
	uint32_t group, root;
	FAB_VEC(uint32_t) sw, cable;
};

static void *scratch_new(const struct fab_mcast_problem *problem)
{
	struct scratch *x = FAB_NEW0(1, struct scratch);

	x->tree = fab_cheap_tree_new(problem);
	x->root = FAB_NONE;
	return x;
}

static void scratch_free(void *scratch)
{
	struct scratch *x = scratch;

	if (x) {
		fab_cheap_tree_free(x->tree);
		fab_prices_fini(&x->prices);
		free(x->sw.v);
		free(x->cable.v);
	}
	free(x);
}

static double grow_from(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			double limit)
{
	const struct fab_groups *g = s->problem->groups;
	struct scratch *x = s->scratch;

	if (!x->prices.load)
		fab_prices_of(&x->prices, s);
	fab_prices_set_group(&x->prices, group);
	return fab_cheap_tree_grow(x->tree, &x->prices, g->sw + g->sw_first[group],
				   fab_group_n_switches(g, group), root, limit);
}

/* Keep the tree that was grown last. */
static void hold(struct scratch *x, uint32_t group, uint32_t root)
{
	uint32_t n = fab_cheap_tree_n_edges(x->tree);

	x->group = group;
	x->root = root;
	x->sw.n = x->cable.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		FAB_PUSH(&x->sw, fab_cheap_tree_sw(x->tree)[i]);
		FAB_PUSH(&x->cable, fab_cheap_tree_cable(x->tree)[i]);
	}
}

static uint32_t choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
			    uint32_t group)
{
	const uint64_t *bits = fab_roots_bits(roots, group);
	uint32_t tried[DRAWN_ROOTS + 2], n = 0, best = FAB_NONE;
	double least = __DBL_MAX__;

	tried[n++] = fab_root_choose(bits, roots->words, FAB_TIES_SPREAD, s->adjacent);
	tried[n++] = fab_root_choose(bits, roots->words, FAB_TIES_SPREAD, s->root_use);
	for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
		tried[n++] = fab_roots_draw(bits, roots->words,
					    fab_mix64((uint64_t)group << 8 | i));
	for (uint32_t i = 0; i < n; i++) {
		double price = grow_from(s, group, tried[i], least);

		if (price < least) {
			least = price;
			best = tried[i];
			hold(s->scratch, group, best);
		}
	}
	return best;
}

static void grow(struct fab_mcast_state *s, uint32_t group)
{
	struct scratch *x = s->scratch;

	if (x->group != group || x->root != s->forest.root[group]) {
		grow_from(s, group, s->forest.root[group], __DBL_MAX__);
		hold(x, group, s->forest.root[group]);
	}
	for (size_t i = 0; i < x->sw.n; i++) {
		uint32_t cable = x->cable.v[i];
		double level = fab_prices_level(&x->prices, cable);

		fab_mcast_join(s, x->sw.v[i], cable);
		x->max = level > x->max ? level : x->max;
	}
	x->root = FAB_NONE; /* loads will be others */
	fab_prices_set_limit(&x->prices, x->max);
}

/* Trees revised and better ones of others by turns, while the largest load falls. Where
 * there is little to do, both from the trees as they are and from ones of few cables. */
static int solve(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		 const struct fab_mcast_options *o)
{
	struct fab_negotiation n = {.options = o,
				    .n_steps = STEPS_LEAST,
				    .n_rounds = ROUNDS,
				    .n_attempts = 1};
	uint64_t edges = STEPS_EDGE * s->n_edges;
	double max;

	if (edges <= STEPS_LEAST && fab_negotiate(s, &n) == FAB_ENDED_FAILED)
		return 1;
	n.n_steps = edges > n.n_steps ? edges : n.n_steps;
	n.n_steps = n.n_steps < STEPS_MOST ? n.n_steps : STEPS_MOST;
	n.is_fresh = true;
	do {
		max = fab_mcast_max_level(s);
		if (fab_negotiate(s, &n) == FAB_ENDED_FAILED)
			return 1;
		n.is_fresh = false;
	} while (fab_mcast_take_rival(problem, s, o) && fab_mcast_max_level(s) < max);
	return 0;
}

const struct fab_mcast_engine fab_mcast_balanced = {
	.name = "balanced",
	.summary = "cheapest tree of several roots, then those on full cables again",
	.manual = "First, of the trees from several candidates the one whose "
		  "cables cost least, where a cable costs the more, the nearer "
		  "its load is to the largest, and a switch that several others "
		  "can hang on is cheap for each of them; where members lie more "
		  "than three hops from the root, as on a torus, then trees of few "
		  "cables whatever their loads. Then one group less on "
		  "the fullest cables is tried for, again and again: trees on "
		  "cables above that are grown anew around them, where members "
		  "may hang deeper than their distance from the root, and cables "
		  "that too many trees want for long become expensive; until the "
		  "largest load is that of a lower bound, several rounds bring "
		  "nothing, or an amount of work that goes with the size of all "
		  "trees is done. Where another algorithm of `all` has a smaller "
		  "largest load, it goes on from that one's trees, so that it is "
		  "never above any of them. Trees are of minimal height. It takes "
		  "ten to some hundred times as long as `fulb`. With `--events` a "
		  "group takes the cheapest tree when its turn comes, and no "
		  "other is revised.",
	.takes_slack = true,
	.heeds_weights = true,
	.scratch_new = scratch_new,
	.scratch_free = scratch_free,
	.choose_root = choose_root,
	.grow = grow,
	.solve = solve,
};
