/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a cable costs a tree: the more, the nearer its load is to a target, and much more
 * where it would exceed it.
 *
 * A cable one group nearer to the target costs four times as much, but never less than a
 * floor, so that of trees over empty cables the smaller is cheaper. Each cable may have a
 * factor of its own, which rises while more trees want it than the target allows
 * (McMurchie and Ebeling, "PathFinder: a negotiation-based performance-driven router for
 * FPGAs", 1995).
 */
#pragma once

#include "mcast/engine.h"

struct fab_prices {
	const uint32_t *load; /* [n_switch_links] borrowed, without the group at hand */
	double *by_load;      /* [n] of one group more; those above cost as the last */
	uint32_t n, target;
	double *factor; /* [n_switch_links]; NULL: 1 each */
};

/* The target 1; `load` is borrowed until the prices end. O(1). */
void fab_prices_init(struct fab_prices *prices, const uint32_t *load);
void fab_prices_fini(struct fab_prices *prices);

/*
 * Prices for a target that is not to be exceeded: a tree that would do so on one cable
 * costs more than any that does not, one that exceeds what is above it already more than
 * any number of those. O(target).
 */
void fab_prices_set_limit(struct fab_prices *prices, uint32_t target);
/* Prices for a target that may be exceeded: each group in excess costs `excess` more.
 * O(target). */
void fab_prices_set_target(struct fab_prices *prices, uint32_t target, double excess);

/* O(1). */
static inline double fab_price(const struct fab_prices *p, uint32_t cable)
{
	uint32_t load = p->load[cable];
	double price = p->by_load[load < p->n ? load : p->n - 1];

	return p->factor ? price * p->factor[cable] : price;
}

/* What the cables of a tree cost together. O(n). */
double fab_prices_sum(const struct fab_prices *prices, const uint32_t *cable, uint64_t n);
