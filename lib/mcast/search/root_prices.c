/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates of the cheapest trees of all candidates of a group. */
#include "base/rng.h"
#include "mcast/search/search.h"

#include <string.h>

/* Cables looked at for a group. */
enum { STEPS_MAX = 1 << 18 };

/* A cable to a candidate. */
struct cable {
	uint32_t rank, cable;
};

struct fab_root_prices {
	const struct fab_mcast_problem *p;
	uint64_t *bits;		 /* candidates, mostly those of the group before, too */
	uint32_t *root, n_roots; /* [n_switches] the same in a list */
	uint32_t *rank;		 /* [n_switches] place among them, FAB_NONE */
	uint32_t *share;	 /* [n_switches] members one hop away */
	FAB_VEC(uint32_t) near;	 /* switches with a share */
	uint32_t *n_cables;  /* [n_switches] to candidates, FAB_NONE: not listed yet */
	bool *is_run;	     /* [n_switches] the ranks of these follow each other */
	struct cable *cable; /* [arcs] these, from the first arc of the switch on */
	double *price;	     /* [arcs] of each for a member that shares it */
	double *up; /* [n_switches] cheapest cable there from the member at hand */
	double *sum, *path; /* [candidates] of all members, of the one at hand */
};

struct fab_root_prices *fab_root_prices_new(const struct fab_mcast_problem *p,
					    struct fab_arena *a)
{
	struct fab_root_prices *x = FAB_ARENA_NEW0(a, 1, struct fab_root_prices);
	uint32_t n = p->f->n_switches;

	x->p = p;
	x->bits = FAB_ARENA_NEW0(a, fab_dist_stride(p->dist) / 64, uint64_t);
	x->root = FAB_ARENA_NEW(a, n, uint32_t);
	x->rank = fab_arena_none(a, n);
	FAB_ROOM(a, &x->near, n);
	x->share = FAB_ARENA_NEW0(a, n, uint32_t);
	x->n_cables = FAB_ARENA_NEW(a, n, uint32_t);
	x->is_run = FAB_ARENA_NEW(a, n, bool);
	x->cable = FAB_ARENA_NEW(a, p->f->arc_first[n], struct cable);
	x->price = FAB_ARENA_NEW(a, p->f->arc_first[n], double);
	x->up = FAB_ARENA_NEW(a, n, double);
	x->sum = FAB_ARENA_NEW(a, n, double);
	x->path = FAB_ARENA_NEW(a, n, double);
	return x;
}

/* The candidates, if they are others than those of the group before. */
static void set_candidates(struct fab_root_prices *x, const uint64_t *bits)
{
	size_t words = fab_dist_stride(x->p->dist) / 64;

	if (memcmp(bits, x->bits, words * sizeof(*bits)) == 0)
		return;
	memcpy(x->bits, bits, words * sizeof(*bits));
	for (uint32_t i = 0; i < x->n_roots; i++)
		x->rank[x->root[i]] = FAB_NONE;
	x->n_roots = fab_roots_list(bits, words, x->root);
	for (uint32_t i = 0; i < x->n_roots; i++)
		x->rank[x->root[i]] = i;
	memset(x->n_cables, 0xff, x->p->f->n_switches * sizeof(*x->n_cables));
}

static void offer(double *price, double other)
{
	*price = other < *price ? other : *price;
}

/* Price the cables to candidates of a switch that members are one hop away from. */
static void price_cables(struct fab_root_prices *x, const struct fab_prices *prices,
			 uint32_t sw)
{
	const struct fab_prices at_hand = *prices; /* which `price` is no part of */
	const struct fab_fabric *f = x->p->f;
	struct cable *cable = x->cable + f->arc_first[sw];
	double *price = x->price + f->arc_first[sw], share = x->share[sw];
	uint32_t *n = &x->n_cables[sw];

	if (*n == FAB_NONE) {
		*n = 0;
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			if (x->rank[f->arc_peer[a]] != FAB_NONE)
				cable[(*n)++] = (struct cable){x->rank[f->arc_peer[a]],
							       f->arc_cable[a]};
		x->is_run[sw] = true;
		for (uint32_t i = 1; i < *n; i++)
			x->is_run[sw] &= cable[i].rank == cable[0].rank + i;
	}
	for (uint32_t i = 0; i < *n; i++)
		price[i] = fab_price(&at_hand, cable[i].cable);
	for (uint32_t i = 0; i < *n && share > 1; i++)
		price[i] /= share;
}

/* Paths over the cables of a switch, `up` away. */
static inline void offer_paths(struct fab_root_prices *x, uint32_t sw, double up)
{
	uint32_t first = x->p->f->arc_first[sw], n = x->n_cables[sw];
	const struct cable *cable = x->cable + first;
	const double *restrict price = x->price + first;
	double *restrict path = x->path;

	if (n && x->is_run[sw]) { /* as in most fat trees: in vectors */
		path += cable->rank;
		for (uint32_t i = 0; i < n; i++)
			offer(&path[i], up + price[i]);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		offer(&path[cable[i].rank], up + price[i]);
}

/* The cheapest path from a member to each candidate, of those that are as short as can
 * be: no way round to itself and its neighbours. */
FAB_BITS static void add_member(struct fab_root_prices *x,
				const struct fab_prices *prices, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	const uint32_t *peer = f->peer + f->peer_first[sw];
	uint32_t n = f->peer_first[sw + 1] - f->peer_first[sw];

	for (uint32_t j = 0; j < n; j++)
		x->up[peer[j]] = __DBL_MAX__;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		offer(&x->up[f->arc_peer[a]], fab_price(prices, f->arc_cable[a]));
	for (uint32_t i = 0; i < x->n_roots; i++)
		x->path[i] = __DBL_MAX__;
	for (uint32_t j = 0; j < n; j++)
		offer_paths(x, peer[j], x->up[peer[j]]);
	for (uint32_t j = 0; j < n; j++)
		if (x->rank[peer[j]] != FAB_NONE)
			x->path[x->rank[peer[j]]] = x->up[peer[j]];
	if (x->rank[sw] != FAB_NONE)
		x->path[x->rank[sw]] = 0;
	for (uint32_t i = 0; i < x->n_roots; i++)
		x->sum[i] += x->path[i];
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
	set_candidates(x, bits);
	for (uint32_t i = 0; i < n && steps <= STEPS_MAX; i++) {
		steps += x->n_roots;
		for (uint32_t j = f->peer_first[sw[i]]; j < f->peer_first[sw[i] + 1];
		     j++) {
			uint32_t peer = f->peer[j];

			steps += f->arc_first[peer + 1] - f->arc_first[peer];
			if (!x->share[peer]++)
				FAB_PUSH(&x->near, peer);
		}
	}
	memset(x->sum, 0, x->n_roots * sizeof(*x->sum));
	for (size_t i = 0; i < x->near.n && steps <= STEPS_MAX; i++)
		price_cables(x, prices, x->near.v[i]);
	for (uint32_t i = 0; i < n && steps <= STEPS_MAX; i++)
		add_member(x, prices, sw[i]);
	while (x->near.n)
		x->share[x->near.v[--x->near.n]] = 0;
	if (steps > STEPS_MAX)
		return 0;
	for (; found < want && found < x->n_roots; found++) {
		uint32_t best = 0;
		uint64_t tie = 0;

		for (uint32_t i = 0; i < x->n_roots; i++) {
			uint64_t own;

			if (x->sum[i] > x->sum[best])
				continue;
			own = fab_mix64(seed ^ x->root[i]);
			if (i == 0 || x->sum[i] < x->sum[best] || own < tie) {
				best = i;
				tie = own;
			}
		}
		out[found] = x->root[best];
		x->sum[best] = __DBL_MAX__;
	}
	return found;
}
