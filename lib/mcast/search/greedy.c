/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One group after the other over the loads so far: of the trees of a few roots (least
 * load on its cables, least used, and drawn at random) the cheapest, where no cable is to
 * exceed the largest load so far, or of now where trees come and go.
 */
#include "mcast/search/search.h"

#include "base/rng.h"

/* Random roots; and from that many groups on, where members lie far from the root and all
 * trees are grown again later (fab_negotiate()), one root is enough. */
enum { DRAWN_ROOTS = 2, HASTE = 1000 };

struct greedy {
	const struct fab_mcast_problem *problem;
	struct fab_cheap_tree *tree;
	struct fab_prices prices; /* none before the first tree */
	double max;		  /* largest level (fab_mcast_level()) so far */
	/* the tree that was chosen last; root FAB_NONE: none */
	uint32_t group, root;
	double price;
	FAB_VEC(uint32_t) sw, cable;
};

static void release_prices(void *prices)
{
	fab_prices_fini(prices);
}

void *fab_greedy_new(const struct fab_mcast_problem *problem, struct fab_arena *a)
{
	struct greedy *x = FAB_ARENA_NEW0(a, 1, struct greedy);

	x->problem = problem;
	x->root = FAB_NONE;
	x->tree = fab_cheap_tree_new(problem, a);
	FAB_ROOM(a, &x->sw, problem->f->n_switches);
	FAB_ROOM(a, &x->cable, problem->f->n_switches);
	fab_arena_own(a, release_prices, &x->prices);
	return x;
}

/* From now on trees are for this group, and none is chosen yet. */
static void begin(struct fab_mcast_state *s, uint32_t group)
{
	struct greedy *x = s->scratch;

	if (!x->prices.state)
		fab_prices_init(&x->prices, s);
	fab_prices_set_group(&x->prices, group);
	if (s->largest) {
		x->max = *s->largest > 1 ? *s->largest : 1;
		fab_prices_set_limit(&x->prices, x->max);
	}
	x->group = group;
	x->root = FAB_NONE;
	x->price = __DBL_MAX__;
}

/* The tree of a root becomes the chosen one, if it is cheaper. */
static void try_root(struct greedy *x, uint32_t root)
{
	const struct fab_groups *g = x->problem->groups;
	struct fab_grown tree =
		fab_cheap_tree_grow(x->tree, &x->prices, g->sw + g->sw_first[x->group],
				    fab_group_n_switches(g, x->group), root, x->price);

	if (tree.price >= x->price)
		return;
	x->price = tree.price;
	x->root = root;
	x->sw.n = x->cable.n = 0;
	for (uint32_t i = 0; i < tree.n; i++) {
		FAB_PUSH(&x->sw, tree.sw[i]);
		FAB_PUSH(&x->cable, tree.cable[i]);
	}
}

uint32_t fab_greedy_choose_root(struct fab_mcast_state *s, const struct fab_roots *roots,
				uint32_t group)
{
	const uint64_t *bits = fab_roots_bits(roots, group);
	uint64_t seed = (uint64_t)group << 8;
	struct greedy *x = s->scratch;

	begin(s, group);
	try_root(x, fab_root_choose(bits, roots->words, FAB_TIES_SPREAD, s->adjacent));
	if (x->problem->groups->n >= HASTE &&
	    fab_roots_radius(roots, group) > FAB_NEAR_HOPS)
		return x->root;
	try_root(x, fab_root_choose(bits, roots->words, FAB_TIES_SPREAD, s->root_use));
	for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
		try_root(x, fab_roots_draw(bits, roots->words, fab_mix64(seed | i)));
	return x->root;
}

void fab_greedy_grow(struct fab_mcast_state *s, uint32_t group)
{
	struct greedy *x = s->scratch;

	if (x->group != group || x->root != s->forest.root[group]) {
		begin(s, group);
		try_root(x, s->forest.root[group]);
	}
	for (size_t i = 0; i < x->sw.n; i++) {
		uint32_t cable = x->cable.v[i];
		double level = fab_prices_level(&x->prices, cable);

		fab_mcast_join(s, x->sw.v[i], cable);
		x->max = level > x->max ? level : x->max;
	}
	x->root = FAB_NONE; /* the loads change */
	fab_prices_set_limit(&x->prices, x->max);
}
