/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/near_path.h"

#include "base/macros.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>

/* Pairs of switches as near as can be that paths are looked for between. */
enum { PAIRS = 2 };

/* So many pairs that are compared, or switches of the tree, count as a cable that is
 * looked at. */
enum { PAIRS_STEP = 32, SWITCHES_STEP = 2 };

/* More hops than there are. */
enum { FAR = 1 << 13 };

struct pair {
	uint32_t from, to;
};

/* What a search knows of a switch. */
struct place {
	double cost;
	uint32_t seen; /* == search */
	uint32_t from, by;
};

struct fab_near_path {
	const struct fab_mcast_problem *p;
	const struct fab_loose_tree *tree;
	const struct fab_prices *prices;
	double floor;		   /* no cable costs less */
	struct fab_hops_list node; /* switches of the tree, */
	uint32_t version;	   /* as it was then */
	/* [nodes, padded] hops from each to the farthest member of the half that paths
	 * lead to; FAR: it is in none or the other */
	FAB_VEC(int16_t) behind;
	FAB_VEC(int) nearest; /* [nodes] hops from there to the other half at least */
	struct pair pair[PAIRS];
	uint64_t n_pairs; /* that were as near, most of them not kept */
	unsigned hops;	  /* between them */
	struct place *at; /* [n_switches] */
	uint32_t search;
	FAB_VEC(uint32_t) queue;
	FAB_VEC(struct fab_loose_edge) edge;
	uint64_t steps;
};

struct fab_near_path *fab_near_path_new(const struct fab_mcast_problem *p,
					const struct fab_hops *hops)
{
	struct fab_near_path *x = FAB_NEW0(1, struct fab_near_path);

	x->p = p;
	fab_hops_list_init(&x->node, hops);
	x->at = FAB_NEW0(p->f->n_switches, struct place);
	return x;
}

void fab_near_path_free(struct fab_near_path *x)
{
	if (!x)
		return;
	free(x->at);
	fab_hops_list_fini(&x->node);
	free(x->behind.v);
	free(x->nearest.v);
	free(x->queue.v);
	free(x->edge.v);
	free(x);
}

/* Another tree, or another shape of it: its switches become a list. */
static void list_nodes(struct fab_near_path *x)
{
	const struct fab_loose_tree *t = x->tree;

	if (x->version == t->version)
		return;
	x->version = t->version;
	fab_hops_list_clear(&x->node);
	for (size_t i = 0; i < t->node.n; i++)
		fab_hops_list_add(&x->node, t->node.v[i].sw);
}

/* One more pair of as many hops as those there are, in the place of one by chance where
 * there is no room. */
static void add_pair(struct fab_near_path *x, uint32_t from, uint32_t to, uint64_t seed)
{
	uint64_t place = x->n_pairs++;

	if (place >= PAIRS)
		place = fab_mix64(seed + place) % x->n_pairs;
	if (place < PAIRS)
		x->pair[place] = (struct pair){from, to};
}

/* Which half is where, in `behind`. */
static void mark_half(struct fab_near_path *x, enum fab_loose_side half)
{
	const struct fab_loose_tree *t = x->tree;
	size_t padded = fab_hops_padded(t->node.n);
	struct fab_loose_range range[2];

	x->behind.n = 0;
	FAB_RESERVE(&x->behind, padded);
	for (size_t i = 0; i < padded; i++)
		x->behind.v[i] = FAR;
	for (int r = fab_loose_ranges(t, half, range); r-- > 0;)
		for (uint32_t i = range[r].first; i < range[r].end; i++)
			x->behind.v[i] = t->farthest.v[i];
}

/* The least of hops[n * FAB_HOPS_ALIGN] to the half, and of those that keep the tree low
 * enough: hops and what is behind them no more than `most`. */
struct least {
	uint16_t of_all, of_low;
};

FAB_WIDE static struct least least_of(const uint16_t *restrict hops,
				      const int16_t *restrict behind, size_t n,
				      int16_t most)
{
	uint16_t all = UINT16_MAX, low = UINT16_MAX;

	for (size_t i = 0; i < n * FAB_HOPS_ALIGN; i++) {
		uint16_t is_far = fab_hops_mask(behind[i] == FAR);
		uint16_t is_high = fab_hops_mask((int16_t)(hops[i] + behind[i]) > most);
		uint16_t own = hops[i] | is_far, of_low = own | is_high;

		all = own < all ? own : all;
		low = of_low < low ? of_low : low;
	}
	return (struct least){all, low};
}

/* Pairs of a node with those that are `least` hops away and low enough. */
static void pair_up(struct fab_near_path *x, uint32_t node, const uint16_t *hops,
		    uint16_t least, int most, uint64_t seed)
{
	const struct fab_loose_node *v = x->tree->node.v;

	for (uint32_t i = 0; i < x->tree->node.n; i++)
		if (hops[i] == least && least + x->behind.v[i] <= most)
			add_pair(x, v[node].sw, v[i].sw, seed);
}

/* Pairs of a node that are no farther apart than those there are, and near enough for the
 * height; hops to the other half at least. */
static int look_from(struct fab_near_path *x, uint32_t node, int most_hops, uint64_t seed)
{
	const struct fab_loose_tree *t = x->tree;
	size_t padded = fab_hops_padded(t->node.n);
	const uint16_t *hops = fab_hops_from(&x->node, t->node.v[node].sw);
	int most = most_hops - t->farthest.v[node];
	struct least least =
		least_of(hops, x->behind.v, padded / FAB_HOPS_ALIGN, (int16_t)most);

	x->steps += t->node.n / PAIRS_STEP + 1;
	if (least.of_low > x->hops)
		return least.of_all;
	if (least.of_low < x->hops) {
		x->hops = least.of_low;
		x->n_pairs = 0;
	}
	pair_up(x, node, hops, least.of_low, most, seed);
	return least.of_all;
}

/* A neighbour in the tree is at most one hop nearer to the other half: most switches
 * need not be looked at. */
static void find_pairs(struct fab_near_path *x, int most_hops, uint64_t seed)
{
	const struct fab_loose_tree *t = x->tree;
	enum fab_loose_side small = fab_loose_smaller(t);
	struct fab_loose_range from[2];
	int n_from = fab_loose_ranges(t, small, from);

	mark_half(x, small == FAB_LOOSE_LOWER ? FAB_LOOSE_UPPER : FAB_LOOSE_LOWER);
	x->nearest.n = 0;
	FAB_RESERVE(&x->nearest, t->node.n);
	for (int r = 0; r < n_from; r++)
		for (uint32_t i = from[r].first; i < from[r].end; i++) {
			bool is_top = i == 0 || i == t->at;
			int least = is_top ? 0 : x->nearest.v[t->node.v[i].parent] - 1;

			if (least <= (int)x->hops)
				least = look_from(x, i, most_hops, seed);
			x->nearest.v[i] = least;
		}
}

/* A path to the other end of an arc, if it can be cheaper than `limit` in the end. */
static void reach(struct fab_near_path *x, uint32_t from, uint32_t arc, double limit)
{
	const struct fab_fabric *f = x->p->f;
	uint32_t sw = f->arc_peer[arc];
	struct place *at = &x->at[sw];
	double cost = x->at[from].cost + fab_price(x->prices, f->arc_cable[arc]);

	if (cost >= limit)
		return;
	if (at->seen != x->search)
		FAB_PUSH(&x->queue, sw);
	else if (at->cost <= cost)
		return;
	*at = (struct place){cost, x->search, from, f->arc_cable[arc]};
}

/* May a path cross this switch? Not where it is in the tree. */
static bool is_free(const struct fab_near_path *x, uint32_t sw)
{
	uint32_t node = fab_loose_find(x->tree, sw);

	return node == FAB_NONE || fab_loose_side(x->tree, node) == FAB_LOOSE_PATH;
}

/* The cheapest of the shortest paths: switches come by their distance. What it costs;
 * __DBL_MAX__: none costs less than `limit`. */
static double search(struct fab_near_path *x, const struct pair *pair, double limit)
{
	const struct fab_fabric *f = x->p->f;
	const uint8_t *row = fab_dist_row(x->p->dist, pair->to);

	x->search++;
	x->at[pair->from] = (struct place){.seen = x->search, .by = FAB_NONE};
	x->queue.n = 0;
	FAB_PUSH(&x->queue, pair->from);
	for (size_t i = 0; i < x->queue.n && x->queue.v[i] != pair->to; i++) {
		uint32_t sw = x->queue.v[i];
		double most = limit - x->floor * (row[sw] - 1);

		x->steps += f->arc_first[sw + 1] - f->arc_first[sw];
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			uint32_t peer = f->arc_peer[a];

			if (row[peer] + 1 == row[sw] &&
			    (peer == pair->to || is_free(x, peer)))
				reach(x, sw, a, most);
		}
	}
	return x->at[pair->to].seen == x->search ? x->at[pair->to].cost : __DBL_MAX__;
}

static void keep(struct fab_near_path *x, uint32_t end)
{
	x->edge.n = 0;
	for (const struct place *i = &x->at[end]; i->by != FAB_NONE;
	     end = i->from, i = &x->at[end])
		FAB_PUSH(&x->edge, ((struct fab_loose_edge){{end, i->from}, i->by}));
}

/* The ends of the path that was taken out. */
static struct pair old_ends(const struct fab_loose_tree *t, uint32_t at)
{
	uint32_t up = t->node.v[at].parent;

	while (!fab_loose_is_key(&t->node.v[up]))
		up = t->node.v[up].parent;
	return (struct pair){t->node.v[at].sw, t->node.v[up].sw};
}

static bool is_same(const struct pair *a, const struct pair *b)
{
	return (a->from == b->from && a->to == b->to) ||
	       (a->from == b->to && a->to == b->from);
}

bool fab_near_path_find(struct fab_near_path *x, const struct fab_loose_tree *tree,
			uint32_t at, const struct fab_prices *prices,
			const struct fab_near_path_limit *limit, uint64_t seed)
{
	const struct pair old = old_ends(tree, at);
	unsigned old_hops = fab_dist_row(x->p->dist, old.to)[old.from];
	double least = limit->price;

	x->tree = tree;
	x->prices = prices;
	x->hops = limit->hops;
	x->n_pairs = 0;
	x->floor = prices->state ? 0 : prices->by_load[0];
	x->steps += tree->node.n / SWITCHES_STEP;
	list_nodes(x);
	find_pairs(x, limit->most_hops, seed);
	for (uint64_t i = 0; i <= x->n_pairs && i <= PAIRS; i++) {
		bool is_old = i == x->n_pairs || i == PAIRS;
		const struct pair *pair = is_old ? &old : &x->pair[i];
		double price;

		if (is_old ? old_hops != limit->hops && old_hops != x->hops
			   : is_same(pair, &old))
			continue;
		price = search(x, pair, least);
		if (price >= least)
			continue;
		least = price;
		keep(x, pair->to);
	}
	return least < limit->price;
}

uint32_t fab_near_path_n_edges(const struct fab_near_path *x)
{
	return (uint32_t)x->edge.n;
}

const struct fab_loose_edge *fab_near_path_edges(const struct fab_near_path *x)
{
	return x->edge.v;
}

uint64_t fab_near_path_steps(const struct fab_near_path *x)
{
	return x->steps;
}
