/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/compare.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

uint64_t fab_rdma_run_seed(uint64_t seed, uint32_t run)
{
	return fab_mix64(fab_mix64(seed) + run);
}

/* One run, on the heap: results are large. */
struct item {
	struct fab_rdma_result *result;
};

struct work {
	const struct fab_rdma_runs *runs;
	struct fab_rdma_summary *out;
	uint32_t *active; /* [n_active] cases that get runs */
	uint32_t n_active;
};

/* Runs of one number lie side by side, so that a part of them is there for all cases. */
static int work(void *context, void *memory, uint64_t number, void *out,
		struct fab_err *err)
{
	const struct work *w = context;
	const struct fab_rdma_case *c = &w->runs->of[w->active[number % w->n_active]];
	struct fab_rdma_params params = c->params;
	struct item *item = out;
	int rc;

	(void)memory;
	params.seed = fab_rdma_run_seed(
		params.seed, w->runs->first_run + (uint32_t)(number / w->n_active));
	item->result = FAB_NEW(1, struct fab_rdma_result);
	rc = fab_rdma_run(c->net, &params, c->scheme, item->result, err);
	if (rc) {
		fab_rdma_result_fini(item->result);
		free(item->result);
		item->result = NULL;
	}
	return rc;
}

static void drop(void *context, void *out)
{
	struct item *item = out;

	(void)context;
	fab_rdma_result_fini(item->result);
	free(item->result);
}

static void add_counts(struct fab_rdma_counts *sum, const struct fab_rdma_counts *one)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)one;

	_Static_assert(sizeof(*sum) % sizeof(*to) == 0, "counts are uint64_t");
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

static void raise(uint64_t *most, uint64_t one)
{
	if (one > *most)
		*most = one;
}

static void add_sums(struct fab_rdma_summary *s, const struct fab_rdma_result *r)
{
	add_counts(&s->n, &r->n);
	s->n_transfers += r->n_transfers;
	s->n_done += r->n_done;
	s->n_hung += r->n_hung;
	s->n_no_path += r->n_no_path;
	s->n_wrong += r->n_wrong;
	s->n_packets += r->n_packets;
	s->wire_bytes += r->wire_bytes;
	s->events += r->events;
	s->packet_hops += r->packet_hops;
	s->n_stalled += r->is_stalled;
	s->n_cut += r->is_cut;
	s->simulate_seconds += r->simulate_seconds;
	s->no_deadlock = r->no_deadlock;
	if (r->peak_contexts > s->peak_contexts)
		s->peak_contexts = r->peak_contexts;
	if (r->peak_tombstones > s->peak_tombstones)
		s->peak_tombstones = r->peak_tombstones;
	if (r->peak_range > s->peak_range)
		s->peak_range = r->peak_range;
	raise(&s->peak_send_buffer, r->peak_send_buffer);
	raise(&s->peak_queue_bytes, r->peak_queue_bytes);
	raise(&s->end_ps, r->end_ps);
	fab_histogram_merge(&s->reorder, &r->reorder);
	fab_histogram_merge(&s->ahead, &r->ahead);
}

static void take(void *context, uint64_t number, void *out)
{
	const struct work *w = context;
	struct fab_rdma_summary *s = &w->out[w->active[number % w->n_active]];
	struct item *item = out;
	const struct fab_rdma_result *r = item->result;
	struct fab_rdma_figures *f = &s->run[s->n_runs++];

	add_sums(s, r);
	*f = (struct fab_rdma_figures){.completion_mean = r->completion_mean,
				       .completion_p50 = r->completion_p50,
				       .completion_p99 = r->completion_p99,
				       .completion_max = r->completion_max,
				       .goodput_gbps = r->goodput_gbps,
				       .goodput_mean = r->goodput_mean,
				       .rounds = r->rounds};
	if (r->n_done) {
		fab_tally_add(&s->completion_mean, f->completion_mean);
		fab_tally_add(&s->completion_p50, f->completion_p50);
		fab_tally_add(&s->completion_p99, f->completion_p99);
		fab_tally_add(&s->completion_max, f->completion_max);
		fab_tally_add(&s->goodput_gbps, f->goodput_gbps);
		fab_tally_add(&s->goodput_mean, f->goodput_mean);
		fab_tally_add(&s->rounds, f->rounds);
	}
	drop(context, out);
}

bool fab_rdma_all_ended(const struct fab_rdma_summary *s)
{
	return s->n_done && s->n_done + s->n_no_path == s->n_transfers && !s->n_wrong;
}

struct fab_rdma_ratio fab_rdma_ratio_of(const struct fab_rdma_summary *over,
					const struct fab_rdma_summary *under)
{
	uint32_t n = over->n_runs < under->n_runs ? over->n_runs : under->n_runs;
	struct fab_tally above = {0}, below = {0}, residual = {0};
	struct fab_rdma_ratio ratio = {NAN, NAN};

	for (uint32_t i = 0; i < n; i++) {
		double a = over->run[i].completion_mean,
		       b = under->run[i].completion_mean;

		if (isnan(a) || isnan(b))
			continue;
		fab_tally_add(&above, a);
		fab_tally_add(&below, b);
	}
	ratio.value = fab_tally_mean(&above) / fab_tally_mean(&below);
	for (uint32_t i = 0; i < n; i++) {
		double left = over->run[i].completion_mean -
			      ratio.value * under->run[i].completion_mean;

		if (!isnan(left))
			fab_tally_add(&residual, left);
	}
	if (residual.n > 1)
		ratio.half = fab_student_above(FAB_ALPHA / 2, (double)residual.n - 1) *
			     fab_tally_deviation(&residual) / sqrt((double)residual.n) /
			     fab_tally_mean(&below);
	return ratio;
}

/* Run by run, against the case that it is compared with. */
static void compare(struct fab_rdma_summary *s, const struct fab_rdma_summary *with)
{
	s->difference = (struct fab_tally){0};
	for (uint32_t i = 0; i < s->n_runs && i < with->n_runs; i++) {
		double d = s->run[i].completion_mean - with->run[i].completion_mean;

		if (!isnan(d))
			fab_tally_add(&s->difference, d);
	}
	s->share = fab_rdma_ratio_of(with, s);
}

/* Room for the runs to come. */
static void make_room(struct fab_rdma_summary *s, uint32_t n_runs)
{
	s->run = fab_realloc(s->run, s->n_runs + n_runs + 1, sizeof(*s->run));
}

int fab_rdma_compare(const struct fab_rdma_runs *runs, struct fab_rdma_summary *out,
		     struct fab_err *err)
{
	struct work context = {runs, out, FAB_NEW(runs->n_cases + 1, uint32_t), 0};
	struct fab_sweep sweep = {.what = "run",
				  .n_threads = runs->n_threads,
				  .result_bytes = sizeof(struct item),
				  .context = &context,
				  .work = work,
				  .take = take,
				  .drop = drop,
				  .progress = runs->progress,
				  .progress_context = runs->progress_context};
	int rc;

	for (uint32_t i = 0; i < runs->n_cases; i++) {
		if (runs->is_left_out && runs->is_left_out[i])
			continue;
		make_room(&out[i], runs->n_runs);
		context.active[context.n_active++] = i;
	}
	sweep.n_items = (uint64_t)context.n_active * runs->n_runs;
	rc = fab_sweep_run(&sweep, err);
	for (uint32_t i = 0; i < runs->n_cases; i++)
		if (runs->of[i].baseline != FAB_NONE)
			compare(&out[i], &out[runs->of[i].baseline]);
	free(context.active);
	return rc;
}

void fab_rdma_summary_fini(struct fab_rdma_summary *summary)
{
	free(summary->run);
	*summary = (struct fab_rdma_summary){0};
}
