/* SPDX-License-Identifier: BSD-2-Clause */
/* What data gets that all trees carry at once. */
#pragma once

#include "mcast/engine.h"

/*
 * The least share of a cable that trees use, hosts' cables included: its data rate, or
 * with is_signalling its nominal one, over the trees on it. load: [switch links] of a
 * result. default_mbps stands for rates that are not known. INFINITY: no tree uses a
 * cable. O(cables + members).
 */
double fab_mcast_slowest_mbps(const struct fab_mcast_problem *problem,
			      const uint32_t *load, double default_mbps,
			      bool is_signalling);
