/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/batches.h"

#include <stdatomic.h>

#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* What the lanes share. */
struct team {
	const struct fab_batches *batches;
	struct fab_barrier barrier;
	uint32_t n_items; /* of the batch at hand */
	_Atomic uint32_t taken;
};

/* The next batch that is worth waking others for: one item is done at once. */
static void plan(struct team *t)
{
	const struct fab_batches *b = t->batches;

	while ((t->n_items = b->next(b->context)) == 1)
		b->work(b->context, 0, 0);
	atomic_store(&t->taken, 0);
}

static void run_lane(struct team *t, int lane)
{
	const struct fab_batches *b = t->batches;

	for (;;) {
		if (lane == 0)
			plan(t);
		fab_barrier_wait(&t->barrier);
		if (!t->n_items)
			return;
		for (uint32_t i; (i = atomic_fetch_add(&t->taken, 1)) < t->n_items;)
			b->work(b->context, lane, i);
		fab_barrier_wait(&t->barrier);
	}
}

static void run_alone(const struct fab_batches *b)
{
	for (uint32_t n; (n = b->next(b->context));)
		for (uint32_t i = 0; i < n; i++)
			b->work(b->context, 0, i);
}

void fab_batches_run(const struct fab_batches *b, int n_lanes)
{
#ifdef _OPENMP
	struct team team = {.batches = b};

	if (n_lanes > 1 && !omp_in_parallel()) {
#pragma omp parallel num_threads(n_lanes)
		{
#pragma omp single
			team.barrier.n = (uint32_t)omp_get_num_threads();
			run_lane(&team, omp_get_thread_num());
		}
		fab_threads_rest(n_lanes);
		return;
	}
#else
	(void)n_lanes;
#endif
	run_alone(b);
}
