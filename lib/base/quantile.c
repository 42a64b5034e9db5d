/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/quantile.h"

#include <float.h>
#include <math.h>

uint64_t fab_quantile_rank(double q, uint64_t n)
{
	/* 0.07 * 100 is above 7 */
	double at = ceil(q * (double)n * (1 - 4 * DBL_EPSILON));

	if (at < 1)
		return 0;
	return at < (double)n ? (uint64_t)at - 1 : n - 1;
}

double fab_quantile(const double *sorted, size_t n, double q)
{
	return sorted[fab_quantile_rank(q, n)];
}
