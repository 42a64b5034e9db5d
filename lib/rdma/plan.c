/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "rdma/window.h"

int fab_rdma_load(const struct fab_rdma_net *net, const struct fab_rdma_params *params,
		  uint32_t n_transfers, struct fab_rdma_load *out, struct fab_err *err)
{
	struct fab_rdma_params sound = *params;
	struct fab_rdma_result result = {.n_transfers = 0};
	int rc;

	sound.bad = (struct fab_rdma_impairments){.loss = 0};
	*out = (struct fab_rdma_load){.mean_us = NAN};
	rc = fab_rdma_run(net, &sound, &fab_rdma_scheme_oracle, &result, err);
	if (!rc && result.n_done) {
		out->mean_us = result.completion_mean;
		out->most_ps = (uint64_t)(result.completion_max * 1e6);
	}
	fab_rdma_result_fini(&result);
	for (uint32_t i = 0; i < n_transfers && !rc; i++) {
		uint64_t alone = fab_rdma_ideal(net, i);

		out->alone_ps = alone > out->alone_ps ? alone : out->alone_ps;
	}
	return rc;
}

static uint64_t at_least(uint64_t value, uint64_t least)
{
	return value > least ? value : least;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

uint64_t fab_rdma_fitting_timeout(const struct fab_rdma_load *load, uint64_t rto_ps)
{
	return at_most(at_least(rto_ps, 2 * fab_rdma_wait(load)), FAB_RDMA_TIME_MAX_PS);
}

uint64_t fab_rdma_late_end(const struct fab_rdma_load *load, uint64_t rto_ps)
{
	const uint64_t least = UINT64_C(50000000000); /* 50 ms */
	const uint64_t most = FAB_RDMA_END_MAX_PS;
	uint64_t end = at_least(50 * at_most(load->most_ps, most),
				2000 * at_most(load->alone_ps, most));

	return at_most(at_least(at_least(end, 1000 * at_most(rto_ps, most)), least),
		       most);
}

void fab_rdma_timeouts(const struct fab_rdma_net *net, uint64_t wait_ps,
		       uint64_t rto_ps[FAB_RDMA_TIMEOUTS])
{
	static const double times[FAB_RDMA_TIMEOUTS] = {1.25, 1.6, 2,  2.5, 3.2, 4,
							5,    6.4, 10, 16,  32,	 64};
	double round_trip = (double)(fab_rdma_longest_round_trip(net) + wait_ps);

	for (size_t i = 0; i < FAB_RDMA_TIMEOUTS; i++)
		rto_ps[i] = at_most((uint64_t)ceil(round_trip * times[i]),
				    FAB_RDMA_TIME_MAX_PS);
}

struct search {
	const struct fab_rdma_plan_question *q;
	struct fab_rdma_plan *out;
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];
	size_t last; /* the timeout that reached the target last: tried first */
};

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct search *s = context;

	(void)total;
	if (!s->q->progress)
		return 0;
	return s->q->progress(s->q->progress_context,
			      (uint64_t)s->out->n_trials * 2 * s->q->n_runs + done, 0);
}

/* One window with one timeout. */
static int try_one(struct search *s, uint32_t window, uint64_t rto_ps,
		   struct fab_rdma_trial *out, struct fab_err *err)
{
	struct fab_rdma_case cases[2] = {{.net = s->q->net,
					  .params = s->q->params,
					  .scheme = &fab_rdma_scheme_oracle,
					  .baseline = FAB_NONE}};
	struct fab_rdma_summary sum[2] = {{0}};
	const struct fab_rdma_runs runs = {.of = cases,
					   .n_cases = 2,
					   .n_runs = s->q->n_runs,
					   .n_threads = s->q->n_threads,
					   .progress = tick,
					   .progress_context = s};
	struct fab_interval interval;
	int rc;

	cases[1] = cases[0];
	cases[1].scheme = s->q->scheme;
	cases[1].baseline = 0;
	cases[1].params.rto_ps = rto_ps;
	cases[1].params.rto_low_ps = rto_ps;
	cases[1].params.rto_high_ps = at_most(rto_ps * 16 / 5, FAB_RDMA_TIME_MAX_PS);
	if (window)
		cases[1].params.window = window;
	rc = fab_rdma_compare(&runs, sum, err);
	if (!rc) {
		interval = fab_tally_interval(&sum[1].share, FAB_ALPHA);
		*out = (struct fab_rdma_trial){
			.window = window,
			.rto_ps = rto_ps,
			.share = fab_tally_mean(&sum[1].share),
			.half = sum[1].share.n > 1 ? (interval.high - interval.low) / 2
						   : (double)NAN,
			.rounds = fab_tally_mean(&sum[1].rounds),
			.is_done = fab_rdma_all_ended(&sum[1])};
		s->out->n_trials++;
	}
	fab_rdma_summary_fini(&sum[0]);
	fab_rdma_summary_fini(&sum[1]);
	return rc;
}

static bool reaches(const struct search *s, const struct fab_rdma_trial *t)
{
	return t->is_done && t->share >= s->q->target;
}

static bool is_better(const struct fab_rdma_trial *a, const struct fab_rdma_trial *b)
{
	if (a->is_done != b->is_done)
		return a->is_done;
	return a->share > b->share || isnan(b->share);
}

/* A window with any timeout: *out is the first that reaches the target, or the best. */
static int try_window(struct search *s, uint32_t window, struct fab_rdma_trial *out,
		      struct fab_err *err)
{
	*out = (struct fab_rdma_trial){.share = NAN};
	for (size_t k = 0; k < FAB_RDMA_TIMEOUTS; k++) {
		size_t i = (s->last + k) % FAB_RDMA_TIMEOUTS;
		struct fab_rdma_trial t;
		int rc = try_one(s, window, s->rto_ps[i], &t, err);

		if (rc)
			return rc;
		if (!k || is_better(&t, out))
			*out = t;
		if (reaches(s, &t)) {
			s->last = i;
			*out = t;
			return 0;
		}
	}
	return 0;
}

/* Of the window found the least timeout. */
static int least_timeout(struct search *s, struct fab_rdma_trial *answer,
			 struct fab_err *err)
{
	for (size_t i = 0; i < FAB_RDMA_TIMEOUTS && s->rto_ps[i] < answer->rto_ps; i++) {
		struct fab_rdma_trial t;
		int rc = try_one(s, answer->window, s->rto_ps[i], &t, err);

		if (rc)
			return rc;
		if (reaches(s, &t)) {
			*answer = t;
			return 0;
		}
	}
	return 0;
}

/* The least window of those that reach the target, where `answer`, the widest, does. */
static int least_window(struct search *s, struct fab_rdma_trial *answer,
			struct fab_err *err)
{
	uint32_t low = 0; /* does not reach it */
	struct fab_rdma_trial t;
	int rc = 0;

	while (!rc && answer->window - low > 1) {
		rc = try_window(s, low + (answer->window - low) / 2, &t, err);
		if (!rc && reaches(s, &t))
			*answer = t;
		else
			low = t.window;
	}
	/* shares need not grow with the window: look below */
	while (!rc && answer->window > 1) {
		rc = try_window(s, answer->window - 1, &t, err);
		s->out->below = t;
		if (rc || !reaches(s, &t))
			break;
		*answer = t;
	}
	if (answer->window <= 1)
		s->out->below = (struct fab_rdma_trial){.share = NAN};
	return rc;
}

int fab_rdma_plan(const struct fab_rdma_plan_question *q, struct fab_rdma_plan *out,
		  struct fab_err *err)
{
	struct search s = {.q = q, .out = out};
	uint32_t widest = 0;
	int rc;

	*out = (struct fab_rdma_plan){.below = {.share = NAN}};
	fab_rdma_timeouts(q->net, q->wait_ps, s.rto_ps);
	if (q->scheme->has_window)
		widest = q->most_packets < FAB_RDMA_WINDOW_MAX ? (uint32_t)q->most_packets
							       : FAB_RDMA_WINDOW_MAX;
	rc = try_window(&s, widest, &out->answer, err);
	if (rc || !reaches(&s, &out->answer))
		return rc;
	out->is_found = true;
	if (widest)
		rc = least_window(&s, &out->answer, err);
	return rc ? rc : least_timeout(&s, &out->answer, err);
}
