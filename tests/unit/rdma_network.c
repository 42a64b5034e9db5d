/* SPDX-License-Identifier: BSD-2-Clause */
/* Reliability schemes: buffers with bounds, chance, contexts, many runs, refusals. */
#include "support/rdma_stage.h"
#include "support/test.h"

static struct fab_rdma_transfer *all_far(uint32_t n_ends, uint32_t rounds, uint64_t bytes)
{
	struct fab_rdma_transfer *t =
		FAB_NEW((size_t)n_ends * rounds, struct fab_rdma_transfer);

	for (uint32_t i = 0; i < n_ends * rounds; i++) {
		uint32_t e = i % n_ends;

		t[i] = (struct fab_rdma_transfer){
			.source = e,
			.target = (e + 1 + (i / n_ends * 5 + e * 7) % (n_ends - 1)) %
				  n_ends,
			.bytes = bytes};
	}
	return t;
}

static void run_bounded(const char *spec, const char *engine,
			enum fab_sim_routing routing, uint32_t buffer,
			struct fab_rdma_result *r)
{
	FAB_AUTOFREE struct fab_rdma_transfer *t = all_far(16, 6, 30000);
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, spec, engine, t, 16 * 6);
	st.params.mtu = 512;
	st.params.buffer = buffer;
	st.params.routing = routing;
	st.params.rto_ps = 1000000000;
	rdma_stage_net(&st);
	*r = rdma_stage_run(&st, rdma_scheme("oracle"));
	/* the same by heap */
	st.params.by_heap = true;
	if (!r->is_stalled) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result b = rdma_stage_run(&st, rdma_scheme("oracle"));

		rdma_assert_same(r, &b);
	}
}

/* A torus under load, buffers of one packet: lanes keep dimension order from stalling,
 * escape lanes adaptive packets; tables that stall are said to. */
Test(rdma_network, bounded)
{
	static const enum fab_sim_routing routing[] = {FAB_SIM_BY_TABLE, FAB_SIM_BY_QUEUE,
						       FAB_SIM_SPRAY, FAB_SIM_BY_VALIANT,
						       FAB_SIM_BY_UGAL};
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;

	for (size_t i = 0; i < FAB_COUNT(routing); i++)
		for (uint32_t buffer = 576; buffer < 10000;
		     buffer *= (TEST_SHARE > 1 ? 9 : 3)) {
			run_bounded("gen:torus:dims=4x4,hosts=1", "dor", routing[i],
				    buffer, &r);
			cr_assert_eq(r.n_done, r.n_transfers, "routing %zu, %u bytes", i,
				     buffer);
			cr_assert_eq(r.n_wrong, 0);
			cr_assert(!r.is_stalled);
			cr_assert_eq(r.n.unroutable + r.n.looped, 0);
			/* a packet and no more waits for each input and lane */
			fab_rdma_result_fini(&r);
		}
	run_bounded("gen:torus:dims=16,hosts=1", "minhop", FAB_SIM_BY_TABLE, 576, &r);
	cr_assert(r.is_stalled);
	cr_assert_gt(r.n_hung, 0);
}

/* With room enough bounds change nothing: one transfer takes what it takes. */
Test(rdma_network, bounded_ideal)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 10, .bytes = 100000};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4,hosts=1", "dor", &t, 1);
	st.params.buffer = 1 << 20;
	rdma_stage_net(&st);
	for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result r = rdma_stage_run(&st, fab_rdma_schemes[k]);

		cr_assert_eq(r.fate[0].done_ps, fab_rdma_ideal(st.net, 0));
	}
}

/* All schemes see the same losses: those of first copies are the same numbers. */
Test(rdma_network, common_luck)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 512 * 200};
	uint64_t first = 0;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.window = 256;
	st.params.bad.loss = 0.03;
	st.params.bad.delayed = 0.2;
	st.params.bad.delay_ps = 500000;
	rdma_stage_net(&st);
	for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result r = rdma_stage_run(&st, fab_rdma_schemes[k]);

		/* without another copy the arrivals of first copies are those that were
		 * not lost: their distances are counted but the first one's */
		if (!k)
			first = r.reorder.n;
		cr_assert_eq(r.reorder.n, first, "%s", fab_rdma_schemes[k]->name);
	}
}

/* Shares of packets lost: independent, in bursts, on each hop, all by an outage. */
Test(rdma_network, losses)
{
	enum { N = TEST_SHARE > 1 ? 50000 : 200000 };
	struct fab_rdma_transfer t = {
		.source = 0, .target = 3, .bytes = (uint64_t)N * 256};
	struct fab_rdma_outage outage = {.cable = 0, .until_ps = 50000000};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	/* 4 switches in a row: 5 cables, endpoints' ones too */
	rdma_stage_open(&st, "gen:mesh:dims=4,hosts=1", "minhop", &t, 1);
	st.params.mtu = 256;
	st.params.bad.loss = 0.1;
	rdma_stage_net(&st);
	for (int i = 0; i < 4; i++) {
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};
		double share;

		st.params.bad.per_hop = i & 1;
		st.params.bad.burst = i & 2 ? 5 : 0;
		r = rdma_stage_run(&st, rdma_scheme("oracle"));
		cr_assert_eq(r.n_done, 1);
		share = (double)r.n.lost[FAB_RDMA_DATA] /
			(double)r.n.packets[FAB_RDMA_DATA];
		cr_assert_lt(fabs(share - (i & 1 ? 1 - pow(0.9, 5) : 0.1)),
			     (i & 2 ? 0.008 : 0.004) * (TEST_SHARE > 1 ? 2 : 1), "%d: %g",
			     i, share);
	}
	rdma_stage_close(&st);
	t.bytes = 256 * 20;
	rdma_stage_open(&st, "gen:mesh:dims=4,hosts=1", "minhop", &t, 1);
	st.params.bad.outage = &outage;
	st.params.bad.n_outages = 1;
	rdma_stage_net(&st);
	for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result r = rdma_stage_run(&st, fab_rdma_schemes[k]);

		cr_assert_eq(r.n_done, 1, "%s", fab_rdma_schemes[k]->name);
		cr_assert_gt(r.fate[0].done_ps, outage.until_ps);
		cr_assert_gt(r.n.lost[FAB_RDMA_RQT], 0);
	}
}

/* Which scheme does not reach this share of the oracle's goodput, as a list. */
static void expect_slow(const struct rdma_stage *st, double share, const char *expected)
{
	FAB_AUTO(fab_rdma_result_fini)
	struct fab_rdma_result best = rdma_stage_run(st, rdma_scheme("oracle"));
	FAB_AUTOFREE char *slow = NULL;

	for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result r = rdma_stage_run(st, fab_rdma_schemes[k]);

		if (!(r.goodput_gbps > share * best.goodput_gbps))
			fab_append(&slow, ",", "%s", fab_rdma_schemes[k]->name);
	}
	cr_assert_str_eq(slow ? slow : "", expected, "delayed %g, G %u, reorder %lu: %s",
			 st->params.bad.delayed, st->params.gap, st->params.reorder_ps,
			 slow ? slow : "");
}

/* How many packets in a row are missing behind one that has come, on the mean: first
 * copies come in order. */
static double mean_row(const struct fab_rdma_result *r)
{
	uint32_t next = 0, missing = 0, rows = 0;

	for (size_t i = 0; i < r->trace.n; i++) {
		if (r->trace.v[i] < next)
			continue;
		missing += r->trace.v[i] - next;
		rows += r->trace.v[i] > next;
		next = r->trace.v[i] + 1;
	}
	return (double)missing / rows;
}

/* Bursts of each cable by itself: losses come in rows, by bounded buffers and without. */
Test(rdma_network, bursts_per_hop)
{
	enum { N = 100000 };
	struct fab_rdma_transfer t = {
		.source = 0, .target = 1, .bytes = (uint64_t)N * 256};

	for (uint32_t buffer = 0; buffer < 10000; buffer += 5000) {
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;

		rdma_stage_open(&st, "gen:mesh:dims=1,hosts=2", "minhop", &t, 1);
		st.params.mtu = 256;
		st.params.n_traced = 2 * N;
		st.params.new_first = true;
		st.params.buffer = buffer;
		st.params.bad.loss = 0.01;
		st.params.bad.per_hop = true;
		rdma_stage_net(&st);
		for (int burst = 0; burst < 10; burst += 5) {
			FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};

			st.params.bad.burst = burst;
			r = rdma_stage_run(&st, rdma_scheme("oracle"));
			cr_assert_eq(r.n_done, 1);
			cr_assert_lt(fabs(mean_row(&r) - (burst ? 5 : 1)), 0.6, "%d: %g",
				     burst, mean_row(&r));
		}
	}
}

/* Goodput within 1 % of the oracle's, by the defaults: without reordering all, under it
 * those without a cap on packets in flight, as long as its degree is below the window.
 * irn and sack-ro stop at the cap while the lowest number is late: within 4 %. */
Test(rdma_network, goodput)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 4 << 20};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", &t, 1);
	rdma_stage_net(&st);
	/* under sanitizers the larger only */
	for (st.params.mtu = TEST_SHARE > 1 ? 2048 : 512; st.params.mtu <= 2048;
	     st.params.mtu *= 4) {
		/* more than a round trip carries */
		st.params.sender_window = 256;
		st.params.bad.delayed = 0;
		expect_slow(&st, 0.99, "");
		st.params.bad.delay_ps = 2700000;
		for (int percent = 3; percent <= 30; percent += TEST_SHARE > 1 ? 27 : 9) {
			st.params.bad.delayed = percent / 100.;
			st.params.seed = (uint64_t)percent;
			expect_slow(&st, 0.96, "gbn");
			if (percent > 20)
				expect_slow(&st, 0.99, "gbn,irn,sack-ro");
		}
	}
}

/* Thresholds that are given do not adapt: below the delays they do not do, above they do.
 * irn as published takes the first gap for a loss. Credit at once waits for a round trip
 * where the window holds the reordering alone. */
Test(rdma_network, thresholds)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 4 << 20};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", &t, 1);
	rdma_stage_net(&st);
	st.params.bad.delayed = 0.3;
	st.params.bad.delay_ps = 3000000;
	st.params.nacks = 1;
	expect_slow(&st, 0.96, "gbn,irn");
	st.params.gap = 8;
	st.params.reorder_ps = 400000;
	expect_slow(&st, 0.99, "rsw+,gbn,irn,sack-ro");
	st.params.gap = 40;
	st.params.reorder_ps = 4000000;
	st.params.nacks = 40;
	st.params.cap = 400;
	expect_slow(&st, 0.99, "gbn");
	st.params.mtu = 512;
	st.params.sender_window = 256;
	st.params.gap = 128;
	st.params.nacks = 128;
	st.params.credit = 32;
	/* half a window is less than the delays */
	expect_slow(&st, 0.99, "rsw-vec,rsw+,gbn");
	st.params.credit = 0;
	expect_slow(&st, 0.99, "rsw-vec,gbn");
	st.params.window = 256;
	expect_slow(&st, 0.99, "gbn");
}

/* rsw+ stays within the window for as long as what it had sent beyond is missing, not for
 * ever: with a window below a round trip a few late packets cost little, credit from the
 * first packet on much. */
Test(rdma_network, credit_ends)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 4 << 20};
	double share[2], oracle;
	struct fab_rdma_result r;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", &t, 1);
	st.params.mtu = 512;
	st.params.window = 24;
	st.params.bad.delayed = 0.0005;
	st.params.bad.delay = FAB_RDMA_FIXED;
	st.params.bad.delay_ps = 3000000;
	rdma_stage_net(&st);
	r = rdma_stage_run(&st, rdma_scheme("oracle"));
	oracle = r.completion_mean;
	fab_rdma_result_fini(&r);
	for (int i = 0; i < 2; i++) {
		st.params.credit = i ? 6 : 0;
		r = rdma_stage_run(&st, rdma_scheme("rsw+"));
		cr_assert_eq(r.n_done, 1);
		cr_assert(i || r.n.beyond);
		share[i] = oracle / r.completion_mean;
		fab_rdma_result_fini(&r);
	}
	cr_assert(share[0] > 0.85 && share[1] < 0.7, "%g, %g", share[0], share[1]);
}

/* A tenth of the packets held up, so that they come up to 64 places late: half of that as
 * a window costs a third of the speed, all of it next to nothing (the paper's figure 7);
 * and the storm beyond the window, and its cure. */
Test(rdma_network, window)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 512 * 512};
	struct fab_rdma_case cases[4];
	struct fab_rdma_summary out[FAB_COUNT(cases)] = {{0}};
	struct fab_rdma_runs runs = {
		.of = cases, .n_cases = FAB_COUNT(cases), .n_runs = 100};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", &t, 1);
	st.params.mtu = 512;
	rdma_stage_net(&st);
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		cases[i] = (struct fab_rdma_case){
			.net = st.net, .params = st.params, .baseline = 0};
		cases[i].params.bad.delayed = i < 3 ? 0.1 : 0;
		cases[i].params.bad.delay_ps = 2700000;
		cases[i].params.bad.loss = i < 3 ? 0 : 0.005;
	}
	cases[0].scheme = rdma_scheme("oracle");
	cases[1].scheme = cases[2].scheme = cases[3].scheme = rdma_scheme("rsw");
	cases[1].params.window = 32;
	cases[2].params.window = 64;
	MUST(fab_rdma_compare(&runs, out, ERR));
	cr_assert_lt(fabs(out[1].share.value - 0.63), 0.03, "%g", out[1].share.value);
	cr_assert_gt(out[2].share.value, 0.92, "%g", out[2].share.value);
	cr_assert(out[1].reorder.max > 50 && out[1].reorder.max < 80, "%lu",
		  out[1].reorder.max);
	cr_assert_gt(fab_tally_mean(&out[3].rounds), 3);
	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		fab_rdma_summary_fini(&out[i]);
}

/* The same for any number of threads; run by run differences; a run that fails. */
Test(rdma_network, threads)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 20000};
	struct fab_rdma_case cases[6];
	struct fab_rdma_summary a[FAB_COUNT(cases)] = {{0}}, b[FAB_COUNT(cases)] = {{0}};
	struct fab_rdma_runs runs = {.of = cases, .n_cases = 6, .n_runs = 9};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	st.params.mtu = 256;
	st.params.bad.loss = 0.05;
	rdma_stage_net(&st);
	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		cases[i] = (struct fab_rdma_case){.net = st.net,
						  .params = st.params,
						  .scheme = fab_rdma_schemes[i],
						  .baseline = i ? 0 : FAB_NONE};
	runs.n_threads = 1;
	MUST(fab_rdma_compare(&runs, a, ERR));
	runs.n_threads = 3;
	MUST(fab_rdma_compare(&runs, b, ERR));
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		cr_assert_eq(a[i].n_runs, 9);
		cr_assert_eq(memcmp(a[i].run, b[i].run, 9 * sizeof(*a[i].run)), 0);
		cr_assert_eq(memcmp(&a[i].n, &b[i].n, sizeof(a[i].n)), 0);
		cr_assert_eq(memcmp(&a[i].share, &b[i].share, sizeof(a[i].share)), 0);
		cr_assert_eq(a[i].difference.n, i ? 9 : 0);
		if (i)
			cr_assert_float_eq(fab_tally_mean(&a[i].difference),
					   fab_tally_mean(&a[i].completion_mean) -
						   fab_tally_mean(&a[0].completion_mean),
					   1e-9);
	}
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		fab_rdma_summary_fini(&a[i]);
		fab_rdma_summary_fini(&b[i]);
	}
	cases[4].params.window = 0;
	FAILS(fab_rdma_compare(&runs, a, ERR), -EINVAL,
	      "window of the receiver: 0 packets, expected 1 to 4096");
	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		fab_rdma_summary_fini(&a[i]);
}

/* What is impossible is refused with one sentence. */
Test(rdma_network, refused)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 20000};
	static const struct fab_rdma_transfer bad[] = {
		{.target = 0, .bytes = 20000},
		{.target = 6, .bytes = 20000},
		{.target = 5, .bytes = 0},
		{.target = 5, .bytes = UINT64_MAX / 2}};
	struct fab_rdma_params good;
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};
	struct fab_rdma_net *net;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	good = st.params;
#define REFUSES(field, value, what)                                                      \
	st.params = good;                                                                \
	st.params.field = (value);                                                       \
	cr_assert_eq(fab_rdma_check(&st.problem, &st.params, ERR), -EINVAL);             \
	HAS(test_err.text, what);
	REFUSES(bad.loss, 1.5, "0 .. 1")
	REFUSES(bad.loss, NAN, "0 .. 1")
	REFUSES(bad.drop_control, -0.1, "control")
	REFUSES(bad.burst, 0.5, "burst")
	REFUSES(window, 0, "window")
	REFUSES(window, 4097, "window")
	REFUSES(mtu, 0, "MTU")
	REFUSES(contexts, 0, "contexts")
	REFUSES(rto_ps, 0, "timeout")
	REFUSES(buffer, 100, "each needs 2112 for one packet")
	REFUSES(rate_gbps, 0, "rate")
	REFUSES(rate_gbps, 0.12, "0.12 Gb/s: 0.125 to")
	REFUSES(rate_gbps, 1e6, "Gb/s: 0.125 to")
	REFUSES(end_ps, FAB_RDMA_END_MAX_PS + 1,
		"simulated time: 4 min 41 s, expected at most")
	REFUSES(rto_ps, FAB_RDMA_TIME_MAX_PS + 1, "more than 0 and at most 1 min 10 s")
	REFUSES(timers, 17, "timers")
	REFUSES(msgid_bits, 33, "MSGID")
	st.params = good;
	st.problem.routes = NULL;
	cr_assert_eq(fab_rdma_check(&st.problem, &st.params, ERR), -EINVAL);
	st.problem.routes = st.routes;
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		t = bad[i];
		cr_assert_eq(fab_rdma_net_new(&st.problem, &st.params, &net, ERR),
			     -EINVAL, "%zu", i);
	}
	t = (struct fab_rdma_transfer){.target = 5, .bytes = 100};
	rdma_stage_net(&st);
	st.params.bad.loss = 1;
	st.params.end_ps = 1000000000;
	r = rdma_stage_run(&st, rdma_scheme("rsw"));
	cr_assert_eq(r.n_hung, 1);
	cr_assert(r.is_cut);
	cr_assert(isnan(r.completion_mean));
}

/* Refusals: one context, many that ask; each policy comes to an end, in its own time. */
Test(rdma_network, contexts)
{
	struct fab_rdma_transfer t[40];
	struct fab_rdma_result r[3];
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	for (uint32_t i = 0; i < FAB_COUNT(t); i++)
		t[i] = (struct fab_rdma_transfer){
			.source = 1 + i % 5, .target = 0, .bytes = 20000};
	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", t, FAB_COUNT(t));
	st.params.contexts = 1;
	rdma_stage_net(&st);
	for (int i = 0; i < 3; i++) {
		st.params.retry = (enum fab_rdma_retry)i;
		r[i] = rdma_stage_run(&st, rdma_scheme("rsw"));
		cr_assert_eq(r[i].n_done, FAB_COUNT(t));
		cr_assert_eq(r[i].n_wrong, 0);
		cr_assert_eq(r[i].peak_contexts, 1);
		cr_assert_eq(r[i].n.refusals > 0, true);
		cr_assert_eq(r[i].n.packets[FAB_RDMA_REFUSAL] > 0, i != 2);
	}
	cr_assert_lt(r[2].completion_max, r[0].completion_max);
	st.params.contexts = 4096;
	for (int i = 0; i < 3; i++)
		fab_rdma_result_fini(&r[i]);
	r[0] = rdma_stage_run(&st, rdma_scheme("rsw"));
	cr_assert_eq(r[0].peak_contexts, FAB_COUNT(t));
	cr_assert_eq(r[0].n.refusals, 0);
	fab_rdma_result_fini(&r[0]);
}
