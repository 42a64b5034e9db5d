/* SPDX-License-Identifier: BSD-2-Clause */
/* Reliability schemes: closed forms, exactly once, the same whatever the queue. */
#include "support/rdma_stage.h"
#include "support/test.h"

/* Without loss each scheme takes the handshake, N packets on the wire, the path and the
 * completion: to the tick, WRITE and READ, whatever the last packet's size, without
 * bounds on buffers and with room enough. */
Test(rdma, ideal)
{
	static const uint64_t sizes[] = {1, 2047, 2048, 2049, 262144, 1000001};

	for (size_t i = 0; i < 8 * FAB_COUNT(sizes); i++) {
		const struct fab_rdma_transfer t = {.target = 42,
						    .bytes = sizes[i / 8],
						    .is_read = i & 1,
						    .start_ps = 12345};
		OWN(rdma_stage) st;

		rdma_stage_open(&st, "torus:dims=4x4x4,hosts=1", "minhop", &t, 1);
		st.params.no_handshake = i & 2;
		st.params.buffer = i & 4 ? 1 << 20 : 0;
		st.params.rto_ps = 200000000;
		for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
			const char *scheme = fab_rdma_schemes[k]->name;
			OWN(fab_rdma_result) r = rdma_run(&st, scheme);
			uint64_t ideal = fab_rdma_ideal(st.net, 0);
			uint64_t took = r.fate[0].done_ps - t.start_ps;

			/* the asker of a READ is told by the sender, who has to hear it
			 * from the receiver */
			if (t.is_read && !strcmp(scheme, "ssw"))
				ideal += 2 * (8 * 10000 + 7 * 100000 + 30 * 80);
			/* the last answer may wait for the one before it on the wire */
			cr_assert_leq(took - ideal, r.n.packets[FAB_RDMA_ACK] ? 240 : 0,
				      "%s, %lu bytes", scheme, t.bytes);
			cr_assert_eq(r.n.retransmitted, 0);
		}
	}
}

/* By hand, 3 switches and 4 cables: at 100 Gbit/s, and at the lowest rate there may be,
 * 800 times as long on the wire. */
Test(rdma, ideal_by_hand)
{
	const uint64_t path = 4 * 10000 + 3 * 100000;

	for (uint64_t byte = 80; byte <= 64000; byte *= 800) {
		uint64_t ideal = 4 * path + (3 * 30 + 3 * 2074) * byte;
		OWN(rdma_stage) st;
		OWN(fab_rdma_result) r = {0};

		rdma_stage_one(&st, "mesh:dims=3,hosts=1", "minhop", 2, 2048, 3);
		st.params.rate_gbps = 8000. / (double)byte;
		st.params.rto_ps = UINT64_C(1000000000000);
		r = rdma_run(&st, "rsw");
		cr_assert_eq(fab_rdma_round_trip(st.net, 0), 2 * path + 2104 * byte);
		cr_assert_eq(fab_rdma_ideal(st.net, 0), ideal);
		cr_assert_eq(r.fate[0].done_ps, ideal);
	}
}

/* What nobody gives fits into what may be given, however long the transfers take. */
Test(rdma, times_that_fit)
{
	const uint64_t ms = 1000000000;
	struct fab_rdma_load load = {.most_ps = 3 * ms, .alone_ps = ms};

	cr_assert_eq(fab_rdma_fitting_timeout(&load, ms), 4 * ms);
	cr_assert_eq(fab_rdma_fitting_timeout(&load, 5 * ms), 5 * ms);
	cr_assert_eq(fab_rdma_late_end(&load, ms), 2000 * ms);
	cr_assert_eq(fab_rdma_late_end(&load, 3 * ms), 3000 * ms);
	load = (struct fab_rdma_load){.most_ps = ms, .alone_ps = ms / 1000};
	cr_assert_eq(fab_rdma_late_end(&load, 1), 50 * ms);
	load = (struct fab_rdma_load){.most_ps = 1, .alone_ps = UINT64_MAX};
	cr_assert_eq(fab_rdma_late_end(&load, UINT64_MAX), FAB_RDMA_END_MAX_PS);
	load = (struct fab_rdma_load){.most_ps = FAB_RDMA_TIME_MAX_PS, .alone_ps = 1};
	cr_assert_eq(fab_rdma_fitting_timeout(&load, 1), FAB_RDMA_TIME_MAX_PS);
}

/* rc needs (1 - p)^-N passes; what repairs single packets N p / (1 - p) copies. */
Test(rdma, closed_forms)
{
	static const char *const schemes[] = {"rc", "rsw", "oracle", "sack-ro"};
	static const struct {
		double loss;
		uint32_t n;
		double passes;
	} of[] = {{0.005, 512, 13.02}, {0.001, 128, 1.1366}};

	for (size_t i = 0; i < FAB_COUNT(of) * 4; i++) {
		const double p = of[i / 4].loss, n = of[i / 4].n;
		const double wanted = i % 4 ? n * p / (1 - p) : of[i / 4].passes;
		struct fab_tally seen = {0};
		OWN(rdma_stage) st;

		rdma_stage_one(&st, "torus:dims=4x4x4,hosts=1", "minhop", 42, 512,
			       of[i / 4].n);
		st.params.window = 1024;
		st.params.multi = FAB_RDMA_MULTI_SAME;
		st.params.bad.loss = p;
		for (uint32_t k = 0; k < test_some(600, 3, 40); k++) {
			OWN(fab_rdma_result) r = {0};

			st.params.seed = fab_rdma_run_seed(7, k);
			r = rdma_run(&st, schemes[i % 4]);
			/* of rc the pass that is asked for, as far as it is sent */
			fab_tally_add(&seen, (double)(i % 4 ? r.n.retransmitted
							    : 1 + r.n.multi));
		}
		cr_assert_float_eq(fab_tally_mean(&seen), wanted,
				   3 * fab_tally_deviation(&seen) / sqrt((double)seen.n),
				   "%s, N %g", schemes[i % 4], n);
	}
}

/* Endless bad luck: small MSGIDs, few contexts, all at once. */
static void make_hard(struct rdma_stage *st, uint64_t seed)
{
	st->params.mtu = 256;
	st->params.window = 1 + (uint32_t)(seed % 40);
	st->params.contexts = 1 + (uint32_t)(seed / 3 % 4);
	st->params.concurrency = (uint32_t)(seed / 5 % 4);
	st->params.retry = (enum fab_rdma_retry)(seed % 3);
	st->params.msgid_bits = 8 + (unsigned)(seed % 13);
	st->params.with_memory = true;
	st->params.rto_ps = 10000000;
	st->params.retry_ps = 3000000;
	st->params.rto_low_ps = st->params.rto_high_ps = 15000000;
	st->params.bad.loss = 0.2 * (double)(seed % 5) / 4;
	st->params.bad.drop_control = 0.05 * (double)(seed / 2 % 3) / 2;
	st->params.bad.corrupt = seed % 4 == 3 ? 0.1 : 0;
	st->params.bad.delayed = 0.3;
	/* 10 W packets of 282 bytes at 100 Gbit/s */
	st->params.bad.delay_ps = (uint64_t)st->params.window * 10 * 282 * 80;
	st->params.bad.burst = seed % 7 == 0 ? 4 : 0;
	st->params.plus = (unsigned)seed % (FAB_RDMA_PLUS + 1);
	st->params.multi = (enum fab_rdma_multi)(seed / 4 % 2);
	st->params.seed = seed;
}

enum { FEW = 96 };

/* Loss to 20 %, of control 5 %, reordering to 10 W, contexts that are reused at once:
 * the bytes of each transfer are there once, nothing hangs; by wheel and by heap. In full
 * 10^5 transfers by RESENDs with vectors, half as many by all other schemes. */
Test(rdma, exactly_once)
{
	const uint64_t n_seeds = test_some(1050, 8, 14);
	uint64_t again = 0;

	for (uint64_t seed = 0; seed < n_seeds; seed++) {
		struct fab_rdma_transfer t[FEW];
		OWN(rdma_stage) st;

		for (uint32_t i = 0; i < FEW; i++) {
			uint32_t from = (uint32_t)((seed * 7 + i * 5) % 6);

			t[i] = (struct fab_rdma_transfer){
				.source = from,
				.target = (uint32_t)((from + 1 + (seed + i * i) % 3) % 6),
				.bytes = 1 + (seed * 977 + i * 1931) % 9000,
				.is_read = (seed + i) % 4 == 0,
				.start_ps = (uint64_t)i * 100000};
		}
		rdma_stage_open(&st, "mesh:dims=3x2,hosts=1", "minhop", t, FEW);
		make_hard(&st, seed);
		for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
			const struct fab_rdma_scheme *s = fab_rdma_schemes[k];
			OWN(fab_rdma_result) r = {0};

			/* 17 has no divisor in common with those in make_hard(); rc: 35
			 * packets of which each one in 5 is lost or damaged: for ever */
			if (s == &fab_rdma_scheme_rsw_vec)
				r = rdma_run(&st, s->name);
			else if (seed % 17 == 0 &&
				 (s != &fab_rdma_scheme_rc ||
				  st.params.bad.loss + st.params.bad.corrupt <= 0.1))
				r = rdma_run_twice(&st, s->name);
			again += r.n.retransmitted;
		}
	}
	cr_assert_gt(again, n_seeds * FEW);
}

/* In order a gap is a loss: nothing is sent twice for nothing while no timer expires and
 * the window holds the transfer, and one RESEND asks for several. */
Test(rdma, vectors_ask_for_losses)
{
	uint64_t without_timer = 0, resends = 0, again = 0;
	OWN(rdma_stage) st;

	rdma_stage_one(&st, "mesh:dims=3x2,hosts=1", "minhop", 5, 512, 128);
	st.params.bad.loss = 0.05;
	for (st.params.seed = 1; st.params.seed < 400; st.params.seed++) {
		OWN(fab_rdma_result) r = rdma_run(&st, "rsw-vec");

		if (!r.n.timeouts) {
			cr_assert_eq(r.n.spurious, 0);
			cr_assert_eq(r.n.retransmitted, r.n.lost[FAB_RDMA_DATA]);
			without_timer++;
		}
		resends += r.n.packets[FAB_RDMA_RESEND];
		again += r.n.retransmitted;
	}
	cr_assert(without_timer > 200 && again > resends);
}

/* Time of rsw-vec / time of the oracle, mean of some runs; no copy of a RESEND waits for
 * a timer unless `timers` may expire. */
static double vectors_over_oracle(struct rdma_stage *st, uint32_t runs, uint32_t timers)
{
	double own = 0, best = 0;

	for (st->params.seed = 1; st->params.seed <= runs; st->params.seed++) {
		OWN(fab_rdma_result) a = rdma_run(st, "rsw-vec");
		OWN(fab_rdma_result) b = rdma_run(st, "oracle");

		cr_assert_leq(a.n.timeouts, timers, "%lu timeouts", a.n.timeouts);
		own += a.completion_mean;
		best += b.completion_mean;
	}
	return own / best;
}

/* What is lost again while packets beyond the window are dropped is asked for without a
 * timer; after an outage what is beyond the window follows at once; RESENDs that overtake
 * each other all count. */
Test(rdma, vectors_beyond_the_window)
{
	const struct fab_rdma_outage outage = {
		.cable = FAB_NONE, .from_ps = 10000000, .until_ps = 50000000};
	struct fab_rdma_transfer far[64];
	OWN(rdma_stage) st;

	rdma_stage_one(&st, "torus:dims=4x4x4,hosts=1", "dor", 42, 512, 2048);
	st.params.bad.loss = 0.02;
	cr_expect_lt(vectors_over_oracle(&st, 20, 2), 1.15);
	st.params.bad.loss = 0;
	st.params.bad.outage = &outage;
	st.params.bad.n_outages = 1;
	cr_expect_lt(vectors_over_oracle(&st, 1, 3), 1.02);
	rdma_stage_close(&st);
	for (uint32_t i = 0; i < 64; i++)
		far[i] = (struct fab_rdma_transfer){
			.source = i, .target = (i + 21) % 64, .bytes = 512 * 512};
	rdma_stage_open(&st, "torus:dims=4x4x4,hosts=1", "dor", far, 64);
	st.params.mtu = 512;
	st.params.window = 32;
	st.params.rto_ps = 200000000;
	st.params.routing = FAB_SIM_SPRAY;
	cr_expect_lt(vectors_over_oracle(&st, 3, 0), 4);
}

/* Three different packets lost in a row: consecutive timeouts lead to a RESEND of all,
 * those of the same packet do not. */
Test(rdma, multi_packet_resend)
{
	const struct fab_rdma_outage outage = {
		.cable = FAB_NONE, .from_ps = 2000000, .until_ps = 3000000};
	OWN(rdma_stage) st;

	rdma_stage_one(&st, "mesh:dims=3x2,hosts=1", "minhop", 5, 512, 100);
	st.params.bad.outage = &outage;
	st.params.bad.n_outages = 1;
	for (int same = 0; same < 2; same++) {
		OWN(fab_rdma_result) r = {0};

		st.params.multi = same ? FAB_RDMA_MULTI_SAME : FAB_RDMA_MULTI_CONSECUTIVE;
		r = rdma_run(&st, "rsw");
		cr_assert_eq(r.n.multi > 0, !same);
		cr_assert_eq(r.n.timeouts,
			     same ? r.n.lost[FAB_RDMA_DATA] : st.params.singles + 1);
	}
}

/* A damaged packet is asked for at once: no timer expires, and as many copies are sent as
 * packets were damaged, more where a gap is asked for, too; all behind it under gbn,
 * whole buffers under ssw, whole transfers under rc. One that passes the check is wrong
 * data, with or without memory: in a share of transfers of 1 - (1 - p)^packets where
 * nothing is checked, half of that by a check of one bit and no more than few packets,
 * none by 64 bits. What is sent again as a whole replaces it. */
Test(rdma, damaged)
{
	static const struct {
		const char *name;
		double wrong;	    /* of 1000 transfers by one bit */
		double least, most; /* copies for each damaged packet */
		bool has_timeouts;  /* the last packet is missed by the sender only */
	} schemes[] = {
		{"rsw", 182, 1, 1},	    {"oracle", 182, 1, 1},
		{"rsw-vec", 182, 1.1, 2.2}, {"rsw+", 182, 1.1, 2},
		{"irn", 182, 1, 1, true},   {"gbn", 182, 5, 20, true},
		{"ssw", 160, 5, 20},	    {"rc", 160, 5, 20},
	};
	static const unsigned bits[] = {0, 1, 64};
	const uint32_t n_seeds = test_some(1000, 4, 60);
	const double share = 1000. / n_seeds, deviation = sqrt(share);
	OWN(rdma_stage) st;

	rdma_stage_one(&st, "mesh:dims=3x2,hosts=1", "minhop", 5, 512, 20);
	st.one.bytes--;
	st.params.rto_ps = 50000000;
	st.params.bad.corrupt = 0.02;
	for (size_t k = 0; k < 3 * FAB_COUNT(schemes); k++) {
		const char *name = schemes[k / 3].name;
		/* 1 - 0.98^20 and 1 - 0.99^20, four deviations */
		const double wanted[] = {332, schemes[k / 3].wrong, 0};
		const double margin[] = {60 * deviation, 50 * deviation, 0};
		double wrong = 0, damaged = 0, again = 0;

		st.params.bad.check_bits = bits[k % 3];
		for (st.params.seed = 1; st.params.seed <= n_seeds; st.params.seed++) {
			OWN(fab_rdma_result) r = {0}, same = {0};

			st.params.with_memory = false;
			r = rdma_try(&st, name);
			st.params.with_memory = true;
			same = rdma_try(&st, name);
			cr_assert(r.n_done == 1 && r.n_wrong == same.n_wrong, "%s", name);
			cr_assert(r.n.timeouts == 0 || schemes[k / 3].has_timeouts, "%s",
				  name);
			wrong += r.n_wrong;
			damaged += (double)r.n.damaged;
			again += (double)r.n.retransmitted;
		}
		cr_assert_float_eq(wrong * share, wanted[k % 3], margin[k % 3], "%s: %g",
				   name, wrong);
		cr_assert_eq(damaged > 0, k % 3 > 0);
		cr_assert(again >= schemes[k / 3].least * damaged &&
				  again <= schemes[k / 3].most * damaged,
			  "%s", name);
	}
}

/* The checker sees what is wrong: a MSGID of one bit, contexts and slots reused while
 * copies are held up for long. */
Test(rdma, checker_sees)
{
	struct fab_rdma_transfer t[FEW];
	OWN(rdma_stage) st;

	for (uint32_t i = 0; i < FEW; i++)
		t[i] = (struct fab_rdma_transfer){.target = 1, .bytes = 2000};
	rdma_stage_open(&st, "mesh:dims=2,hosts=1", "minhop", t, FEW);
	st.params.mtu = 256;
	st.params.concurrency = 1;
	st.params.with_memory = true;
	st.params.rto_ps = 2000000;
	st.params.bad.delayed = 0.2;
	st.params.bad.delay_ps = 30000000;
	for (unsigned bits = 1; bits <= 20; bits += 19) {
		OWN(fab_rdma_result) r = {0};

		st.params.msgid_bits = bits;
		r = rdma_try(&st, "rsw");
		cr_assert_eq(r.n_wrong > 0, bits == 1);
		cr_assert_gt(r.n.zombies, 0);
	}
}
