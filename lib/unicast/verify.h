/* SPDX-License-Identifier: BSD-2-Clause */
/* A second opinion on tables, by the simplest method: every pair is walked hop by hop. */
#pragma once

#include "unicast/analysis.h"

/*
 * Walk every pair of ends, collect the dependencies of channels one by one, take away
 * what nothing leads to until nothing is left; compare pairs, connected and shortest
 * ones, lanes, service levels and freedom of deadlock with the analysis. EINVAL: the
 * first difference, in one sentence. O(ends * columns * hops).
 */
int fab_unicast_verify(const struct fab_routes *routes, enum fab_ends ends,
		       const struct fab_analysis *analysis,
		       struct fab_err *err) FAB_MUST_CHECK;
