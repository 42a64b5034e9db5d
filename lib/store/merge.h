/* SPDX-License-Identifier: BSD-2-Clause */
/* Shards of a sweep, stored one by one, as the run that they are together. */
#pragma once

#include "store/store.h"

/* A shard, and the file that it was read from, for messages. */
struct fab_merge_part {
	const struct fab_store_run *run;
	const char *path;
};

struct fab_merged {
	struct fab_store_run run; /* borrows texts of the shards */
	void *memory;		  /* private */
};

/*
 * The run as it would be without shards, all of which must be there once: counts are
 * added, maxima taken, intervals computed anew from the sums; parts and batches are put
 * in their order. `kinds` says how metrics are merged. Times are added; time is that of
 * the last shard, arguments are the job. The caller frees *out with fab_merged_fini().
 * EINVAL with a sentence: a run that is no shard, shards of different sweeps (command,
 * version, fabric, arguments, files), missing ones, one that is there twice, numbers that
 * do not belong together. O(numbers * log).
 */
int fab_store_merge(const struct fab_merge_part *parts, size_t n,
		    const struct fab_store_kind *kinds, size_t n_kinds,
		    struct fab_merged *out, struct fab_err *err) FAB_MUST_CHECK;
void fab_merged_fini(struct fab_merged *merged);
