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
 *
 * With weights (mcast/weights.h) the same with demands over capacity in the place of
 * groups: the step of four is what a group adds in the mean.
 */
#pragma once

#include "mcast/engine.h"

struct fab_prices {
	const uint32_t *load; /* [n_switch_links] borrowed, without the group at hand */
	double *by_load;      /* [n] of one group more; those above cost as the last */
	uint32_t n, target;
	double *factor; /* [n_switch_links]; NULL: 1 each */
	/* with weights, else NULL: the state whose units they are, and the group at hand
	 */
	const struct fab_mcast_state *state;
	uint64_t group_units;
	double limit, per_step; /* largest level that is allowed; 1 / step */
	double over;		/* price of the first step above it */
	double *by_gap;		/* [] by parts of a step below it */
};

/* The target 1; `load` is borrowed until the prices end. O(1). */
void fab_prices_init(struct fab_prices *prices, const uint32_t *load);
/* The same for a state, which is borrowed, with its weights if there are any. O(1). */
void fab_prices_of(struct fab_prices *prices, const struct fab_mcast_state *state);
/* With weights: prices are for this group, which is not in the loads, from now on. O(1).
 */
void fab_prices_set_group(struct fab_prices *prices, uint32_t group);
void fab_prices_fini(struct fab_prices *prices);
/* What others cost now, in tables of its own; `to` has such prices or is zeroed. Without
 * factors. O(target). */
void fab_prices_copy(struct fab_prices *to, const struct fab_prices *from);

/*
 * Prices for a target that is not to be exceeded: a tree that would do so on one cable
 * costs more than any that does not, one that exceeds what is above it already more than
 * any number of those. O(target).
 */
void fab_prices_set_limit(struct fab_prices *prices, double target);
/* Prices for a target that may be exceeded: each group in excess costs `excess` more.
 * O(target). */
void fab_prices_set_target(struct fab_prices *prices, double target, double excess);

/* Prices that rise smoothly with the load, so that trees of few cables are cheap: an
 * empty cable costs 1, one that reaches the largest load `max` eleven times as much.
 * O(max). */
void fab_prices_set_smooth(struct fab_prices *prices, double max);

/* The level (fab_mcast_level()) of a cable with the group at hand on it, too. O(1). */
static inline double fab_prices_level(const struct fab_prices *p, uint32_t cable)
{
	return p->state ? (double)(p->state->units[cable] + p->group_units) *
				  p->state->problem->weights->per_unit[cable]
			: p->load[cable] + 1;
}

/* Parts of a step that are told apart, and steps below the target. */
enum { FAB_PRICES_PARTS = 16, FAB_PRICES_STEPS = 16 };

/* The price with weights. O(1). */
static inline double fab_prices_weighted(const struct fab_prices *p, uint32_t cable)
{
	double steps = (p->limit - fab_prices_level(p, cable)) * p->per_step;

	if (steps < 0)
		return p->over * (1 - steps);
	return p->by_gap[steps < FAB_PRICES_STEPS ? (int)(steps * FAB_PRICES_PARTS)
						  : FAB_PRICES_PARTS * FAB_PRICES_STEPS];
}

/* O(1). */
static inline double fab_price(const struct fab_prices *p, uint32_t cable)
{
	uint32_t load = p->load[cable];
	double price = p->state ? fab_prices_weighted(p, cable)
				: p->by_load[load < p->n ? load : p->n - 1];

	return p->factor ? price * p->factor[cable] : price;
}

/* What the cables of a tree cost together. O(n). */
double fab_prices_sum(const struct fab_prices *prices, const uint32_t *cable, uint64_t n);
