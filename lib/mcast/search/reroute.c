/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another tree for one group, whose own is taken out of loads and uses: the cheapest of
 * several roots, each with a tree of shortest paths and, where members are nearer than
 * the height allows, one that goes deeper; or other paths in the tree that it has.
 */
#include "mcast/search/search.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Roots next to the old one: the cheapest of all where they can be compared, else the one
 * of least load and some at random; of those that get a deep tree, too, at most, and
 * where members lie far from the root, for which these take long. */
enum { CHEAPEST_ROOTS = 2, DRAWN_ROOTS = 4, DEEP_ROOTS = 3, DEEP_FAR = 2 };

/* Paths of groups of more switches would take too long: time is quadratic. */
enum { LARGE = 512 };

/* Cheaper by more than rounding. */
static const double CHEAPER = 1 - 1e-9;

struct fab_reroute {
	struct fab_revision *revision;
	struct fab_prices *prices;
	const struct fab_mcast_options *options;
	const struct fab_roots *roots; /* of the first groups: the problem's or own */
	struct fab_roots own_roots;
	struct fab_roots_one *one; /* of other groups */
	struct fab_root_prices *root_prices;
	struct fab_cheap_tree *cheap;
	struct fab_deep_tree *deep;
	struct fab_paths *paths;
	/* the group at hand: its switches, the height that its tree may have, and the
	 * best tree so far; root FAB_NONE: none is cheaper than the old one */
	uint32_t group, n_sw;
	const uint32_t *sw;
	const uint64_t *bits; /* candidates */
	unsigned height;
	uint64_t seed;
	uint32_t root, n;
	double price;
	uint32_t *best_sw, *best_cable; /* [n_switches] */
	uint32_t *parent;		/* [n_switches] */
	uint64_t steps;
};

bool fab_mcast_is_far(const struct fab_mcast_state *s)
{
	for (uint32_t g = 0; g < s->forest.n; g++)
		if (s->forest.height[g] > FAB_NEAR_HOPS)
			return true;
	return false;
}

struct fab_reroute *fab_reroute_new(struct fab_revision *revision,
				    struct fab_prices *prices,
				    const struct fab_mcast_options *options)
{
	const struct fab_mcast_problem *p = revision->s->problem;
	struct fab_reroute *r = FAB_NEW0(1, struct fab_reroute);
	uint32_t n = p->f->n_switches;

	r->revision = revision;
	r->prices = prices;
	r->options = options;
	r->roots = options->height_slack ? NULL : p->roots;
	if (!r->roots) {
		fab_roots_find(p->dist, p->groups, 0, FAB_MOVES_ROOTS_BYTES,
			       options->n_threads, options->height_slack, &r->own_roots);
		r->roots = &r->own_roots;
	}
	r->one = fab_roots_one_new(p->dist);
	r->one->slack = options->height_slack;
	r->root_prices = fab_root_prices_new(p);
	r->cheap = fab_cheap_tree_new(p);
	r->deep = fab_deep_tree_new(p);
	r->paths = fab_paths_new(p);
	r->best_sw = FAB_NEW(n, uint32_t);
	r->best_cable = FAB_NEW(n, uint32_t);
	r->parent = FAB_NEW(n, uint32_t);
	return r;
}

void fab_reroute_free(struct fab_reroute *r)
{
	if (!r)
		return;
	fab_roots_fini(&r->own_roots);
	fab_roots_one_free(r->one);
	fab_root_prices_free(r->root_prices);
	fab_cheap_tree_free(r->cheap);
	fab_deep_tree_free(r->deep);
	fab_paths_free(r->paths);
	free(r->best_sw);
	free(r->best_cable);
	free(r->parent);
	free(r);
}

uint64_t fab_reroute_steps(const struct fab_reroute *r)
{
	return r->steps;
}

/* A tree was grown: keep it, if it is the cheapest. */
static void look_at(struct fab_reroute *r, uint32_t root, const struct fab_grown *tree)
{
	r->steps += tree->steps;
	if (tree->price >= r->price * CHEAPER)
		return;
	r->root = root;
	r->price = tree->price;
	r->n = tree->n;
	if (tree->n) {
		memcpy(r->best_sw, tree->sw, tree->n * sizeof(*tree->sw));
		memcpy(r->best_cable, tree->cable, tree->n * sizeof(*tree->cable));
	}
}

static void try_root(struct fab_reroute *r, uint32_t root, bool is_deep)
{
	const uint8_t *row = fab_dist_row(r->revision->s->problem->dist, root);
	struct fab_grown tree = fab_cheap_tree_grow(r->cheap, r->prices, r->sw, r->n_sw,
						    root, r->price * CHEAPER);
	bool has_slack = false; /* a member is nearer than the height */

	look_at(r, root, &tree);
	for (uint32_t i = 0; i < r->n_sw && is_deep; i++)
		has_slack |= r->sw[i] != root && row[r->sw[i]] < r->height;
	if (!has_slack)
		return;
	tree = fab_deep_tree_grow(r->deep, r->prices, r->sw, r->n_sw, root, r->height,
				  r->seed);
	look_at(r, root, &tree);
}

/* Trees of several roots, deep ones as long as all cost `least` or more: a cheaper tree
 * has left the cables that it was to leave. */
static void try_roots(struct fab_reroute *r, uint32_t old, double least)
{
	uint32_t root[CHEAPEST_ROOTS + DRAWN_ROOTS + 2], n = 1, found;
	uint32_t n_deep = r->height > FAB_NEAR_HOPS ? DEEP_FAR : DEEP_ROOTS;
	size_t words = r->roots->words;

	root[0] = old;
	found = fab_root_prices_best(r->root_prices, r->prices, r->sw, r->n_sw, r->bits,
				     r->height, r->seed, CHEAPEST_ROOTS, root + n);
	n += found;
	if (!found) {
		root[n++] = fab_root_choose(r->bits, words, FAB_TIES_SPREAD,
					    r->revision->s->adjacent);
		for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
			root[n++] =
				fab_roots_draw(r->bits, words, fab_mix64(r->seed + i));
	}
	for (uint32_t i = 0; i < n && !fab_mcast_is_over(r->options); i++) {
		bool is_left = i && r->root != FAB_NONE && r->price < least;
		bool is_new = true;

		for (uint32_t j = 0; j < i; j++)
			is_new &= root[j] != root[i];
		if (is_new)
			try_root(r, root[i], i < n_deep && !is_left);
	}
}

static void swap_paths(struct fab_reroute *r, uint32_t old, double least)
{
	const struct fab_paths_job job = {
		.member = r->sw,
		.n_members = r->n_sw,
		.n_edges = fab_revision_size(r->revision, r->group),
		.root = old,
		.sw = fab_revision_switches(r->revision, r->group),
		.cable = fab_revision_cables(r->revision, r->group),
		.height = r->height,
		.least = least,
		.seed = r->seed,
		.options = r->options};
	struct fab_grown tree;
	uint32_t root;

	if (!job.n_edges || r->n_sw > LARGE)
		return;
	tree = fab_paths_swap(r->paths, r->prices, &job, &root);
	look_at(r, root, &tree);
}

/* Hops from the root down to the farthest member of the best tree. */
static uint8_t height_of_best(struct fab_reroute *r)
{
	const struct fab_fabric *f = r->revision->s->problem->f;
	uint8_t height = 0;

	if (!r->options->height_slack) /* never more than the least */
		return r->revision->s->forest.height[r->group];
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t c = r->best_cable[i], a = f->port_node[f->cable_a[c]];
		uint32_t sw = r->best_sw[i];

		r->parent[sw] = a == sw ? f->port_node[f->cable_b[c]] : a;
	}
	for (uint32_t i = 0; i < r->n_sw; i++) {
		uint8_t hops = 0;

		for (uint32_t sw = r->sw[i]; sw != r->root; sw = r->parent[sw])
			hops++;
		height = hops > height ? hops : height;
	}
	return height;
}

void fab_reroute_group(struct fab_reroute *r, uint32_t group,
		       const struct fab_reroute_try *how)
{
	const struct fab_groups *g = r->revision->s->problem->groups;
	uint32_t old = r->revision->s->forest.root[group];

	r->group = group;
	r->sw = g->sw + g->sw_first[group];
	r->n_sw = fab_group_n_switches(g, group);
	r->seed = fab_mix64(fab_mix64(r->options->seed ^ how->turn << 32) ^ group);
	if (group < r->roots->n) {
		r->bits = fab_roots_bits(r->roots, group);
		r->height = fab_roots_radius(r->roots, group);
	} else {
		r->bits = r->one->bits;
		r->height = fab_roots_one_find(r->one, r->sw, r->n_sw);
	}
	r->height += r->options->height_slack;
	fab_revision_take_out(r->revision, group);
	fab_prices_set_group(r->prices, group);
	r->root = FAB_NONE;
	r->price = fab_prices_sum(r->prices, fab_revision_cables(r->revision, group),
				  fab_revision_size(r->revision, group));
	if (how->how == FAB_REROUTE_ROOTS)
		try_roots(r, old, how->least);
	else if (r->height > FAB_NEAR_HOPS && how->how == FAB_REROUTE_DEEP)
		try_root(r, old, true);
	else if (r->height > FAB_NEAR_HOPS)
		swap_paths(r, old, how->least);
	if (r->root == FAB_NONE)
		fab_revision_put_back(r->revision, group);
	else
		fab_revision_put(r->revision, group, r->root, height_of_best(r), r->n,
				 r->best_sw, r->best_cable);
}
