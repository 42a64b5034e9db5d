/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/prices.h"

#include "base/mem.h"

#include <stdlib.h>

/* One that would exceed the limit costs GUARD times as much as one that would reach it.
 * One that exceeds it already outweighs all cables of a tree that exceed it by the group
 * at hand, so that no reroute makes it worse. */
static const double FACTOR = 4, GUARD = 4096, FORBIDDEN = 1e15, FLOOR = 1e-9;

/* Groups in excess that are told apart. */
enum { EXCESS = 64 };

void fab_prices_init(struct fab_prices *p, const uint32_t *load)
{
	*p = (struct fab_prices){.load = load};
	fab_prices_set_limit(p, 1);
}

void fab_prices_fini(struct fab_prices *p)
{
	free(p->by_load);
	free(p->factor);
	*p = (struct fab_prices){0};
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

void fab_prices_set_limit(struct fab_prices *p, uint32_t target)
{
	if (p->by_load && target == p->target)
		return;
	set_below(p, target, FLOOR);
	p->by_load[target] = GUARD;
	for (uint32_t load = target + 1; load < p->n; load++)
		p->by_load[load] = FORBIDDEN;
}

void fab_prices_set_target(struct fab_prices *p, uint32_t target, double excess)
{
	set_below(p, target, 1e-3);
	for (uint32_t load = target; load < p->n; load++)
		p->by_load[load] = excess * (load - target + 1);
}

double fab_prices_sum(const struct fab_prices *p, const uint32_t *cable, uint64_t n)
{
	double sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += fab_price(p, cable[i]);
	return sum;
}
