/* SPDX-License-Identifier: BSD-2-Clause */
/* The least window for a share of the ideal against trying every window. */
#include "rdma/choice.h"

#include "support/test.h"

enum { PACKETS = 24, RUNS = 3 };

struct small {
	struct fab_fabric *f;
	struct fab_flow_ends ends;
	struct fab_rdma_transfer transfer;
	struct fab_rdma_problem problem;
	struct fab_rdma_net *net;
	struct fab_rdma_plan_question q;
};

static void small_init(struct small *s)
{
	*s = (struct small){.f = test_gen("torus:dims=4,hosts=1")};
	fab_flow_ends_init(&s->ends, s->f, NULL, NULL);
	s->transfer = (struct fab_rdma_transfer){
		.bytes = PACKETS * 512, .source = 0, .target = 2};
	s->problem = (struct fab_rdma_problem){
		.f = s->f, .ends = &s->ends, .transfer = &s->transfer, .n_transfers = 1};
	s->q = (struct fab_rdma_plan_question){.params = fab_rdma_defaults(),
					       .scheme = &fab_rdma_scheme_rsw,
					       .most_packets = PACKETS,
					       .n_runs = RUNS,
					       .n_threads = 1};
	s->q.params.mtu = 512;
	s->q.params.routing = FAB_SIM_BY_QUEUE;
	s->q.params.bad.delayed = 0.2;
	s->q.params.bad.delay_ps = 800000;
	s->q.params.seed = 1;
	MUST(fab_rdma_net_new(&s->problem, &s->q.params, &s->net, ERR));
	s->q.net = s->net;
}

static void small_fini(struct small *s)
{
	fab_rdma_net_free(s->net);
	fab_flow_ends_fini(&s->ends);
	fab_fabric_free(s->f);
}

/* Mean of the oracle / mean of the scheme over the first runs. */
static double share_at(const struct small *s, uint32_t window, uint64_t rto_ps,
		       uint32_t n_runs)
{
	struct fab_rdma_case cases[2];
	struct fab_rdma_summary sum[2] = {{0}};
	const struct fab_rdma_runs runs = {.of = cases, .n_cases = 2, .n_runs = n_runs};
	double best = 0, own = 0;

	for (int k = 0; k < 2; k++)
		cases[k] = (struct fab_rdma_case){
			.net = s->net, .params = s->q.params, .baseline = 0};
	cases[0].scheme = &fab_rdma_scheme_oracle;
	cases[1].scheme = s->q.scheme;
	cases[1].params.window = window;
	cases[1].params.rto_ps = rto_ps;
	MUST(fab_rdma_compare(&runs, sum, ERR));
	for (uint32_t i = 0; i < n_runs; i++) {
		best += sum[0].run[i];
		own += sum[1].run[i];
	}
	fab_rdma_summary_fini(&sum[0]);
	fab_rdma_summary_fini(&sum[1]);
	return best / own;
}

/* Does a window reach the target with any timeout; *least: the least such. */
static bool reaches(const struct small *s, uint32_t window, uint64_t *least)
{
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];

	fab_rdma_timeouts(s->net, 0, rto_ps);
	for (size_t i = 0; i < FAB_RDMA_TIMEOUTS; i++)
		if (share_at(s, window, rto_ps[i], RUNS) >= s->q.target) {
			*least = rto_ps[i];
			return true;
		}
	return false;
}

static void check(double target)
{
	struct fab_rdma_plan plan;
	FAB_AUTO(small_fini) struct small s;
	uint64_t rto = 0;

	small_init(&s);
	s.q.target = target;
	MUST(fab_rdma_plan(&s.q, &plan, ERR));
	cr_assert_eq(plan.is_found, reaches(&s, PACKETS, &rto), "%g", target);
	if (plan.is_found) {
		/* it holds, with no shorter timeout, and the window below does not */
		cr_assert(reaches(&s, plan.answer.window, &rto));
		cr_assert_eq(plan.answer.rto_ps, rto);
		cr_assert_float_eq(plan.answer.share.value,
				   share_at(&s, plan.answer.window, rto, RUNS), 1e-12);
		cr_assert(plan.answer.window == 1 ||
			  !reaches(&s, plan.answer.window - 1, &rto));
		cr_assert_eq(plan.below.window, plan.answer.window - 1);
	}
}

Test(rdma_plan, least_windows)
{
	static const double targets[] = {0.3, 0.6, 0.8, 0.9, 0.95, 0.99, 1};

	for (size_t i = 0; i < FAB_COUNT(targets); i++)
		check(targets[i]);
}

/* What nothing reaches is not found, and the best is told. */
Test(rdma_plan, out_of_reach)
{
	struct fab_rdma_plan plan;
	FAB_AUTO(small_fini) struct small s;

	small_init(&s);
	s.q.target = 1;
	s.q.params.bad.loss = 0.2;
	s.q.scheme = &fab_rdma_scheme_gbn;
	MUST(fab_rdma_plan(&s.q, &plan, ERR));
	cr_assert(!plan.is_found);
	cr_assert_eq(plan.n_trials, FAB_RDMA_TIMEOUTS);
	cr_assert(plan.answer.share.value > 0 && plan.answer.share.value < 1);
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

/* By 200 runs, as many as the command makes: the window is within 5 % of the least of all
 * windows with all timeouts, though most trials that fail are given up early. */
Test(rdma_plan, least_of_all)
{
	enum { MANY = TEST_SHARE > 1 ? 100 : 200 };
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];
	struct fab_rdma_plan plan;
	uint32_t least = 0;
	FAB_AUTO(small_fini) struct small s;

	small_init(&s);
	s.q.target = 0.7;
	s.q.n_runs = MANY;
	fab_rdma_timeouts(s.net, 0, rto_ps);
	for (uint32_t w = 1; w <= PACKETS && !least; w += test_step(1) > 1 ? 5 : 1)
		for (size_t i = 0; i < FAB_RDMA_TIMEOUTS && !least; i++)
			least = share_at(&s, w, rto_ps[i], MANY) >= s.q.target ? w : 0;
	cr_assert(least > 1 && least < PACKETS, "%u", least);
	MUST(fab_rdma_plan(&s.q, &plan, ERR));
	cr_assert(plan.is_found);
	cr_assert_leq(plan.answer.window, least * 1.05, "%u, least %u",
		      plan.answer.window, least);
	cr_assert_eq(plan.answer.n_runs, MANY);
}

/* A trial whose first 25 of 200 runs are below the target by less than the confidence
 * margin gets all its runs: with the target at the best share of all timeouts over 200
 * runs, that timeout is the answer also where its first 25 runs do not reach the target.
 * Sampled over seeds, half of which begin below the target. */
Test(rdma_plan, margin_of_giving_up)
{
	enum { MANY = 200, FIRST = 25, SEEDS = TEST_SHARE > 1 ? 1 : 3 };
	uint64_t rto_ps[FAB_RDMA_TIMEOUTS];
	uint32_t n_below = 0;
	FAB_AUTO(small_fini) struct small s;

	small_init(&s);
	s.q.scheme = &fab_rdma_scheme_rc;
	s.q.params.bad.loss = 0.02;
	s.q.n_runs = MANY;
	fab_rdma_timeouts(s.net, 0, rto_ps);
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct fab_rdma_plan plan;
		double best = 0;
		size_t at = 0;

		s.q.params.seed = seed;
		for (size_t i = 0; i < FAB_RDMA_TIMEOUTS; i++) {
			double share = share_at(&s, s.q.params.window, rto_ps[i], MANY);

			at = share > best ? i : at;
			best = share > best ? share : best;
		}
		s.q.target = best * (1 - 1e-9);
		n_below +=
			share_at(&s, s.q.params.window, rto_ps[at], FIRST) < s.q.target;
		MUST(fab_rdma_plan(&s.q, &plan, ERR));
		cr_assert(plan.is_found, "seed %u", seed);
		cr_assert_eq(plan.answer.rto_ps, rto_ps[at]);
		cr_assert_eq(plan.answer.n_runs, MANY);
	}
	cr_assert(TEST_SHARE > 1 || (n_below > 0 && n_below < SEEDS), "%u", n_below);
}
