/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/deep_tree.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/rng.h"
#include "mcast/labels.h"

#include <stdlib.h>
#include <string.h>

/* Share of its price that a cable to a member not joined yet costs: joining it would take
 * a cable anyway. */
static const double TO_MEMBER = 0.1;

/* What is known of a switch, side by side for the sake of the cache. */
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
	uint32_t *n_below; /* [n_switches] switches that hang on it */
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

/* The switch that an arc leaves. */
static uint32_t arc_source(const struct fab_fabric *f, uint32_t arc)
{
	uint32_t c = f->arc_cable[arc], a = f->port_node[f->cable_a[c]];

	return a == f->arc_peer[arc] ? f->port_node[f->cable_b[c]] : a;
}

/* Join the path that was found, from its end at the tree back to the member. */
static void join_path(struct fab_deep_tree *t, uint32_t end)
{
	const struct fab_fabric *f = t->p->f;
	unsigned depth = t->at[end].depth;

	for (uint32_t arc = t->at[end].from; arc != FAB_NONE;) {
		uint32_t sw = arc_source(f, arc);

		if (!is_joined(t, sw)) {
			t->at[sw].joined = t->stamp;
			FAB_PUSH(&t->in, sw);
		}
		t->parent[sw] = arc;
		t->at[sw].depth = (uint8_t)++depth;
		arc = t->at[sw].from;
	}
}

/* Farthest first. */
static void sort_members(struct fab_deep_tree *t, const uint32_t *sw, uint32_t n,
			 const uint8_t *row, uint64_t seed)
{
	t->order.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t tie = fab_mix64(seed ^ sw[i]) >> 40;

		t->at[sw[i]].wanted = t->stamp;
		FAB_PUSH(&t->order,
			 (uint64_t)(UINT8_MAX - row[sw[i]]) << 56 | tie << 32 | sw[i]);
	}
	qsort(t->order.v, t->order.n, sizeof(*t->order.v), fab_cmp_u64);
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
	sort_members(t, sw, n, limit.row, seed);
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
