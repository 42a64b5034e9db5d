/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of all candidates of a group would have the cheapest tree? Estimated for all of
 * them at once where none is farther than two hops from a member: each member's cheapest
 * path, a cable that several members would share divided by them. In a fat tree, where a
 * root leaves no choice but of parallel cables, that is what its tree costs.
 */
#pragma once

#include "mcast/prices.h"

struct fab_root_prices; /* room for one group */

struct fab_root_prices *fab_root_prices_new(const struct fab_mcast_problem *problem);
void fab_root_prices_free(struct fab_root_prices *room);

/*
 * The `want` cheapest roots of the switches sw[n] among those in `bits`, cheapest first,
 * equal ones in an order by `seed`; writes at most `want` to `out` and returns how many:
 * 0 where a candidate is farther away (radius > 2) or it would take too long. O(n *
 * cables of a switch^2 + candidates * n).
 */
uint32_t fab_root_prices_best(struct fab_root_prices *room,
			      const struct fab_prices *prices, const uint32_t *sw,
			      uint32_t n, const uint64_t *bits, unsigned radius,
			      uint64_t seed, uint32_t want, uint32_t *out);
