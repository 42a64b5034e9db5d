/* SPDX-License-Identifier: BSD-2-Clause */
/* The runner of sweeps: order, threads, shards, memory, failures. */
#include "event/sweep.h"
#include "event/stream.h"
#include "support/test.h"

static const int threads[] = {1, 2, 3, 8};

/* What a sweep leaves behind. */
struct trace {
	uint64_t items[5000], values[5000], n;
	uint64_t n_opened, n_closed, n_dropped, last_done, total;
	uint64_t fail_from, stop_at; /* 0: never */
};

/* Items above the first that fails fail as well, which nobody must see. */
static int work(void *context, void *memory, uint64_t item, void *result,
		struct fab_err *err)
{
	const struct trace *t = context;
	struct fab_stream s = fab_stream_of(7, item);
	uint64_t length = fab_stream_below(&s, 20000);
	volatile uint64_t n = 0;

	/* short and long ones, so that threads overtake each other */
	for (uint64_t i = 0; i < length; i++)
		n += i;
	++*(uint64_t *)memory;
	if (t->fail_from && item >= t->fail_from)
		return fab_fail(err, EDOM, "cannot do it");
	*(uint64_t **)result = malloc(sizeof(uint64_t));
	**(uint64_t **)result = fab_stream_at(3, item, 0);
	return 0;
}

static void take(void *context, uint64_t item, void *result)
{
	struct trace *t = context;

	t->items[t->n] = item;
	t->values[t->n++] = **(uint64_t **)result;
	free(*(uint64_t **)result);
}

static void drop(void *context, void *result)
{
	struct trace *t = context;

	t->n_dropped++;
	free(*(uint64_t **)result);
}

static void *open_memory(void *context)
{
	struct trace *t = context;

	__atomic_add_fetch(&t->n_opened, 1, __ATOMIC_RELAXED);
	return FAB_NEW0(1, uint64_t);
}

static void close_memory(void *context, void *memory)
{
	struct trace *t = context;

	__atomic_add_fetch(&t->n_closed, 1, __ATOMIC_RELAXED);
	free(memory);
}

static int progress(void *context, uint64_t done, uint64_t total)
{
	struct trace *t = context;

	cr_assert_gt(done, t->last_done);
	t->last_done = done;
	t->total = total;
	return t->stop_at && done >= t->stop_at;
}

/* Runs a sweep, which fails with an error (0: not), after items that it took: those of
 * its shard in order, each with its value. Returns their number. */
static uint64_t run(struct fab_sweep how, uint64_t fail_from, uint64_t stop_at, int error,
		    const char *said)
{
	OWN_HEAP struct trace *t = FAB_NEW0(1, struct trace);
	uint64_t each = how.shard.count ? how.shard.count : 1;

	t->fail_from = fail_from;
	t->stop_at = stop_at;
	how.what = "set";
	how.result_bytes = sizeof(uint64_t *);
	how.context = how.progress_context = t;
	how.open = open_memory;
	how.close = close_memory;
	how.work = work;
	how.take = take;
	how.drop = drop;
	how.progress = progress;
	if (error) {
		FAILS_AS(fab_sweep_run(&how, ERR), error, said);
	} else {
		MUST(fab_sweep_run(&how, ERR));
		cr_assert_eq(t->n, fab_shard_items(&how.shard, how.n_items));
		cr_assert(t->last_done == t->n && t->total == t->n && t->n_dropped == 0);
	}
	cr_assert_eq(t->n_opened, t->n_closed);
	cr_assert_leq(t->n_opened, (uint64_t)how.n_threads, "memory is reused");
	for (uint64_t i = 0; i < t->n; i++) {
		uint64_t item = i * each + (each > 1 ? how.shard.number - 1 : 0);

		cr_assert_eq(t->items[i], item, "%d threads", how.n_threads);
		cr_assert_eq(t->values[i], fab_stream_at(3, item, 0));
		cr_assert_eq(item, fab_shard_item(&how.shard, i));
	}
	return t->n;
}

Test(sweep, few_and_none)
{
	for (uint64_t n = 0; n < 4; n++) {
		struct fab_sweep s = {.n_items = n, .n_threads = 8};

		run(s, 0, 0, 0, NULL);
		cr_assert_eq(fab_sweep_inner_threads(&s), n ? 8 / (int)n : 8);
	}
}

/* Every item in exactly one shard, with the same value as without shards, whatever the
 * number of threads and of items that each takes at once. */
Test(sweep, shards)
{
	for (uint64_t count = 1; count < 9; count++) {
		uint64_t n = 0;

		for (uint64_t number = 1; number <= count; number++)
			n += run((struct fab_sweep){.n_items = 601,
						    .n_threads = threads[number % 4],
						    .grain = (uint32_t)count * 7 % 20,
						    .shard = {number, count}},
				 0, 0, 0, NULL);
		cr_assert_eq(n, 601, "%lu shards", count);
	}
}

/* The first item that fails is named, whichever thread was first; those before it are
 * taken in order, nothing is lost. */
Test(sweep, failure)
{
	for (size_t k = 0; k < 2 * FAB_COUNT(threads); k++)
		cr_assert_eq(run((struct fab_sweep){.n_items = 4000,
						    .n_threads = threads[k / 2],
						    .grain = k % 2 ? 8 : 1},
				 1234, 0, -EDOM, "set 1235 of 4000: cannot do it"),
			     1234);
	/* of 2 12 22 32 42 */
	cr_assert_eq(
		run((struct fab_sweep){.n_items = 100, .n_threads = 2, .shard = {3, 10}},
		    33, 0, -EDOM, "set 43 of 100: cannot do it"),
		4);
}

Test(sweep, stop)
{
	cr_assert_lt(run((struct fab_sweep){.n_items = 4000, .n_threads = 2}, 0, 100,
			 -ECANCELED, "stopped"),
		     400);
}
