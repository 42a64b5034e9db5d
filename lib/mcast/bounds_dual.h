/* SPDX-License-Identifier: BSD-2-Clause */
/* Dual ascent on some of the groups, for those who look for weights. */
#pragma once

#include "mcast/bounds.h"

/*
 * What fab_mcast_dual_bound_of() with these weights would come to before rounding, by the
 * groups group[n], which may name some twice, in the place of all. O(work->steps).
 */
double fab_dual_estimate(const struct fab_mcast_problem *problem,
			 const struct fab_bound_work *work, const uint32_t *weight,
			 const uint32_t *group, uint32_t n);
