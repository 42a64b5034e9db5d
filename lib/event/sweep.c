/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/mem.h"
#include "base/threads.h"

enum { WINDOW = 64 }; /* results in flight: grains of a thread */

enum state { EMPTY, DONE };

struct run {
	const struct fab_sweep *sweep;
	uint64_t n; /* items of the shard; below they are counted 0 .. n-1 */
	uint64_t grain, window;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t was_taken;
	uint64_t next;	/* to be given out */
	uint64_t taken; /* all below are */
	uint64_t done;
	char *results; /* [window], that of i at i % window */
	unsigned char *state;
	uint64_t failed; /* the first that did; n: none */
	struct fab_err err;
	int rc;
};

uint64_t fab_shard_items(const struct fab_shard *shard, uint64_t n_items)
{
	if (!shard->count)
		return n_items;
	return n_items / shard->count + (shard->number <= n_items % shard->count);
}

uint64_t fab_shard_item(const struct fab_shard *shard, uint64_t i)
{
	return shard->count ? i * shard->count + shard->number - 1 : i;
}

static uint64_t item_of(const struct run *r, uint64_t i)
{
	return fab_shard_item(&r->sweep->shard, i);
}

static void *result_at(const struct run *r, uint64_t i)
{
	return r->results + i % r->window * r->sweep->result_bytes;
}

/* The next items [*from, *to) for a thread; false: no more. */
static bool get_items(struct run *r, uint64_t *from, uint64_t *to)
{
	pthread_mutex_lock(&r->lock);
	/* the thread that has the first item not taken never waits here */
	while (!r->rc && r->next < r->n && r->next + r->grain > r->taken + r->window)
		pthread_cond_wait(&r->was_taken, &r->lock);
	*from = r->rc ? r->n : r->next;
	*to = *from + r->grain < r->n ? *from + r->grain : r->n;
	if (!r->rc)
		r->next = *to;
	pthread_mutex_unlock(&r->lock);
	return *from < *to;
}

static void fail(struct run *r, uint64_t i, int rc, const struct fab_err *err)
{
	pthread_mutex_lock(&r->lock);
	if (!r->rc || i < r->failed) {
		r->failed = i;
		r->rc = rc;
		r->err = *err;
	}
	pthread_cond_broadcast(&r->was_taken);
	pthread_mutex_unlock(&r->lock);
}

/* Results [from, to) are there: take them and those that waited for them. */
static void deliver(struct run *r, uint64_t from, uint64_t to)
{
	const struct fab_sweep *s = r->sweep;
	uint64_t before;

	pthread_mutex_lock(&r->lock);
	before = r->taken;
	for (uint64_t i = from; i < to; i++)
		r->state[i % r->window] = DONE;
	r->done += to - from;
	for (; r->taken < r->n && r->state[r->taken % r->window] == DONE; r->taken++) {
		r->state[r->taken % r->window] = EMPTY;
		s->take(s->context, item_of(r, r->taken), result_at(r, r->taken));
	}
	if (r->taken > before)
		pthread_cond_broadcast(&r->was_taken);
	if (s->progress && s->progress(s->progress_context, r->done, r->n) && !r->rc) {
		r->rc = fab_fail(&r->err, ECANCELED, "stopped");
		pthread_cond_broadcast(&r->was_taken);
	}
	pthread_mutex_unlock(&r->lock);
}

static void work_on(struct run *r)
{
	const struct fab_sweep *s = r->sweep;
	void *memory = s->open ? s->open(s->context) : NULL;
	uint64_t from, to;

	while (get_items(r, &from, &to)) {
		uint64_t i = from;
		struct fab_err err;
		int rc = 0;

		for (; i < to && !rc; i++) {
			void *result = result_at(r, i);

			memset(result, 0, s->result_bytes);
			rc = s->work(s->context, memory, item_of(r, i), result, &err);
		}
		if (rc)
			fail(r, --i, rc, &err);
		if (i > from)
			deliver(r, from, i);
	}
	if (s->close)
		s->close(s->context, memory);
}

/* Threads for items; the others are for use within each item. */
static int outer_threads(const struct fab_sweep *s)
{
	uint64_t n = fab_shard_items(&s->shard, s->n_items);
	int threads = fab_threads(s->n_threads);

	return !n ? 1 : n < (uint64_t)threads ? (int)n : threads;
}

int fab_sweep_inner_threads(const struct fab_sweep *sweep)
{
	return fab_threads(sweep->n_threads) / outer_threads(sweep);
}

static void run_all(struct run *r, int outer)
{
#ifdef _OPENMP
	int levels = omp_get_max_active_levels();

	if (outer > 1 && fab_sweep_inner_threads(r->sweep) > 1)
		omp_set_max_active_levels(levels > 2 ? levels : 2);
#pragma omp parallel num_threads(outer)
	work_on(r);
	omp_set_max_active_levels(levels);
	fab_threads_rest(outer);
#else
	(void)outer;
	work_on(r);
#endif
}

int fab_sweep_run(const struct fab_sweep *sweep, struct fab_err *err)
{
	struct run r = {.sweep = sweep,
			.n = fab_shard_items(&sweep->shard, sweep->n_items),
			.grain = sweep->grain ? sweep->grain : 1,
			.lock = PTHREAD_MUTEX_INITIALIZER,
			.was_taken = PTHREAD_COND_INITIALIZER};
	int outer = outer_threads(sweep);

	r.window = r.grain * WINDOW * (uint64_t)outer;
	r.failed = r.n;
	r.results = fab_alloc(r.window, sweep->result_bytes + 1);
	r.state = FAB_NEW0(r.window, unsigned char);
	run_all(&r, outer);
	for (uint64_t i = r.taken; r.rc && i < r.n && i < r.taken + r.window; i++)
		if (r.state[i % r.window] == DONE && sweep->drop)
			sweep->drop(sweep->context, result_at(&r, i));
	if (r.rc && r.failed < r.n && sweep->n_items > 1) {
		FAB_AUTOFREE char *prefix =
			fab_format("%s %" PRIu64 " of %" PRIu64, sweep->what,
				   item_of(&r, r.failed) + 1, sweep->n_items);

		fab_err_prefix(&r.err, prefix);
	}
	if (r.rc && err)
		*err = r.err;
	free(r.results);
	free(r.state);
	return r.rc;
}
