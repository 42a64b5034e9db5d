/* SPDX-License-Identifier: BSD-2-Clause */
/* Route all groups by some engines, which share distances and root candidates. */
#pragma once

#include "mcast/engine.h"

struct fab_mcast_result {
	const struct fab_mcast_engine *engine;
	struct fab_forest forest;
	uint32_t *load; /* [n_switch_links] EFI of every switch-to-switch cable */
	double trees_seconds;
};

/* Called now and then with the groups done, of all engines together; non-zero stops. */
typedef int (*fab_progress_fn)(void *context, uint64_t done, uint64_t total);

struct fab_mcast_options {
	int n_threads; /* 0: as many as OpenMP gives */
	enum fab_root_ties root_ties;
	uint32_t bound;		  /* what fab_mcast_lower_bound() says; 0: not known */
	fab_progress_fn progress; /* may be NULL */
	void *progress_context;
};

/*
 * result[i] is what engine[i] does; the caller ends each with fab_mcast_result_fini().
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
