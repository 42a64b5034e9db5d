/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other trees for groups: the cheapest of several roots, each with a tree of shortest
 * paths and, where members are nearer than the height allows, one that goes deeper; or
 * other paths in the tree that a group has. Trees of a batch of groups are found side by
 * side, each at the loads from before the batch without its own; those that are still
 * cheaper when their turn comes are then taken in sequence. So results depend on
 * the size of the batch, not on the number of threads.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "base/threads.h"
#include "mcast/search/search.h"

#include <stdlib.h>
#include <string.h>

/* Roots next to the old one: the cheapest of all where they can be compared, else all of
 * a few, else the one of least load and some at random; of those that get a deep tree,
 * too, at most, and where members lie far from the root, for which these take long. */
enum {
	CHEAPEST_ROOTS = 2,
	FEW_ROOTS = 64,
	DRAWN_ROOTS = 4,
	DEEP_ROOTS = 3,
	DEEP_FAR = 2
};

/* Roots whose short trees are compared: so many that roots * switches^2 is this, but at
 * least and at most (FAB_SHORT_ROOTS). */
enum { SHORT_WORK = 4096, SHORT_LEAST = 4 };

/* Cheaper by more than rounding. */
static const double CHEAPER = 1 - 1e-9;

/* A tree that was found for a group. */
struct proposal {
	uint32_t group;
	uint32_t root, n; /* root FAB_NONE: none is cheaper than the old one */
	uint8_t height;
	double price;
	uint32_t *sw, *cable; /* [n_switches] */
	uint64_t steps;
};

/* Room of a thread. With batches of one group its state is that of the revision. */
struct worker {
	struct fab_mcast_state view, *state;
	struct fab_prices prices;
	struct fab_roots_one *one;
	struct fab_root_prices *root_prices;
	struct fab_cheap_tree *cheap;
	struct fab_deep_tree *deep;
	uint32_t *list; /* [n_switches] room for parents, candidates */
	/* the group at hand: its switches, candidates, and largest height */
	const uint32_t *sw;
	uint32_t n_sw;
	const uint64_t *bits;
	unsigned height;
	uint64_t seed;
	struct proposal *best;
};

struct fab_reroute {
	struct fab_revision *revision;
	const struct fab_prices *prices;
	const struct fab_mcast_options *options;
	const struct fab_roots *roots; /* of the first groups: the problem's or own */
	struct fab_roots own_roots;
	struct fab_arena arena;
	uint32_t n_workers, n_batch;
	struct worker *worker;
	struct proposal *proposal; /* [n_batch] */
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
				    const struct fab_prices *prices,
				    const struct fab_mcast_options *options,
				    uint32_t n_batch)
{
	const struct fab_mcast_problem *p = revision->s->problem;
	struct fab_reroute *r = FAB_NEW0(1, struct fab_reroute);
	struct fab_arena *a = &r->arena;
	int n_threads = fab_threads(options->n_threads);

	r->revision = revision;
	r->prices = prices;
	r->options = options;
	r->roots = options->height_slack ? NULL : p->roots;
	if (!r->roots) {
		fab_roots_find(p->dist, p->groups, 0, FAB_MOVES_ROOTS_BYTES,
			       options->n_threads, options->height_slack, &r->own_roots);
		r->roots = &r->own_roots;
	}
	r->n_batch = n_batch;
	r->n_workers = (uint32_t)n_threads < n_batch ? (uint32_t)n_threads : n_batch;
	r->worker = FAB_ARENA_NEW0(a, r->n_workers, struct worker);
	for (uint32_t i = 0; i < r->n_workers; i++) {
		size_t padded = FAB_ROOTS_PADDED(p->f->n_switches);
		struct worker *w = &r->worker[i];
		struct fab_mcast_state *s = revision->s;
		uint32_t n = p->f->n_switch_links;

		w->state = n_batch > 1 ? &w->view : s;
		if (n_batch > 1)
			w->view = (struct fab_mcast_state){
				.problem = p,
				.load = FAB_ARENA_NEW(a, n, uint32_t),
				.units = s->units ? FAB_ARENA_NEW(a, n, uint64_t) : NULL,
				.adjacent = FAB_ARENA_NEW(a, padded, uint32_t),
				.root_use = FAB_ARENA_NEW0(a, padded, uint32_t)};
		w->one = fab_roots_one_new(p->dist, a);
		w->one->slack = options->height_slack;
		w->root_prices = fab_root_prices_new(p, a);
		w->cheap = fab_cheap_tree_new(p, a);
		w->deep = fab_deep_tree_new(p, a);
		w->list = FAB_ARENA_NEW(a, p->f->n_switches, uint32_t);
	}
	r->proposal = FAB_ARENA_NEW0(a, n_batch, struct proposal);
	for (uint32_t i = 0; i < n_batch; i++) {
		r->proposal[i].sw = FAB_ARENA_NEW(a, p->f->n_switches, uint32_t);
		r->proposal[i].cable = FAB_ARENA_NEW(a, p->f->n_switches, uint32_t);
	}
	return r;
}

void fab_reroute_free(struct fab_reroute *r)
{
	fab_roots_fini(&r->own_roots);
	fab_arena_free(&r->arena);
	free(r);
}

uint64_t fab_reroute_steps(const struct fab_reroute *r)
{
	return r->steps;
}

/* A tree was grown: keep it, if it is the cheapest. */
static void look_at(struct worker *w, uint32_t root, const struct fab_grown *tree)
{
	struct proposal *best = w->best;

	best->steps += tree->steps;
	if (tree->price >= best->price * CHEAPER)
		return;
	best->root = root;
	best->price = tree->price;
	best->n = tree->n;
	if (tree->n) {
		memcpy(best->sw, tree->sw, tree->n * sizeof(*tree->sw));
		memcpy(best->cable, tree->cable, tree->n * sizeof(*tree->cable));
	}
}

static void try_deep(struct worker *w, uint32_t root, const struct fab_kept *kept)
{
	struct fab_grown tree =
		fab_deep_tree_grow(w->deep, &w->prices, w->sw, w->n_sw, root, w->height,
				   w->seed, kept, w->best->price * CHEAPER);

	look_at(w, root, &tree);
}

static void try_root(struct worker *w, uint32_t root, bool is_deep)
{
	const uint8_t *row = fab_dist_row(w->state->problem->dist, root);
	struct fab_grown tree = fab_cheap_tree_grow(w->cheap, &w->prices, w->sw, w->n_sw,
						    root, w->best->price * CHEAPER);
	bool has_slack = false; /* a member is nearer than the height */

	look_at(w, root, &tree);
	for (uint32_t i = 0; i < w->n_sw && is_deep; i++)
		has_slack |= w->sw[i] != root && row[w->sw[i]] < w->height;
	if (has_slack)
		try_deep(w, root, &(struct fab_kept){0});
}

/* All candidates, from another one on for each seed, if they are at most that many;
 * returns their number, else 0. */
static uint32_t list_roots(const struct worker *w, size_t words, uint32_t most,
			   uint32_t *root)
{
	uint32_t n = fab_roots_list(w->bits, words, w->list);

	if (n > most)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		root[(i + w->seed % n) % n] = w->list[i];
	return n;
}

/* Trees of several roots, deep ones as long as all cost `least` or more: a cheaper tree
 * has left the cables that it was to leave. */
static void try_roots(const struct fab_reroute *r, struct worker *w, uint32_t old,
		      double least)
{
	uint32_t root[FEW_ROOTS + 1], n = 0, found, few = 0;
	uint32_t n_deep = w->height > FAB_NEAR_HOPS ? DEEP_FAR : DEEP_ROOTS;
	size_t words = r->roots->words;

	if (fab_roots_has(w->bits, old)) /* else the tree is higher than needed */
		root[n++] = old;
	found = fab_root_prices_best(w->root_prices, &w->prices, w->sw, w->n_sw, w->bits,
				     w->height, w->seed, CHEAPEST_ROOTS, root + n);
	n += found;
	if (!found && w->height <= FAB_NEAR_HOPS)
		n += few = list_roots(w, words, FEW_ROOTS, root + n);
	if (!found && !few) {
		root[n++] = fab_root_choose(w->bits, words, FAB_TIES_SPREAD,
					    w->state->adjacent);
		for (uint32_t i = 0; i < DRAWN_ROOTS; i++)
			root[n++] =
				fab_roots_draw(w->bits, words, fab_mix64(w->seed + i));
	}
	for (uint32_t i = 0; i < n && !fab_mcast_is_over(r->options); i++) {
		bool is_left = i && w->best->root != FAB_NONE && w->best->price < least;
		bool is_new = true;

		for (uint32_t j = 0; j < i; j++)
			is_new &= root[j] != root[i];
		if (is_new)
			try_root(w, root[i], i < n_deep && !is_left);
	}
}

/* A short tree of some candidates; of a large group a deep one of the old root. */
static void try_short(const struct fab_reroute *r, struct worker *w, uint32_t old,
		      uint32_t n_changes)
{
	uint32_t root[FAB_SHORT_ROOTS], n, most, best;
	struct fab_grown tree;

	if (w->n_sw > FAB_SHORT_SWITCHES) {
		try_root(w, old, true);
		return;
	}
	most = SHORT_WORK / (w->n_sw * w->n_sw);
	most = most < SHORT_LEAST ? SHORT_LEAST : most;
	most = most < FAB_SHORT_ROOTS ? most : FAB_SHORT_ROOTS;
	n = list_roots(w, r->roots->words, most, root);
	for (uint32_t i = 0; !n && i < most; i++)
		root[i] =
			fab_roots_draw(w->bits, r->roots->words, fab_mix64(w->seed + i));
	tree = fab_short_tree_grow(w->deep, &w->prices, w->sw, w->n_sw, root,
				   n ? n : most, n_changes, w->height, w->seed, &best);
	look_at(w, best, &tree);
}

uint8_t fab_tree_height(const struct fab_fabric *f, uint32_t root, const uint32_t *sw,
			const uint32_t *cable, uint32_t n_edges, const uint32_t *member,
			uint32_t n_members, uint32_t *parent)
{
	uint8_t height = 0;

	for (uint32_t i = 0; i < n_edges; i++)
		parent[sw[i]] = fab_cable_peer(f, cable[i], sw[i]);
	for (uint32_t i = 0; i < n_members; i++) {
		uint8_t hops = 0;

		for (uint32_t s = member[i]; s != root; s = parent[s])
			hops++;
		height = hops > height ? hops : height;
	}
	return height;
}

/* Find a tree for a group that is cheaper than its own, which is left out meanwhile. */
static void propose(const struct fab_reroute *r, struct worker *w, struct proposal *x,
		    const struct fab_reroute_try *how)
{
	const struct fab_groups *g = w->state->problem->groups;
	const struct fab_forest *forest = &r->revision->s->forest;
	const uint32_t *cable = fab_revision_cables(r->revision, x->group);
	uint32_t n = fab_revision_size(r->revision, x->group);
	uint32_t old = forest->root[x->group];

	w->best = x;
	w->sw = g->sw + g->sw_first[x->group];
	w->n_sw = fab_group_n_switches(g, x->group);
	w->seed = fab_mix64(fab_mix64(r->options->seed ^ how->turn << 32) ^ x->group);
	if (x->group < r->roots->n) {
		w->bits = fab_roots_bits(r->roots, x->group);
		w->height = fab_roots_radius(r->roots, x->group);
	} else {
		w->bits = w->one->bits;
		w->height = fab_roots_one_find(w->one, w->sw, w->n_sw);
	}
	w->height += r->options->height_slack;
	fab_mcast_state_count(w->state, x->group, old, cable, n, -1);
	w->prices = *r->prices;
	w->prices.state = w->state;
	w->prices.load = w->state->load;
	fab_prices_set_group(&w->prices, x->group);
	x->root = FAB_NONE;
	x->steps = 0;
	x->price = fab_prices_sum(&w->prices, cable, n);
	if (how->how == FAB_REROUTE_ROOTS)
		try_roots(r, w, old, how->least);
	else if (w->height > FAB_NEAR_HOPS && how->how == FAB_REROUTE_DEEP)
		try_root(w, old, true);
	else if (w->height > FAB_NEAR_HOPS && how->how == FAB_REROUTE_SHORT)
		try_short(r, w, old, how->n_changes);
	else if (how->how == FAB_REROUTE_WAYS && w->height > FAB_NEAR_HOPS &&
		 w->n_sw <= FAB_SHORT_SWITCHES) {
		struct fab_grown tree = {n, fab_revision_switches(r->revision, x->group),
					 cable, 0, 0};

		tree = fab_same_branches_grow(w->deep, &w->prices, w->sw, w->n_sw, old,
					      &tree);
		look_at(w, old, &tree);
	} else if (how->how == FAB_REROUTE_PATHS && w->height > FAB_NEAR_HOPS)
		try_deep(w,
			 fab_roots_has(w->bits, old)
				 ? old
				 : fab_roots_draw(w->bits, r->roots->words, w->seed),
			 &(struct fab_kept){cable, n, how->least, how->per_hop});
	fab_mcast_state_count(w->state, x->group, old, cable, n, 1);
	if (x->root == FAB_NONE)
		return;
	/* without height slack heights are the least */
	x->height = (uint8_t)w->height;
	if (r->options->height_slack)
		x->height = fab_tree_height(w->state->problem->f, x->root, x->sw,
					    x->cable, x->n, w->sw, w->n_sw, w->list);
}

void fab_reroute_find(struct fab_reroute *r, const uint32_t *group, uint32_t n,
		      const struct fab_reroute_try *how)
{
	const struct fab_mcast_state *s = r->revision->s;
	const struct fab_fabric *f = s->problem->f;
	uint32_t next = 0, n_workers = n < r->n_workers ? n : r->n_workers;

#pragma omp parallel for schedule(static, 1) num_threads(n_workers) if (n_workers > 1)
	for (uint32_t t = 0; t < n_workers; t++) {
		struct worker *w = &r->worker[t];
		uint32_t i;

		if (w->state != s) {
			memcpy(w->view.load, s->load,
			       f->n_switch_links * sizeof(*s->load));
			memcpy(w->view.adjacent, s->adjacent,
			       f->n_switches * sizeof(*s->adjacent));
			if (s->units)
				memcpy(w->view.units, s->units,
				       f->n_switch_links * sizeof(*s->units));
		}
		for (;;) {
#pragma omp atomic capture
			i = next++;
			if (i >= n)
				break;
			r->proposal[i].group = group[i];
			propose(r, w, &r->proposal[i], how);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		r->steps += r->proposal[i].steps;
}

const uint32_t *fab_reroute_found(const struct fab_reroute *r, uint32_t i, uint32_t *n)
{
	const struct proposal *x = &r->proposal[i];

	*n = x->n;
	return x->root == FAB_NONE ? NULL : x->cable;
}

void fab_reroute_take(struct fab_reroute *r, uint32_t i)
{
	const struct proposal *x = &r->proposal[i];
	uint32_t group = x->group;

	if (x->root == FAB_NONE)
		return;
	fab_revision_take_out(r->revision, group);
	if (i > 0) {
		struct fab_prices prices = *r->prices;

		/* Loads have changed. */
		fab_prices_set_group(&prices, group);
		if (fab_prices_sum(&prices, x->cable, x->n) >=
		    CHEAPER * fab_prices_sum(&prices,
					     fab_revision_cables(r->revision, group),
					     fab_revision_size(r->revision, group))) {
			fab_revision_put_back(r->revision, group);
			return;
		}
	}
	fab_revision_put(r->revision, group, x->root, x->height, x->n, x->sw, x->cable);
}
