/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/cheap_tree.h"

#include "base/mem.h"

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

static void join(struct fab_cheap_tree *t, uint32_t sw, uint32_t cable)
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
	join(t, sw, f->arc_cable[best]);
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

		join(t, sw, t->root_cable[sw]);
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
