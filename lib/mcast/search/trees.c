/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees for one group: cheap ones of minimal height, deeper ones, and short ones. */
#include "base/order.h"
#include "base/queues.h"
#include "base/rng.h"
#include "mcast/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Hang a switch on the cheapest parent; returns the price of the cable. */
static double hang(struct fab_cheap_tree *t, const struct fab_prices *prices,
		   const uint8_t *row, unsigned hops, uint32_t sw)
{
	const struct fab_fabric *f = t->p->f;
	uint32_t best = FAB_NONE;
	double least = 0, price = 0;

	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];
		double own, cost;

		if (row[peer] + 1u != hops)
			continue;
		cost = own = fab_price(prices, f->arc_cable[a]);
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

	t->parent.n = 0;
	/* Switches one hop nearer; each of these has one sharer more. */
	for (uint32_t sw = t->level.head[hops]; sw != FAB_NONE; sw = t->level.next[sw])
		for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1]; i++)
			if (row[f->peer[i]] + 1u == hops && !t->sharers[f->peer[i]]++)
				FAB_PUSH(&t->parent, f->peer[i]);
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
	for (uint32_t sw = t->level.head[hops]; sw != FAB_NONE; sw = t->level.next[sw])
		price += hang(t, prices, row, hops, sw);
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

/* A path to a switch, not known to be the cheapest before it is taken: the bits of its
 * cost, which is not negative, its hops, and the switch. Paths are taken in this order.
 */
__extension__ typedef unsigned __int128 label;

/* Share of its price that a cable to a member not joined yet costs: joining it would take
 * a cable anyway; and one that is kept from the tree before. */
static const double TO_MEMBER = 0.1, KEPT = 0.01;

/* Price of a hop of a short tree along a dimension of one switch, which grows by the root
 * of the dimension: then all cables become about equally full. */
static const double HOP = 16;

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

/* A member, the root, or a branch of a short tree that has no paths yet. */
struct key {
	uint32_t sw, up; /* up: its parent, FAB_NONE: the root, or not used any more */
	int hops, depth; /* to the parent, from the root */
	int price;	 /* of the hops to the parent; not used: the next such key */
	bool is_member;
};

/* A short tree without paths: key[0] is the root. */
struct plan {
	FAB_VEC(struct key) key;
	uint32_t spare; /* first key that is not used any more */
	int height;	/* at most */
	int64_t price;	/* of all hops */
};

struct fab_deep_tree {
	const struct fab_mcast_problem *p;
	uint32_t stamp;	   /* of the tree */
	struct place *at;  /* [n_switches] */
	uint32_t *parent;  /* [n_switches] in the tree: arc to the parent */
	uint32_t *n_below; /* [n_switches] switches below it */
	uint32_t *kept;	   /* [n_switch_links] == stamp: of the tree before */
	double per_hop;	   /* added to the price of each cable */
	uint32_t search;   /* number of the search */
	uint64_t steps;	   /* cables looked at for the tree */
	uint64_t seed;	   /* of choices among equals */
	/* a torus or mesh, and prices of hops in short trees by dimension; else NULL */
	const struct fab_shape *grid;
	int hop[FAB_SHAPE_DIMS_MAX];
	FAB_VEC(label) heap;
	FAB_VEC(uint32_t) in, sw, cable;
	FAB_VEC(uint64_t) order;
	struct plan plan[2]; /* of short trees: that at hand, and the best */
};

struct fab_deep_tree *fab_deep_tree_new(const struct fab_mcast_problem *p,
					struct fab_arena *a)
{
	struct fab_deep_tree *t = FAB_ARENA_NEW0(a, 1, struct fab_deep_tree);
	uint32_t n = p->f->n_switches;

	t->p = p;
	t->at = FAB_ARENA_NEW0(a, n, struct place);
	t->parent = FAB_ARENA_NEW(a, n, uint32_t);
	t->n_below = FAB_ARENA_NEW(a, n, uint32_t);
	t->kept = FAB_ARENA_NEW0(a, p->f->n_switch_links, uint32_t);
	FAB_ROOM(a, &t->heap, (size_t)p->f->arc_first[n] + 1); /* a label an arc */
	FAB_ROOM(a, &t->in, n);
	FAB_ROOM(a, &t->sw, n);
	FAB_ROOM(a, &t->cable, n);
	FAB_ROOM(a, &t->order, n);
	if (p->shape &&
	    (p->shape->kind == FAB_SHAPE_TORUS || p->shape->kind == FAB_SHAPE_MESH))
		t->grid = p->shape;
	for (uint32_t d = 0; t->grid && d < t->grid->n_dims; d++)
		t->hop[d] = (int)(HOP * sqrt(t->grid->dims[d]));
	for (int i = 0; i < 2; i++)
		FAB_ROOM(a, &t->plan[i].key, 2 * FAB_SHORT_SWITCHES + 2);
	return t;
}

static bool is_joined(const struct fab_deep_tree *t, uint32_t sw)
{
	return t->at[sw].joined == t->stamp;
}

static label label_of(const struct fab_deep_tree *t, uint32_t sw)
{
	uint64_t cost;

	memcpy(&cost, &t->at[sw].cost, sizeof(cost));
	return (label)cost << 64 | (uint64_t)t->at[sw].hops << 32 | sw;
}

/* A path to a switch was found: list it if it is cheaper than that before. */
static void reach(struct fab_deep_tree *t, uint32_t sw, uint32_t arc, double cost,
		  unsigned hops)
{
	struct place *place = &t->at[sw];
	size_t at = t->heap.n;
	label own;

	if (place->seen == t->search && place->cost <= cost)
		return;
	place->seen = t->search;
	place->cost = cost;
	place->hops = (uint16_t)hops;
	place->from = arc;
	own = label_of(t, sw);
	FAB_PUSH(&t->heap, own);
	for (; at && own < t->heap.v[(at - 1) / 2]; at = (at - 1) / 2)
		t->heap.v[at] = t->heap.v[(at - 1) / 2];
	t->heap.v[at] = own;
}

/* The first label of the heap, which is not empty. */
static label pop(struct fab_deep_tree *t)
{
	label *v = t->heap.v, top = v[0], last = v[--t->heap.n];
	size_t at = 0, n = t->heap.n;

	while (2 * at + 1 < n) {
		size_t child = 2 * at + 1;

		child += child + 1 < n && v[child + 1] < v[child];
		if (v[child] >= last)
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
		   const struct reach_limit *l, uint32_t sw)
{
	const struct fab_fabric *f = t->p->f;
	double so_far = t->at[sw].cost;
	unsigned hops = t->at[sw].hops + 1u;

	t->steps += f->arc_first[sw + 1] - f->arc_first[sw];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];
		const struct place *to = &t->at[peer];
		bool is_in = to->joined == t->stamp;
		double cost;

		if (l->is_straight
			    ? l->row[peer] + 1 != l->row[sw]
			    : (is_in ? to->depth : l->row[peer]) + hops > l->height)
			continue;
		cost = fab_price(prices, f->arc_cable[a]) + t->per_hop;
		if (to->wanted == t->stamp && !is_in)
			cost *= TO_MEMBER;
		else if (t->kept[f->arc_cable[a]] == t->stamp)
			cost *= KEPT;
		reach(t, peer, a, so_far + cost, hops);
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
		label top = pop(t);

		sw = (uint32_t)top;
		if (top != label_of(t, sw)) /* a cheaper one was found */
			continue;
		if (is_joined(t, sw) &&
		    t->at[sw].depth + t->at[sw].hops <= (int)l->height)
			return sw;
		if (!is_joined(t, sw) || l->is_straight)
			expand(t, prices, l, sw);
	}
	return FAB_NONE;
}

/* Join the path from its end at the tree back to the switch that it was searched from.
 * Switches on it that are in the tree keep their path to the root if that is as short,
 * else they are hung on this one. */
static void join_path(struct fab_deep_tree *t, uint32_t end)
{
	const struct fab_fabric *f = t->p->f;
	unsigned depth = t->at[end].depth;

	for (uint32_t arc = t->at[end].from; arc != FAB_NONE;) {
		/* The switch that an arc leaves. */
		uint32_t s = fab_cable_peer(f, f->arc_cable[arc], f->arc_peer[arc]);
		struct place *at = &t->at[s];

		if (is_joined(t, s) && at->depth <= depth + 1) {
			depth = at->depth;
		} else {
			if (!is_joined(t, s))
				FAB_PUSH(&t->in, s);
			at->joined = t->stamp;
			t->parent[s] = arc;
			at->depth = (uint8_t)++depth;
		}
		arc = at->from;
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

/* An empty tree of these members. */
static void begin(struct fab_deep_tree *t, const uint32_t *sw, uint32_t n, uint32_t root)
{
	t->stamp++;
	t->in.n = 0;
	t->at[root].joined = t->stamp;
	t->at[root].depth = 0;
	for (uint32_t i = 0; i < n; i++)
		t->at[sw[i]].wanted = t->stamp;
}

/* The members, the farthest from the root first. */
static void order_members(struct fab_deep_tree *t, const uint32_t *sw, uint32_t n,
			  uint32_t root, uint64_t seed)
{
	const uint8_t *row = fab_dist_row(t->p->dist, root);

	t->order.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t tie = fab_mix64(seed ^ sw[i]) >> 40;

		FAB_PUSH(&t->order,
			 (uint64_t)(UINT8_MAX - row[sw[i]]) << 56 | tie << 32 | sw[i]);
	}
	qsort(t->order.v, t->order.n, sizeof(*t->order.v), fab_cmp_u64);
}

struct fab_grown fab_deep_tree_grow(struct fab_deep_tree *t,
				    const struct fab_prices *prices, const uint32_t *sw,
				    uint32_t n, uint32_t root, unsigned height,
				    uint64_t seed, const struct fab_kept *kept,
				    double most)
{
	struct reach_limit limit = {.row = fab_dist_row(t->p->dist, root),
				    .height = height};
	const uint32_t *cable = t->p->f->arc_cable;
	double price, sum = 0;

	t->steps = 0;
	begin(t, sw, n, root);
	t->per_hop = kept->per_hop;
	for (uint32_t i = 0; i < kept->n; i++)
		if (fab_price(prices, kept->cable[i]) < kept->least)
			t->kept[kept->cable[i]] = t->stamp;
	order_members(t, sw, n, root, seed);
	for (uint32_t i = 0, done = 0; i < n; i++) {
		uint32_t member = (uint32_t)t->order.v[i], end;

		if (is_joined(t, member))
			continue;
		for (; done < t->in.n; done++)
			sum += fab_price(prices, cable[t->parent[t->in.v[done]]]);
		if (sum >= most)
			return (struct fab_grown){.price = sum, .steps = t->steps};
		limit.is_straight = false;
		end = search(t, prices, &limit, member);
		if (end == FAB_NONE) {
			limit.is_straight = true;
			most = __DBL_MAX__; /* cables may be left out again */
			end = search(t, prices, &limit, member);
		}
		join_path(t, end);
	}
	price = collect(t, prices, root);
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}

/* Hops between two switches. */
static int hops_of(const struct fab_deep_tree *t, uint32_t from, uint32_t to)
{
	return fab_dist_row(t->p->dist, from)[to];
}

/* Go from a switch towards two others as long as a hop leads nearer to both. */
static uint32_t meet(const struct fab_deep_tree *t, uint32_t from, uint32_t to,
		     uint32_t member)
{
	const uint8_t *row = fab_dist_row(t->p->dist, to);
	const uint8_t *other = fab_dist_row(t->p->dist, member);
	const struct fab_fabric *f = t->p->f;
	uint32_t first = f->arc_first[from], n = f->arc_first[from + 1] - first;

	for (uint32_t i = 0,
		      shift = (uint32_t)((fab_mix64(t->seed ^ from) >> 32) * n >> 32);
	     i < n; i++) {
		uint32_t at = i + shift,
			 peer = f->arc_peer[first + (at < n ? at : at - n)];

		if (row[peer] < row[from] && other[peer] < other[from]) {
			from = peer;
			first = f->arc_first[from];
			n = f->arc_first[from + 1] - first;
			i = UINT32_MAX;
		}
	}
	return from;
}

/* Price of the hops between two switches of a torus or mesh. */
static int price_of(const struct fab_deep_tree *t, uint32_t from, uint32_t to)
{
	const uint32_t *a = t->grid->coords + (size_t)t->grid->n_dims * from;
	const uint32_t *b = t->grid->coords + (size_t)t->grid->n_dims * to;
	int price = 0;

	for (uint32_t d = 0; d < t->grid->n_dims; d++) {
		int n = abs((int)a[d] - (int)b[d]), size = (int)t->grid->dims[d];

		price += (t->grid->kind == FAB_SHAPE_TORUS && n > size / 2 ? size - n
									   : n) *
			 t->hop[d];
	}
	return price;
}

static uint32_t add_key(struct plan *x, struct key key)
{
	uint32_t k = x->spare;

	if (k == FAB_NONE) {
		k = (uint32_t)x->key.n;
		FAB_PUSH(&x->key, key);
	} else {
		x->spare = (uint32_t)x->key.v[k].price;
		x->key.v[k] = key;
	}
	return k;
}

static void hang_key(const struct fab_deep_tree *t, struct plan *x, uint32_t k,
		     uint32_t up, int hops)
{
	struct key *key = &x->key.v[k];

	x->price -= key->price;
	key->up = up;
	key->hops = hops;
	key->depth = x->key.v[up].depth + hops;
	key->price = t->grid ? price_of(t, x->key.v[up].sw, key->sw) : hops;
	x->price += key->price;
}

/* Attach a member where that takes fewest hops: on the way to another key, where that
 * way comes nearest. */
static void insert(struct fab_deep_tree *t, struct plan *x, uint32_t sw)
{
	const uint8_t *row = fab_dist_row(t->p->dist, sw);
	uint32_t salt = (uint32_t)fab_mix64(t->seed ^ sw), tie, best_tie = 0, c = 0;
	uint32_t k =
		add_key(x, (struct key){.sw = sw, .up = FAB_NONE, .is_member = true});
	const struct key *v = x->key.v;
	int least = 2 * row[v[0].sw] + 1; /* twice the hops */
	uint32_t up = 0, on = 0;

	t->steps += x->key.n / 4;
	for (uint32_t i = 1; i < x->key.n; i++) {
		int hops, to_up;

		if (v[i].up == FAB_NONE)
			continue;
		to_up = row[v[v[i].up].sw];
		hops = to_up + row[v[i].sw] - v[i].hops;
		tie = (i + salt) * 0x9e3779b1u;
		if (hops > least || (hops == least && tie >= best_tie) ||
		    v[v[i].up].depth + to_up > x->height)
			continue;
		c = i;
		least = hops;
		best_tie = tie;
	}
	if (c) {
		up = v[c].up;
		sw = meet(t, v[up].sw, v[c].sw, sw);
		on = sw == v[c].sw ? c : up;
	}
	if (c && sw != v[on].sw) {
		/* on a shortest path; rows of members were used before */
		int to_c = fab_dist_row(t->p->dist, v[c].sw)[sw],
		    to_up = v[c].hops - to_c;

		on = add_key(x, (struct key){.sw = sw});
		hang_key(t, x, on, up, to_up);
		hang_key(t, x, c, on, to_c);
	}
	hang_key(t, x, k, on, row[v[on].sw]);
}

/* Take a member out, and branches that have no two ways left. */
static void take_out(struct fab_deep_tree *t, struct plan *x, uint32_t sw)
{
	struct key *v = x->key.v;
	uint32_t k = 1;

	while (v[k].up == FAB_NONE || v[k].sw != sw || !v[k].is_member)
		k++;
	v[k].is_member = false;
	while (k && !v[k].is_member) {
		uint32_t up = v[k].up, child = FAB_NONE, n = 0;

		for (uint32_t i = 1; i < x->key.n && n < 2; i++)
			if (v[i].up == k) {
				child = i;
				n++;
			}
		if (n > 1)
			return;
		x->price -= v[k].price;
		v[k].up = FAB_NONE;
		v[k].price = (int)x->spare;
		x->spare = k;
		if (n) {
			hang_key(t, x, child, up, hops_of(t, v[child].sw, v[up].sw));
			return;
		}
		k = up;
	}
}

/* Depths, which were too large where branches are left out. */
static void survey(struct plan *x)
{
	struct key *v = x->key.v;

	for (uint32_t k = 1; k < x->key.n; k++) {
		v[k].depth = 0;
		for (uint32_t i = k; v[i].up != FAB_NONE; i = v[i].up)
			v[k].depth += v[i].hops;
	}
}

static void empty_plan(struct plan *x, uint32_t root)
{
	x->key.n = 0;
	x->price = 0;
	x->spare = FAB_NONE;
	(void)add_key(x, (struct key){.sw = root, .up = FAB_NONE});
}

/* All members, the farthest first, each where it takes fewest hops. */
static void make_plan(struct fab_deep_tree *t, struct plan *x, const uint32_t *sw,
		      uint32_t n, uint32_t root, uint64_t seed)
{
	empty_plan(x, root);
	order_members(t, sw, n, root, seed);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t member = (uint32_t)t->order.v[i];

		if (member == root)
			x->key.v[0].is_member = true;
		else
			insert(t, x, member);
	}
}

static void copy_plan(struct plan *to, const struct plan *from)
{
	struct key *v = to->key.v;

	memcpy(v, from->key.v, from->key.n * sizeof(*v));
	*to = *from;
	to->key.v = v;
}

/* Take out all members within some hops of one of them, and insert them again in another
 * order. */
static void change_plan(struct fab_deep_tree *t, struct plan *x, const uint32_t *sw,
			uint32_t n, struct fab_rng *rng)
{
	const uint8_t *row = fab_dist_row(t->p->dist, sw[fab_rng_below(rng, n)]);
	uint8_t far = row[sw[fab_rng_below(rng, n)]];

	t->seed = fab_rng_next(rng);
	t->order.n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (row[sw[i]] <= far && sw[i] != x->key.v[0].sw) {
			take_out(t, x, sw[i]);
			FAB_PUSH(&t->order, sw[i]);
		}
	survey(x);
	for (size_t left = t->order.n; left; left--) {
		size_t i = (size_t)fab_rng_below(rng, left);
		uint32_t member = (uint32_t)t->order.v[i];

		t->order.v[i] = t->order.v[left - 1];
		insert(t, x, member);
	}
}

/* Each way of a plan becomes the cheapest of the shortest paths to the parent, or to
 * where one meets the tree. */
static struct fab_grown find_ways(struct fab_deep_tree *t,
				  const struct fab_prices *prices, struct plan *x,
				  const uint32_t *sw, uint32_t n)
{
	uint32_t root = x->key.v[0].sw;
	double price;

	survey(x);
	begin(t, sw, n, root);
	t->per_hop = 0;
	t->order.n = 0;
	for (uint32_t k = 1; k < x->key.n; k++)
		if (x->key.v[k].up != FAB_NONE)
			FAB_PUSH(&t->order, (uint64_t)x->key.v[k].depth << 32 | k);
	qsort(t->order.v, t->order.n, sizeof(*t->order.v), fab_cmp_u64);
	for (size_t i = 0; i < t->order.n; i++) {
		const struct key *key = &x->key.v[(uint32_t)t->order.v[i]];
		const struct reach_limit limit = {
			fab_dist_row(t->p->dist, x->key.v[key->up].sw),
			(unsigned)key->depth, true};

		if (key->hops)
			join_path(t, search(t, prices, &limit, key->sw));
	}
	price = collect(t, prices, root);
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}

struct fab_grown fab_short_tree_grow(struct fab_deep_tree *t,
				     const struct fab_prices *prices, const uint32_t *sw,
				     uint32_t n, const uint32_t *root, uint32_t n_roots,
				     uint32_t n_changes, unsigned height, uint64_t seed,
				     uint32_t *best)
{
	struct plan *x = &t->plan[0], *shortest = &t->plan[1];
	struct fab_rng rng;

	t->steps = 0;
	t->seed = seed;
	fab_rng_init(&rng, seed);
	x->height = (int)height;
	shortest->price = INT64_MAX;
	for (uint32_t i = 0; i < n_roots + n_changes; i++) {
		if (i < n_roots)
			make_plan(t, x, sw, n, root[i], seed);
		else
			change_plan(t, x, sw, n, &rng);
		copy_plan(x->price <= shortest->price ? shortest : x,
			  x->price <= shortest->price ? x : shortest);
	}
	*best = shortest->key.v[0].sw;
	return find_ways(t, prices, shortest, sw, n);
}

struct fab_grown fab_same_branches_grow(struct fab_deep_tree *t,
					const struct fab_prices *prices,
					const uint32_t *sw, uint32_t n, uint32_t root,
					const struct fab_grown *old)
{
	struct plan *x = &t->plan[0];

	t->steps = 0;
	begin(t, sw, n, root);
	for (uint32_t i = 0; i < old->n; i++)
		t->n_below[old->sw[i]] = 0;
	t->n_below[root] = 2; /* it is a key */
	for (uint32_t i = 0; i < old->n; i++) {
		uint32_t up = fab_cable_peer(t->p->f, old->cable[i], old->sw[i]);

		t->parent[old->sw[i]] = up;
		t->n_below[up]++;
	}
	empty_plan(x, root);
	x->key.v[0].is_member = t->at[root].wanted == t->stamp;
	t->at[root].from = 0; /* the key of a switch */
	for (uint32_t i = 0; i < old->n; i++) {
		uint32_t s = old->sw[i];
		bool is_member = t->at[s].wanted == t->stamp;

		t->n_below[s] += is_member ? 2 : 0;
		if (t->n_below[s] >= 2)
			t->at[s].from =
				add_key(x, (struct key){.sw = s, .is_member = is_member});
	}
	for (uint32_t k = 1; k < x->key.n; k++) {
		uint32_t s = t->parent[x->key.v[k].sw];

		while (t->n_below[s] < 2)
			s = t->parent[s];
		hang_key(t, x, k, t->at[s].from, hops_of(t, x->key.v[k].sw, s));
	}
	return find_ways(t, prices, x, sw, n);
}
