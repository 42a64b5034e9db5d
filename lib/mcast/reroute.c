/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/reroute.h"

#include "base/mem.h"
#include "base/rng.h"
#include "mcast/cheap_tree.h"
#include "mcast/choose.h"
#include "mcast/deep_tree.h"
#include "mcast/near_tree.h"
#include "mcast/path_swap.h"
#include "mcast/root_prices.h"

#include <stdlib.h>
#include <string.h>

/* Roots beside the old one: the cheapest of all where they can be compared, else the one
 * of least load and some by chance; of those that get a deep tree, too, at most, and
 * where members lie far from the root, for which these take long. */
enum { CHEAPEST_ROOTS = 2, DRAWN_ROOTS = 4, DEEP_ROOTS = 3, DEEP_FAR = 2 };

/* Roots that trees of few cables are grown from. */
enum { NEAR_ROOTS = 2 };

/* What counts as cheaper: less than rounding could make it. */
static const double CHEAPER = 1 - 1e-9;

struct fab_reroute {
	const struct fab_mcast_state *s;
	const struct fab_mcast_options *options;
	const struct fab_roots *roots; /* of the first groups */
	struct fab_roots_one *one;
	struct fab_root_prices *root_prices;
	struct fab_cheap_tree *cheap;
	struct fab_deep_tree *deep;
	struct fab_near_tree *near;
	struct fab_path_swap *swap;
	struct fab_reroute_tree best; /* [switches]; root FAB_NONE: none */
	unsigned height;	      /* that the tree of the group at hand may have */
	uint32_t *parent;	      /* [n_switches] */
	uint64_t steps;
};

bool fab_reroute_is_far(const struct fab_mcast_state *s)
{
	for (uint32_t g = 0; g < s->forest.n; g++)
		if (s->forest.height[g] > FAB_REROUTE_NEAR_HOPS)
			return true;
	return false;
}

struct fab_reroute *fab_reroute_new(const struct fab_mcast_state *s,
				    const struct fab_roots *roots,
				    const struct fab_hops *hops,
				    const struct fab_mcast_options *options)
{
	const struct fab_mcast_problem *p = s->problem;
	struct fab_reroute *r = FAB_NEW0(1, struct fab_reroute);
	uint32_t n = p->f->n_switches;

	r->s = s;
	r->options = options;
	r->roots = roots;
	r->one = fab_roots_one_new(p->dist);
	r->one->slack = options->height_slack;
	if (r->roots->n < p->groups->n && !options->height_slack)
		fab_roots_one_expect(r->one, p->groups, options->n_threads);
	r->parent = FAB_NEW(n, uint32_t);
	r->root_prices = fab_root_prices_new(p);
	r->cheap = fab_cheap_tree_new(p);
	r->deep = fab_deep_tree_new(p);
	r->near = fab_near_tree_new(p, hops);
	r->swap = fab_path_swap_new(p, hops);
	r->best.sw = FAB_NEW(n, uint32_t);
	r->best.cable = FAB_NEW(n, uint32_t);
	return r;
}

void fab_reroute_free(struct fab_reroute *r)
{
	if (!r)
		return;
	fab_roots_one_free(r->one);
	fab_root_prices_free(r->root_prices);
	fab_cheap_tree_free(r->cheap);
	fab_deep_tree_free(r->deep);
	fab_near_tree_free(r->near);
	fab_path_swap_free(r->swap);
	free(r->parent);
	free(r->best.sw);
	free(r->best.cable);
	free(r);
}

uint64_t fab_reroute_steps(const struct fab_reroute *r)
{
	return r->steps;
}

bool fab_reroute_is_cheaper(double price, double other)
{
	return price < other * CHEAPER;
}

static void keep_cheaper(struct fab_reroute *r, uint32_t root,
			 const struct fab_grown *tree)
{
	if (!fab_reroute_is_cheaper(tree->price, r->best.price))
		return;
	r->best.root = root;
	r->best.price = tree->price;
	r->best.n = tree->n;
	memcpy(r->best.sw, tree->sw, tree->n * sizeof(*tree->sw));
	memcpy(r->best.cable, tree->cable, tree->n * sizeof(*tree->cable));
}

/* A tree was grown. */
static void look_at(struct fab_reroute *r, uint32_t root, const struct fab_grown *tree)
{
	r->steps += tree->steps;
	keep_cheaper(r, root, tree);
}

/* Is a member nearer to the root than the height? Then a tree may go deeper. */
static bool has_slack(const struct fab_reroute *r, uint32_t group, uint32_t root)
{
	const struct fab_groups *g = r->s->problem->groups;
	const uint8_t *row = fab_dist_row(r->s->problem->dist, root);

	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		if (g->sw[i] != root && row[g->sw[i]] < r->height)
			return true;
	return false;
}

static void try_root(struct fab_reroute *r, const struct fab_prices *prices,
		     uint32_t group, uint32_t root, bool is_deep, uint64_t seed)
{
	const struct fab_groups *g = r->s->problem->groups;
	const uint32_t *sw = g->sw + g->sw_first[group];
	uint32_t n = fab_group_n_switches(g, group);
	struct fab_grown tree = fab_cheap_tree_grow(r->cheap, prices, sw, n, root,
						    r->best.price * CHEAPER);

	look_at(r, root, &tree);
	if (!is_deep || !has_slack(r, group, root))
		return;
	tree = fab_deep_tree_grow(r->deep, prices, sw, n, root, r->height, seed);
	look_at(r, root, &tree);
}

/* Trees of few cables, from the old root and others. */
static void try_near(struct fab_reroute *r, const struct fab_prices *prices,
		     const uint64_t *bits, uint32_t group, uint32_t old, uint64_t seed)
{
	const struct fab_groups *g = r->s->problem->groups;

	for (uint32_t i = 0; i < NEAR_ROOTS; i++) {
		uint32_t root =
			i ? fab_roots_draw(bits, r->roots->words, fab_mix64(seed + i))
			  : old;
		struct fab_grown tree = fab_near_tree_grow(
			r->near, prices, g->sw + g->sw_first[group],
			fab_group_n_switches(g, group), root, r->height, seed);

		look_at(r, root, &tree);
	}
}

/* Paths of the old tree swapped for cheaper ones. */
static void swap_paths(struct fab_reroute *r, const struct fab_revision *revision,
		       const struct fab_prices *prices, uint32_t group,
		       const struct fab_path_swap_how *how)
{
	const struct fab_groups *g = r->s->problem->groups;
	struct fab_path_swap *x = r->swap;
	uint32_t root = fab_revision_root(revision, group);
	struct fab_grown tree;
	double price;

	if (!fab_revision_size(revision, group))
		return;
	fab_path_swap_take(x, g->sw + g->sw_first[group], fab_group_n_switches(g, group),
			   fab_revision_size(revision, group),
			   fab_revision_switches(revision, group),
			   fab_revision_cables(revision, group));
	price = fab_path_swap_run(x, prices, r->height, how);
	r->steps += fab_path_swap_steps(x);
	if (!fab_reroute_is_cheaper(price, r->best.price))
		return;
	root = fab_path_swap_root(x, r->height, root);
	tree = fab_path_swap_hang(x, root);
	keep_cheaper(r, root, &tree);
}

/* Candidates of the group at hand, and the height that its tree may have. */
static const uint64_t *find_candidates(struct fab_reroute *r, uint32_t group)
{
	const struct fab_groups *g = r->s->problem->groups;
	const uint64_t *bits = r->one->bits;

	if (group < r->roots->n) {
		bits = fab_roots_bits(r->roots, group);
		r->height = fab_roots_radius(r->roots, group);
	} else {
		r->height = fab_roots_one_find(r->one, g->sw + g->sw_first[group],
					       fab_group_n_switches(g, group));
	}
	r->height += r->options->height_slack;
	return bits;
}

/* The roots to be tried: writes them to `root`, returns how many. */
static uint32_t choose_roots(struct fab_reroute *r, const struct fab_prices *prices,
			     const uint64_t *bits, uint32_t group, uint32_t old,
			     uint64_t seed, uint32_t *root)
{
	const struct fab_mcast_problem *p = r->s->problem;
	const uint32_t *sw = p->groups->sw + p->groups->sw_first[group];
	uint32_t n_sw = fab_group_n_switches(p->groups, group), n = 1, found;

	root[0] = old;
	found = fab_root_prices_best(r->root_prices, prices, sw, n_sw, bits, r->height,
				     seed, CHEAPEST_ROOTS, root + n);
	if (found)
		return n + found;
	root[n++] =
		fab_root_choose(bits, r->roots->words, FAB_TIES_SPREAD, r->s->adjacent);
	for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
		root[n++] = fab_roots_draw(bits, r->roots->words, fab_mix64(seed + i));
	return n;
}

/* Hops from the root down to the farthest member. */
static uint8_t height_of_best(struct fab_reroute *r, const struct fab_revision *revision,
			      uint32_t group)
{
	const struct fab_fabric *f = r->s->problem->f;
	const struct fab_groups *g = r->s->problem->groups;
	uint8_t height = 0;

	if (!r->options->height_slack) /* never more than the least */
		return revision->s->forest.height[group];
	for (uint32_t i = 0; i < r->best.n; i++) {
		uint32_t c = r->best.cable[i], a = f->port_node[f->cable_a[c]];
		uint32_t sw = r->best.sw[i];

		r->parent[sw] = a == sw ? f->port_node[f->cable_b[c]] : a;
	}
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++) {
		uint8_t hops = 0;

		for (uint32_t sw = g->sw[i]; sw != r->best.root; sw = r->parent[sw])
			hops++;
		height = hops > height ? hops : height;
	}
	return height;
}

/* Trees of several roots, deep ones as long as all cost `least` or more. */
static void try_roots(struct fab_reroute *r, const struct fab_prices *prices,
		      const uint64_t *bits, uint32_t group, uint32_t old, double least,
		      uint64_t seed)
{
	uint32_t root[CHEAPEST_ROOTS + DRAWN_ROOTS + 2];
	uint32_t n = choose_roots(r, prices, bits, group, old, seed, root);
	uint32_t n_deep = r->height > FAB_REROUTE_NEAR_HOPS ? DEEP_FAR : DEEP_ROOTS;

	for (uint32_t i = 0; i < n && !fab_mcast_is_over(r->options); i++) {
		/* a tree that costs less has left the cables that it was to leave */
		bool is_left = i && r->best.root != FAB_NONE && r->best.price < least;
		bool is_new = true;

		for (uint32_t j = 0; j < i; j++)
			is_new = is_new && root[j] != root[i];
		if (is_new)
			try_root(r, prices, group, root[i], i < n_deep && !is_left, seed);
	}
}

/* Trees of other shapes than those of shortest paths, where members lie far apart. */
static void try_far(struct fab_reroute *r, const struct fab_revision *revision,
		    const struct fab_prices *prices, const uint64_t *bits, uint32_t group,
		    const struct fab_reroute_try *how, uint64_t seed)
{
	uint32_t old = fab_revision_root(revision, group);
	bool is_large =
		fab_group_n_switches(r->s->problem->groups, group) > FAB_REROUTE_LARGE;
	struct fab_path_swap_how paths = {.seed = seed, .options = r->options};

	if (how->how == FAB_REROUTE_DEEP || (how->how == FAB_REROUTE_NEAR && is_large))
		try_root(r, prices, group, old, true, seed);
	if (how->how == FAB_REROUTE_NEAR && !is_large)
		try_near(r, prices, bits, group, old, seed);
	if (how->how == FAB_REROUTE_PATHS)
		swap_paths(r, revision, prices, group, &paths);
	paths.is_near = true;
	paths.least = how->least;
	if (how->how == FAB_REROUTE_NEAR_PATHS && !is_large)
		swap_paths(r, revision, prices, group, &paths);
}

const struct fab_reroute_tree *fab_reroute_find(struct fab_reroute *r,
						const struct fab_revision *revision,
						const struct fab_prices *prices,
						uint32_t group,
						const struct fab_reroute_try *how)
{
	uint32_t old = fab_revision_root(revision, group);
	uint64_t seed = fab_mix64(fab_mix64(r->options->seed ^ how->turn << 32) ^ group);
	const uint64_t *bits = find_candidates(r, group);

	r->best.root = FAB_NONE;
	r->best.price = fab_prices_sum(prices, fab_revision_cables(revision, group),
				       fab_revision_size(revision, group));
	if (r->height > FAB_REROUTE_NEAR_HOPS)
		try_far(r, revision, prices, bits, group, how, seed);
	if (how->how == FAB_REROUTE_BOTH)
		swap_paths(r, revision, prices, group,
			   &(struct fab_path_swap_how){.least = how->least,
						       .options = r->options});
	if (how->how == FAB_REROUTE_ROOTS ||
	    (how->how == FAB_REROUTE_BOTH && r->best.price >= how->least))
		try_roots(r, prices, bits, group, old, how->least, seed);
	if (r->best.root == FAB_NONE)
		return NULL;
	r->best.height = height_of_best(r, revision, group);
	return &r->best;
}
