/* SPDX-License-Identifier: BSD-2-Clause */
/* The least window for a share of the ideal against trying every window. */
#include "support/rdma_stage.h"
#include "support/test.h"

enum { PACKETS = 24, RUNS = 3 };

/* A transfer on a ring whose packets take either way, and what is asked of it. */
static void small_open(struct rdma_stage *st, struct fab_rdma_plan_question *q)
{
	rdma_stage_one(st, "torus:dims=4,hosts=1", "minhop", 2, 512, PACKETS);
	st->problem.routes = NULL; /* adaptive routing needs none */
	st->params.all_rates = false;
	st->params.routing = FAB_SIM_BY_QUEUE;
	st->params.bad.delayed = 0.2;
	st->params.bad.delay_ps = 800000;
	rdma_stage_net(st);
	*q = (struct fab_rdma_plan_question){.net = st->net,
					     .params = st->params,
					     .scheme = &fab_rdma_scheme_rsw,
					     .most_packets = PACKETS,
					     .n_runs = RUNS,
					     .n_threads = 1};
}

/* Mean of the oracle / mean of the scheme over the first runs. */
static double share_at(const struct fab_rdma_plan_question *q, uint32_t window,
		       uint64_t rto_ps, uint32_t n_runs)
{
	struct fab_rdma_case cases[2] = {
		{.net = q->net, .params = q->params, .scheme = &fab_rdma_scheme_oracle},
		{.net = q->net, .params = q->params, .scheme = q->scheme}};
	struct fab_rdma_summary sum[2];
	double best = 0, own = 0;

	cases[1].params.window = window;
	cases[1].params.rto_ps = rto_ps;
	rdma_compare(cases, 2, n_runs, sum);
	for (uint32_t i = 0; i < n_runs; i++) {
		best += sum[0].run[i];
		own += sum[1].run[i];
	}
	rdma_end(sum, 2);
	return best / own;
}

/* Does a window reach the target with any timeout; *least: the least such. */
static bool reaches(const struct fab_rdma_plan_question *q, uint32_t window,
		    uint64_t *least)
{
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];

	fab_rdma_timeouts(q->net, 0, rto_ps);
	for (size_t i = 0; i < FAB_RDMA_TIMEOUTS; i++) {
		*least = rto_ps[i];
		if (share_at(q, window, rto_ps[i], q->n_runs) >= q->target)
			return true;
	}
	return false;
}

Test(rdma_plan, least_windows)
{
	static const double targets[] = {0.3, 0.6, 0.8, 0.9, 0.95, 0.99, 1, 1.1};
	struct fab_rdma_plan_question q;
	OWN(rdma_stage) st;

	small_open(&st, &q);
	for (size_t i = 0; i < FAB_COUNT(targets); i++) {
		struct fab_rdma_plan plan;
		uint64_t rto;

		q.target = targets[i];
		MUST(fab_rdma_plan(&q, &plan, ERR));
		cr_assert_eq(plan.is_found, reaches(&q, PACKETS, &rto), "%g", q.target);
		if (!plan.is_found) { /* the best is told */
			cr_assert_eq(plan.n_trials, FAB_RDMA_TIMEOUTS);
			cr_assert(plan.answer.share.value > 0 &&
				  plan.answer.share.value < q.target);
			continue;
		}
		/* it holds, with no shorter timeout, and the window below does not */
		cr_assert(reaches(&q, plan.answer.window, &rto));
		cr_assert_eq(plan.answer.rto_ps, rto);
		cr_assert_float_eq(plan.answer.share.value,
				   share_at(&q, plan.answer.window, rto, RUNS), 1e-12);
		cr_assert(plan.answer.window == 1 ||
			  !reaches(&q, plan.answer.window - 1, &rto));
		cr_assert_eq(plan.below.window, plan.answer.window - 1);
	}
}

/* Least context of those found that do not waste; one that wastes only if all do. */
Test(rdma_plan, best)
{
	struct fab_rdma_plan plans[3] = {{.is_found = true, .answer.rounds = 1.1},
					 {.is_found = true, .answer.rounds = 1.6},
					 {.answer.rounds = 1}};
	const uint64_t bits[] = {100, 90, 80};

	cr_assert_eq(fab_rdma_plan_best(plans, bits, 3), 0);
	plans[2].is_found = true;
	cr_assert_eq(fab_rdma_plan_best(plans, bits, 3), 2);
	plans[0].is_found = plans[2].is_found = false;
	cr_assert_eq(fab_rdma_plan_best(plans, bits, 3), 1);
	plans[0] = plans[1];
	cr_assert_eq(fab_rdma_plan_best(plans, bits, 3), 1);
	cr_assert_eq(fab_rdma_plan_best(plans, bits, 0), FAB_NONE);
}

/* A trial whose first 25 of 200 runs are below the target by less than the confidence
 * margin gets all its runs: with the target at the best share of all timeouts over 200
 * runs, that timeout is the answer also where its first 25 runs do not reach the target.
 * Sampled over seeds, half of which begin below the target. */
Test(rdma_plan, margin_of_giving_up)
{
	enum { MANY = 200, FIRST = 25, SEEDS = TEST_SHARE > 1 ? 1 : 3 };
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];
	struct fab_rdma_plan_question q;
	uint32_t n_below = 0;
	OWN(rdma_stage) st;

	small_open(&st, &q);
	q.scheme = &fab_rdma_scheme_rc;
	q.params.bad.loss = 0.02;
	q.n_runs = MANY;
	fab_rdma_timeouts(st.net, 0, rto_ps);
	for (q.params.seed = 1; q.params.seed <= SEEDS; q.params.seed++) {
		struct fab_rdma_plan plan;
		double best = 0;
		size_t at = 0;

		for (size_t i = 0; i < FAB_RDMA_TIMEOUTS; i++) {
			double share = share_at(&q, q.params.window, rto_ps[i], MANY);

			at = share > best ? i : at;
			best = fmax(best, share);
		}
		q.target = best * (1 - 1e-9);
		n_below += share_at(&q, q.params.window, rto_ps[at], FIRST) < q.target;
		MUST(fab_rdma_plan(&q, &plan, ERR));
		cr_assert(plan.is_found, "seed %lu", q.params.seed);
		cr_assert(plan.answer.rto_ps == rto_ps[at] && plan.answer.n_runs == MANY);
	}
	cr_assert(TEST_SHARE > 1 || (n_below > 0 && n_below < SEEDS), "%u", n_below);
}
