/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/batches.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/*
 * State shared by the lanes. The first waits only for lanes that hold an item; a
 * preempted lane finds its share done.
 */
struct team {
	const struct fab_batches *batches;
	struct fab_signal begun, over; /* batches */
	_Atomic uint64_t ticket;       /* items of the batch at hand << 32 | begun */
	_Atomic uint32_t n_left;       /* not over yet */
	_Atomic bool is_last;
	/* of those whose results are taken in their order */
	_Atomic bool done[FAB_BATCH_MOST];
	_Atomic uint32_t n_taken;
	_Atomic bool is_taking;
};

static bool begin_item(struct team *t, uint32_t *item)
{
	uint64_t ticket = atomic_load(&t->ticket);

	do {
		*item = (uint32_t)ticket;
		if (*item == ticket >> 32)
			return false;
	} while (!atomic_compare_exchange_weak(&t->ticket, &ticket, ticket + 1));
	return true;
}

static void end_item(struct team *t)
{
	if (atomic_fetch_sub(&t->n_left, 1) == 1)
		fab_signal_give(&t->over);
}

/* Is there a result to take? */
static bool is_ripe(struct team *t)
{
	uint32_t i = atomic_load(&t->n_taken);

	return i < FAB_BATCH_MOST && atomic_load(&t->done[i]);
}

/* Take what can be taken, unless another is at it: that one looks again when it is done.
 */
static void take(struct team *t, int lane)
{
	while (is_ripe(t) && !atomic_exchange(&t->is_taking, true)) {
		while (is_ripe(t)) {
			uint32_t i = atomic_load(&t->n_taken);

			t->batches->take(t->batches->context, lane, i);
			atomic_store(&t->done[i], false);
			atomic_store(&t->n_taken, i + 1);
			end_item(t);
		}
		atomic_store(&t->is_taking, false);
	}
}

static void work(struct team *t, int lane)
{
	for (uint32_t item; begin_item(t, &item);) {
		t->batches->work(t->batches->context, lane, item);
		if (!t->batches->take) {
			end_item(t);
			continue;
		}
		atomic_store(&t->done[item], true);
		take(t, lane);
	}
}

static void run_batch(const struct fab_batches *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		b->work(b->context, 0, i);
	for (uint32_t i = 0; b->take && i < n; i++)
		b->take(b->context, 0, i);
}

/* Items of the next batch that is worth asking others for: one item is done at once. */
static uint32_t plan(const struct fab_batches *b)
{
	uint32_t n;

	while ((n = b->next(b->context)) == 1)
		run_batch(b, 1);
	return n;
}

static void lead(struct team *t)
{
	for (uint32_t n; (n = plan(t->batches));) {
		uint32_t over = atomic_load(&t->over.count);

		assert(!t->batches->take || n <= FAB_BATCH_MOST);
		atomic_store(&t->n_left, n);
		atomic_store(&t->n_taken, 0);
		atomic_store(&t->ticket, (uint64_t)n << 32);
		fab_signal_give(&t->begun);
		work(t, 0);
		fab_signal_wait(&t->over, over);
	}
	atomic_store(&t->is_last, true);
	fab_signal_give(&t->begun);
}

static void help(struct team *t, int lane)
{
	for (uint32_t begun = 0; !atomic_load(&t->is_last);) {
		fab_signal_wait(&t->begun, begun);
		begun = atomic_load(&t->begun.count);
		work(t, lane);
	}
}

static void run_alone(const struct fab_batches *b)
{
	for (uint32_t n; (n = b->next(b->context));)
		run_batch(b, n);
}

void fab_batches_run(const struct fab_batches *b, int n_lanes)
{
#ifdef _OPENMP
	struct team team = {.batches = b};

	if (n_lanes > 1 && !omp_in_parallel()) {
#pragma omp parallel num_threads(n_lanes)
		{
			int lane = omp_get_thread_num();

			if (lane)
				help(&team, lane);
			else
				lead(&team);
		}
		return;
	}
#else
	(void)n_lanes;
#endif
	run_alone(b);
}
