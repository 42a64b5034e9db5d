/* SPDX-License-Identifier: BSD-2-Clause */
/* Orders for qsort() and bsearch(): ascending; O(1) each. */
#pragma once

#include "base/macros.h"

static inline int fab_cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static inline int fab_cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* No NaN. */
static inline int fab_cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In a comparison of two structures: return when a member differs. */
#define FAB_ORDER_BY(a, b, member)                                                       \
	if ((a)->member != (b)->member)                                                  \
	return (a)->member < (b)->member ? -1 : 1
