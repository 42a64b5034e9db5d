/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/near_path.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>

/* Pairs of switches as near as can be that paths are looked for between. */
enum { PAIRS = 2 };

/* So many pairs that are compared, or switches of the tree, count as a cable that is
 * looked at. */
enum { PAIRS_STEP = 8, SWITCHES_STEP = 2 };

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
	enum fab_loose_side small; /* the half of fewer switches */
	struct fab_hops_list end;  /* switches of the other */
	FAB_VEC(int) farthest;	   /* of these */
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
	fab_hops_list_init(&x->end, hops);
	x->at = FAB_NEW0(p->f->n_switches, struct place);
	return x;
}

void fab_near_path_free(struct fab_near_path *x)
{
	if (!x)
		return;
	free(x->at);
	fab_hops_list_fini(&x->end);
	free(x->farthest.v);
	free(x->nearest.v);
	free(x->queue.v);
	free(x->edge.v);
	free(x);
}

/* The larger half becomes a list. */
static void list_ends(struct fab_near_path *x)
{
	const struct fab_loose_tree *t = x->tree;
	size_t size[FAB_LOOSE_PATH + 1] = {0};

	for (size_t i = 0; i < t->node.n; i++)
		size[t->node.v[i].side]++;
	x->small = size[FAB_LOOSE_LOWER] > size[FAB_LOOSE_UPPER] ? FAB_LOOSE_UPPER
								 : FAB_LOOSE_LOWER;
	fab_hops_list_clear(&x->end);
	x->farthest.n = 0;
	for (size_t i = 0; i < t->node.n; i++) {
		const struct fab_loose_node *n = &t->node.v[i];

		if (n->side == x->small || n->side == FAB_LOOSE_PATH)
			continue;
		fab_hops_list_add(&x->end, n->sw);
		FAB_PUSH(&x->farthest, n->farthest);
	}
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

/* Pairs of a switch, `far` hops from a member, that are no farther apart than those
 * there are, and near enough for the height; hops[i] to each end. */
static void pair_up(struct fab_near_path *x, uint32_t sw, int far, const uint16_t *hops,
		    int most_hops, uint64_t seed)
{
	for (size_t i = 0; i < x->end.sw.n; i++) {
		if (hops[i] > x->hops || hops[i] + far + x->farthest.v[i] > most_hops)
			continue;
		if (hops[i] < x->hops) {
			x->hops = hops[i];
			x->n_pairs = 0;
		}
		add_pair(x, sw, x->end.sw.v[i], seed);
	}
}

/* A neighbour in the tree is at most one hop nearer to the other half: most switches
 * need not be looked at. */
static void find_pairs(struct fab_near_path *x, int most_hops, uint64_t seed)
{
	const struct fab_loose_tree *t = x->tree;

	x->nearest.n = 0;
	for (size_t i = 0; i < t->node.n; i++) {
		const struct fab_loose_node *n = &t->node.v[i];
		bool has_up = i && n->side == t->node.v[n->parent].side;
		int least = has_up ? x->nearest.v[n->parent] - 1 : 0;

		if (n->side == x->small && least <= (int)x->hops) {
			uint16_t nearest;
			const uint16_t *hops = fab_hops_from(&x->end, n->sw, &nearest);

			least = nearest;
			x->steps += x->end.sw.n / PAIRS_STEP + 1;
			if (least <= (int)x->hops)
				pair_up(x, n->sw, n->farthest, hops, most_hops, seed);
		}
		FAB_PUSH(&x->nearest, least);
	}
}

static void reach(struct fab_near_path *x, uint32_t from, uint32_t arc)
{
	const struct fab_fabric *f = x->p->f;
	uint32_t sw = f->arc_peer[arc];
	struct place *at = &x->at[sw];
	double cost = x->at[from].cost + fab_price(x->prices, f->arc_cable[arc]);

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

	return node == FAB_NONE || x->tree->node.v[node].side == FAB_LOOSE_PATH;
}

/* The cheapest of the shortest paths: switches come by their distance. What it costs. */
static double search(struct fab_near_path *x, const struct pair *pair)
{
	const struct fab_fabric *f = x->p->f;
	const uint8_t *row = fab_dist_row(x->p->dist, pair->to);

	x->search++;
	x->at[pair->from] = (struct place){.seen = x->search, .by = FAB_NONE};
	x->queue.n = 0;
	FAB_PUSH(&x->queue, pair->from);
	for (size_t i = 0; i < x->queue.n && x->queue.v[i] != pair->to; i++) {
		uint32_t sw = x->queue.v[i];

		x->steps += f->arc_first[sw + 1] - f->arc_first[sw];
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			uint32_t peer = f->arc_peer[a];

			if (row[peer] + 1 == row[sw] &&
			    (peer == pair->to || is_free(x, peer)))
				reach(x, sw, a);
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
	double least = limit->price;

	x->tree = tree;
	x->prices = prices;
	x->hops = limit->hops;
	x->n_pairs = 0;
	x->steps += tree->node.n / SWITCHES_STEP;
	list_ends(x);
	find_pairs(x, limit->most_hops, seed);
	for (uint64_t i = 0; i <= x->n_pairs && i <= PAIRS; i++) {
		bool is_old = i == x->n_pairs || i == PAIRS;
		const struct pair *pair = is_old ? &old : &x->pair[i];
		double price;

		if (is_old ? fab_dist_row(x->p->dist, old.to)[old.from] != limit->hops
			   : is_same(pair, &old))
			continue;
		price = search(x, pair);
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
