/* SPDX-License-Identifier: BSD-2-Clause */
/* Which scheme to take: ratios of means, verdicts by hand, and whether they hold under
 * other seeds. */
#include "rdma/choice.h"

#include "support/rdma_stage.h"
#include "support/test.h"

enum { A, B, CASES };

/* Two schemes whose runs are made up. */
struct made_up {
	struct fab_rdma_params params;
	struct fab_rdma_case cases[CASES];
	struct fab_rdma_summary sum[CASES];
	uint64_t bits[CASES];
	struct fab_rdma_choice_question q;
};

static void set_runs(struct fab_rdma_summary *s, uint32_t n, double even, double odd)
{
	free(s->run);
	*s = (struct fab_rdma_summary){.n_runs = n, .n_transfers = n, .n_done = n};
	s->n_packets = 1000 * n;
	s->run = FAB_NEW0(n + 1, double);
	for (uint32_t i = 0; i < n; i++) {
		s->run[i] = i & 1 ? odd : even;
		fab_tally_add(&s->completion_mean, s->run[i]);
		fab_tally_add(&s->completion_p50, s->run[i]);
	}
	s->n.lost[FAB_RDMA_DATA] = FAB_RDMA_FEW;
	s->reorder.max = 1;
}

static void made_up_init(struct made_up *m)
{
	*m = (struct made_up){.params = fab_rdma_defaults(), .bits = {100, 200}};
	m->params.bad.loss = 0.01;
	for (int i = 0; i < CASES; i++)
		m->cases[i] = (struct fab_rdma_case){.params = m->params,
						     .scheme = i ? &fab_rdma_scheme_gbn
								 : &fab_rdma_scheme_rsw,
						     .baseline = FAB_NONE};
	m->q = (struct fab_rdma_choice_question){
		.runs = {.of = m->cases, .n_cases = CASES},
		.context_bits = m->bits,
		.max_events = 1,
		.n_claims = 1};
}

static void made_up_fini(struct made_up *m)
{
	for (int i = 0; i < CASES; i++)
		fab_rdma_summary_fini(&m->sum[i]);
}

static struct fab_rdma_choice judge(const struct made_up *m)
{
	struct fab_rdma_choice c;

	fab_rdma_judge(&m->q, m->sum, FAB_RDMA_LOOKS, &c);
	return c;
}

/* One run of two that takes 22 times as long: the mean of the ratios would be 0.52. */
Test(rdma_choice, ratio_of_means)
{
	FAB_AUTO(fab_rdma_summary_fini) struct fab_rdma_summary over = {0}, under = {0};
	struct fab_rdma_ratio r;

	set_runs(&over, 4, 25, 25);
	set_runs(&under, 4, 25, 553);
	r = fab_rdma_ratio_of(&over, &under);
	cr_assert_float_eq(r.value, 50. / 578, 1e-12);
	/* residuals 25 - r * 25 and 25 - r * 553, alternating: deviation of 4 samples
	 * r * 528 / 2 * sqrt(4 / 3); Student's t of 3 degrees 3.182446 */
	cr_assert_float_eq(
		r.half, 3.182446305284 * (r.value * 264 * sqrt(4. / 3)) / 2 / 289, 1e-9);
	/* pairs only: of more runs the first two, of a run that did not end none */
	set_runs(&over, 2, 25, 25);
	cr_assert_float_eq(fab_rdma_ratio_of(&over, &under).value, 50. / 578, 1e-12);
	over.run[1] = NAN;
	r = fab_rdma_ratio_of(&over, &under);
	cr_assert_float_eq(r.value, 1, 1e-12);
	cr_assert(isnan(r.half));
}

/* The bound by hand: two timeouts' cost apart, and whether n runs are enough. */
Test(rdma_choice, bound)
{
	/* a timeout of 20 us on a transfer of 100 us; 2 comparisons at 16 looks, 5 % */
	const double odds = log(2. * 2 * FAB_RDMA_LOOKS / 0.05), cost = 120;
	struct fab_rdma_choice c;
	FAB_AUTO(made_up_fini) struct made_up m;
	uint32_t n;

	made_up_init(&m);
	/* equal runs: own - 1.02 * other is -2 in all of them, but for what was not seen
	 */
	n = (uint32_t)floor(7 * cost * odds / (3 * 2) + 1);
	set_runs(&m.sum[A], n, 100, 100);
	set_runs(&m.sum[B], n, 100, 100);
	c = judge(&m);
	cr_assert_eq(c.verdict, FAB_RDMA_UNDECIDED);
	cr_assert_eq(c.reason, FAB_RDMA_TOO_CLOSE);
	cr_assert_eq(c.standing[A], FAB_RDMA_OPEN);
	set_runs(&m.sum[A], n + 1, 100, 100);
	set_runs(&m.sum[B], n + 1, 100, 100);
	c = judge(&m);
	cr_assert_eq(c.verdict, FAB_RDMA_TAKE);
	cr_assert(c.standing[A] == FAB_RDMA_FAST && c.standing[B] == FAB_RDMA_FAST);
	cr_assert_eq(c.best, A);
	/* where a sender may have to ask again, after four timeouts more */
	m.cases[A].params.bad.drop_control = m.cases[B].params.bad.drop_control = 1e-9;
	m.sum[A].n.lost[FAB_RDMA_ACK] = m.sum[B].n.lost[FAB_RDMA_ACK] = FAB_RDMA_FEW;
	cr_assert_eq(judge(&m).reason, FAB_RDMA_TOO_CLOSE);
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNDECIDED);
	m.cases[A].params.bad.drop_control = m.cases[B].params.bad.drop_control = 0;
	/* more choices at once are less sure; so is a timer that is longer */
	m.q.n_claims = 10;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNDECIDED);
	m.q.n_claims = 1;
	m.cases[A].scheme = m.cases[B].scheme = &fab_rdma_scheme_irn;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNDECIDED);
}

/* Paired: what both suffer in the same runs does not hide a difference; what each suffers
 * in other runs does. */
Test(rdma_choice, paired)
{
	FAB_AUTO(made_up_fini) struct made_up m;

	made_up_init(&m);
	set_runs(&m.sum[A], 4096, 100, 200);
	set_runs(&m.sum[B], 4096, 101, 202);
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_TAKE);
	cr_assert_eq(judge(&m).best, A);
	set_runs(&m.sum[A], 4096, 100, 10000);
	set_runs(&m.sum[B], 4096, 10000, 100);
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNDECIDED);
}

/* Of those that are as fast the one that keeps least; a slower one never; one whose
 * transfers do not end never. */
Test(rdma_choice, least_context)
{
	struct fab_rdma_choice c;
	FAB_AUTO(made_up_fini) struct made_up m;

	made_up_init(&m);
	set_runs(&m.sum[A], 8192, 101, 101);
	set_runs(&m.sum[B], 8192, 100, 100);
	c = judge(&m);
	cr_assert(c.verdict == FAB_RDMA_TAKE && c.best == A && c.fastest == B);
	m.bits[A] = 300;
	cr_assert_eq(judge(&m).best, B);
	m.bits[A] = 100;
	set_runs(&m.sum[A], 8192, 104, 104);
	c = judge(&m);
	cr_assert(c.verdict == FAB_RDMA_TAKE && c.best == B);
	cr_assert_eq(c.standing[A], FAB_RDMA_SLOWER);
	m.sum[B].n_done--;
	c = judge(&m);
	cr_assert(c.verdict == FAB_RDMA_TAKE && c.best == A);
	cr_assert_eq(c.standing[B], FAB_RDMA_UNSOUND);
	m.sum[A].n_wrong = 1;
	c = judge(&m);
	cr_assert(c.verdict == FAB_RDMA_NO_END && c.best == FAB_NONE);
}

/* Nothing was lost or late; too few were lost, held up; nothing to compare with. */
Test(rdma_choice, nothing_to_choose_by)
{
	FAB_AUTO(made_up_fini) struct made_up m;

	made_up_init(&m);
	set_runs(&m.sum[A], 8192, 100, 100);
	set_runs(&m.sum[B], 8192, 200, 200);
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_TAKE);
	m.sum[A].n.lost[FAB_RDMA_DATA] = FAB_RDMA_FEW - 1;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNDECIDED);
	cr_assert_eq(judge(&m).reason, FAB_RDMA_FEW_LOST);
	m.sum[A].n.lost[FAB_RDMA_DATA] = m.sum[B].n.lost[FAB_RDMA_DATA] = 0;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNTOUCHED);
	/* packets that came in another order are late */
	m.cases[A].params.bad.loss = m.cases[B].params.bad.loss = 0;
	m.cases[A].params.routing = m.cases[B].params.routing = FAB_SIM_SPRAY;
	m.sum[B].reorder.max = 2;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_TAKE);
	m.cases[A].params.bad.delayed = 0.1;
	m.sum[A].n.delayed = FAB_RDMA_FEW - 1;
	cr_assert_eq(judge(&m).reason, FAB_RDMA_FEW_DELAYED);
	m.cases[A].params.bad.drop_control = 0.1;
	m.sum[A].n.lost[FAB_RDMA_ACK] = FAB_RDMA_FEW - 1;
	cr_assert_eq(judge(&m).reason, FAB_RDMA_FEW_LOST);
	m.q.runs.n_cases = 1;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_ALONE);
}

/* Without chance one run says it all; with it one run says nothing. */
Test(rdma_choice, one_run)
{
	FAB_AUTO(made_up_fini) struct made_up m;

	made_up_init(&m);
	set_runs(&m.sum[A], 1, 300, 0);
	set_runs(&m.sum[B], 1, 100, 0);
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_UNDECIDED);
	m.cases[A].params.bad.loss = m.cases[B].params.bad.loss = 0;
	cr_assert_eq(judge(&m).verdict, FAB_RDMA_TAKE);
	cr_assert_eq(judge(&m).best, B);
}

static const char *const real[] = {"rsw", "rsw+", "ssw", "rc", "gbn", "irn", "sack-ro"};
enum { REAL = 7 };

static void set_cases(const struct rdma_stage *st, struct fab_rdma_case *cases)
{
	for (int i = 0; i < REAL; i++)
		cases[i] = (struct fab_rdma_case){.net = st->net,
						  .params = st->params,
						  .scheme = rdma_scheme(real[i]),
						  .baseline = FAB_NONE};
}

static void end_all(struct fab_rdma_summary *sum)
{
	for (int i = 0; i < REAL; i++)
		fab_rdma_summary_fini(&sum[i]);
}

static double mean_of(const struct fab_rdma_case *of, uint32_t n_runs)
{
	const struct fab_rdma_runs runs = {.of = of, .n_cases = 1, .n_runs = n_runs};
	FAB_AUTO(fab_rdma_summary_fini) struct fab_rdma_summary sum = {0};
	double mean;

	MUST(fab_rdma_compare(&runs, &sum, ERR));
	mean = fab_tally_mean(&sum.completion_mean);
	return mean;
}

/* A scheme that was taken is, over so many runs of another seed, within 2 % of the best.
 */
static bool holds(struct fab_rdma_case *cases, const struct fab_rdma_choice *c,
		  uint32_t n_runs)
{
	double best = INFINITY, own = 0;

	for (uint32_t i = 0; i < REAL; i++) {
		double mean;

		cases[i].params.seed += 1000;
		if (c->standing[i] < FAB_RDMA_OPEN)
			continue;
		mean = mean_of(&cases[i], n_runs);
		best = fmin(best, mean);
		own = i == c->best ? mean : own;
	}
	return own <= FAB_RDMA_AS_FAST * best;
}

/* Sets of losses and delays that are hard to judge: rare ones that cost much. */
Test(rdma_choice, holds_under_other_seeds)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 2, .bytes = 16 * 512};
	const uint64_t bits[REAL] = {4, 6, 7, 1, 2, 3, 5};
	const uint32_t n_seeds = test_some(4, 2, 1);
	uint32_t n_taken = 0, n_wrong = 0;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	rdma_stage_net(&st);
	for (uint64_t seed = 5 - n_seeds; seed <= 4; seed++) {
		struct fab_rdma_case cases[REAL];
		struct fab_rdma_summary sum[REAL] = {{0}};
		struct fab_rdma_choice c;
		const struct fab_rdma_choice_question q = {
			.runs = {.of = cases, .n_cases = REAL},
			.context_bits = bits,
			.max_events = TEST_SHARE > 1 ? 1000000 : 10000000,
			.n_claims = 1};

		st.params.seed = seed;
		st.params.bad.loss = pow(10, -1.5 - (double)(seed % 3) / 2);
		st.params.bad.burst = seed % 4 == 1 ? 3 : 0;
		st.params.bad.delayed = seed % 3 == 1 ? 0.01 : 0;
		st.params.bad.delay = FAB_RDMA_EXPONENTIAL;
		st.params.bad.delay_ps = 5000000;
		set_cases(&st, cases);
		MUST(fab_rdma_choose(&q, sum, &c, ERR));
		if (c.verdict == FAB_RDMA_TAKE) {
			n_taken++;
			n_wrong += !holds(cases, &c, test_some(3000, 2, 1000));
		}
		end_all(sum);
	}
	cr_assert_leq(n_wrong, 0);
	cr_assert(TEST_SHARE > 1 || 2 * n_taken >= n_seeds, "%u", n_taken);
}

static bool stop_late(void *context)
{
	return ++*(int *)context > 2000;
}

/* Runs go on until it is decided, or the bound is reached; those that are known to be
 * slower get no more; when it is stopped, what was simulated is judged. */
Test(rdma_choice, looks)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 2, .bytes = 16 * 512};
	const uint64_t bits[REAL] = {1, 2, 3, 4, 5, 6, 7};
	struct fab_rdma_case cases[REAL];
	struct fab_rdma_summary sum[REAL] = {{0}};
	struct fab_rdma_choice c;
	struct fab_rdma_choice_question q = {.runs = {.of = cases, .n_cases = REAL},
					     .context_bits = bits,
					     .max_events = 20000000,
					     .n_claims = 1};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;
	uint64_t events = 0;
	int n_asked = 0;

	rdma_stage_open(&st, "gen:mesh:dims=3,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.bad.loss = 0.04;
	rdma_stage_net(&st);
	set_cases(&st, cases);
	MUST(fab_rdma_choose(&q, sum, &c, ERR));
	cr_assert_eq(c.verdict, FAB_RDMA_TAKE);
	for (int i = 0; i < REAL; i++) {
		cr_assert_eq(sum[i].n_runs & (sum[i].n_runs - 1), 0);
		cr_assert(sum[i].n_runs == c.n_runs || c.standing[i] == FAB_RDMA_SLOWER);
		events += sum[i].events;
	}
	/* rc sends all of it again */
	cr_assert_lt(sum[3].n_runs, c.n_runs);
	end_all(sum);
	q.max_events = events / 4;
	MUST(fab_rdma_choose(&q, sum, &c, ERR));
	cr_assert_eq(c.verdict, FAB_RDMA_UNDECIDED);
	events = 0;
	for (int i = 0; i < REAL; i++)
		events += sum[i].events;
	cr_assert_leq(events, q.max_events * 21 / 20);
	end_all(sum);
	for (int i = 0; i < REAL; i++) {
		cases[i].params.is_over = stop_late;
		cases[i].params.is_over_context = &n_asked;
	}
	q.runs.n_threads = 1;
	cr_assert_eq(fab_rdma_choose(&q, sum, &c, NULL), -ECANCELED);
	cr_assert_gt(sum[0].n_runs, 1);
	cr_assert_eq(c.verdict, FAB_RDMA_UNDECIDED);
	end_all(sum);
}

/* The oracle is a bound for a transfer alone, whatever is lost, late, or sent again. */
Test(rdma_choice, oracle_is_a_bound)
{
	static const enum fab_rdma_delay kinds[] = {FAB_RDMA_UNIFORM,
						    FAB_RDMA_EXPONENTIAL, FAB_RDMA_FIXED};

	for (uint64_t seed = 0; seed < 120 / TEST_SHARE; seed++) {
		struct fab_rdma_transfer t = {
			.source = 0, .target = 2, .bytes = 1 + seed * 977 % 30000};
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result best = {0};
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;

		rdma_stage_open(&st, "gen:mesh:dims=3,hosts=1", "minhop", &t, 1);
		st.params.mtu = 512;
		st.params.seed = seed;
		st.params.rto_ps = 1000000 + seed % 7 * 3000000;
		st.params.bad.delayed = 0.2 * (double)(seed % 6);
		st.params.bad.delay = kinds[seed % 3];
		st.params.bad.delay_ps = 100000u << seed % 10;
		st.params.bad.loss = seed % 4 ? 0.02 * (double)(seed % 4) : 0;
		st.params.bad.corrupt = seed % 9 == 2 ? 0.02 : 0;
		st.params.bad.per_hop = seed % 5 == 1;
		st.params.bad.burst = seed % 8 == 3 ? 3 : 0;
		/* a pass of rc that is late is given up, for ever */
		st.params.end_ps = UINT64_C(2000000000);
		rdma_stage_net(&st);
		best = rdma_stage_run(&st, rdma_scheme("oracle"));
		cr_assert_eq(best.n_done, 1);
		for (size_t i = 0; i < fab_rdma_n_schemes; i++) {
			FAB_AUTO(fab_rdma_result_fini)
			struct fab_rdma_result r =
				rdma_stage_run(&st, fab_rdma_schemes[i]);

			cr_assert(!r.n_done || r.fate[0].done_ps >= best.fate[0].done_ps,
				  "seed %lu: %s %lu ps, oracle %lu ps", seed,
				  fab_rdma_schemes[i]->name, r.fate[0].done_ps,
				  best.fate[0].done_ps);
		}
	}
}

/* A sender has no more numbers open than its context is charged for, and with losses it
 * uses all of them. */
Test(rdma_choice, range_is_charged)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 2048 * 512};
	static const char *const of[] = {"irn", "sack-ro"};

	for (uint32_t k = 0; k < 8; k++) {
		const struct fab_rdma_scheme *scheme = rdma_scheme(of[k & 1]);
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;
		uint32_t width;

		rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "minhop", &t, 1);
		st.params.mtu = 512;
		st.params.bad.loss = 0.005;
		st.params.bad.delayed = k & 2 ? 0.1 : 0;
		st.params.bad.delay_ps = 2700000;
		st.params.cap = k & 4 ? 10 : 0;
		rdma_stage_net(&st);
		width = fab_rdma_width(st.net, &st.params, scheme, 2048);
		r = rdma_stage_run(&st, scheme);
		cr_assert_eq(r.n_done, 1);
		cr_assert_eq(r.peak_range, width, "%s: %u open, charged for %u",
			     scheme->name, r.peak_range, width);
		cr_assert_eq(width, k & 4 ? 10 : fab_rdma_in_flight(st.net, &st.params));
		cr_assert_eq(fab_rdma_width(st.net, &st.params, scheme, 7), 7);
	}
}

/* More attempts than 16 bits count, while a cable is down: each has a chance of its own.
 */
Test(rdma_choice, many_attempts)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 1, .bytes = 256};
	struct fab_rdma_outage outage = {.cable = 0};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=1,hosts=2", "minhop", &t, 1);
	st.params.mtu = 256;
	st.params.rate_gbps = 10000;
	st.params.no_handshake = true;
	st.params.bad.loss = 0.5;
	st.params.bad.per_hop = true;
	/* 70000 times on the wire: 226 ps each */
	outage.until_ps = 70000 * 226;
	st.params.bad.outage = &outage;
	st.params.bad.n_outages = 1;
	st.params.end_ps = 100000000;
	rdma_stage_net(&st);
	for (st.params.seed = 1; st.params.seed <= test_some(20, 1, 1);
	     st.params.seed++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result r = rdma_stage_run(&st, rdma_scheme("oracle"));

		cr_assert_gt(r.n.packets[FAB_RDMA_DATA], UINT16_MAX);
		cr_assert_eq(r.n_done, 1);
	}
}

/* Runs that are added later are the ones that a single call makes; a case that is left
 * out keeps those that it has. */
Test(rdma_choice, runs_in_parts)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 2, .bytes = 64 * 512};
	struct fab_rdma_case cases[REAL];
	struct fab_rdma_summary whole[REAL] = {{0}}, parts[REAL] = {{0}};
	const bool is_left_out[REAL] = {[2] = true};
	struct fab_rdma_runs runs = {.of = cases, .n_cases = REAL, .n_runs = 8};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.bad.loss = 0.05;
	rdma_stage_net(&st);
	set_cases(&st, cases);
	MUST(fab_rdma_compare(&runs, whole, ERR));
	runs.n_runs = 3;
	MUST(fab_rdma_compare(&runs, parts, ERR));
	runs.first_run = 3;
	runs.n_runs = 5;
	runs.is_left_out = is_left_out;
	MUST(fab_rdma_compare(&runs, parts, ERR));
	for (int i = 0; i < REAL; i++) {
		uint32_t n = i == 2 ? 3 : 8;

		cr_assert_eq(parts[i].n_runs, n);
		cr_assert_eq(
			memcmp(parts[i].run, whole[i].run, n * sizeof(*parts[i].run)), 0);
		fab_rdma_summary_fini(&whole[i]);
		fab_rdma_summary_fini(&parts[i]);
	}
}

/* irn at its cap, where nothing new can be sent that could tell of a loss, takes what is
 * acknowledged of the rest for that, and does not wait for a timer. */
Test(rdma_choice, no_timer_at_the_cap)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 10, .bytes = 512 * 512};
	struct fab_rdma_case c = {.scheme = &fab_rdma_scheme_irn, .baseline = FAB_NONE};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4,hosts=1", "dor", &t, 1);
	st.params.mtu = 512;
	st.params.bad.loss = 0.005;
	st.params.bad.delayed = 1;
	st.params.bad.delay_ps = 300000;
	rdma_stage_net(&st);
	c.net = st.net;
	c.params = st.params;
	cr_assert_lt(mean_of(&c, test_some(1000, 4, 100)), 45);
}
