/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of merging shards. */
#pragma once

#include "store/merge.h"
#include "store/query.h"

/* All shards of one sweep, each once? EINVAL: what is wrong. O(n + shards). */
int fab_merge_check(const struct fab_merge_part *parts, size_t n,
		    struct fab_err *err) FAB_MUST_CHECK;

/* A merge that runs. */
struct fab_merging {
	const struct fab_merge_part *parts; /* [n], by number of the shard */
	size_t n;
	const struct fab_store_kind *kinds;
	size_t n_kinds;
	struct fab_store_memory *memory;
	struct fab_store_run *run;
};

/* Numbers of a name from so many shards. */
struct fab_merge_group {
	const char *name;
	const double *value; /* [n] */
	size_t n;
};

/*
 * Trials: into [n] numbers of the parts of a result, sorted by position and name, what
 * follows from the sums of trials. Returns the new number of them. O(n^2 / parts).
 */
size_t fab_merge_trials(const struct fab_merging *m, struct fab_store_detail *details,
			size_t n);
/* Is it added up over the trials of all shards? Is it computed from such sums? */
bool fab_merge_is_sum_of_trials(const char *name);
bool fab_merge_follows_from_trials(const char *name);
