/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree is a list of nodes in preorder, seen from one of its switches. A path between
 * two key nodes (members and branches) is taken out, which leaves two halves, and in each
 * the hops to its farthest member are found. New paths are looked for between the pairs
 * of switches of the two halves that are nearest and keep the tree low enough, and
 * between the ends of the old path; of the shortest paths between two switches the
 * cheapest is found by distances, so that only switches between them are looked at.
 */
#include "mcast/search/search.h"

#include "base/order.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Nearest pairs of switches that paths are looked for between. */
enum { PAIRS = 2 };

/* Pairs that are compared, and switches of the tree, that count as a cable looked at. */
enum { PAIRS_STEP = 32, SWITCHES_STEP = 2 };

/* Cheaper by more than rounding. */
static const double CHEAPER = 1 - 1e-9;

/* Hops where there is no member: below zero by more than any path has. */
enum { NOWHERE = -8192 };

/* A switch of the tree; the nodes below it follow it. */
struct node {
	uint32_t sw, parent, cable; /* of the first one: none */
	uint32_t end;		    /* behind the last one below it */
	uint32_t n_children;
	bool is_member;
	/* hops to the farthest member of its half: below it, below it by another child
	 * than that of `below`, not below it, and any */
	int16_t below, second, above, farthest;
	int nearest; /* hops to the other half at least */
};

struct edge {
	uint32_t sw[2], cable;
};

struct pair {
	uint32_t from, to;
};

/* A path that is tried, and its lower end. */
struct candidate {
	double cost;
	uint32_t sw;
};

/* State of a switch of the fabric. */
struct spot {
	uint32_t is_in;	    /* == stamp: in the tree, */
	uint32_t place;	    /* at this node */
	uint32_t half_edge; /* next one to be looked at */
	uint32_t is_wanted; /* == group_stamp: a member */
	double cost;	    /* of a path, */
	uint32_t seen;	    /* if == search, */
	uint32_t from, by;  /* over this switch and cable */
};

struct fab_paths {
	const struct fab_mcast_problem *p;
	const struct fab_prices *prices;
	struct spot *at; /* [n_switches] */
	uint32_t stamp, group_stamp, search;
	FAB_VEC(struct node) node;
	/* nodes from `out` to at - 1 are the path that is taken out, those from `top` to
	 * end - 1 the lower half, the others the upper one; all equal: one half only */
	uint32_t out, top, end;
	FAB_VEC(struct edge) edge;
	FAB_VEC(uint32_t) next;	   /* [2 * edges] half-edge: the next one of the switch */
	FAB_VEC(struct edge) path; /* the best new one */
	struct pair pair[PAIRS];
	uint64_t n_pairs; /* as near as these */
	unsigned hops;	  /* between them */
	double floor;	  /* no cable costs less */
	FAB_VEC(uint32_t) queue;
	FAB_VEC(struct candidate) candidate;
	FAB_VEC(uint32_t) sw, cable;
	uint64_t steps;
};

struct fab_paths *fab_paths_new(const struct fab_mcast_problem *p, struct fab_arena *a)
{
	struct fab_paths *x = FAB_ARENA_NEW0(a, 1, struct fab_paths);
	uint32_t n = p->f->n_switches;

	x->p = p;
	x->at = FAB_ARENA_NEW0(a, n, struct spot);
	FAB_ROOM(a, &x->node, n);
	FAB_ROOM(a, &x->edge, n);
	FAB_ROOM(a, &x->next, 2 * (size_t)n);
	FAB_ROOM(a, &x->path, n);
	FAB_ROOM(a, &x->queue, n);
	FAB_ROOM(a, &x->candidate, n);
	FAB_ROOM(a, &x->sw, n);
	FAB_ROOM(a, &x->cable, n);
	return x;
}

/* Node of a switch, FAB_NONE: not in the tree. */
static uint32_t find(const struct fab_paths *x, uint32_t sw)
{
	return x->at[sw].is_in == x->stamp ? x->at[sw].place : FAB_NONE;
}

/* A member or a branch; the first node is a member or the root. */
static bool is_key(const struct node *n)
{
	return n->is_member || n->n_children > 1 || n->parent == FAB_NONE;
}

static void unite(struct fab_paths *x)
{
	x->out = x->top = x->end = (uint32_t)x->node.n;
}

static uint32_t push_node(struct fab_paths *x, uint32_t sw, uint32_t parent,
			  uint32_t cable)
{
	struct spot *spot = &x->at[sw];

	spot->place = (uint32_t)x->node.n;
	FAB_PUSH(&x->node,
		 ((struct node){.sw = sw,
				.parent = parent,
				.cable = cable,
				.is_member = spot->is_wanted == x->group_stamp}));
	return spot->place;
}

/* Nodes of the edges as seen from a switch. Half-edge 2e + i is that of end i of edge e,
 * listed at this end. */
static void hang(struct fab_paths *x, uint32_t sw)
{
	uint32_t n = 2 * (uint32_t)x->edge.n, at;

	x->stamp++;
	x->next.n = x->node.n = 0;
	FAB_RESERVE(&x->next, n);
	x->at[sw].is_in = x->stamp;
	x->at[sw].half_edge = FAB_NONE;
	for (uint32_t h = 0; h < n; h++) {
		struct spot *spot = &x->at[x->edge.v[h / 2].sw[h & 1]];

		x->next.v[h] = spot->is_in == x->stamp ? spot->half_edge : FAB_NONE;
		spot->is_in = x->stamp;
		spot->half_edge = h;
	}
	at = push_node(x, sw, FAB_NONE, FAB_NONE);
	while (at != FAB_NONE) {
		struct spot *spot = &x->at[x->node.v[at].sw];
		uint32_t h = spot->half_edge;
		const struct edge *e;

		if (h == FAB_NONE) { /* nothing more is below it */
			x->node.v[at].end = (uint32_t)x->node.n;
			at = x->node.v[at].parent;
			continue;
		}
		spot->half_edge = x->next.v[h];
		e = &x->edge.v[h / 2];
		if (e->cable == x->node.v[at].cable)
			continue;
		x->node.v[at].n_children++;
		at = push_node(x, e->sw[!(h & 1)], at, e->cable);
	}
	unite(x);
}

static void keep_edge(struct fab_paths *x, const struct node *n)
{
	FAB_PUSH(&x->edge, ((struct edge){{n->sw, x->node.v[n->parent].sw}, n->cable}));
}

/* The tree of a job, without ends that are no members, seen from the first member. */
static void take(struct fab_paths *x, const struct fab_paths_job *job)
{
	const struct fab_fabric *f = x->p->f;
	size_t n;

	x->group_stamp++;
	for (uint32_t i = 0; i < job->n_members; i++)
		x->at[job->member[i]].is_wanted = x->group_stamp;
	x->edge.n = 0;
	for (uint32_t i = 0; i < job->n_edges; i++) {
		uint32_t c = job->cable[i], sw = job->sw[i];

		FAB_PUSH(&x->edge, ((struct edge){{sw, fab_cable_peer(f, c, sw)}, c}));
	}
	hang(x, job->member[0]);
	n = x->edge.n;
	x->edge.n = 0;
	for (size_t i = x->node.n; i-- > 1;) {
		const struct node *node = &x->node.v[i];

		if (node->is_member || node->n_children)
			keep_edge(x, node);
		else
			x->node.v[node->parent].n_children--;
	}
	if (x->edge.n < n)
		hang(x, job->member[0]);
}

static int16_t larger(int16_t a, int16_t b)
{
	return a > b ? a : b;
}

/* Find `farthest` of all nodes, each within its own half. */
static void measure(struct fab_paths *x)
{
	struct node *v = x->node.v;
	uint32_t n = (uint32_t)x->node.n;

	for (uint32_t i = 0; i < n; i++) {
		v[i].below = v[i].is_member ? 0 : NOWHERE;
		v[i].second = v[i].above = NOWHERE;
	}
	for (uint32_t i = n; i-- > 1;) {
		struct node *up = &v[v[i].parent];
		int16_t hops = (int16_t)(v[i].below + 1);

		if (i >= x->out && i <= x->top)
			continue; /* taken out */
		up->second = larger(up->second, hops > up->below ? up->below : hops);
		up->below = larger(up->below, hops);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct node *up = &v[v[i].parent];

		if (i && (i < x->out || i > x->top)) {
			int16_t other =
				v[i].below + 1 == up->below ? up->second : up->below;

			v[i].above = (int16_t)(1 + larger(up->above, other));
		}
		v[i].farthest = larger(v[i].below, v[i].above);
	}
}

/* Sum of the cables from a key node up to the next one; its hops, and the end. */
static double path_cost(const struct fab_paths *x, uint32_t at, unsigned *hops,
			uint32_t *end)
{
	const struct node *v = x->node.v;
	double cost = 0;

	*hops = 0;
	do {
		cost += fab_price(x->prices, v[at].cable);
		++*hops;
		at = v[at].parent;
	} while (!is_key(&v[at]));
	*end = at;
	return cost;
}

/* Half-open ranges of the nodes of the lower half or the upper one. */
static void ranges(const struct fab_paths *x, bool is_lower, uint32_t range[2][2])
{
	range[0][0] = is_lower ? x->top : 0;
	range[0][1] = is_lower ? x->end : x->out;
	range[1][0] = x->end;
	range[1][1] = is_lower ? x->end : (uint32_t)x->node.n;
}

/* Pairs of a node with those of the other half that are no farther apart than the pairs
 * so far, and near enough for the height; sets its hops to the other half. */
static void look_from(struct fab_paths *x, struct node *node, uint32_t other[2][2],
		      int most_hops, uint64_t seed)
{
	const uint8_t *row = fab_dist_row(x->p->dist, node->sw);
	const struct node *v = x->node.v;
	int most = most_hops - node->farthest;
	unsigned low = UINT16_MAX, all = UINT16_MAX;

	x->steps += x->node.n / PAIRS_STEP + 1;
	for (int r = 0; r < 2; r++)
		for (uint32_t i = other[r][0]; i < other[r][1]; i++) {
			unsigned hops = row[v[i].sw];

			all = hops < all ? hops : all;
			if (hops < low && (int)hops + v[i].farthest <= most)
				low = hops;
		}
	node->nearest = (int)all;
	if (low > x->hops)
		return;
	if (low < x->hops)
		x->n_pairs = 0;
	x->hops = low;
	for (int r = 0; r < 2; r++)
		for (uint32_t i = other[r][0]; i < other[r][1]; i++) {
			uint64_t place = x->n_pairs;

			if (row[v[i].sw] != low || (int)low + v[i].farthest > most)
				continue;
			x->n_pairs++;
			if (place >= PAIRS) /* in the place of a random one */
				place = fab_mix64(seed + place) % x->n_pairs;
			if (place < PAIRS)
				x->pair[place] = (struct pair){node->sw, v[i].sw};
		}
}

/* The cheapest of the shortest paths between two switches that crosses no switch of the
 * halves: switches come by their distance. __DBL_MAX__: none costs less than `limit`. */
static double search(struct fab_paths *x, const struct pair *pair, double limit)
{
	const struct fab_fabric *f = x->p->f;
	const uint8_t *row = fab_dist_row(x->p->dist, pair->to);

	x->search++;
	x->at[pair->from].cost = 0;
	x->at[pair->from].seen = x->search;
	x->at[pair->from].by = FAB_NONE;
	x->queue.n = 0;
	FAB_PUSH(&x->queue, pair->from);
	for (size_t i = 0; i < x->queue.n && x->queue.v[i] != pair->to; i++) {
		uint32_t sw = x->queue.v[i];
		double most = limit - x->floor * (row[sw] - 1);

		x->steps += f->arc_first[sw + 1] - f->arc_first[sw];
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			uint32_t peer = f->arc_peer[a], node = find(x, peer);
			struct spot *to = &x->at[peer];
			double cost;

			if (row[peer] + 1 != row[sw] ||
			    (peer != pair->to && node != FAB_NONE &&
			     (node < x->out || node >= x->top)))
				continue;
			cost = x->at[sw].cost + fab_price(x->prices, f->arc_cable[a]);
			if (cost >= most || (to->seen == x->search && to->cost <= cost))
				continue;
			if (to->seen != x->search)
				FAB_PUSH(&x->queue, peer);
			to->cost = cost;
			to->seen = x->search;
			to->from = sw;
			to->by = f->arc_cable[a];
		}
	}
	return x->at[pair->to].seen == x->search ? x->at[pair->to].cost : __DBL_MAX__;
}

/* Find a path between the halves for less than `limit` and of no more hops than the old
 * one, whose ends are `old`. */
static bool find_path(struct fab_paths *x, const struct pair *old, unsigned old_hops,
		      int most_hops, double limit, uint64_t seed)
{
	unsigned apart = fab_dist_row(x->p->dist, old->to)[old->from];
	uint32_t n_lower = x->end - x->top, range[2][2], other[2][2];
	uint32_t n_upper = (uint32_t)x->node.n - n_lower - (x->top - x->out);
	double least = limit;
	uint64_t n;

	x->hops = old_hops;
	x->steps += x->node.n / SWITCHES_STEP;
	/* The nearest pairs. A neighbour in the tree is at most one hop nearer to the
	 * other half, so that most switches need not be looked at. */
	ranges(x, n_lower <= n_upper, range);
	ranges(x, n_lower > n_upper, other);
	x->n_pairs = 0;
	for (int r = 0; r < 2; r++)
		for (uint32_t i = range[r][0]; i < range[r][1]; i++) {
			struct node *node = &x->node.v[i];

			node->nearest = i == 0 || i == x->top
						? 0
						: x->node.v[node->parent].nearest - 1;
			if (node->nearest <= (int)x->hops)
				look_from(x, node, other, most_hops, seed);
		}
	n = x->n_pairs < PAIRS ? x->n_pairs : PAIRS;
	for (uint64_t i = 0; i <= n; i++) {
		const struct pair *pair = i < n ? &x->pair[i] : old;
		bool is_old = (pair->from == old->from && pair->to == old->to) ||
			      (pair->from == old->to && pair->to == old->from);
		uint32_t end = pair->to;
		double price;

		if (i < n ? is_old : apart != old_hops && apart != x->hops)
			continue;
		price = search(x, pair, least);
		if (price >= least)
			continue;
		least = price;
		x->path.n = 0;
		for (const struct spot *s = &x->at[end]; s->by != FAB_NONE;
		     end = s->from, s = &x->at[end])
			FAB_PUSH(&x->path, ((struct edge){{end, s->from}, s->by}));
	}
	return least < limit;
}

static int highest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	FAB_ORDER_BY(y, x, cost);
	return (x->sw > y->sw) - (x->sw < y->sw);
}

/* The tree as seen from its old root, or from its middle if that is lower than needed. */
static struct fab_grown hand_over(struct fab_paths *x, const struct fab_paths_job *job,
				  uint32_t *root)
{
	const struct node *v = x->node.v;
	uint32_t at = find(x, job->root), best = 0;
	double price = 0;

	measure(x);
	if (at == FAB_NONE || v[at].farthest > (int)job->height) {
		for (uint32_t i = 1; i < x->node.n; i++)
			if (v[i].farthest < v[best].farthest)
				best = i;
		at = best;
	}
	*root = v[at].sw;
	x->edge.n = x->sw.n = x->cable.n = 0;
	for (size_t i = 1; i < x->node.n; i++)
		keep_edge(x, &v[i]);
	hang(x, *root);
	for (size_t i = 1; i < x->node.n; i++) {
		FAB_PUSH(&x->sw, x->node.v[i].sw);
		FAB_PUSH(&x->cable, x->node.v[i].cable);
		price += fab_price(x->prices, x->node.v[i].cable);
	}
	return (struct fab_grown){(uint32_t)x->sw.n, x->sw.v, x->cable.v, price,
				  x->steps};
}

struct fab_grown fab_paths_swap(struct fab_paths *x, const struct fab_prices *prices,
				const struct fab_paths_job *job, uint32_t *root)
{
	int most_hops = 2 * (int)job->height;
	uint32_t end;
	unsigned hops;

	x->steps = 0;
	x->prices = prices;
	x->floor = prices->by_gap ? 0 : prices->by_load[0];
	take(x, job);
	x->candidate.n = 0;
	for (uint32_t i = 1; i < x->node.n; i++) {
		const struct node *n = &x->node.v[i];
		double cost = is_key(n) ? path_cost(x, i, &hops, &end) : -1;

		if (cost >= job->least)
			FAB_PUSH(&x->candidate, ((struct candidate){cost, n->sw}));
	}
	if (x->candidate.n)
		qsort(x->candidate.v, x->candidate.n, sizeof(*x->candidate.v),
		      highest_first);
	for (size_t i = 0; i < x->candidate.n; i++) {
		uint32_t at = find(x, x->candidate.v[i].sw);
		struct pair old;
		double cost;

		if (job->options && fab_mcast_is_over(job->options))
			break;
		if (at == FAB_NONE || !at || !is_key(&x->node.v[at]))
			continue;
		cost = path_cost(x, at, &hops, &end);
		old = (struct pair){x->node.v[at].sw, x->node.v[end].sw};
		/* Take out the path from a key node up to the next one: a node that is no
		 * branch is followed by its only child. */
		const struct node *v = x->node.v;

		x->top = x->out = at;
		x->end = v[at].end;
		while (!is_key(&v[v[x->out].parent]))
			x->out = v[x->out].parent;
		measure(x);
		if (find_path(x, &old, hops, most_hops, cost * CHEAPER, job->seed)) {
			/* Put in the path that was found. */
			uint32_t first = x->node.v[0].sw;

			x->edge.n = 0;
			for (uint32_t k = 1; k < x->node.n; k++)
				if (k < x->out || k > x->top)
					keep_edge(x, &x->node.v[k]);
			for (size_t k = 0; k < x->path.n; k++)
				FAB_PUSH(&x->edge, x->path.v[k]);
			hang(x, first);
		} else {
			unite(x);
		}
	}
	return hand_over(x, job, root);
}
