/* SPDX-License-Identifier: BSD-2-Clause */
/* Reliability schemes: closed forms, exactly once, the same whatever the queue. */
#include "rdma/choice.h"
#include "sim/sim.h"
#include "support/rdma_stage.h"
#include "support/test.h"

/* Without loss each scheme takes the handshake, N packets on the wire, the path and the
 * completion: to the tick, WRITE and READ, whatever the last packet's size. */
Test(rdma, ideal)
{
	static const uint64_t sizes[] = {1, 2047, 2048, 2049, 262144, 1000001};

	for (size_t i = 0; i < 4 * FAB_COUNT(sizes); i++) {
		struct fab_rdma_transfer t = {.source = 0,
					      .target = 42,
					      .bytes = sizes[i / 4],
					      .is_read = i & 1,
					      .start_ps = 12345};
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;

		rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "minhop", &t, 1);
		st.params.no_handshake = i & 2;
		st.params.rto_ps = 200000000;
		rdma_stage_net(&st);
		for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
			FAB_AUTO(fab_rdma_result_fini)
			struct fab_rdma_result r =
				rdma_stage_run(&st, fab_rdma_schemes[k]);
			uint64_t ideal = fab_rdma_ideal(st.net, 0), took;

			cr_assert_eq(r.n_done, 1);
			/* ssw: the asker of a READ is told by the sender, who has to hear
			 * it from the receiver */
			if (t.is_read && !strcmp(fab_rdma_schemes[k]->name, "ssw"))
				ideal += 2 * (8 * 10000 + 7 * 100000 + 30 * 80);
			/* the last answer may wait for the one before it on the wire */
			took = r.fate[0].done_ps - t.start_ps;
			cr_assert(took >= ideal &&
					  took <= ideal + (r.n.packets[FAB_RDMA_ACK] ? 240
										     : 0),
				  "%s, %lu bytes: %lu, %lu", fab_rdma_schemes[k]->name,
				  t.bytes, took, ideal);
			cr_assert_eq(r.n.retransmitted, 0);
		}
	}
}

/* By hand: 4 hops between switches, so 5 switches and 6 cables; 100 Gbit/s. */
Test(rdma, ideal_by_hand)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 2, .bytes = 3 * 2048};
	const uint64_t cable = 10000, sw = 100000, control = 30 * 80, data = 2074 * 80;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;
	uint64_t path;

	rdma_stage_open(&st, "gen:mesh:dims=3,hosts=1", "minhop", &t, 1);
	rdma_stage_net(&st);
	/* 3 switches, 4 cables: the tail's wire time at the end only */
	path = 4 * cable + 3 * sw;
	cr_assert_eq(fab_rdma_round_trip(st.net, 0), 2 * path + data + control);
	cr_assert_eq(fab_rdma_ideal(st.net, 0), 4 * path + 3 * control + 3 * data);
}

/* The slowest cables that there may be: 800 times as long on the wire. */
Test(rdma, slowest_cables)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 2, .bytes = 3 * 2048};
	const uint64_t byte = 64000, path = 4 * 10000 + 3 * 100000;
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3,hosts=1", "minhop", &t, 1);
	st.params.rate_gbps = FAB_SIM_GBPS_MIN;
	st.params.all_rates = true;
	st.params.rto_ps = UINT64_C(1000000000000);
	rdma_stage_net(&st);
	r = rdma_stage_run(&st, rdma_scheme("rsw"));
	cr_assert_eq(r.fate[0].done_ps, 4 * path + (3 * 30 + 3 * 2074) * byte);
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

/* How often it was asked, until then. */
static bool is_over_at_third(void *context)
{
	return ++*(int *)context >= 3;
}

/* Whoever does not want the result any more is heard while it is simulated. */
Test(rdma, is_stopped)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 64 << 20};
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};
	struct fab_rdma_load load;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;
	int n_asked = 0;

	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", &t, 1);
	st.params.is_over = is_over_at_third;
	st.params.is_over_context = &n_asked;
	rdma_stage_net(&st);
	cr_assert_eq(fab_rdma_run(st.net, &st.params, rdma_scheme("rsw"), &r, NULL),
		     -ECANCELED);
	cr_assert_eq(n_asked, 3);
	n_asked = 0;
	cr_assert_eq(fab_rdma_load(st.net, &st.params, 1, &load, NULL), -ECANCELED);
	cr_assert_eq(n_asked, 3);
}

struct mean {
	double mean, error; /* standard error */
};

static struct mean mean_of(const struct fab_tally *t)
{
	return (struct mean){fab_tally_mean(t),
			     fab_tally_deviation(t) / sqrt((double)t->n)};
}

/* rc needs (1 - p)^-N passes; what repairs single packets N p / (1 - p) copies. */
Test(rdma, closed_forms)
{
	static const struct {
		double loss;
		uint32_t n;
		double rounds;
	} of[] = {{0.005, 512, 13.02}, {0.001, 128, 1.1366}};
	const uint32_t n_runs = test_some(600, 3, 40);

	for (size_t i = 0; i < FAB_COUNT(of); i++) {
		struct fab_rdma_transfer t = {
			.source = 0, .target = 42, .bytes = (uint64_t)of[i].n * 512};
		struct fab_tally rounds = {0}, copies[3] = {{0}};
		static const char *const name[] = {"rsw", "oracle", "sack-ro"};
		struct mean m;
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;

		rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "minhop", &t, 1);
		st.params.mtu = 512;
		st.params.window = 1024;
		st.params.multi = FAB_RDMA_MULTI_SAME;
		st.params.bad.loss = of[i].loss;
		rdma_stage_net(&st);
		for (uint32_t k = 0; k < n_runs; k++) {
			struct fab_rdma_result r;

			st.params.seed = fab_rdma_run_seed(7, k);
			r = rdma_stage_run(&st, rdma_scheme("rc"));
			/* the pass that is asked for, as far as it is sent */
			fab_tally_add(&rounds, 1 + (double)r.n.multi);
			fab_rdma_result_fini(&r);
			for (size_t s = 0; s < FAB_COUNT(name); s++) {
				r = rdma_stage_run(&st, rdma_scheme(name[s]));
				cr_assert_eq(r.n_done, 1);
				fab_tally_add(&copies[s], (double)r.n.retransmitted);
				fab_rdma_result_fini(&r);
			}
		}
		m = mean_of(&rounds);
		cr_assert_lt(fabs(m.mean - of[i].rounds), 3 * m.error, "%g +- %g", m.mean,
			     m.error);
		for (size_t s = 0; s < FAB_COUNT(name); s++) {
			double expected = of[i].n * of[i].loss / (1 - of[i].loss);

			m = mean_of(&copies[s]);
			cr_assert_lt(fabs(m.mean - expected), 3 * m.error,
				     "%s: %g +- %g, not %g", name[s], m.mean, m.error,
				     expected);
		}
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

static void draw_transfers(struct fab_rdma_transfer *t, uint32_t n_ends, uint64_t seed)
{
	for (uint32_t i = 0; i < FEW; i++) {
		t[i].source = (uint32_t)((seed * 7 + i * 5) % n_ends);
		t[i].target = (uint32_t)((t[i].source + 1 + (seed + i * i) % 3) % n_ends);
		t[i].bytes = 1 + (seed * 977 + i * 1931) % 9000;
		t[i].is_read = (seed + i) % 4 == 0;
		t[i].start_ps = (uint64_t)i * 100000;
	}
}

/* Loss to 20 %, of control 5 %, reordering to 10 W, contexts that are reused at once:
 * the bytes of each transfer are there once, nothing hangs; by wheel and by heap. */
Test(rdma, exactly_once)
{
	const uint32_t n_seeds = test_some(24, 4, 1);
	uint64_t transfers = 0;

	/* 13 has no divisor in common with the divisors in make_hard() */
	for (uint64_t seed = 13; seed <= 13 * n_seeds; seed += 13) {
		struct fab_rdma_transfer t[FEW];
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;

		draw_transfers(t, 6, seed);
		rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", t, FEW);
		make_hard(&st, seed);
		rdma_stage_net(&st);
		for (size_t k = 0; k < fab_rdma_n_schemes; k++) {
			FAB_AUTO(fab_rdma_result_fini)
			struct fab_rdma_result a = {0}, b = {0};

			/* 35 packets of which each one in 5 is lost or damaged: for ever */
			if (!strcmp(fab_rdma_schemes[k]->name, "rc") &&
			    st.params.bad.loss + st.params.bad.corrupt > 0.1)
				continue;
			st.params.by_heap = false;
			a = rdma_stage_run(&st, fab_rdma_schemes[k]);
			cr_assert_eq(a.n_hung, 0, "%s, seed %lu: %u hang, to %lu ps",
				     fab_rdma_schemes[k]->name, seed, a.n_hung, a.end_ps);
			cr_assert_eq(a.n_wrong, 0, "%s, seed %lu: %u wrong",
				     fab_rdma_schemes[k]->name, seed, a.n_wrong);
			transfers += a.n_done;
			st.params.by_heap = true;
			b = rdma_stage_run(&st, fab_rdma_schemes[k]);
			rdma_assert_same(&a, &b);
		}
	}
	cr_assert_gt(transfers, 600 * n_seeds);
}

/* Hostile transfers by RESENDs with vectors, 10^5 of them in full: no byte is missing or
 * written by another. */
Test(rdma, exactly_once_by_vectors)
{
	const uint64_t n_all = test_some(100000, 8, 1);
	uint64_t transfers = 0, multi = 0;

	for (uint64_t seed = 0; transfers < n_all; seed++) {
		struct fab_rdma_transfer t[FEW];
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result a = {0};
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;

		draw_transfers(t, 6, seed);
		rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", t, FEW);
		make_hard(&st, seed);
		rdma_stage_net(&st);
		a = rdma_stage_run(&st, rdma_scheme("rsw-vec"));
		cr_assert_eq(a.n_hung, 0, "seed %lu: %u hang", seed, a.n_hung);
		cr_assert_eq(a.n_wrong, 0, "seed %lu: %u wrong", seed, a.n_wrong);
		transfers += a.n_done;
		multi += a.n.retransmitted;
	}
	cr_assert_gt(multi, n_all);
}

/* In order a gap is a loss: nothing is sent twice for nothing while no timer expires and
 * the window holds the transfer, and one RESEND asks for several. */
Test(rdma, vectors_ask_for_losses)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 128 * 512};
	uint32_t without_timer = 0, resends = 0, again = 0;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.bad.loss = 0.05;
	rdma_stage_net(&st);
	for (st.params.seed = 1; st.params.seed < 400; st.params.seed++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result r = rdma_stage_run(&st, rdma_scheme("rsw-vec"));

		cr_assert_eq(r.n_done, 1);
		if (!r.n.timeouts) {
			cr_assert_eq(r.n.spurious, 0);
			cr_assert_eq(r.n.retransmitted, r.n.lost[FAB_RDMA_DATA]);
			without_timer++;
		}
		resends += (uint32_t)r.n.packets[FAB_RDMA_RESEND];
		again += (uint32_t)r.n.retransmitted;
	}
	cr_assert_gt(without_timer, 200);
	cr_assert_gt(again, resends);
}

/* Time of rsw-vec / time of the oracle, mean of some runs; no copy of a RESEND waits for
 * a timer unless `timers` may expire. */
static double vectors_over_oracle(struct rdma_stage *st, uint32_t runs, uint32_t timers)
{
	double own = 0, best = 0;

	for (st->params.seed = 1; st->params.seed <= runs; st->params.seed++) {
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result a = rdma_stage_run(st, rdma_scheme("rsw-vec"));
		FAB_AUTO(fab_rdma_result_fini)
		struct fab_rdma_result b = rdma_stage_run(st, rdma_scheme("oracle"));

		cr_assert(a.n_hung == 0 && a.n_wrong == 0);
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
	struct fab_rdma_transfer t = {.source = 0, .target = 42, .bytes = 2048 * 512};
	struct fab_rdma_outage outage = {
		.cable = FAB_NONE, .from_ps = 10000000, .until_ps = 50000000};
	struct fab_rdma_transfer far[64];
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", &t, 1);
	st.params.mtu = 512;
	st.params.bad.loss = 0.02;
	rdma_stage_net(&st);
	cr_expect_lt(vectors_over_oracle(&st, 20, 2), 1.15);
	st.params.bad.loss = 0;
	st.params.bad.outage = &outage;
	st.params.bad.n_outages = 1;
	cr_expect_lt(vectors_over_oracle(&st, 1, 3), 1.02);
	rdma_stage_close(&st);
	for (uint32_t i = 0; i < 64; i++)
		far[i] = (struct fab_rdma_transfer){
			.source = i, .target = (i + 21) % 64, .bytes = 512 * 512};
	rdma_stage_open(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", far, 64);
	st.params.mtu = 512;
	st.params.window = 32;
	st.params.rto_ps = 200000000;
	st.params.routing = FAB_SIM_SPRAY;
	rdma_stage_net(&st);
	cr_expect_lt(vectors_over_oracle(&st, 3, 0), 4);
}

/* Three different packets lost in a row: consecutive timeouts lead to a RESEND of all,
 * those of the same packet do not. */
Test(rdma, multi_packet_resend)
{
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 100 * 512};
	struct fab_rdma_outage outage = {
		.cable = FAB_NONE, .from_ps = 2000000, .until_ps = 3000000};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.bad.outage = &outage;
	st.params.bad.n_outages = 1;
	rdma_stage_net(&st);
	for (int multi = 0; multi < 2; multi++) {
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};

		st.params.multi = (enum fab_rdma_multi)multi;
		r = rdma_stage_run(&st, rdma_scheme("rsw"));
		cr_assert_eq(r.n_done, 1);
		if (multi == FAB_RDMA_MULTI_SAME) {
			cr_assert_eq(r.n.multi, 0);
			cr_assert_eq(r.n.timeouts, r.n.lost[FAB_RDMA_DATA]);
		} else {
			cr_assert_gt(r.n.multi, 0);
			cr_assert_eq(r.n.timeouts, st.params.singles + 1);
		}
	}
}

/* A damaged packet is asked for at once: no timer expires, and as many copies are sent as
 * packets were damaged, more where a gap is asked for, too; whole buffers under ssw,
 * whole transfers under rc. */
Test(rdma, damaged)
{
	static const char *const name[] = {"rsw",  "oracle", "rsw-vec",
					   "rsw+", "ssw",    "rc"};
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 100 * 512};
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.rto_ps = 50000000;
	st.params.bad.corrupt = 0.02;
	rdma_stage_net(&st);
	for (size_t k = 0; k < FAB_COUNT(name); k++) {
		uint64_t damaged = 0, again = 0;

		for (st.params.seed = 1; st.params.seed < 100; st.params.seed++) {
			FAB_AUTO(fab_rdma_result_fini)
			struct fab_rdma_result r =
				rdma_stage_run(&st, rdma_scheme(name[k]));

			cr_assert_eq(r.n_done, 1);
			cr_assert_eq(r.n_wrong, 0);
			if (k < 2)
				cr_assert_eq(r.n.retransmitted, r.n.damaged,
					     "%s, seed %lu", name[k], st.params.seed);
			cr_assert(r.n.timeouts == 0 || k == 5, "%s", name[k]);
			damaged += r.n.damaged;
			again += r.n.retransmitted;
		}
		cr_assert_gt(damaged, 150);
		cr_assert(k < 4 ? again < 2 * damaged : again > 5 * damaged,
			  "%s: %lu of %lu", name[k], again, damaged);
	}
}

/* A damaged packet that passes the check is wrong data, with or without memory: in a
 * share of transfers of 1 - (1 - p)^packets where nothing is checked, half of that by a
 * check of one bit and no more than few packets, none by 64 bits. A whole transfer that
 * is sent again replaces it. */
Test(rdma, undetected)
{
	static const char *const name[] = {"rsw", "rsw-vec", "rsw+", "gbn", "irn", "rc"};
	static const unsigned bits[] = {0, 1, 64};
	struct fab_rdma_transfer t = {.source = 0, .target = 5, .bytes = 20 * 512 - 1};
	const uint32_t n_seeds = test_some(1000, 4, 60);
	const double share = 1000. / n_seeds, deviation = sqrt(share);
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	rdma_stage_open(&st, "gen:mesh:dims=3x2,hosts=1", "minhop", &t, 1);
	st.params.mtu = 512;
	st.params.rto_ps = 50000000;
	st.params.bad.corrupt = 0.02;
	rdma_stage_net(&st);
	for (size_t k = 0; k < FAB_COUNT(name); k++) {
		unsigned wrong[FAB_COUNT(bits)] = {0};

		for (size_t i = 0; i < 2 * FAB_COUNT(bits) * n_seeds; i++) {
			struct fab_rdma_result r;

			st.params.seed = i / (2 * FAB_COUNT(bits)) + 1;
			st.params.bad.check_bits = bits[i / 2 % FAB_COUNT(bits)];
			st.params.with_memory = i % 2;
			r = rdma_stage_run(&st, rdma_scheme(name[k]));
			cr_assert_eq(r.n_done, 1);
			cr_assert(st.params.bad.check_bits || !r.n.damaged);
			/* odd: with memory; as the run before */
			wrong[i / 2 % FAB_COUNT(bits)] += r.n_wrong;
			if (i % 2)
				cr_assert_eq(wrong[i / 2 % FAB_COUNT(bits)] % 2, 0,
					     "%s, seed %lu", name[k], st.params.seed);
			fab_rdma_result_fini(&r);
		}
		/* 1 - 0.98^20 and 1 - 0.99^20, four deviations */
		cr_assert_float_eq(wrong[0] / 2. * share, 332, 60 * deviation, "%s: %u",
				   name[k], wrong[0] / 2);
		cr_assert_float_eq(wrong[1] / 2. * share, k == 5 ? 160 : 182,
				   50 * deviation, "%s: %u", name[k], wrong[1] / 2);
		cr_assert_eq(wrong[2], 0);
	}
}

/* The checker sees what is wrong: a MSGID of one bit, contexts and slots reused while
 * copies are held up for long. */
Test(rdma, checker_sees)
{
	struct fab_rdma_transfer t[FEW];
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r;
	FAB_AUTO(rdma_stage_close) struct rdma_stage st;

	for (uint32_t i = 0; i < FEW; i++)
		t[i] = (struct fab_rdma_transfer){
			.source = 0, .target = 1, .bytes = 2000};
	rdma_stage_open(&st, "gen:mesh:dims=2,hosts=1", "minhop", t, FEW);
	st.params.mtu = 256;
	st.params.concurrency = 1;
	st.params.msgid_bits = 1;
	st.params.with_memory = true;
	st.params.rto_ps = 2000000;
	st.params.bad.delayed = 0.2;
	st.params.bad.delay_ps = 30000000;
	rdma_stage_net(&st);
	r = rdma_stage_run(&st, rdma_scheme("rsw"));
	cr_assert_gt(r.n_wrong, 0);
	fab_rdma_result_fini(&r);
	st.params.msgid_bits = 20;
	r = rdma_stage_run(&st, rdma_scheme("rsw"));
	cr_assert_eq(r.n_wrong, 0);
	cr_assert_gt(r.n.zombies, 0);
}
