/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers out of text, checked: the whole text must be the number. */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/* Decimal, or hexadecimal after 0x; no sign, no blanks; false when it is not min .. max.
 * O(len).
 */
bool fab_parse_u64(const char *text, size_t len, uint64_t min, uint64_t max,
		   uint64_t *out);
/* Hexadecimal digits without 0x, 1 to 16 of them. O(len). */
bool fab_parse_hex(const char *text, size_t len, uint64_t *out);
/*
 * A GUID as people write it: with or without 0x, upper or lower case, 16 digits or fewer
 * after 0x, or four colon groups (0002:c903:00ab:cdef). O(len).
 */
bool fab_parse_guid(const char *text, size_t len, uint64_t *out);

/* A decimal number from min to max, `.5` and `1e-3` too; no sign in front, no blanks.
 * O(len). */
bool fab_parse_real(const char *text, size_t len, double min, double max, double *out);

/* The greatest common divisor; of 0 and a number: that number. O(log). */
uint64_t fab_gcd(uint64_t a, uint64_t b);

/*
 * The one definition of quantiles: the least sample that at least the share q of all
 * samples does not exceed (nearest rank; type 1 of Hyndman, Fan 1996). It is always one
 * of the samples; of two in the middle the median is the lower one.
 */

/* Index of the quantile q, 0 .. 1, among n > 0 ascending samples: max(ceil(q n), 1) - 1.
 * O(1). */
uint64_t fab_quantile_rank(double q, uint64_t n);
/* That sample. O(1). */
double fab_quantile(const double *sorted, size_t n, double q);
