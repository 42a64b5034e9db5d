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

/* Defines name(), which compares two structures by up to three members, the first one
 * first: FAB_ORDER(by_depth, struct placed, depth, sw) */
#define FAB_ORDER(name, type, ...)                                                       \
	static int name(const void *x, const void *y)                                    \
	{                                                                                \
		const type *a = x, *b = y;                                               \
                                                                                         \
		FAB_ORDER_OF(__VA_ARGS__, FAB_ORDER_3, FAB_ORDER_2, FAB_ORDER_1, 0)      \
		(__VA_ARGS__) return 0;                                                  \
	}
#define FAB_ORDER_OF(m1, m2, m3, macro, ...) macro
#define FAB_ORDER_1(m1) FAB_ORDER_BY(a, b, m1);
#define FAB_ORDER_2(m1, m2) FAB_ORDER_1(m1) FAB_ORDER_1(m2)
#define FAB_ORDER_3(m1, m2, m3) FAB_ORDER_1(m1) FAB_ORDER_2(m2, m3)

/* The same by any number of members, each ascending or descending:
 * FAB_ORDER_MIXED(by_uses, struct use, FAB_DOWN(n) FAB_UP(cable)) */
#define FAB_ORDER_MIXED(name, type, members)                                             \
	static int name(const void *x, const void *y)                                    \
	{                                                                                \
		const type *a = x, *b = y;                                               \
                                                                                         \
		members return 0;                                                        \
	}
#define FAB_UP(member) FAB_ORDER_BY(a, b, member);
#define FAB_DOWN(member) FAB_ORDER_BY(b, a, member);

/* Sort a growable array, which may be empty: FAB_SORT(&list, by_uses) */
#define FAB_SORT(vec, order)                                                             \
	do {                                                                             \
		if ((vec)->n)                                                            \
			qsort((vec)->v, (vec)->n, sizeof(*(vec)->v), order);             \
	} while (0)
