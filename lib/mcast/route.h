/* SPDX-License-Identifier: BSD-2-Clause */
/* Route all groups by some engines, which share distances and root candidates. */
#pragma once

#include "mcast/engine.h"

struct fab_mcast_result {
	const struct fab_mcast_engine *engine;
	struct fab_forest forest;
	uint32_t *load;	  /* [n_switch_links] EFI of every switch-to-switch cable */
	double *weighted; /* [n_switch_links] their weighted loads; NULL without weights
			   */
	double trees_seconds;
	enum fab_mcast_ended ended;
	unsigned height_slack; /* trees may be so much higher than the least */
};

/*
 * result[i] is what engine[i] does; the caller frees each with fab_mcast_result_fini().
 * *roots_seconds: time of finding candidates. The same for any number of threads: engines
 * run side by side, groups of one engine in their order. Fails with ECANCELED when
 * progress stops it (results are then ended). O(per group: as its engine says; candidates
 * as fab_roots_find()).
 */
int fab_mcast_route(const struct fab_mcast_problem *problem,
		    const struct fab_mcast_engine *const *engines, size_t n_engines,
		    const struct fab_mcast_options *options,
		    struct fab_mcast_result *results, double *roots_seconds,
		    struct fab_err *err) FAB_MUST_CHECK;
void fab_mcast_result_fini(struct fab_mcast_result *result);
