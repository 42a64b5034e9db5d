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
};

/* Runs of one number lie side by side, so that a part of them is there for all cases. */
static int work(void *context, void *memory, uint64_t number, void *out,
		struct fab_err *err)
{
	const struct fab_rdma_runs *runs = ((struct work *)context)->runs;
	const struct fab_rdma_case *c = &runs->of[number % runs->n_cases];
	struct fab_rdma_params params = c->params;
	struct item *item = out;
	int rc;

	(void)memory;
	params.seed = fab_rdma_run_seed(params.seed, (uint32_t)(number / runs->n_cases));
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
	raise(&s->peak_send_buffer, r->peak_send_buffer);
	raise(&s->peak_queue_bytes, r->peak_queue_bytes);
	raise(&s->end_ps, r->end_ps);
	fab_histogram_merge(&s->reorder, &r->reorder);
	fab_histogram_merge(&s->ahead, &r->ahead);
}

static void take(void *context, uint64_t number, void *out)
{
	const struct work *w = context;
	struct fab_rdma_summary *s = &w->out[number % w->runs->n_cases];
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

/* Run by run, against the case that it is compared with. */
static void compare(struct fab_rdma_summary *s, const struct fab_rdma_summary *with)
{
	for (uint32_t i = 0; i < s->n_runs && i < with->n_runs; i++) {
		double own = s->run[i].completion_mean;
		double other = with->run[i].completion_mean;

		if (isnan(own) || isnan(other))
			continue;
		fab_tally_add(&s->difference, own - other);
		fab_tally_add(&s->share, other / own);
	}
}

int fab_rdma_compare(const struct fab_rdma_runs *runs, struct fab_rdma_summary *out,
		     struct fab_err *err)
{
	struct work context = {runs, out};
	struct fab_sweep sweep = {.what = "run",
				  .n_items = (uint64_t)runs->n_cases * runs->n_runs,
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
		out[i] = (struct fab_rdma_summary){0};
		out[i].run = FAB_NEW0(runs->n_runs + 1, struct fab_rdma_figures);
	}
	rc = fab_sweep_run(&sweep, err);
	for (uint32_t i = 0; i < runs->n_cases; i++) {
		if (rc)
			fab_rdma_summary_fini(&out[i]);
		else if (runs->of[i].baseline != FAB_NONE)
			compare(&out[i], &out[runs->of[i].baseline]);
	}
	return rc;
}

void fab_rdma_summary_fini(struct fab_rdma_summary *summary)
{
	free(summary->run);
	*summary = (struct fab_rdma_summary){0};
}
