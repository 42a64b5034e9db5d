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
	struct fab_rdma_summary oracle; /* of the parameters of the question */
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];
	size_t last;	 /* the timeout that reached the target last: tried first */
	uint64_t n_done; /* simulations, for the progress */
};

static int tick(void *context, uint64_t done, uint64_t total)
{
	const struct search *s = context;

	(void)total;
	if (!s->q->progress)
		return 0;
	return s->q->progress(s->q->progress_context, s->n_done + done, 0);
}

/* More runs of one case, up to n_runs. */
static int add_runs(struct search *s, const struct fab_rdma_case *of, uint32_t n_runs,
		    struct fab_rdma_summary *sum, struct fab_err *err)
{
	const struct fab_rdma_runs runs = {.of = of,
					   .n_cases = 1,
					   .first_run = sum->n_runs,
					   .n_runs = n_runs - sum->n_runs,
					   .n_threads = s->q->n_threads,
					   .progress = tick,
					   .progress_context = s};
	int rc = fab_rdma_compare(&runs, sum, err);

	s->n_done += runs.n_runs;
	return rc;
}

/* Half of an interval of 99.9 % over half of one of 95 %, as for many runs. */
static const double SURE = 1.68;

/* Is it of no use to go on? Not all has ended, or the share is too far below. */
static bool is_hopeless(const struct search *s, const struct fab_rdma_summary *sum)
{
	struct fab_rdma_ratio share = fab_rdma_ratio_of(&s->oracle, sum);

	return !fab_rdma_all_ended(sum) || share.value + SURE * share.half < s->q->target;
}

/* One window with one timeout. */
static int try_one(struct search *s, uint32_t window, uint64_t rto_ps,
		   struct fab_rdma_trial *out, struct fab_err *err)
{
	struct fab_rdma_case c = {.net = s->q->net,
				  .params = s->q->params,
				  .scheme = s->q->scheme,
				  .baseline = FAB_NONE};
	struct fab_rdma_summary sum = {0};
	uint32_t n_runs = s->q->n_runs, few = n_runs / 8 > 2 ? n_runs / 8 : n_runs;
	int rc;

	c.params.rto_ps = rto_ps;
	c.params.rto_low_ps = rto_ps;
	c.params.rto_high_ps = at_most(rto_ps * 16 / 5, FAB_RDMA_TIME_MAX_PS);
	if (window)
		c.params.window = window;
	rc = add_runs(s, &c, few, &sum, err);
	if (!rc && few < n_runs && !is_hopeless(s, &sum))
		rc = add_runs(s, &c, n_runs, &sum, err);
	if (!rc) {
		*out = (struct fab_rdma_trial){
			.window = window,
			.rto_ps = rto_ps,
			.n_runs = sum.n_runs,
			.share = fab_rdma_ratio_of(&s->oracle, &sum),
			.rounds = fab_tally_mean(&sum.rounds),
			.is_done = fab_rdma_all_ended(&sum)};
		s->out->n_trials++;
	}
	fab_rdma_summary_fini(&sum);
	return rc;
}

static bool reaches(const struct search *s, const struct fab_rdma_trial *t)
{
	return t->is_done && t->share.value >= s->q->target;
}

static bool is_better(const struct fab_rdma_trial *a, const struct fab_rdma_trial *b)
{
	if (a->is_done != b->is_done)
		return a->is_done;
	return a->share.value > b->share.value || isnan(b->share.value);
}

/* A window with any timeout: *out is the first that reaches the target, or the best. */
static int try_window(struct search *s, uint32_t window, struct fab_rdma_trial *out,
		      struct fab_err *err)
{
	*out = (struct fab_rdma_trial){.share = {NAN, NAN}};
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
		s->out->below = (struct fab_rdma_trial){.share = {NAN, NAN}};
	return rc;
}

static int search(struct search *s, struct fab_err *err)
{
	const struct fab_rdma_plan_question *q = s->q;
	struct fab_rdma_trial *answer = &s->out->answer;
	uint32_t widest = 0;
	int rc;

	if (q->scheme->has_window)
		widest = q->most_packets < FAB_RDMA_WINDOW_MAX ? (uint32_t)q->most_packets
							       : FAB_RDMA_WINDOW_MAX;
	rc = try_window(s, widest, answer, err);
	if (rc || !reaches(s, answer))
		return rc;
	s->out->is_found = true;
	if (widest)
		rc = least_window(s, answer, err);
	return rc ? rc : least_timeout(s, answer, err);
}

int fab_rdma_plan(const struct fab_rdma_plan_question *q, struct fab_rdma_plan *out,
		  struct fab_err *err)
{
	const struct fab_rdma_case oracle = {.net = q->net,
					     .params = q->params,
					     .scheme = &fab_rdma_scheme_oracle,
					     .baseline = FAB_NONE};
	struct search s = {.q = q, .out = out};
	int rc;

	*out = (struct fab_rdma_plan){.below = {.share = {NAN, NAN}}};
	fab_rdma_timeouts(q->net, q->wait_ps, s.rto_ps);
	rc = add_runs(&s, &oracle, q->n_runs, &s.oracle, err);
	if (!rc)
		rc = search(&s, err);
	fab_rdma_summary_fini(&s.oracle);
	return rc;
}

static bool wastes(const struct fab_rdma_plan *plan)
{
	return plan->answer.rounds > FAB_RDMA_WASTE;
}

uint32_t fab_rdma_plan_best(const struct fab_rdma_plan *plans, const uint64_t *bits,
			    uint32_t n)
{
	uint32_t best = FAB_NONE;

	for (uint32_t i = 0; i < n; i++) {
		if (!plans[i].is_found)
			continue;
		if (best == FAB_NONE ||
		    (wastes(&plans[i]) == wastes(&plans[best]) ? bits[i] < bits[best]
							       : wastes(&plans[best])))
			best = i;
	}
	return best;
}
