/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of prices by load, or with weights by the gap to the target. */
#include "mcast/search/search.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* One that would exceed the limit costs GUARD times as much as one that would reach it.
 * One that exceeds it already outweighs all cables of a tree that exceed it by the group
 * at hand, so that no reroute makes it worse. */
static const double FACTOR = 4, GUARD = 4096, FORBIDDEN = 1e15, FLOOR = 1e-9;
/* The floor for a target that may be exceeded; and the factor by which a level may be
 * above a limit because of rounding. */
static const double TARGET_FLOOR = 1e-3, LEVEL_ROUNDING = 1 + FAB_LOAD_ROUNDING;

/* Of prices that rise smoothly. */
static const double SLOPE = 10, POWER = 6;

/* Groups in excess that have prices of their own. */
enum { EXCESS = 64 };

void fab_prices_init(struct fab_prices *p, const struct fab_mcast_state *s)
{
	const struct fab_weights *w = s->problem->weights;

	*p = (struct fab_prices){.state = s, .load = s->load};
	fab_prices_set_limit(p, w ? w->step : 1);
}

void fab_prices_set_group(struct fab_prices *p, uint32_t group)
{
	if (p->state->units)
		p->group_units = p->state->problem->weights->units[group];
}

void fab_prices_fini(struct fab_prices *p)
{
	FAB_FREE_ALL(p->by_load, p->by_gap, p->factor);
	*p = (struct fab_prices){0};
}

void fab_prices_reset_factors(struct fab_prices *p)
{
	uint32_t n = p->state->problem->f->n_switch_links;

	p->factor = fab_realloc(p->factor, n, sizeof(*p->factor));
	for (uint32_t c = 0; c < n; c++)
		p->factor[c] = 1;
}

void fab_prices_raise_factors(struct fab_prices *p, double level, double step)
{
	for (uint32_t c = 0; c < p->state->problem->f->n_switch_links; c++)
		p->factor[c] += step * fmax(0, fab_mcast_level(p->state, c) - level);
}

/* Load target - 1 becomes target: allowed, 1. */
static void set_below(struct fab_prices *p, uint32_t target, double floor)
{
	double price = 1;

	p->target = target;
	p->n = target + EXCESS;
	p->by_load = fab_realloc(p->by_load, p->n, sizeof(*p->by_load));
	for (uint32_t load = target; load-- > 0; price /= FACTOR)
		p->by_load[load] = price > floor ? price : floor;
}

/* Of weighted loads: up to the target a step costs FACTOR, above it `over` each. */
static void set_steps(struct fab_prices *p, double target, double floor, double over)
{
	double step = p->state->problem->weights->step;

	p->limit = target * LEVEL_ROUNDING;
	p->per_step = step > 0 ? 1 / step : 1;
	p->over = over;
	p->by_gap = fab_realloc(p->by_gap, FAB_PRICES_PARTS * FAB_PRICES_STEPS + 1,
				sizeof(*p->by_gap));
	for (int i = 0; i <= FAB_PRICES_PARTS * FAB_PRICES_STEPS; i++)
		p->by_gap[i] = fmax(pow(FACTOR, -(double)i / FAB_PRICES_PARTS), floor);
}

void fab_prices_set_limit(struct fab_prices *p, double target)
{
	uint32_t whole = (uint32_t)target;

	if (p->by_gap) {
		p->limit = target * LEVEL_ROUNDING;
	} else if (p->state->units) {
		set_steps(p, target, FLOOR, GUARD);
	} else if (!p->by_load || whole != p->target) {
		set_below(p, whole, FLOOR);
		p->by_load[whole] = GUARD;
		for (uint32_t load = whole + 1; load < p->n; load++)
			p->by_load[load] = FORBIDDEN;
	}
}

void fab_prices_set_target(struct fab_prices *p, double target, double excess)
{
	uint32_t whole = (uint32_t)target;

	if (p->state->units) {
		set_steps(p, target, TARGET_FLOOR, excess);
		return;
	}
	set_below(p, whole, TARGET_FLOOR);
	for (uint32_t load = whole; load < p->n; load++)
		p->by_load[load] = excess * (load - whole + 1);
}

/* `share` of the largest load. */
static double smooth(double share)
{
	return 1 + SLOPE * pow(share, POWER);
}

void fab_prices_set_smooth(struct fab_prices *p, double max)
{
	const double parts = FAB_PRICES_PARTS * FAB_PRICES_STEPS;

	if (!p->state->units) {
		set_below(p, (uint32_t)max, 1);
		for (uint32_t load = 0; load < p->n; load++)
			p->by_load[load] = smooth((load + 1) / max);
		return;
	}
	set_steps(p, max, 1, smooth(1));
	p->per_step = FAB_PRICES_STEPS / max;
	for (int i = 0; i <= FAB_PRICES_PARTS * FAB_PRICES_STEPS; i++)
		p->by_gap[i] = smooth(1 - i / parts);
}

double fab_prices_sum(const struct fab_prices *p, const uint32_t *cable, uint64_t n)
{
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += fab_price(p, cable[i]);
	return sum;
}
