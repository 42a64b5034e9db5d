/* SPDX-License-Identifier: BSD-2-Clause */
/* Cheap trees for one group: of minimal height, and deeper ones. */
#include "base/order.h"
#include "base/queues.h"
#include "base/rng.h"
#include "mcast/search/search.h"

struct fab_cheap_tree {
	const struct fab_mcast_problem *p;
	uint32_t *mark; /* [n_switches] == stamp: in the tree */
	uint32_t stamp;
	uint64_t steps;	   /* cables looked at for the tree */
	uint32_t *sharers; /* [n_switches] switches of the level that can hang there */
	double *up;	   /* [n_switches] cheapest cable on, of parents in question */
	FAB_VEC(uint32_t) parent; /* those with sharers */
	/* the cheapest cable of each neighbour of the root, where by_root == stamp */
	uint32_t *by_root, *root_cable; /* [n_switches] */
	double *root_price;
	/* arcs of the switches of the level to those one hop nearer */
	FAB_VEC(uint32_t) choice;
	FAB_VEC(size_t) first; /* [level + 1] into choice */
	uint32_t *counted;     /* [n_switches] == serial: a sharer is counted there */
	uint32_t serial;
	struct fab_queues level; /* switches of the tree by hops */
	FAB_VEC(uint32_t) sw, cable;
};

struct fab_cheap_tree *fab_cheap_tree_new(const struct fab_mcast_problem *p,
					  struct fab_arena *a)
{
	struct fab_cheap_tree *t = FAB_ARENA_NEW0(a, 1, struct fab_cheap_tree);
	uint32_t n = p->f->n_switches;

	t->p = p;
	t->mark = FAB_ARENA_NEW0(a, n, uint32_t);
	t->sharers = FAB_ARENA_NEW0(a, n, uint32_t);
	t->up = FAB_ARENA_NEW(a, n, double);
	FAB_ROOM(a, &t->parent, n);
	t->by_root = FAB_ARENA_NEW0(a, n, uint32_t);
	t->root_cable = FAB_ARENA_NEW(a, n, uint32_t);
	t->root_price = FAB_ARENA_NEW(a, n, double);
	FAB_ROOM(a, &t->choice, p->f->arc_first[n]);
	FAB_ROOM(a, &t->first, n + 1);
	t->counted = FAB_ARENA_NEW0(a, n, uint32_t);
	t->level.head = FAB_ARENA_NEW(a, FAB_HOPS_UNREACHABLE + 1, uint32_t);
	t->level.tail = FAB_ARENA_NEW(a, FAB_HOPS_UNREACHABLE + 1, uint32_t);
	t->level.next = FAB_ARENA_NEW(a, n, uint32_t);
	FAB_ROOM(a, &t->sw, n);
	FAB_ROOM(a, &t->cable, n);
	return t;
}

static void join_by(struct fab_cheap_tree *t, uint32_t sw, uint32_t cable)
{
	const struct fab_fabric *f = t->p->f;

	t->steps += 2 * (f->arc_first[sw + 1] - f->arc_first[sw]); /* sharers, too */
	FAB_PUSH(&t->sw, sw);
	FAB_PUSH(&t->cable, cable);
}

/* Hang a switch on the cheapest parent of the choices from .. to - 1; returns the price
 * of the cable. */
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
		fab_queues_append(&t->level, hops - 1, best);
	}
	return price;
}

/* Hang all switches of a level; returns the price of the cables. */
static double hang_level(struct fab_cheap_tree *t, const struct fab_prices *prices,
			 const uint8_t *row, unsigned hops)
{
	const struct fab_fabric *f = t->p->f;
	const uint32_t *first = f->arc_first;
	double price = 0;
	size_t at = 0;

	t->parent.n = t->choice.n = t->first.n = 0;
	FAB_PUSH(&t->first, t->choice.n);
	/* Cables to switches one hop nearer; each of these has one sharer more. */
	for (uint32_t sw = t->level.head[hops]; sw != FAB_NONE; sw = t->level.next[sw]) {
		t->serial++;
		for (uint32_t a = first[sw]; a < first[sw + 1]; a++) {
			uint32_t peer = f->arc_peer[a];

			if (row[peer] + 1u != hops)
				continue;
			FAB_PUSH(&t->choice, a);
			if (t->counted[peer] == t->serial)
				continue;
			t->counted[peer] = t->serial;
			if (!t->sharers[peer]++)
				FAB_PUSH(&t->parent, peer);
		}
		FAB_PUSH(&t->first, t->choice.n);
	}
	/* The cheapest cable on from each of them, divided by the sharers. */
	for (size_t i = 0; i < t->parent.n; i++) {
		uint32_t sw = t->parent.v[i];
		double best = hops == 2 ? t->root_price[sw] : __DBL_MAX__;

		if (t->mark[sw] != t->stamp) {
			t->steps += first[sw + 1] - first[sw];
			for (uint32_t a = first[sw]; a < first[sw + 1] && hops > 2; a++)
				if (row[f->arc_peer[a]] + 2u == hops) {
					double own = fab_price(prices, f->arc_cable[a]);

					best = own < best ? own : best;
				}
			t->up[sw] = best / t->sharers[sw];
		}
		t->sharers[sw] = 0;
	}
	for (uint32_t sw = t->level.head[hops]; sw != FAB_NONE;
	     sw = t->level.next[sw], at++)
		price += hang(t, prices, hops, sw, t->first.v[at], t->first.v[at + 1]);
	return price;
}

struct fab_grown fab_cheap_tree_grow(struct fab_cheap_tree *t,
				     const struct fab_prices *prices, const uint32_t *sw,
				     uint32_t n, uint32_t root, double limit)
{
	const uint8_t *row = fab_dist_row(t->p->dist, root);
	const struct fab_fabric *f = t->p->f;
	unsigned height = 0;
	double price = 0;

	t->steps = 0;
	t->sw.n = t->cable.n = 0;
	t->mark[root] = ++t->stamp;
	for (uint32_t i = 0; i < n; i++)
		height = row[sw[i]] > height ? row[sw[i]] : height;
	for (unsigned h = 0; h <= height; h++)
		t->level.head[h] = FAB_NONE;
	for (uint32_t i = 0; i < n; i++)
		if (t->mark[sw[i]] != t->stamp) {
			t->mark[sw[i]] = t->stamp;
			fab_queues_append(&t->level, row[sw[i]], sw[i]);
		}
	/* The cheapest cable of each neighbour to the root, of equal ones that of its
	 * lowest port; a switch of many ports is asked once here, not each of its
	 * neighbours for all of its own. */
	for (uint32_t a = f->arc_first[root]; a < f->arc_first[root + 1]; a++) {
		uint32_t peer = f->arc_peer[a], cable = f->arc_cable[a];
		double own = fab_price(prices, cable);

		if (t->by_root[peer] == t->stamp &&
		    (own > t->root_price[peer] ||
		     (own >= t->root_price[peer] &&
		      fab_cable_port(f, cable, peer) >
			      fab_cable_port(f, t->root_cable[peer], peer))))
			continue;
		t->by_root[peer] = t->stamp;
		t->root_cable[peer] = cable;
		t->root_price[peer] = own;
	}
	for (unsigned h = height; h > 1 && price < limit; h--)
		price += hang_level(t, prices, row, h);
	if (height && price < limit) {
		/* Neighbours of the root. */
		double last = 0;

		for (uint32_t s = t->level.head[1]; s != FAB_NONE; s = t->level.next[s]) {
			join_by(t, s, t->root_cable[s]);
			last += t->root_price[s];
		}
		price += last;
	}
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}

/* A path to a switch, not known to be the cheapest before it is taken. */
struct label {
	double cost;
	uint32_t sw;
	int32_t hops;
};

static bool is_before(const struct label *a, const struct label *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	return a->hops != b->hops ? a->hops < b->hops : a->sw < b->sw;
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
	FAB_VEC(struct label) heap;
	FAB_VEC(uint32_t) in, sw, cable;
	FAB_VEC(uint64_t) order;
};

static void release_heap(void *tree)
{
	free(((struct fab_deep_tree *)tree)->heap.v);
}

struct fab_deep_tree *fab_deep_tree_new(const struct fab_mcast_problem *p,
					struct fab_arena *a)
{
	struct fab_deep_tree *t = FAB_ARENA_NEW0(a, 1, struct fab_deep_tree);
	uint32_t n = p->f->n_switches;

	t->p = p;
	t->at = FAB_ARENA_NEW0(a, n, struct place);
	t->parent = FAB_ARENA_NEW(a, n, uint32_t);
	t->n_below = FAB_ARENA_NEW(a, n, uint32_t);
	FAB_ROOM(a, &t->in, n);
	FAB_ROOM(a, &t->sw, n);
	FAB_ROOM(a, &t->cable, n);
	FAB_ROOM(a, &t->order, n);
	fab_arena_own(a, release_heap, t);
	return t;
}

static bool is_joined(const struct fab_deep_tree *t, uint32_t sw)
{
	return t->at[sw].joined == t->stamp;
}

/* A path to a switch was found: list it if it is cheaper than that before. */
static void reach(struct fab_deep_tree *t, uint32_t sw, uint32_t arc, double cost,
		  unsigned hops)
{
	struct place *place = &t->at[sw];
	struct label label = {cost, sw, (int32_t)hops};
	size_t at = t->heap.n;

	if (place->seen == t->search && place->cost <= cost)
		return;
	place->seen = t->search;
	place->cost = cost;
	place->hops = (uint16_t)hops;
	place->from = arc;
	FAB_PUSH(&t->heap, label);
	for (; at && is_before(&label, &t->heap.v[(at - 1) / 2]); at = (at - 1) / 2)
		t->heap.v[at] = t->heap.v[(at - 1) / 2];
	t->heap.v[at] = label;
}

/* The first label of the heap, which is not empty. */
static struct label pop(struct fab_deep_tree *t)
{
	struct label *v = t->heap.v, top = v[0], last = v[--t->heap.n];
	size_t at = 0, n = t->heap.n;

	while (2 * at + 1 < n) {
		size_t child = 2 * at + 1;

		child += child + 1 < n && is_before(&v[child + 1], &v[child]);
		if (!is_before(&v[child], &last))
			break;
		v[at] = v[child];
		at = child;
	}
	v[at] = last;
	return top;
}

/* Where a search may end, and what it may cross. */
struct reach_limit {
	const uint8_t *row; /* from the root */
	unsigned height;
	bool is_straight; /* towards the root only, through switches that are too deep */
};

static void expand(struct fab_deep_tree *t, const struct fab_prices *prices,
		   const struct reach_limit *l, const struct label *at)
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
		struct label at = pop(t);

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
	const struct fab_fabric *f = t->p->f;
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
		/* Join the path, from its end at the tree back to the member. */
		unsigned depth = t->at[end].depth;

		for (uint32_t arc = t->at[end].from; arc != FAB_NONE;) {
			/* The switch that an arc leaves. */
			uint32_t s =
				fab_cable_peer(f, f->arc_cable[arc], f->arc_peer[arc]);

			if (!is_joined(t, s)) {
				t->at[s].joined = t->stamp;
				FAB_PUSH(&t->in, s);
			}
			t->parent[s] = arc;
			t->at[s].depth = (uint8_t)++depth;
			arc = t->at[s].from;
		}
	}
	price = collect(t, prices, root);
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}
