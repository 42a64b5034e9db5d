/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/root_prices.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Cables looked at for a group. */
enum { STEPS_MAX = 1 << 18 };

/* A cable to a candidate, and what it costs each of the members that share it. */
struct cable {
	uint32_t rank, cable;
	double price;
};

struct fab_root_prices {
	const struct fab_mcast_problem *p;
	uint32_t *rank;	 /* [n_switches] place among the candidates, FAB_NONE */
	uint32_t *share; /* [n_switches] members one hop away */
	double *up;	 /* [n_switches] cheapest cable there from the member at hand */
	FAB_VEC(uint32_t) near; /* switches with a share */
	FAB_VEC(uint32_t) root; /* candidates */
	/* the same of the group before; cables to them of the switches that were asked
	 * for since they changed (listed[sw] == set): n_cables[sw] from first[sw] on */
	FAB_VEC(uint32_t) last;
	uint32_t set, *listed, *first, *n_cables;
	uint32_t group, *priced; /* [n_switches] == group: these have prices */
	FAB_VEC(struct cable) cable;
	double *sum, *path; /* [candidates] of all members, of the one at hand */
};

struct fab_root_prices *fab_root_prices_new(const struct fab_mcast_problem *p)
{
	struct fab_root_prices *x = FAB_NEW0(1, struct fab_root_prices);
	uint32_t n = p->f->n_switches;

	x->p = p;
	x->rank = FAB_NEW(n, uint32_t);
	memset(x->rank, 0xff, n * sizeof(*x->rank));
	x->share = FAB_NEW0(n, uint32_t);
	x->listed = FAB_NEW0(n, uint32_t);
	x->priced = FAB_NEW0(n, uint32_t);
	x->first = FAB_NEW(n, uint32_t);
	x->n_cables = FAB_NEW(n, uint32_t);
	x->up = FAB_NEW(n, double);
	x->sum = FAB_NEW(n, double);
	x->path = FAB_NEW(n, double);
	return x;
}

void fab_root_prices_free(struct fab_root_prices *x)
{
	if (!x)
		return;
	free(x->rank);
	free(x->share);
	free(x->up);
	free(x->near.v);
	free(x->root.v);
	free(x->last.v);
	free(x->listed);
	free(x->priced);
	free(x->first);
	free(x->n_cables);
	free(x->cable.v);
	free(x->sum);
	free(x->path);
	free(x);
}

/* How many cables add_member() would look at. */
static uint64_t count_steps(struct fab_root_prices *x, const uint32_t *sw, uint32_t n)
{
	const struct fab_fabric *f = x->p->f;
	uint64_t steps = 0;

	for (uint32_t i = 0; i < n && steps <= STEPS_MAX; i++) {
		steps += x->root.n;
		for (uint32_t j = f->peer_first[sw[i]]; j < f->peer_first[sw[i] + 1]; j++)
			steps += f->arc_first[f->peer[j] + 1] - f->arc_first[f->peer[j]];
	}
	return steps;
}

static void count_shares(struct fab_root_prices *x, const uint32_t *sw, uint32_t n)
{
	const struct fab_fabric *f = x->p->f;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = f->peer_first[sw[i]]; j < f->peer_first[sw[i] + 1]; j++)
			if (!x->share[f->peer[j]]++)
				FAB_PUSH(&x->near, f->peer[j]);
}

static void offer(double *price, double other)
{
	*price = other < *price ? other : *price;
}

/* Are the candidates others than those of the group before? Then so are the lists. */
static void heed_set(struct fab_root_prices *x)
{
	size_t bytes = x->root.n * sizeof(*x->root.v);

	if (x->set && x->root.n == x->last.n && memcmp(x->root.v, x->last.v, bytes) == 0)
		return;
	x->set++;
	x->cable.n = x->last.n = 0;
	for (size_t i = 0; i < x->root.n; i++)
		FAB_PUSH(&x->last, x->root.v[i]);
}

/* Find the cables of a switch to candidates. */
static void list_cables(struct fab_root_prices *x, uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;

	x->listed[sw] = x->set;
	x->first[sw] = (uint32_t)x->cable.n;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t rank = x->rank[f->arc_peer[a]];

		if (rank != FAB_NONE)
			FAB_PUSH(&x->cable, ((struct cable){rank, f->arc_cable[a], 0}));
	}
	x->n_cables[sw] = (uint32_t)x->cable.n - x->first[sw];
}

static void price_cables(struct fab_root_prices *x, const struct fab_prices *prices,
			 uint32_t sw)
{
	struct cable *cable = x->cable.v + x->first[sw];
	uint32_t n = x->n_cables[sw], share = x->share[sw];

	x->priced[sw] = x->group;
	for (uint32_t i = 0; i < n; i++)
		cable[i].price = fab_price(prices, cable[i].cable) / share;
}

/* Paths by way of a neighbour of the member at hand. */
static void add_neighbour(struct fab_root_prices *x, const struct fab_prices *prices,
			  uint32_t mid)
{
	double up = x->up[mid];
	const struct cable *cable;

	if (x->listed[mid] != x->set)
		list_cables(x, mid);
	if (x->priced[mid] != x->group)
		price_cables(x, prices, mid);
	cable = x->cable.v + x->first[mid];
	for (uint32_t i = 0; i < x->n_cables[mid]; i++)
		offer(&x->path[cable[i].rank], up + cable[i].price);
}

/* The cheapest path from a member to each candidate, of those that are as short as can
 * be: no way round to itself and its neighbours. */
static void add_member(struct fab_root_prices *x, const struct fab_prices *prices,
		       uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	const uint32_t *peer = f->peer + f->peer_first[sw];
	uint32_t n = f->peer_first[sw + 1] - f->peer_first[sw];

	for (size_t i = 0; i < x->root.n; i++)
		x->path[i] = __DBL_MAX__;
	for (uint32_t j = 0; j < n; j++)
		x->up[peer[j]] = __DBL_MAX__;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		offer(&x->up[f->arc_peer[a]], fab_price(prices, f->arc_cable[a]));
	for (uint32_t j = 0; j < n; j++)
		add_neighbour(x, prices, peer[j]);
	for (uint32_t j = 0; j < n; j++)
		if (x->rank[peer[j]] != FAB_NONE)
			x->path[x->rank[peer[j]]] = x->up[peer[j]];
	if (x->rank[sw] != FAB_NONE)
		x->path[x->rank[sw]] = 0;
	for (size_t i = 0; i < x->root.n; i++)
		x->sum[i] += x->path[i];
}

/* The place of the cheapest root that is left. */
static size_t cheapest(const struct fab_root_prices *x, uint64_t seed)
{
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
	return best;
}

static void list_roots(struct fab_root_prices *x, const uint64_t *bits)
{
	size_t words = fab_dist_stride(x->p->dist) / 64;

	x->root.n = 0;
	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1)
			FAB_PUSH(&x->root,
				 (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left));
}

uint32_t fab_root_prices_best(struct fab_root_prices *x, const struct fab_prices *prices,
			      const uint32_t *sw, uint32_t n, const uint64_t *bits,
			      unsigned radius, uint64_t seed, uint32_t want,
			      uint32_t *out)
{
	uint32_t found = 0;

	if (radius > 2)
		return 0;
	list_roots(x, bits);
	if (count_steps(x, sw, n) > STEPS_MAX)
		return 0;
	for (uint32_t i = 0; i < x->root.n; i++) {
		x->rank[x->root.v[i]] = i;
		x->sum[i] = 0;
	}
	heed_set(x);
	x->group++;
	count_shares(x, sw, n);
	for (uint32_t i = 0; i < n; i++)
		add_member(x, prices, sw[i]);
	for (size_t i = 0; i < x->root.n; i++)
		x->rank[x->root.v[i]] = FAB_NONE;
	for (size_t i = 0; i < x->near.n; i++)
		x->share[x->near.v[i]] = 0;
	x->near.n = 0;
	while (found < want && found < x->root.n) {
		size_t at = cheapest(x, seed);

		out[found++] = x->root.v[at];
		x->sum[at] = __DBL_MAX__;
	}
	return found;
}
