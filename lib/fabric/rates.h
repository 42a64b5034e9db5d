/* SPDX-License-Identifier: BSD-2-Clause */
/* Do cables have one rate, several, and one that is known? What counts loads asks this.
 */
#pragma once

#include "fabric/fabric.h"

struct fab_rates {
	uint32_t n, n_unknown;	      /* cables; of these without speed or width */
	fab_cable_id first_unknown;   /* FAB_NONE */
	double least_gbps, most_gbps; /* of those that are known; 0: none is */
};

/* Of the cables first .. first + n - 1. O(n). */
struct fab_rates fab_rates_of(const struct fab_fabric *f, fab_cable_id first, uint32_t n);
/* "the rate of 3 of 47 is not known (the first: port 21 of "ib5")"; NULL: all are. The
 * caller frees. */
char *fab_rates_unknown_text(const struct fab_fabric *f, const struct fab_rates *rates);
