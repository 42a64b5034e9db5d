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
	free(t->sw.v);
	free(t->cable.v);
	free(t);
}

/* The cheapest cable of a switch one hop nearer to the root. */
static double cheapest_up(struct fab_cheap_tree *t, const struct fab_prices *prices,
			  const uint8_t *row, uint32_t sw)
{
	const struct fab_fabric *f = t->p->f;
	int nearer = row[sw] - 1;
	double best = FORBIDDEN;

	t->steps += f->arc_first[sw + 1] - f->arc_first[sw];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		if (row[f->arc_peer[a]] == nearer) {
			double price = fab_price(prices, f->arc_cable[a]);

			best = price < best ? price : best;
		}
	return best;
}

/* Count for each possible parent of the level how many switches it could serve. */
static void count_sharers(struct fab_cheap_tree *t, const uint8_t *row, unsigned hops)
{
	const struct fab_fabric *f = t->p->f;

	t->n_parents = 0;
	for (size_t i = 0; i < t->level[hops].n; i++) {
		uint32_t sw = t->level[hops].v[i];

		for (uint32_t j = f->peer_first[sw]; j < f->peer_first[sw + 1]; j++) {
			uint32_t peer = f->peer[j];

			if (row[peer] == hops - 1 && !t->sharers[peer]++)
				t->parent[t->n_parents++] = peer;
		}
	}
}

/* Hang a switch on the cheapest parent; what the cable costs. */
static double hang(struct fab_cheap_tree *t, const struct fab_prices *prices,
		   const uint8_t *row, uint32_t sw)
{
	const struct fab_fabric *f = t->p->f;
	uint32_t best = FAB_NONE;
	double least = 0, price;
	int nearer = row[sw] - 1;

	t->steps += 2 * (f->arc_first[sw + 1] - f->arc_first[sw]); /* sharers, too */
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];
		double cost;

		if (row[peer] != nearer)
			continue;
		cost = fab_price(prices, f->arc_cable[a]);
		if (t->mark[peer] != t->stamp)
			cost += t->up[peer];
		if (best == FAB_NONE || cost < least) {
			best = a;
			least = cost;
		}
	}
	price = fab_price(prices, f->arc_cable[best]);
	FAB_PUSH(&t->sw, sw);
	FAB_PUSH(&t->cable, f->arc_cable[best]);
	best = f->arc_peer[best];
	if (t->mark[best] != t->stamp) {
		t->mark[best] = t->stamp;
		FAB_PUSH(&t->level[nearer], best);
	}
	return price;
}

static double hang_level(struct fab_cheap_tree *t, const struct fab_prices *prices,
			 const uint8_t *row, unsigned hops)
{
	double price = 0;

	count_sharers(t, row, hops);
	for (uint32_t i = 0; i < t->n_parents; i++) {
		uint32_t sw = t->parent[i];

		t->up[sw] = hops > 1 && t->mark[sw] != t->stamp
				    ? cheapest_up(t, prices, row, sw) / t->sharers[sw]
				    : 0;
		t->sharers[sw] = 0;
	}
	for (size_t i = 0; i < t->level[hops].n; i++)
		price += hang(t, prices, row, t->level[hops].v[i]);
	return price;
}

double fab_cheap_tree_grow(struct fab_cheap_tree *t, const struct fab_prices *prices,
			   const uint32_t *sw, uint32_t n, uint32_t root, double limit)
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
	for (unsigned h = height; h > 0 && price < limit; h--)
		price += hang_level(t, prices, row, h);
	return price;
}

uint32_t fab_cheap_tree_n_edges(const struct fab_cheap_tree *t)
{
	return (uint32_t)t->sw.n;
}

const uint32_t *fab_cheap_tree_sw(const struct fab_cheap_tree *t)
{
	return t->sw.v;
}

const uint32_t *fab_cheap_tree_cable(const struct fab_cheap_tree *t)
{
	return t->cable.v;
}

uint64_t fab_cheap_tree_steps(const struct fab_cheap_tree *t)
{
	return t->steps;
}
