/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/path_swap.h"

#include "base/mem.h"
#include "mcast/labels.h"
#include "mcast/loose_tree.h"
#include "mcast/near_path.h"

#include <stdlib.h>
#include <string.h>

/* What counts as cheaper: less than rounding could make it. */
static const double CHEAPER = 1 - 1e-9;

/* What a search knows of a switch. */
struct place {
	double cost;
	int32_t hops;  /* from the farthest member of the half it starts from */
	uint32_t seen; /* == search: has a label */
	uint32_t from; /* switch before, */
	uint32_t by;   /* and the cable; FAB_NONE: in the half it starts from */
};

/* A path of the tree, named by its lower end. */
struct path {
	double cost;
	uint32_t sw;
};

struct fab_path_swap {
	const struct fab_mcast_problem *p;
	struct fab_loose_tree tree;
	const struct fab_prices *prices;
	int most_hops; /* between two members */
	uint32_t search;
	struct place *at;	  /* [n_switches] */
	enum fab_loose_side goal; /* half that paths are looked for to */
	double floor;		  /* no cable costs less */
	const uint8_t *row[2];	  /* of two members of the upper half */
	struct fab_labels heap;
	struct fab_near_path *near;
	uint64_t near_before; /* steps of others */
	FAB_VEC(struct path) paths;
	FAB_VEC(struct fab_loose_edge) path; /* that is put in */
	FAB_VEC(uint32_t) sw, cable;
	double price; /* of the tree, when it was run */
	uint64_t steps;
};

struct fab_path_swap *fab_path_swap_new(const struct fab_mcast_problem *p,
					const struct fab_hops *hops)
{
	struct fab_path_swap *x = FAB_NEW0(1, struct fab_path_swap);
	uint32_t n = p->f->n_switches;

	x->p = p;
	fab_loose_init(&x->tree, p);
	x->at = FAB_NEW0(n, struct place);
	x->near = fab_near_path_new(p, hops);
	return x;
}

void fab_path_swap_free(struct fab_path_swap *x)
{
	if (!x)
		return;
	fab_loose_fini(&x->tree);
	fab_near_path_free(x->near);
	free(x->at);
	free(x->heap.v);
	free(x->paths.v);
	free(x->path.v);
	free(x->sw.v);
	free(x->cable.v);
	free(x);
}

/* Hops that a path there has to the farthest member of the upper half at least. */
static int hops_left(const struct fab_path_swap *x, uint32_t sw)
{
	return x->row[0][sw] > x->row[1][sw] ? x->row[0][sw] : x->row[1][sw];
}

/* Paths over the cables of a switch, for less than `limit`. */
static void expand(struct fab_path_swap *x, const struct fab_label *at, double limit)
{
	const struct fab_fabric *f = x->p->f;
	int32_t hops = at->hops + 1;

	x->steps += f->arc_first[at->sw + 1] - f->arc_first[at->sw];
	for (uint32_t a = f->arc_first[at->sw]; a < f->arc_first[at->sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a], in;
		double cost = at->cost + fab_price(x->prices, f->arc_cable[a]);
		struct place *to = &x->at[peer];
		bool is_end;

		if (cost >= limit || (to->seen == x->search && to->cost <= cost))
			continue;
		in = fab_loose_find(&x->tree, peer);
		is_end = in != FAB_NONE && fab_loose_side(&x->tree, in) == x->goal;
		if (hops + (is_end ? x->tree.farthest.v[in] : hops_left(x, peer)) >
			    x->most_hops ||
		    (!is_end && cost + x->floor >= limit))
			continue;
		*to = (struct place){cost, hops, x->search, at->sw, f->arc_cable[a]};
		fab_labels_push(&x->heap, (struct fab_label){cost, peer, hops});
	}
}

/* Two members of the upper half that are far apart. */
static void find_rows(struct fab_path_swap *x)
{
	const struct fab_loose_tree *t = &x->tree;
	const struct fab_loose_node *v = t->node.v;
	uint32_t first = FAB_NONE, second = FAB_NONE;

	for (uint32_t i = 0; i < t->node.n; i++)
		if (fab_loose_side(t, i) == x->goal && v[i].is_member &&
		    (first == FAB_NONE || t->farthest.v[i] > t->farthest.v[first]))
			first = i;
	x->row[0] = fab_dist_row(x->p->dist, v[first].sw);
	for (uint32_t i = 0; i < t->node.n; i++)
		if (fab_loose_side(t, i) == x->goal && v[i].is_member &&
		    (second == FAB_NONE || x->row[0][v[i].sw] > x->row[0][v[second].sw]))
			second = i;
	x->row[1] = fab_dist_row(x->p->dist, v[second].sw);
}

/* The end in the upper half of the cheapest path between the halves; FAB_NONE: none for
 * less than `limit`. */
static uint32_t search(struct fab_path_swap *x, double limit)
{
	const struct fab_loose_tree *t = &x->tree;
	enum fab_loose_side start = fab_loose_smaller(t);

	x->goal = start == FAB_LOOSE_LOWER ? FAB_LOOSE_UPPER : FAB_LOOSE_LOWER;
	x->search++;
	x->heap.n = 0;
	find_rows(x);
	for (uint32_t i = 0; i < t->node.n; i++)
		if (fab_loose_side(t, i) == start) {
			uint32_t sw = t->node.v[i].sw;

			x->at[sw] = (struct place){0, 0, x->search, FAB_NONE, FAB_NONE};
		}
	for (uint32_t i = 0; i < t->node.n; i++)
		if (fab_loose_side(t, i) == start) {
			const struct fab_label at = {0, t->node.v[i].sw,
						     t->farthest.v[i]};

			expand(x, &at, limit);
		}
	while (x->heap.n) {
		struct fab_label at = fab_labels_pop(&x->heap);
		uint32_t place = fab_loose_find(t, at.sw);

		if (at.cost > x->at[at.sw].cost || at.hops != x->at[at.sw].hops)
			continue;
		if (place != FAB_NONE && fab_loose_side(t, place) == x->goal)
			return at.sw;
		expand(x, &at, limit);
	}
	return FAB_NONE;
}

/* What the path from a node up to the next member or branch costs. */
static double path_cost(const struct fab_path_swap *x, uint32_t at)
{
	const struct fab_loose_node *v = x->tree.node.v;
	double cost = 0;

	do {
		cost += fab_price(x->prices, v[at].cable);
		at = v[at].parent;
	} while (!fab_loose_is_key(&v[at]));
	return cost;
}

/* Put in the cheapest path between the halves, if one costs less than `limit`. */
static bool join_cheapest(struct fab_path_swap *x, double limit)
{
	struct fab_loose_tree *t = &x->tree;
	uint32_t end = search(x, limit);

	if (end == FAB_NONE)
		return false;
	x->path.n = 0;
	for (const struct place *i = &x->at[end]; i->by != FAB_NONE;
	     end = i->from, i = &x->at[end])
		FAB_PUSH(&x->path, ((struct fab_loose_edge){{end, i->from}, i->by}));
	fab_loose_join(t, x->path.v, (uint32_t)x->path.n);
	return true;
}

/* Hops from a node up to the next member or branch. */
static unsigned path_hops(const struct fab_loose_tree *t, uint32_t at)
{
	unsigned hops = 0;

	do {
		hops++;
		at = t->node.v[at].parent;
	} while (!fab_loose_is_key(&t->node.v[at]));
	return hops;
}

/* Put in a near path between the halves in the place of the one from `at`. */
static bool join_near(struct fab_path_swap *x, uint32_t at, double price, uint64_t seed)
{
	struct fab_loose_tree *t = &x->tree;
	const struct fab_near_path_limit limit = {x->most_hops, path_hops(t, at), price};

	if (!fab_near_path_find(x->near, t, at, x->prices, &limit, seed))
		return false;
	fab_loose_join(t, fab_near_path_edges(x->near), fab_near_path_n_edges(x->near));
	return true;
}

/* Swap the path from a node upwards, if there is a cheaper one. */
static void swap(struct fab_path_swap *x, uint32_t at,
		 const struct fab_path_swap_how *how)
{
	struct fab_loose_tree *t = &x->tree;
	double limit = path_cost(x, at) * CHEAPER;

	fab_loose_split(t, at);
	fab_loose_measure(t);
	if (!(how->is_near ? join_near(x, at, limit, how->seed)
			   : join_cheapest(x, limit)))
		fab_loose_unite(t);
}

static int dearest_first(const void *a, const void *b)
{
	const struct path *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->sw > y->sw) - (x->sw < y->sw);
}

static void list_paths(struct fab_path_swap *x, double least)
{
	x->paths.n = 0;
	for (uint32_t i = 1; i < x->tree.node.n; i++) {
		const struct fab_loose_node *n = &x->tree.node.v[i];
		double cost = fab_loose_is_key(n) ? path_cost(x, i) : -1;

		if (cost >= least)
			FAB_PUSH(&x->paths, ((struct path){cost, n->sw}));
	}
	if (x->paths.n)
		qsort(x->paths.v, x->paths.n, sizeof(*x->paths.v), dearest_first);
}

void fab_path_swap_take(struct fab_path_swap *x, const uint32_t *member,
			uint32_t n_members, uint32_t n_edges, const uint32_t *sw,
			const uint32_t *cable)
{
	x->steps = 0;
	x->near_before = fab_near_path_steps(x->near);
	fab_loose_take(&x->tree, member, n_members, n_edges, sw, cable);
}

double fab_path_swap_run(struct fab_path_swap *x, const struct fab_prices *prices,
			 unsigned height, const struct fab_path_swap_how *how)
{
	x->prices = prices;
	x->floor = prices->by_load[0];
	x->most_hops = 2 * (int)height;
	list_paths(x, how->least);
	for (size_t i = 0; i < x->paths.n; i++) {
		if (how->options && fab_mcast_is_over(how->options))
			break;
		uint32_t at = fab_loose_find(&x->tree, x->paths.v[i].sw);

		if (at != FAB_NONE && at && fab_loose_is_key(&x->tree.node.v[at]))
			swap(x, at, how);
	}
	x->price = 0;
	for (size_t i = 1; i < x->tree.node.n; i++)
		x->price += fab_price(prices, x->tree.node.v[i].cable);
	return x->price;
}

uint32_t fab_path_swap_root(struct fab_path_swap *x, unsigned height, uint32_t old)
{
	struct fab_loose_tree *t = &x->tree;
	uint32_t at = fab_loose_find(t, old), best = 0;

	fab_loose_unite(t);
	fab_loose_measure(t);
	if (at != FAB_NONE && t->farthest.v[at] <= (int)height)
		return old;
	for (uint32_t i = 1; i < t->node.n; i++)
		if (t->farthest.v[i] < t->farthest.v[best])
			best = i;
	return t->node.v[best].sw;
}

struct fab_grown fab_path_swap_hang(struct fab_path_swap *x, uint32_t root)
{
	fab_loose_hang(&x->tree, root);
	x->sw.n = x->cable.n = 0;
	for (size_t i = 1; i < x->tree.node.n; i++) {
		FAB_PUSH(&x->sw, x->tree.node.v[i].sw);
		FAB_PUSH(&x->cable, x->tree.node.v[i].cable);
	}
	return (struct fab_grown){(uint32_t)x->sw.n, x->sw.v, x->cable.v, x->price,
				  fab_path_swap_steps(x)};
}

uint64_t fab_path_swap_steps(const struct fab_path_swap *x)
{
	return x->steps + fab_near_path_steps(x->near) - x->near_before;
}
