/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/root_prices.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Cables looked at for a group. */
enum { STEPS_MAX = 1 << 18 };

struct fab_root_prices {
	const struct fab_mcast_problem *p;
	uint32_t *rank;	 /* [n_switches] place among the candidates, FAB_NONE */
	uint32_t *share; /* [n_switches] members one hop away */
	double *up;	 /* [n_switches] cheapest cable there from the member at hand */
	FAB_VEC(uint32_t) near; /* switches with a share */
	FAB_VEC(uint32_t) root; /* candidates */
	double *sum, *path;	/* [candidates] of all members, of the one at hand */
};

struct fab_root_prices *fab_root_prices_new(const struct fab_mcast_problem *p)
{
	struct fab_root_prices *x = FAB_NEW0(1, struct fab_root_prices);
	uint32_t n = p->f->n_switches;

	x->p = p;
	x->rank = FAB_NEW(n, uint32_t);
	memset(x->rank, 0xff, n * sizeof(*x->rank));
	x->share = FAB_NEW0(n, uint32_t);
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

/* The cheapest path from a member to each candidate. */
static void add_member(struct fab_root_prices *x, const struct fab_prices *prices,
		       uint32_t sw)
{
	const struct fab_fabric *f = x->p->f;
	const uint8_t *row = fab_dist_row(x->p->dist, sw);

	for (size_t i = 0; i < x->root.n; i++)
		x->path[i] = __DBL_MAX__;
	if (x->rank[sw] != FAB_NONE)
		x->path[x->rank[sw]] = 0;
	for (uint32_t j = f->peer_first[sw]; j < f->peer_first[sw + 1]; j++)
		x->up[f->peer[j]] = __DBL_MAX__;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		offer(&x->up[f->arc_peer[a]], fab_price(prices, f->arc_cable[a]));
	for (uint32_t j = f->peer_first[sw]; j < f->peer_first[sw + 1]; j++) {
		uint32_t mid = f->peer[j];

		if (x->rank[mid] != FAB_NONE)
			x->path[x->rank[mid]] = x->up[mid];
		for (uint32_t a = f->arc_first[mid]; a < f->arc_first[mid + 1]; a++) {
			uint32_t root = f->arc_peer[a];

			if (x->rank[root] != FAB_NONE && row[root] == 2)
				offer(&x->path[x->rank[root]],
				      x->up[mid] + fab_price(prices, f->arc_cable[a]) /
							   x->share[mid]);
		}
	}
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
