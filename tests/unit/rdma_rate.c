/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rate control: DCQCN's steps against a plain account of them, microsecond by
 * microsecond; laws of DCTCP and DCQCN; windows; and that no packet hangs.
 */
#include "event/stream.h"
#include "rdma/rate.h"
#include "support/rdma_stage.h"
#include "support/test.h"

enum { MTU = 2048, WIRE = MTU + 26, PS = WIRE * 80, SENDERS = 8, MS = 1000000000 };

/* By the paper: timers that are counted down, figures 7 to 10. */
struct plain {
	double rate, target, alpha;
	int us, by_time, by_bytes; /* us: until both timers expire */
	long bytes;
	bool is_limited;
};

static void plain_raise(struct plain *p)
{
	int most = p->by_time > p->by_bytes ? p->by_time : p->by_bytes;
	int least = p->by_time < p->by_bytes ? p->by_time : p->by_bytes;

	if (most >= 5)
		p->target = fmin(1, p->target + (least > 5 ? 0.01 * (least - 5) : 0.001));
	p->rate = (p->rate + p->target) / 2;
}

static void plain_us(struct plain *p)
{
	if (!p->is_limited || --p->us > 0)
		return;
	p->us = 55;
	p->alpha = p->alpha * 255 / 256;
	p->by_time++;
	plain_raise(p);
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
	p->rate = fmax(0.001, p->rate * (1 - p->alpha / 2));
	p->alpha = p->alpha * 255 / 256 + 1.0 / 256;
	p->is_limited = true;
	p->us = 55;
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
				uint32_t n = (uint32_t)fab_stream_below(&chance, 400000);

				rdma_dcqcn_advance(&c, us * 1000000);
				rdma_dcqcn_count(&c, n);
				plain_sent(&p, n);
			}
			if (us % 2500 < 1500 &&
			    !fab_stream_below(&chance, 20 + 10 * seed)) {
				rdma_dcqcn_advance(&c, us * 1000000);
				rdma_dcqcn_lower(&c, us * 1000000);
				plain_report(&p);
			}
			n_hyper += p.by_time > 5 && p.by_bytes > 5;
			least = fmin(least, p.rate);
			rdma_dcqcn_advance(&c, us * 1000000);
			cr_assert_float_eq(c.share, p.rate, 1e-9, "seed %lu, %lu us",
					   seed, us);
			cr_assert_float_eq(c.alpha, p.alpha, 1e-9);
		}
	}
	cr_assert(least < 0.01 && n_hyper > 1000 / TEST_SHARE);
}

static struct fab_rdma_transfer incast[SENDERS];

/* Of 9 hosts at one switch n send to the last; buffers hold so many packets. */
static void open_incast(struct rdma_stage *st, uint32_t n, uint64_t bytes,
			enum fab_sim_drop drop, uint32_t packets,
			enum fab_rdma_rate_control control)
{
	for (uint32_t i = 0; i < SENDERS; i++)
		incast[i] = (struct fab_rdma_transfer){
			.source = i, .target = SENDERS, .bytes = bytes};
	rdma_stage_open(st, "mesh:dims=2,hosts=9", "minhop", incast, n);
	st->params.drop = drop;
	st->params.buffer = packets * WIRE;
	st->params.rate_control = control;
	st->params.rto_ps = MS;
	st->params.no_handshake = true;
}

/* DCTCP: the queue is about the threshold and a packet or two for each sender, and never
 * empty: the cable is full. Without it the queue is the whole buffer. */
Test(rdma_rate, dctcp_holds_the_threshold)
{
	for (uint32_t n = 2; n <= 8; n *= 2)
		for (uint32_t k = 30; k <= 60; k += 30) {
			OWN(rdma_stage) st;
			OWN(fab_rdma_result) r = {0};

			open_incast(&st, n, 8 << 20, FAB_SIM_TAIL, 2000, FAB_RDMA_DCTCP);
			st.params.ecn = k * WIRE;
			r = rdma_run(&st, "gbn");
			cr_assert(r.n.dropped == 0 && r.n.marked > 0);
			cr_assert(r.peak_queue_bytes > k * WIRE &&
					  r.peak_queue_bytes < (k + 3 * n + 10) * WIRE,
				  "%u senders", n);
			/* 100 Gbit/s less headers: 98.7 */
			cr_assert_gt(r.goodput_gbps, 97, "%u senders", n);
		}
}

/* What is trimmed is taken as marked: without other marks the window shrinks, too. */
Test(rdma_rate, trimmed_counts_as_marked)
{
	uint64_t trimmed[2];

	for (int adapts = 0; adapts < 2; adapts++) {
		OWN(rdma_stage) st;
		OWN(fab_rdma_result) r = {0};

		open_incast(&st, 8, 4 << 20, FAB_SIM_TRIM, 20,
			    adapts ? FAB_RDMA_DCTCP : FAB_RDMA_STATIC);
		st.params.ecn = 1 << 20;
		r = rdma_run(&st, "ssw");
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
		/* alone until `begin`, all have about as much left then */
		const double fair = (double)begin + n * ((double)bytes / MTU * PS);
		OWN(rdma_stage) st;
		OWN(fab_rdma_result) r = {0};

		open_incast(&st, n, bytes, FAB_SIM_TAIL, 4000, FAB_RDMA_DCQCN);
		st.params.ecn = 200 << 10;
		incast[0].bytes += 25u << 20;
		for (uint32_t i = 1; i < n; i++)
			incast[i].start_ps = begin;
		r = rdma_run(&st, "gbn");
		cr_assert(r.n.dropped == 0 && (double)r.fate[0].done_ps < 1.2 * fair);
		for (uint32_t i = 0; i < n; i++) {
			double share =
				(double)r.fate[i].done_ps / (double)r.fate[n - 1].done_ps;

			cr_assert_float_eq(share, 1, 0.05, "flow %u of %u", i, n);
		}
	}
}

/* A window of w packets gives w packets a round trip, and never more in the queue. */
Test(rdma_rate, static_window)
{
	for (size_t k = 0; k < fab_rdma_n_schemes; k++)
		for (uint32_t w = 1; w <= 8; w *= 2) {
			const char *scheme = fab_rdma_schemes[k]->name;
			OWN(rdma_stage) st;
			OWN(fab_rdma_result) r = {0};
			uint64_t packets = 0;

			open_incast(&st, 8, 1 << 20, FAB_SIM_LOSSLESS, 0,
				    FAB_RDMA_STATIC);
			st.params.cap = w;
			r = rdma_run(&st, scheme);
			if (!strcmp(scheme, "oracle"))
				continue;
			cr_assert_leq(r.peak_queue_bytes, 8 * w * WIRE, "%s", scheme);
			/* each arrival is reported, by an answer or by itself */
			cr_assert_leq(r.n.packets[FAB_RDMA_MARK],
				      r.n.packets[FAB_RDMA_DATA]);
			if (!strcmp(scheme, "sack-ro")) {
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

	for (uint32_t i = 0; i < 6; i++) {
		const uint32_t n = 2 << i / 2, first = n * CAP - BUFFER;
		OWN(rdma_stage) st;
		OWN(fab_rdma_result) r = {0};

		open_incast(&st, n, PACKETS * MTU, FAB_SIM_TRIM, BUFFER, FAB_RDMA_PULL);
		st.params.cap = CAP;
		r = rdma_run(&st, i & 1 ? "rsw-vec" : "rsw");
		cr_assert(r.n.trimmed <= first + n && r.n.trimmed >= first / 2,
			  "%u senders: %lu", n, r.n.trimmed);
		cr_assert_eq(r.n.dropped, 0);
		cr_assert_leq(r.n.packets[FAB_RDMA_MARK], r.n.packets[FAB_RDMA_DATA]);
		/* headers of trimmed packets, and the way there and back */
		cr_assert_lt((double)r.end_ps, 1.03 * n * PACKETS * PS, "%u senders", n);
	}
}

/* Nothing hangs where packets and reports are lost, whatever the scheme and the control;
 * the same by wheel and by heap. */
Test(rdma_rate, never_hangs)
{
	for (size_t k = 0; k < fab_rdma_n_schemes * 10; k++) {
		const struct fab_rdma_scheme *s = fab_rdma_schemes[k / 10];
		OWN(rdma_stage) st = {0};
		OWN(fab_rdma_result) r = {0};

		if (s == &fab_rdma_scheme_rc) /* sends all again without end */
			continue;
		open_incast(&st, 8, 200000, k % 10 < 5 ? FAB_SIM_TAIL : FAB_SIM_TRIM, 19,
			    (enum fab_rdma_rate_control)(k % 5));
		for (uint32_t i = 1; i < 8; i += 2)
			incast[i].is_read = true;
		st.params.no_handshake = false;
		st.params.rto_ps = 20000000;
		st.params.ecn = 10000;
		st.params.bad.loss = 0.05;
		st.params.bad.drop_control = 0.05;
		r = rdma_run_twice(&st, s->name);
	}
}
