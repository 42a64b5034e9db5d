/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates of the cheapest trees of all candidates of a group. */
#include "base/macros.h"
#include "base/order.h"
#include "base/rng.h"
#include "mcast/search/search.h"

#include <stdlib.h>
#include <string.h>

/* Cables looked at for a group. */
enum { STEPS_MAX = 1 << 18 };

/* A cable to a candidate. */
struct cable {
	uint32_t rank, cable;
};

/* The cables of a switch to candidates: from `first` on, by rank. */
struct list {
	uint32_t set;	/* == that at hand: they are listed */
	uint32_t group; /* == that at hand: they have prices */
	uint32_t first, n;
	bool is_run; /* the ranks follow each other */
};

struct fab_root_prices {
	const struct fab_mcast_problem *p;
	/* candidates, of the group before, too, if these are the same; those that a
	 * switch has cables to mostly follow each other */
	uint64_t *bits;
	FAB_VEC(uint32_t) root;
	uint32_t *rank;	 /* [n_switches] place among the candidates, FAB_NONE */
	uint32_t *share; /* [n_switches] members one hop away */
	double *up;	 /* [n_switches] cheapest cable there from the member at hand */
	FAB_VEC(uint32_t) near; /* switches with a share */
	uint32_t set, group;
	struct list *list; /* [n_switches] of those asked for since candidates changed */
	FAB_VEC(struct cable) cable;
	FAB_VEC(double) price; /* of each: what it costs a member that shares it */
	double *sum, *path;    /* [candidates] of all members, of the one at hand */
};

struct fab_root_prices *fab_root_prices_new(const struct fab_mcast_problem *p,
					    struct fab_arena *a)
{
	struct fab_root_prices *x = FAB_ARENA_NEW0(a, 1, struct fab_root_prices);
	uint32_t n = p->f->n_switches, n_arcs = p->f->arc_first[n];

	x->p = p;
	x->rank = FAB_ARENA_NEW(a, n, uint32_t);
	memset(x->rank, 0xff, n * sizeof(*x->rank));
	x->share = FAB_ARENA_NEW0(a, n, uint32_t);
	x->bits = FAB_ARENA_NEW0(a, fab_dist_stride(p->dist) / 64, uint64_t);
	x->list = FAB_ARENA_NEW0(a, n, struct list);
	x->up = FAB_ARENA_NEW(a, n, double);
	x->sum = FAB_ARENA_NEW(a, n, double);
	x->path = FAB_ARENA_NEW(a, n, double);
	FAB_ROOM(a, &x->root, n);
	FAB_ROOM(a, &x->near, n);
	FAB_ROOM(a, &x->cable, n_arcs);
	FAB_ROOM(a, &x->price, n_arcs);
	return x;
}

static void offer(double *price, double other)
{
	*price = other < *price ? other : *price;
}

static void add_root(struct fab_root_prices *x, uint32_t sw)
{
	if (x->rank[sw] != FAB_NONE || !(x->bits[sw / 64] >> (sw % 64) & 1))
		return;
	x->rank[sw] = (uint32_t)x->root.n;
	FAB_PUSH(&x->root, sw);
}

/* The candidates, if they are others than those of the group before: a switch joined to
 * the same neighbour of one member mostly does so on one of any other, too. */
static void set_candidates(struct fab_root_prices *x, const uint64_t *bits,
			   uint32_t member)
{
	const struct fab_fabric *f = x->p->f;
	size_t words = fab_dist_stride(x->p->dist) / 64;

	if (x->set && memcmp(bits, x->bits, words * sizeof(*bits)) == 0)
		return;
	for (size_t i = 0; i < x->root.n; i++)
		x->rank[x->root.v[i]] = FAB_NONE;
	memcpy(x->bits, bits, words * sizeof(*bits));
	x->set++;
	x->cable.n = x->price.n = x->root.n = 0;
	for (uint32_t j = f->peer_first[member]; j < f->peer_first[member + 1]; j++)
		for (uint32_t k = f->peer_first[f->peer[j]];
		     k < f->peer_first[f->peer[j] + 1]; k++)
			add_root(x, f->peer[k]);
	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1)
			add_root(x, (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left));
}

FAB_ORDER(by_rank, struct cable, rank)

/* Find the cables of a switch to candidates. */
static void list_cables(struct fab_root_prices *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	struct list *l = &x->list[sw];
	struct cable *cable;

	*l = (struct list){.set = x->set, .first = (uint32_t)x->cable.n, .is_run = true};
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t rank = x->rank[f->arc_peer[a]];

		if (rank == FAB_NONE)
			continue;
		FAB_PUSH(&x->cable, ((struct cable){rank, f->arc_cable[a]}));
		FAB_PUSH(&x->price, 0);
	}
	l->n = (uint32_t)x->cable.n - l->first;
	if (!l->n)
		return;
	cable = x->cable.v + l->first;
	qsort(cable, l->n, sizeof(*cable), by_rank);
	for (uint32_t i = 1; i < l->n; i++)
		l->is_run = l->is_run && cable[i].rank == cable[0].rank + i;
}

/* Paths by way of a switch that is `up` away, over its cables. */
static void offer_paths(double *restrict path, const struct cable *restrict cable,
			const double *restrict price, const struct list *l, double up)
{
	if (!l->is_run) {
		for (uint32_t i = 0; i < l->n; i++)
			offer(&path[cable[i].rank], up + price[i]);
		return;
	}
	path += cable->rank;
	for (uint32_t i = 0; i < l->n; i++) {
		double other = up + price[i];

		path[i] = other < path[i] ? other : path[i];
	}
}

/* The cheapest path from a member to each candidate, of those that are as short as can
 * be: no way round to itself and its neighbours. */
FAB_WIDE static void add_member(struct fab_root_prices *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	const uint32_t *peer = f->peer + f->peer_first[sw];
	uint32_t n = f->peer_first[sw + 1] - f->peer_first[sw];
	double *restrict path = x->path, *restrict sum = x->sum;

	for (size_t i = 0; i < x->root.n; i++)
		path[i] = __DBL_MAX__;
	for (uint32_t j = 0; j < n; j++) {
		const struct list *l = &x->list[peer[j]];

		if (l->n)
			offer_paths(path, x->cable.v + l->first, x->price.v + l->first, l,
				    x->up[peer[j]]);
	}
	for (uint32_t j = 0; j < n; j++)
		if (x->rank[peer[j]] != FAB_NONE)
			path[x->rank[peer[j]]] = x->up[peer[j]];
	if (x->rank[sw] != FAB_NONE)
		path[x->rank[sw]] = 0;
	for (size_t i = 0; i < x->root.n; i++)
		sum[i] += path[i];
}

/* Price from a member to each neighbour, and the neighbours' cables to candidates. */
static void price_neighbours(struct fab_root_prices *x, const struct fab_prices *prices,
			     uint32_t sw)
{
	const struct fab_prices at_hand = *prices; /* which `price` is no part of */
	const struct fab_fabric *f = x->p->f;
	struct list *l;

	for (uint32_t j = f->peer_first[sw]; j < f->peer_first[sw + 1]; j++) {
		uint32_t peer = f->peer[j];

		x->up[peer] = __DBL_MAX__;
		if (x->list[peer].set != x->set)
			list_cables(x, peer);
		l = &x->list[peer];
		for (uint32_t i = l->first; i < l->first + l->n && l->group != x->group;
		     i++)
			x->price.v[i] =
				fab_price(&at_hand, x->cable.v[i].cable) / x->share[peer];
		l->group = x->group;
	}
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		offer(&x->up[f->arc_peer[a]], fab_price(prices, f->arc_cable[a]));
}

uint32_t fab_root_prices_best(struct fab_root_prices *x, const struct fab_prices *prices,
			      const uint32_t *sw, uint32_t n, const uint64_t *bits,
			      unsigned radius, uint64_t seed, uint32_t want,
			      uint32_t *out)
{
	const struct fab_fabric *f = x->p->f;
	uint64_t steps = 0;
	uint32_t found = 0;

	if (radius > 2)
		return 0;
	set_candidates(x, bits, sw[0]);
	for (uint32_t i = 0; i < n && steps <= STEPS_MAX; i++) {
		steps += x->root.n;
		for (uint32_t j = f->peer_first[sw[i]]; j < f->peer_first[sw[i] + 1]; j++)
			steps += f->arc_first[f->peer[j] + 1] - f->arc_first[f->peer[j]];
	}
	if (steps > STEPS_MAX)
		return 0;
	for (uint32_t i = 0; i < x->root.n; i++)
		x->sum[i] = 0;
	x->group++;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = f->peer_first[sw[i]]; j < f->peer_first[sw[i] + 1]; j++)
			if (!x->share[f->peer[j]]++)
				FAB_PUSH(&x->near, f->peer[j]);
	for (uint32_t i = 0; i < n; i++) {
		price_neighbours(x, prices, sw[i]);
		add_member(x, sw[i]);
	}
	for (size_t i = 0; i < x->near.n; i++)
		x->share[x->near.v[i]] = 0;
	x->near.n = 0;
	for (; found < want && found < x->root.n; found++) {
		size_t best = 0;
		uint64_t tie = 0;

		for (size_t i = 0; i < x->root.n; i++) {
			uint64_t own;

			if (x->sum[i] > x->sum[best])
				continue;
			own = fab_mix64(seed ^ x->root.v[i]);
			if (i == 0 || x->sum[i] < x->sum[best] || own < tie) {
				best = i;
				tie = own;
			}
		}
		out[found] = x->root.v[best];
		x->sum[best] = __DBL_MAX__;
	}
	return found;
}
