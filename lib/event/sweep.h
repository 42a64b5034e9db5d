/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runner of sweeps: many items of work that do not depend on each other (sets of
 * faults, trials, batches), one item a thread. Random numbers of an item come from
 * its number (event/stream.h), and results are taken in the order of the numbers, so
 * that the sum is the same for any number of threads, and an item the same in any part of
 * the sweep.
 */
#pragma once

#include "base/err.h"
#include "base/progress.h"

/* Part `number` of `count`, 1 .. count: every count-th item. Zeroed: all of it. */
struct fab_shard {
	uint64_t number, count;
};

/* Items of the shard: number - 1, number - 1 + count, ... below n_items. O(1). */
uint64_t fab_shard_items(const struct fab_shard *shard, uint64_t n_items);
/* Item `i` of those. O(1). */
uint64_t fab_shard_item(const struct fab_shard *shard, uint64_t i);

struct fab_sweep {
	const char *what; /* one item, for messages: "set of faults" */
	uint64_t n_items; /* of the whole sweep */
	struct fab_shard shard;
	int n_threads;	     /* 0: as fab_threads() says */
	uint32_t grain;	     /* short items: number that a thread takes at once; 0: 1 */
	size_t result_bytes; /* of an item; zeroed before the work */
	void *context;	     /* of all callbacks but progress */
	/* Working memory of a thread, reused for all its items; NULL: none. */
	void *(*open)(void *context);
	void (*close)(void *context, void *memory);
	/* One item into *result. Runs in any thread; the context is read only. A failure
	 * ends the sweep: then *result holds nothing. */
	int (*work)(void *context, void *memory, uint64_t item, void *result,
		    struct fab_err *err);
	/* The result of an item, which it frees: one at a time, items ascending, in any
	 * thread. */
	void (*take)(void *context, uint64_t item, void *result);
	/* Frees a result that is not taken, because an item before it failed; NULL:
	 * nothing to free. */
	void (*drop)(void *context, void *result);
	/* One thread at a time; not 0: stop. NULL: none. */
	fab_progress_fn progress;
	void *progress_context;
};

/* Threads that an item may use itself: 1, unless there are fewer items than threads. */
int fab_sweep_inner_threads(const struct fab_sweep *sweep);

/*
 * All items of the shard. Of several that fail the first counts, by its number: its error
 * gets the prefix "WHAT I of N" (I from 1); items before it are taken. ECANCELED:
 * progress said stop. At most 64 * grain results a thread are held at once.
 */
int fab_sweep_run(const struct fab_sweep *sweep, struct fab_err *err) FAB_MUST_CHECK;
