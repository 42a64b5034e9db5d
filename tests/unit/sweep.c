/* SPDX-License-Identifier: BSD-2-Clause */
/* The runner of sweeps: order, threads, shards, memory, failures. */
#include "event/sweep.h"
#include "event/stream.h"
#include "support/test.h"

static const int threads[] = {1, 2, 3, 8};

/* What a sweep leaves behind. */
struct trace {
	uint64_t items[5000], values[5000];
	size_t n;
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

static struct fab_sweep sweep_of(struct trace *t, uint64_t n, int n_threads)
{
	return (struct fab_sweep){.what = "set",
				  .n_items = n,
				  .n_threads = n_threads,
				  .result_bytes = sizeof(uint64_t *),
				  .context = t,
				  .open = open_memory,
				  .close = close_memory,
				  .work = work,
				  .take = take,
				  .drop = drop,
				  .progress = progress,
				  .progress_context = t};
}

static struct trace *new_trace(void)
{
	return FAB_NEW0(1, struct trace);
}

Test(sweep, order)
{
	for (size_t k = 0; k < FAB_COUNT(threads); k++)
		for (uint32_t grain = 0; grain < 20; grain += 7) {
			FAB_AUTOFREE struct trace *t = new_trace();
			struct fab_sweep s = sweep_of(t, 3000, threads[k]);

			s.grain = grain;
			MUST(fab_sweep_run(&s, ERR));
			cr_assert_eq(t->n, 3000);
			for (uint64_t i = 0; i < 3000; i++) {
				cr_assert_eq(t->items[i], i, "%d threads", threads[k]);
				cr_assert_eq(t->values[i], fab_stream_at(3, i, 0));
			}
			cr_assert_eq(t->n_opened, t->n_closed);
			cr_assert_leq(t->n_opened, (uint64_t)threads[k],
				      "memory is reused");
			cr_assert_eq(t->last_done, 3000);
			cr_assert_eq(t->total, 3000);
			cr_assert_eq(t->n_dropped, 0);
		}
}

Test(sweep, few_and_none)
{
	for (uint64_t n = 0; n < 4; n++) {
		FAB_AUTOFREE struct trace *t = new_trace();
		struct fab_sweep s = sweep_of(t, n, 8);

		MUST(fab_sweep_run(&s, ERR));
		cr_assert_eq(t->n, n);
		cr_assert_eq(t->n_opened, t->n_closed);
		cr_assert_eq(fab_sweep_inner_threads(&s), n ? 8 / (int)n : 8);
	}
}

/* Every item in exactly one shard, with the same value as without shards. */
Test(sweep, shards)
{
	const uint64_t n = 601;

	for (uint64_t count = 1; count < 9; count++) {
		uint8_t seen[601] = {0};

		for (uint64_t number = 1; number <= count; number++) {
			FAB_AUTOFREE struct trace *t = new_trace();
			struct fab_sweep s = sweep_of(t, n, threads[number % 4]);

			s.shard = (struct fab_shard){number, count};
			MUST(fab_sweep_run(&s, ERR));
			cr_assert_eq(t->n, fab_shard_items(&s.shard, n));
			for (size_t i = 0; i < t->n; i++) {
				cr_assert_eq(t->items[i] % count, number - 1);
				cr_assert_eq(t->items[i], fab_shard_item(&s.shard, i));
				cr_assert_eq(t->values[i],
					     fab_stream_at(3, t->items[i], 0));
				seen[t->items[i]]++;
			}
		}
		for (uint64_t i = 0; i < n; i++)
			cr_assert_eq(seen[i], 1, "item %lu of %lu shards", i, count);
	}
}

/* The first item that fails is named, whichever thread was first; those before it are
 * taken in order, nothing is lost. */
Test(sweep, failure)
{
	for (size_t k = 0; k < 2 * FAB_COUNT(threads); k++) {
		FAB_AUTOFREE struct trace *t = new_trace();
		struct fab_sweep s = sweep_of(t, 4000, threads[k / 2]);

		s.grain = k % 2 ? 8 : 1;
		t->fail_from = 1234;
		FAILS_AS(fab_sweep_run(&s, ERR), -EDOM, "set 1235 of 4000: cannot do it");
		cr_assert_eq(t->n, 1234, "%zu", t->n);
		for (uint64_t i = 0; i < t->n; i++)
			cr_assert_eq(t->items[i], i);
		cr_assert_eq(t->n_opened, t->n_closed);
	}
}

Test(sweep, failure_in_a_shard)
{
	FAB_AUTOFREE struct trace *t = new_trace();
	struct fab_sweep s = sweep_of(t, 100, 2);

	s.shard = (struct fab_shard){3, 10};
	t->fail_from = 33; /* of 2 12 22 32 42 */
	FAILS_AS(fab_sweep_run(&s, ERR), -EDOM, "set 43 of 100: cannot do it");
	cr_assert_eq(t->n, 4);
}

Test(sweep, stop)
{
	FAB_AUTOFREE struct trace *t = new_trace();
	struct fab_sweep s = sweep_of(t, 4000, 2);

	t->stop_at = 100;
	FAILS_AS(fab_sweep_run(&s, ERR), -ECANCELED, "stopped");
	cr_assert_lt(t->n, 400);
}
