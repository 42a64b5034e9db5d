/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one definition of quantiles: the least sample that at least the share q of all
 * samples does not exceed (nearest rank; type 1 of Hyndman, Fan 1996). It is always one
 * of the samples; of two in the middle the median is the lower one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Index of the quantile q, 0 .. 1, among n > 0 ascending samples: max(ceil(q n), 1) - 1.
 * O(1). */
uint64_t fab_quantile_rank(double q, uint64_t n);
/* That sample. O(1). */
double fab_quantile(const double *sorted, size_t n, double q);
