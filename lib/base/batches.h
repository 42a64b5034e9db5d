/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work in batches: the items of a batch run in parallel; between batches one thread plans
 * the next. If items depend only on the state before their batch, results do not depend
 * on the number of threads.
 */
#pragma once

#include "base/macros.h"

enum { FAB_BATCH_MOST = 256 };

struct fab_batches {
	/* Plans the next batch, in the calling thread; returns its items, 0: end. */
	uint32_t (*next)(void *context);
	/* Lanes are numbered from 0, which is the thread that calls next(); each does one
	 * item at a time. */
	void (*work)(void *context, int lane, uint32_t item);
	/* The result of each item, in their order, by one lane at a time, when it and
	 * those before it are done: maybe while others still are at work. On one lane
	 * only when all are done. Batches have FAB_BATCH_MOST items at most then. NULL:
	 * nothing. */
	void (*take)(void *context, int lane, uint32_t item);
	void *context;
};

/*
 * Batch size where work may be wasted because of other items of the batch: halved after a
 * batch with more than 25 % of waste, else a quarter more. `now` is at least `least` and
 * at most FAB_BATCH_MOST; both begin alike.
 */
struct fab_batch_size {
	uint32_t least, now;
};

static inline void fab_batch_size_heed(struct fab_batch_size *size, uint32_t n_items,
				       uint32_t n_in_vain)
{
	uint32_t more = size->now + size->now / 4 + 1;

	if (!n_items)
		return;
	if (n_in_vain > n_items / 4)
		size->now = n_items / 2 > size->least ? n_items / 2 : size->least;
	else
		size->now = more < FAB_BATCH_MOST ? more : FAB_BATCH_MOST;
}

/* On n_lanes threads at most, in parallel work of others on one. Threads are ready for
 * the next batches afterwards: fab_threads_rest() ends them. O(items). */
void fab_batches_run(const struct fab_batches *batches, int n_lanes);
