/* SPDX-License-Identifier: BSD-2-Clause */
/* Cheap trees for one group: of minimal height, and deeper ones. */
#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"
#include "mcast/search/search.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* More than any cable costs. */
static const double FORBIDDEN = __DBL_MAX__;

struct fab_cheap_tree {
	const struct fab_mcast_problem *p;
	uint32_t *mark; /* [n_switches] == stamp: in the tree */
	uint32_t stamp;
	uint64_t steps;	   /* cables looked at for the tree */
	uint32_t *sharers; /* [n_switches] switches of the level that can hang there */
	double *up;	   /* [n_switches] cheapest cable on, of parents in question */
	uint32_t *parent;  /* [n_switches] those with sharers */
	uint32_t n_parents;
	/* the cheapest cable of each neighbour of the root, where by_root == stamp */
	uint32_t *by_root, *root_cable; /* [n_switches] */
	double *root_price;
	/* arcs of the switches of the level to those one hop nearer */
	FAB_VEC(uint32_t) choice;
	FAB_VEC(size_t) first; /* [level + 1] into choice */
	uint32_t *counted;     /* [n_switches] == serial: a sharer is counted there */
	uint32_t serial;
	FAB_VEC(uint32_t) level[FAB_HOPS_UNREACHABLE + 1];
	FAB_VEC(uint32_t) sw, cable;
};

struct fab_cheap_tree *fab_cheap_tree_new(const struct fab_mcast_problem *p)
{
	struct fab_cheap_tree *t = FAB_NEW0(1, struct fab_cheap_tree);
	uint32_t n = p->f->n_switches;

	t->p = p;
	t->mark = FAB_NEW0(n, uint32_t);
	t->sharers = FAB_NEW0(n, uint32_t);
	t->up = FAB_NEW(n, double);
	t->parent = FAB_NEW(n, uint32_t);
	t->by_root = FAB_NEW0(n, uint32_t);
	t->root_cable = FAB_NEW(n, uint32_t);
	t->root_price = FAB_NEW(n, double);
	t->counted = FAB_NEW0(n, uint32_t);
	return t;
}

void fab_cheap_tree_free(struct fab_cheap_tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < FAB_COUNT(t->level); i++)
		free(t->level[i].v);
	free(t->mark);
	free(t->sharers);
	free(t->up);
	free(t->parent);
	free(t->by_root);
	free(t->root_cable);
	free(t->root_price);
	free(t->counted);
	free(t->choice.v);
	free(t->first.v);
	free(t->sw.v);
	free(t->cable.v);
	free(t);
}

static uint32_t degree(const struct fab_fabric *f, uint32_t sw)
{
	return f->arc_first[sw + 1] - f->arc_first[sw];
}

/* The port of a switch that a cable is in. */
static uint32_t port_at(const struct fab_fabric *f, uint32_t cable, uint32_t sw)
{
	uint32_t a = f->cable_a[cable];

	return f->port_node[a] == sw ? a : f->cable_b[cable];
}

/* The cheapest cable of each neighbour to the root, of equal ones that of its lowest
 * port; a switch of many ports is asked once here, not each of its neighbours for all of
 * its own. */
static void look_from_root(struct fab_cheap_tree *t, const struct fab_prices *prices,
			   uint32_t root)
{
	const struct fab_fabric *f = t->p->f;

	for (uint32_t a = f->arc_first[root]; a < f->arc_first[root + 1]; a++) {
		uint32_t sw = f->arc_peer[a], cable = f->arc_cable[a];
		double price = fab_price(prices, cable);

		if (t->by_root[sw] == t->stamp &&
		    (price > t->root_price[sw] ||
		     (price >= t->root_price[sw] &&
		      port_at(f, cable, sw) > port_at(f, t->root_cable[sw], sw))))
			continue;
		t->by_root[sw] = t->stamp;
		t->root_cable[sw] = cable;
		t->root_price[sw] = price;
	}
}

/* The cheapest cable of a switch one hop nearer to the root. */
static double cheapest_up(struct fab_cheap_tree *t, const struct fab_prices *prices,
			  const uint8_t *row, uint32_t sw)
{
	const struct fab_fabric *f = t->p->f;
	int nearer = row[sw] - 1;
	double best = FORBIDDEN;

	t->steps += degree(f, sw);
	if (!nearer)
		return t->root_price[sw];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		if (row[f->arc_peer[a]] == nearer) {
			double price = fab_price(prices, f->arc_cable[a]);

			best = price < best ? price : best;
		}
	return best;
}

/* The cables of a switch to those one hop nearer; each of these has one sharer more. */
static void list_choices(struct fab_cheap_tree *t, const uint8_t *row, uint32_t sw)
{
	const struct fab_fabric *f = t->p->f;
	int nearer = row[sw] - 1;

	t->serial++;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];

		if (row[peer] != nearer)
			continue;
		FAB_PUSH(&t->choice, a);
		if (t->counted[peer] == t->serial)
			continue;
		t->counted[peer] = t->serial;
		if (!t->sharers[peer]++)
			t->parent[t->n_parents++] = peer;
	}
	FAB_PUSH(&t->first, t->choice.n);
}

static void join_by(struct fab_cheap_tree *t, uint32_t sw, uint32_t cable)
{
	t->steps += 2 * degree(t->p->f, sw); /* sharers, too */
	FAB_PUSH(&t->sw, sw);
	FAB_PUSH(&t->cable, cable);
}

/* Hang a switch on the cheapest parent of the choices from .. to - 1; what the cable
 * costs. */
static double hang(struct fab_cheap_tree *t, const struct fab_prices *prices,
		   unsigned hops, uint32_t sw, size_t from, size_t to)
{
	const struct fab_fabric *f = t->p->f;
	uint32_t best = FAB_NONE;
	double least = 0, price = 0;

	for (size_t i = from; i < to; i++) {
		uint32_t a = t->choice.v[i], peer = f->arc_peer[a];
		double own = fab_price(prices, f->arc_cable[a]), cost = own;

		if (t->mark[peer] != t->stamp)
			cost += t->up[peer];
		if (best == FAB_NONE || cost < least) {
			best = a;
			least = cost;
			price = own;
		}
	}
	join_by(t, sw, f->arc_cable[best]);
	best = f->arc_peer[best];
	if (t->mark[best] != t->stamp) {
		t->mark[best] = t->stamp;
		FAB_PUSH(&t->level[hops - 1], best);
	}
	return price;
}

/* Neighbours of the root. */
static double hang_last(struct fab_cheap_tree *t)
{
	double price = 0;

	for (size_t i = 0; i < t->level[1].n; i++) {
		uint32_t sw = t->level[1].v[i];

		join_by(t, sw, t->root_cable[sw]);
		price += t->root_price[sw];
	}
	return price;
}

static double hang_level(struct fab_cheap_tree *t, const struct fab_prices *prices,
			 const uint8_t *row, unsigned hops)
{
	double price = 0;

	t->n_parents = 0;
	t->choice.n = t->first.n = 0;
	FAB_PUSH(&t->first, t->choice.n);
	for (size_t i = 0; i < t->level[hops].n; i++)
		list_choices(t, row, t->level[hops].v[i]);
	for (uint32_t i = 0; i < t->n_parents; i++) {
		uint32_t sw = t->parent[i];

		t->up[sw] = t->mark[sw] != t->stamp
				    ? cheapest_up(t, prices, row, sw) / t->sharers[sw]
				    : 0;
		t->sharers[sw] = 0;
	}
	for (size_t i = 0; i < t->level[hops].n; i++)
		price += hang(t, prices, hops, t->level[hops].v[i], t->first.v[i],
			      t->first.v[i + 1]);
	return price;
}

struct fab_grown fab_cheap_tree_grow(struct fab_cheap_tree *t,
				     const struct fab_prices *prices, const uint32_t *sw,
				     uint32_t n, uint32_t root, double limit)
{
	const uint8_t *row = fab_dist_row(t->p->dist, root);
	unsigned height = 0;
	double price = 0;

	t->steps = 0;
	t->sw.n = t->cable.n = 0;
	t->mark[root] = ++t->stamp;
	for (uint32_t i = 0; i < n; i++)
		height = row[sw[i]] > height ? row[sw[i]] : height;
	for (unsigned h = 0; h <= height; h++)
		t->level[h].n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (t->mark[sw[i]] != t->stamp) {
			t->mark[sw[i]] = t->stamp;
			FAB_PUSH(&t->level[row[sw[i]]], sw[i]);
		}
	look_from_root(t, prices, root);
	for (unsigned h = height; h > 1 && price < limit; h--)
		price += hang_level(t, prices, row, h);
	if (height && price < limit)
		price += hang_last(t);
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}

/* Paths that a search for the cheapest one has come by so far, the cheapest first. */

/* A path to a switch, not known to be the cheapest before it is taken. */
struct fab_label {
	double cost;
	uint32_t sw;
	int32_t hops;
};

/* A heap; free() of v. */
struct fab_labels {
	FAB_VEC(struct fab_label);
};

static inline bool fab_label_is_before(const struct fab_label *a,
				       const struct fab_label *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	return a->hops != b->hops ? a->hops < b->hops : a->sw < b->sw;
}

/* O(log n). */
static inline void fab_labels_push(struct fab_labels *heap, struct fab_label label)
{
	size_t at = heap->n;

	FAB_PUSH(heap, label);
	while (at && fab_label_is_before(&label, &heap->v[(at - 1) / 2])) {
		heap->v[at] = heap->v[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->v[at] = label;
}

/* O(log n). */
static inline struct fab_label fab_labels_pop(struct fab_labels *heap)
{
	struct fab_label top = heap->v[0], last = heap->v[--heap->n];
	size_t at = 0, n = heap->n;

	while (2 * at + 1 < n) {
		size_t child = 2 * at + 1;

		if (child + 1 < n &&
		    fab_label_is_before(&heap->v[child + 1], &heap->v[child]))
			child++;
		if (!fab_label_is_before(&heap->v[child], &last))
			break;
		heap->v[at] = heap->v[child];
		at = child;
	}
	heap->v[at] = last;
	return top;
}

/* Share of its price that a cable to a member not joined yet costs: joining it would take
 * a cable anyway. */
static const double TO_MEMBER = 0.1;

/* State of a switch, contiguous for the cache. */
struct place {
	double cost;	 /* of the label */
	uint32_t seen;	 /* == search: has a label */
	uint32_t from;	 /* of the label: arc towards the member at hand */
	uint32_t joined; /* == stamp: in the tree */
	uint32_t wanted; /* == stamp: a member */
	uint16_t hops;	 /* of the label */
	uint8_t depth;	 /* in the tree: at most so deep */
};

struct fab_deep_tree {
	const struct fab_mcast_problem *p;
	uint32_t stamp;	   /* of the tree */
	struct place *at;  /* [n_switches] */
	uint32_t *parent;  /* [n_switches] in the tree: arc to the parent */
	uint32_t *n_below; /* [n_switches] switches below it */
	uint32_t search;   /* number of the search */
	uint64_t steps;	   /* cables looked at for the tree */
	struct fab_labels heap;
	FAB_VEC(uint32_t) in, sw, cable;
	FAB_VEC(uint64_t) order;
};

struct fab_deep_tree *fab_deep_tree_new(const struct fab_mcast_problem *p)
{
	struct fab_deep_tree *t = FAB_NEW0(1, struct fab_deep_tree);
	uint32_t n = p->f->n_switches;

	t->p = p;
	t->at = FAB_NEW0(n, struct place);
	t->parent = FAB_NEW(n, uint32_t);
	t->n_below = FAB_NEW(n, uint32_t);
	return t;
}

void fab_deep_tree_free(struct fab_deep_tree *t)
{
	if (!t)
		return;
	free(t->at);
	free(t->parent);
	free(t->n_below);
	free(t->heap.v);
	free(t->in.v);
	free(t->sw.v);
	free(t->cable.v);
	free(t->order.v);
	free(t);
}

static bool is_joined(const struct fab_deep_tree *t, uint32_t sw)
{
	return t->at[sw].joined == t->stamp;
}

static void reach(struct fab_deep_tree *t, uint32_t sw, uint32_t arc, double cost,
		  unsigned hops)
{
	struct place *at = &t->at[sw];

	if (at->seen == t->search && at->cost <= cost)
		return;
	at->seen = t->search;
	at->cost = cost;
	at->hops = (uint16_t)hops;
	at->from = arc;
	fab_labels_push(&t->heap, (struct fab_label){cost, sw, (int32_t)hops});
}

/* Where a search may end, and what it may cross. */
struct reach_limit {
	const uint8_t *row; /* from the root */
	unsigned height;
	bool is_straight; /* towards the root only, through switches that are too deep */
};

static void expand(struct fab_deep_tree *t, const struct fab_prices *prices,
		   const struct reach_limit *l, const struct fab_label *at)
{
	const struct fab_fabric *f = t->p->f;
	unsigned hops = (unsigned)at->hops + 1;

	t->steps += f->arc_first[at->sw + 1] - f->arc_first[at->sw];
	for (uint32_t a = f->arc_first[at->sw]; a < f->arc_first[at->sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];
		const struct place *to = &t->at[peer];
		bool is_in = to->joined == t->stamp;
		double cost;

		if (l->is_straight
			    ? l->row[peer] + 1 != l->row[at->sw]
			    : (is_in ? to->depth : l->row[peer]) + hops > l->height)
			continue;
		cost = fab_price(prices, f->arc_cable[a]);
		if (to->wanted == t->stamp && !is_in)
			cost *= TO_MEMBER;
		reach(t, peer, a, at->cost + cost, hops);
	}
}

/* The cheapest path from a switch to the tree; FAB_NONE: none within the limit. */
static uint32_t search(struct fab_deep_tree *t, const struct fab_prices *prices,
		       const struct reach_limit *l, uint32_t sw)
{
	t->search++;
	t->heap.n = 0;
	reach(t, sw, FAB_NONE, 0, 0);
	while (t->heap.n) {
		struct fab_label at = fab_labels_pop(&t->heap);

		if (at.cost > t->at[at.sw].cost || at.hops != t->at[at.sw].hops)
			continue;
		if (!is_joined(t, at.sw)) {
			expand(t, prices, l, &at);
			continue;
		}
		if (t->at[at.sw].depth + (unsigned)at.hops <= l->height)
			return at.sw;
		if (l->is_straight)
			expand(t, prices, l, &at);
	}
	return FAB_NONE;
}

/* Join the path that was found, from its end at the tree back to the member. */
static void join_path(struct fab_deep_tree *t, uint32_t end)
{
	const struct fab_fabric *f = t->p->f;
	unsigned depth = t->at[end].depth;

	for (uint32_t arc = t->at[end].from; arc != FAB_NONE;) {
		/* The switch that an arc leaves. */
		uint32_t c = f->arc_cable[arc], a = f->port_node[f->cable_a[c]];
		uint32_t sw = a == f->arc_peer[arc] ? f->port_node[f->cable_b[c]] : a;

		if (!is_joined(t, sw)) {
			t->at[sw].joined = t->stamp;
			FAB_PUSH(&t->in, sw);
		}
		t->parent[sw] = arc;
		t->at[sw].depth = (uint8_t)++depth;
		arc = t->at[sw].from;
	}
}

/* Leave out switches without members below: paths that were left for others. */
static double collect(struct fab_deep_tree *t, const struct fab_prices *prices,
		      uint32_t root)
{
	const struct fab_fabric *f = t->p->f;
	double sum = 0;

	for (size_t i = 0; i < t->in.n; i++)
		t->n_below[t->in.v[i]] = 0;
	t->n_below[root] = 0;
	for (size_t i = 0; i < t->in.n; i++)
		t->n_below[f->arc_peer[t->parent[t->in.v[i]]]]++;
	for (size_t i = 0; i < t->in.n; i++) {
		uint32_t sw = t->in.v[i];

		while (sw != root && t->n_below[sw] == 0 &&
		       t->at[sw].wanted != t->stamp) {
			t->n_below[sw] = FAB_NONE;
			sw = f->arc_peer[t->parent[sw]];
			t->n_below[sw]--;
		}
	}
	t->sw.n = t->cable.n = 0;
	for (size_t i = 0; i < t->in.n; i++) {
		uint32_t sw = t->in.v[i], cable = f->arc_cable[t->parent[sw]];

		if (t->n_below[sw] == FAB_NONE)
			continue;
		FAB_PUSH(&t->sw, sw);
		FAB_PUSH(&t->cable, cable);
		sum += fab_price(prices, cable);
	}
	return sum;
}

struct fab_grown fab_deep_tree_grow(struct fab_deep_tree *t,
				    const struct fab_prices *prices, const uint32_t *sw,
				    uint32_t n, uint32_t root, unsigned height,
				    uint64_t seed)
{
	struct reach_limit limit = {.row = fab_dist_row(t->p->dist, root),
				    .height = height};
	double price;

	t->stamp++;
	t->steps = 0;
	t->in.n = 0;
	t->at[root].joined = t->stamp;
	t->at[root].depth = 0;
	/* Farthest first. */
	t->order.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t tie = fab_mix64(seed ^ sw[i]) >> 40;

		t->at[sw[i]].wanted = t->stamp;
		FAB_PUSH(&t->order, (uint64_t)(UINT8_MAX - limit.row[sw[i]]) << 56 |
					    tie << 32 | sw[i]);
	}
	qsort(t->order.v, t->order.n, sizeof(*t->order.v), fab_cmp_u64);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t member = (uint32_t)t->order.v[i], end;

		if (is_joined(t, member))
			continue;
		limit.is_straight = false;
		end = search(t, prices, &limit, member);
		if (end == FAB_NONE) {
			limit.is_straight = true;
			end = search(t, prices, &limit, member);
		}
		join_path(t, end);
	}
	price = collect(t, prices, root);
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}
