/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rate control: DCQCN's steps against a plain account of them, microsecond by
 * microsecond; laws of DCTCP and DCQCN; windows; and that no packet hangs.
 */
#include "event/stream.h"
#include "rdma/rate.h"
#include "support/rdma_stage.h"
#include "support/test.h"

enum { MTU = 2048, HEADER = 26, WIRE = (MTU + HEADER) * 80, HOSTS = 9, MS = 1000000000 };

/* By the paper: timers that are counted down, figures 7 to 10. */
struct plain {
	double rate, target, alpha;
	int decay_us, raise_us, by_time, by_bytes;
	long bytes;
	bool is_limited;
};

static void plain_raise(struct plain *p)
{
	int most = p->by_time > p->by_bytes ? p->by_time : p->by_bytes;
	int least = p->by_time < p->by_bytes ? p->by_time : p->by_bytes;

	if (most < 5)
		p->rate = (p->rate + p->target) / 2;
	else {
		p->target += least > 5 ? 0.01 * (least - 5) : 0.001;
		if (p->target > 1)
			p->target = 1;
		p->rate = (p->rate + p->target) / 2;
	}
}

static void plain_us(struct plain *p)
{
	if (!p->is_limited)
		return;
	if (--p->decay_us == 0) {
		p->alpha = p->alpha * 255 / 256;
		p->decay_us = 55;
	}
	if (--p->raise_us == 0) {
		p->by_time++;
		p->raise_us = 55;
		plain_raise(p);
	}
}

static void plain_sent(struct plain *p, long bytes)
{
	p->bytes += bytes;
	if (!p->is_limited || p->bytes < 10000000)
		return;
	p->bytes -= 10000000;
	p->by_bytes++;
	plain_raise(p);
}

static void plain_report(struct plain *p)
{
	p->target = p->rate;
	p->rate = p->rate * (1 - p->alpha / 2);
	if (p->rate < 0.001)
		p->rate = 0.001;
	p->alpha = p->alpha * 255 / 256 + 1.0 / 256;
	p->is_limited = true;
	p->decay_us = p->raise_us = 55;
	p->bytes = p->by_time = p->by_bytes = 0;
}

Test(rdma_rate, dcqcn_steps)
{
	double least = 1;
	int n_hyper = 0;

	for (uint64_t seed = 0; seed < 40 / TEST_SHARE; seed++) {
		struct fab_stream chance = fab_stream_of(77, seed);
		struct plain p = {.rate = 1, .target = 1, .alpha = 1};
		struct rdma_rate c;

		rdma_rate_init(&c, 10);
		for (uint64_t us = 1; us <= 20000; us++) {
			plain_us(&p);
			if (!fab_stream_below(&chance, 3)) {
				uint32_t bytes =
					(uint32_t)fab_stream_below(&chance, 400000);

				rdma_dcqcn_advance(&c, us * 1000000);
				rdma_dcqcn_count(&c, bytes);
				plain_sent(&p, bytes);
			}
			if (us % 2500 < 1500 &&
			    !fab_stream_below(&chance, 20 + 10 * seed)) {
				rdma_dcqcn_advance(&c, us * 1000000);
				rdma_dcqcn_lower(&c, us * 1000000);
				plain_report(&p);
			}
			n_hyper += p.by_time > 5 && p.by_bytes > 5;
			least = p.rate < least ? p.rate : least;
			rdma_dcqcn_advance(&c, us * 1000000);
			cr_assert_float_eq(c.share, p.rate, 1e-9, "seed %d, %d us",
					   (int)seed, (int)us);
			cr_assert_float_eq(c.alpha, p.alpha, 1e-9);
		}
	}
	cr_assert_lt(least, 0.01);
	cr_assert_gt(n_hyper, 1000 / TEST_SHARE);
}

/* Of the hosts at one switch all but the last send to that. */
static void all_to_last(struct fab_rdma_transfer t[HOSTS - 1], uint64_t bytes)
{
	for (uint32_t i = 0; i < HOSTS - 1; i++)
		t[i] = (struct fab_rdma_transfer){
			.source = i, .target = HOSTS - 1, .bytes = bytes};
}

/* Hosts at one switch, `n` of which send to another one. */
static struct fab_rdma_result run_incast(struct rdma_stage *st, const char *scheme,
					 enum fab_rdma_rate_control control,
					 const struct fab_rdma_transfer *t, uint32_t n,
					 uint32_t buffer, uint32_t ecn)
{
	rdma_stage_open(st, "gen:mesh:dims=2,hosts=9", "minhop", t, n);
	st->params.drop = FAB_SIM_TAIL;
	st->params.buffer = buffer;
	st->params.ecn = ecn;
	st->params.rate_control = control;
	st->params.rto_ps = MS;
	st->params.no_handshake = true;
	rdma_stage_net(st);
	return rdma_stage_run(st, rdma_scheme(scheme));
}

/* DCTCP: the queue is about the threshold and a packet or two for each sender, and never
 * empty: the cable is full. Without it the queue is the whole buffer. */
Test(rdma_rate, dctcp_holds_the_threshold)
{
	for (uint32_t n = 2; n <= 8; n *= 2)
		for (uint32_t k = 30; k <= 60; k += 30) {
			struct fab_rdma_transfer t[8];
			FAB_AUTO(rdma_stage_close) struct rdma_stage st;
			FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;
			double peak;

			all_to_last(t, 8 << 20);
			r = run_incast(&st, "gbn", FAB_RDMA_DCTCP, t, n, 4 << 20,
				       k * (MTU + HEADER));
			peak = (double)r.peak_queue_bytes / (MTU + HEADER);
			cr_assert_eq(r.n_done, n);
			cr_assert_eq(r.n.dropped, 0);
			cr_assert_gt(r.n.marked, 0);
			cr_assert_gt(peak, k, "%u senders: %g packets of %u", n, peak, k);
			cr_assert_lt(peak, k + 3 * n + 10, "%u senders: %g packets of %u",
				     n, peak, k);
			/* 100 Gbit/s less headers: 98.7 */
			cr_assert_gt(r.goodput_gbps, 97,
				     "%u senders, threshold %u: %g Gb/s", n, k,
				     r.goodput_gbps);
		}
}

/* What is trimmed is taken as marked: without other marks the window shrinks, too. */
Test(rdma_rate, trimmed_counts_as_marked)
{
	uint64_t trimmed[2];

	for (int adapts = 0; adapts < 2; adapts++) {
		struct fab_rdma_transfer t[8];
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;

		all_to_last(t, 4 << 20);
		rdma_stage_open(&st, "gen:mesh:dims=2,hosts=9", "minhop", t, 8);
		st.params.drop = FAB_SIM_TRIM;
		st.params.buffer = 20 * (MTU + HEADER);
		st.params.ecn = 1 << 20;
		st.params.rate_control = adapts ? FAB_RDMA_DCTCP : FAB_RDMA_STATIC;
		rdma_stage_net(&st);
		r = rdma_stage_run(&st, rdma_scheme("ssw"));
		cr_assert_eq(r.n_done, 8);
		cr_assert_eq(r.n.marked, 0);
		trimmed[adapts] = r.n.trimmed;
	}
	cr_assert_lt(2 * trimmed[1], trimmed[0], "%lu of %lu", trimmed[1], trimmed[0]);
}

/* DCQCN: a flow that has the cable alone gives it to those that begin later: they share
 * it alike, with a tenth of the cable left over, and none is lost. */
Test(rdma_rate, dcqcn_shares)
{
	for (uint32_t n = 2; n <= 8; n *= 2) {
		const uint64_t bytes = (400u << 20) / n, begin = 2ull * MS;
		const double ps = (double)bytes / MTU * WIRE;
		struct fab_rdma_transfer t[8];
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;
		double alone = (double)begin, fair;

		all_to_last(t, bytes);
		t[0].bytes += 25u << 20;
		for (uint32_t i = 1; i < n; i++)
			t[i].start_ps = begin;
		r = run_incast(&st, "gbn", FAB_RDMA_DCQCN, t, n, 8 << 20, 200 << 10);
		cr_assert_eq(r.n_done, n);
		cr_assert_eq(r.n.dropped, 0);
		/* alone until `begin`, all have about as much left then */
		fair = alone + n * ps;
		cr_assert_lt((double)r.fate[0].done_ps, 1.2 * fair);
		for (uint32_t i = 0; i < n; i++)
			cr_assert_float_eq((double)r.fate[i].done_ps /
						   (double)r.fate[n - 1].done_ps,
					   1, 0.05, "flow %u of %u: %g of %g us", i, n,
					   (double)r.fate[i].done_ps / 1e6, fair / 1e6);
	}
}

/* A window of w packets gives w packets a round trip, and never more in the queue. */
Test(rdma_rate, static_window)
{
	struct fab_rdma_transfer t[8];

	all_to_last(t, 1 << 20);
	for (size_t k = 0; k < fab_rdma_n_schemes; k++)
		for (uint32_t w = 1; w <= 8; w *= 2) {
			FAB_AUTO(rdma_stage_close) struct rdma_stage st;
			FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;
			const struct fab_rdma_scheme *s = fab_rdma_schemes[k];
			uint64_t packets = 0;

			rdma_stage_open(&st, "gen:mesh:dims=2,hosts=9", "minhop", t, 8);
			st.params.rate_control = FAB_RDMA_STATIC;
			st.params.cap = w;
			st.params.rto_ps = MS;
			rdma_stage_net(&st);
			r = rdma_stage_run(&st, s);
			cr_assert_eq(r.n_done, 8, "%s", s->name);
			if (!strcmp(s->name, "oracle"))
				continue;
			cr_assert_leq(r.peak_queue_bytes, 8 * w * (MTU + HEADER),
				      "%s, %u", s->name, w);
			/* each arrival is reported, by an answer or by itself */
			cr_assert_leq(r.n.packets[FAB_RDMA_MARK],
				      r.n.packets[FAB_RDMA_DATA]);
			if (!strcmp(s->name, "sack-ro")) {
				cr_assert_eq(r.n.packets[FAB_RDMA_MARK], 0);
				/* the cable is full for 680 us */
				cr_assert_lt(r.completion_max, 1400);
			}
			for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
				packets += r.n.packets[kind];
			cr_assert_geq(packets, 2 * r.n.packets[FAB_RDMA_DATA]);
		}
}

/* pull: after the first packets, which are trimmed, no queue grows and the cable of the
 * receiver is full, whatever the number of senders. */
Test(rdma_rate, pull_fills_the_cable)
{
	enum { CAP = 20, BUFFER = 30, PACKETS = 512 };

	for (uint32_t n = 2; n <= 8; n *= 2)
		for (unsigned k = 0; k < 2; k++) {
			struct fab_rdma_transfer t[8];
			FAB_AUTO(rdma_stage_close) struct rdma_stage st;
			FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;
			uint64_t first = n * CAP > BUFFER ? n * CAP - BUFFER : 0;

			all_to_last(t, PACKETS * MTU);
			rdma_stage_open(&st, "gen:mesh:dims=2,hosts=9", "minhop", t, n);
			st.params.drop = FAB_SIM_TRIM;
			st.params.buffer = BUFFER * (MTU + HEADER);
			st.params.rate_control = FAB_RDMA_PULL;
			st.params.cap = CAP;
			st.params.rto_ps = MS;
			st.params.no_handshake = true;
			rdma_stage_net(&st);
			r = rdma_stage_run(&st, rdma_scheme(k ? "rsw-vec" : "rsw"));
			cr_assert_eq(r.n_done, n);
			cr_assert_leq(r.n.trimmed, first + n, "%u senders: %lu", n,
				      r.n.trimmed);
			cr_assert(r.n.trimmed >= first / 2);
			cr_assert_eq(r.n.dropped, 0);
			cr_assert_leq(r.n.packets[FAB_RDMA_MARK],
				      r.n.packets[FAB_RDMA_DATA]);
			/* headers of trimmed packets, and the way there and back */
			cr_assert_lt((double)r.end_ps, 1.03 * n * PACKETS * WIRE,
				     "%u senders: %g us of %g", n, (double)r.end_ps / 1e6,
				     n * PACKETS * WIRE / 1e6);
		}
}

/* Nothing hangs where packets and reports are lost, whatever the scheme and the control;
 * the same by wheel and by heap. */
Test(rdma_rate, never_hangs)
{
	struct fab_rdma_transfer t[8];

	all_to_last(t, 200000);
	for (uint32_t i = 1; i < 8; i += 2)
		t[i].is_read = true;
	for (size_t k = 0; k < fab_rdma_n_schemes; k++)
		/* rc sends all again without end */
		for (unsigned c = 0; c < 10 && strcmp(fab_rdma_schemes[k]->name, "rc");
		     c++) {
			FAB_AUTO(rdma_stage_close) struct rdma_stage st;
			FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result a, b;
			const struct fab_rdma_scheme *s = fab_rdma_schemes[k];

			rdma_stage_open(&st, "gen:mesh:dims=2,hosts=9", "minhop", t, 8);
			st.params.rate_control = (enum fab_rdma_rate_control)(c % 5);
			st.params.drop = c < 5 ? FAB_SIM_TAIL : FAB_SIM_TRIM;
			st.params.buffer = 40000;
			st.params.ecn = 10000;
			st.params.bad.loss = 0.05;
			st.params.bad.drop_control = 0.05;
			rdma_stage_net(&st);
			a = rdma_stage_run(&st, s);
			cr_assert_eq(a.n_done, 8, "%s, %u", s->name, c);
			cr_assert_eq(a.n_wrong, 0);
			st.params.by_heap = true;
			b = rdma_stage_run(&st, s);
			rdma_assert_same(&a, &b);
		}
}
