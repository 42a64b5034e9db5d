/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of which lanes have a part each and share the rest: as separate lanes where the
 * parts are all of it, no stall where each part holds a packet, and stalls of tables that
 * are free of deadlock where lanes share all.
 */
#include "support/simulated.h"
#include "support/test.h"

enum { BUFFER = 12, PACKET = 4, SEEDS = 40 / TEST_SHARE };

static struct fab_sim_params params_of(const char *kind, uint32_t buffer)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();

	params.kind = &fab_sim_switches[fab_choices_find(&fab_sim_switch_choices, kind,
							 strlen(kind))];
	params.buffer = buffer;
	params.mtu = PACKET;
	params.warmup = 0;
	params.time = 1500;
	params.stall = 300;
	params.drain = 0;
	params.n_threads = 1;
	params.with_deliveries = true;
	return params;
}

/* Of all that is sent, in bytes and picoseconds. */
static struct fab_sim_params params_in_bytes(uint32_t buffer)
{
	struct fab_sim_params params = fab_sim_defaults();

	params.buffer = buffer;
	params.warmup = 0;
	params.time = 20 * 1000 * 1000;
	params.n_threads = 1;
	params.with_deliveries = true;
	return params;
}

/* Under the tables of VTFTR, with dead leaf switches. */
static void fail(struct simulated *s, const char *leaves)
{
	s->faults = fab_faults_new(s->f);
	MUST(fab_faults_add_switches(s->faults, leaves, ERR));
	simulated_route(s, "vtftr");
}

static void same(const struct fab_sim_result *a, const struct fab_sim_result *b,
		 size_t number)
{
	cr_assert_eq(a->deliveries.n, b->deliveries.n, "case %zu: %zu, %zu", number,
		     a->deliveries.n, b->deliveries.n);
	for (size_t i = 0; i < a->deliveries.n; i++)
		cr_assert(a->deliveries.v[i].delivered == b->deliveries.v[i].delivered &&
				  a->deliveries.v[i].target == b->deliveries.v[i].target,
			  "delivery %zu", i);
}

/* Private parts that are all of the buffer: separate lanes, delivery by delivery; with
 * less of them another result. By flit and in bytes, by tables and adaptive, with
 * threads. */
Test(sim_shared, nothing_shared_is_separate_lanes)
{
	static const struct {
		const char *spec, *kind;
		enum fab_sim_routing routing;
		unsigned n_vls; /* of each cable */
		const char *dead;
	} cases[] = {
		{"kfat:dims=4x4,hosts=4", "voq", FAB_SIM_BY_TABLE, 2, "1.1,2.3"},
		{"torus:dims=6x6,hosts=1", "fifo", FAB_SIM_BY_TABLE, 2, NULL},
		{"torus:dims=6,hosts=2", "oq", FAB_SIM_BY_TABLE, 2, NULL},
		{"torus:dims=6x6,hosts=1", "voq", FAB_SIM_BY_QUEUE, 3, NULL},
		{"torus:dims=6x6,hosts=1", "voq", FAB_SIM_BY_UGAL, 6, NULL},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		for (unsigned in_bytes = 0; in_bytes < 2; in_bytes++) {
			struct fab_sim_params params = params_of(cases[i].kind, BUFFER);
			FAB_AUTO(fab_sim_result_fini)
			struct fab_sim_result apart = {0}, shared = {0}, threads = {0},
					      some = {0};
			FAB_AUTO(simulated_fini) struct simulated s;

			if (in_bytes) {
				params = params_in_bytes(BUFFER * 2112);
				params.kind = params_of(cases[i].kind, BUFFER).kind;
				params.drain = 0;
			}
			fab_sim_set_routing(&params, cases[i].routing, 0);
			simulated_init(&s, cases[i].spec, cases[i].dead ? "xy" : "dor");
			if (cases[i].dead)
				fail(&s, cases[i].dead);
			simulated_uniform(&s, &params, 1, params.mtu, &apart);
			cr_assert_eq(apart.n_vls, cases[i].n_vls, "case %zu: %u", i,
				     apart.n_vls);
			params.buffer_shared = true;
			params.buffer_private = params.buffer / cases[i].n_vls;
			simulated_uniform(&s, &params, 1, params.mtu, &shared);
			same(&apart, &shared, i);
			cr_expect_eq(apart.credit_limited, shared.credit_limited);
			params.n_threads = 3;
			simulated_uniform(&s, &params, 1, params.mtu, &threads);
			same(&apart, &threads, i);
			params.buffer_private = in_bytes ? 2112 : 1;
			simulated_uniform(&s, &params, 1, params.mtu, &some);
			cr_expect(some.delivered != apart.delivered ||
					  some.latency_mean != apart.latency_mean,
				  "case %zu", i);
		}
}

/* The same of outputs with drops: on switches of four outputs. */
Test(sim_shared, nothing_shared_is_separate_outputs)
{
	for (unsigned drop = FAB_SIM_TAIL; drop <= FAB_SIM_TRIM; drop++) {
		struct fab_sim_params params = params_in_bytes(8000);
		FAB_AUTO(fab_sim_result_fini)
		struct fab_sim_result apart = {0}, shared = {0}, all = {0};
		FAB_AUTO(simulated_fini) struct simulated s;

		params.drop = (enum fab_sim_drop)drop;
		simulated_init(&s, "torus:dims=6,hosts=2", "dor");
		simulated_uniform(&s, &params, 1, params.mtu, &apart);
		params.buffer_shared = true;
		params.buffer_private = 8000;
		params.buffer = 4 * 8000;
		simulated_uniform(&s, &params, 1, params.mtu, &shared);
		cr_expect_gt(apart.dropped + apart.trimmed, 100);
		cr_expect_eq(shared.dropped, apart.dropped);
		cr_expect_eq(shared.trimmed, apart.trimmed);
		same(&apart, &shared, drop);
		params.buffer_private = 0;
		simulated_uniform(&s, &params, 1, params.mtu, &all);
		cr_expect_neq(all.delivered, apart.delivered);
	}
}

/* A channel of a cycle holds packets, and comes once. */
static void check_cycle(const struct fab_sim_result *r)
{
	cr_assert_geq(r->cycle.n, 2);
	for (size_t i = 0; i < r->cycle.n; i++) {
		cr_expect_gt(r->cycle.v[i].packets, 0);
		for (size_t k = 0; k < i; k++)
			cr_expect(r->cycle.v[k].port != r->cycle.v[i].port ||
				  r->cycle.v[k].vl != r->cycle.v[i].vl);
	}
}

/* dor on a ring has two lanes without a cycle. With a packet's room for each lane alone
 * nothing stalls, whatever is shared besides; where all is shared the same packets stall,
 * by any switch, as they do with one lane. */
Test(sim_shared, a_private_packet_keeps_deadlock_away)
{
	int n_stalled = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct fab_sim_params params =
			params_of(fab_sim_switches[seed % 3].name, 2 + seed % 5);
		FAB_AUTO(fab_sim_result_fini)
		struct fab_sim_result some = {0}, none = {0};
		FAB_AUTO(simulated_fini) struct simulated s;

		simulated_init(&s, "torus:dims=8,hosts=2", "dor");
		params.buffer_shared = true;
		params.buffer_private = 1;
		simulated_seed(&s, &params, 1, PACKET, seed, &some);
		cr_expect(!some.is_stalled && !some.is_deadlocked && !some.cycle.n,
			  "seed %d", (int)seed);
		params.buffer_private = 0;
		simulated_seed(&s, &params, 1, PACKET, seed, &none);
		n_stalled += none.is_deadlocked;
		if (none.is_deadlocked)
			check_cycle(&none);
		else
			cr_expect_not(none.is_stalled, "seed %d", (int)seed);
	}
	cr_expect_gt(n_stalled, SEEDS / 2, "%d", n_stalled);
}

/* Adaptive packets escape to lanes that have a part alone; the tables of VTFTR around two
 * dead leaves. */
Test(sim_shared, escape_lanes_and_vtftr_never_stop)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct fab_sim_params params = params_of("voq", 4 + seed % 6);
		bool is_adaptive = seed % 2;
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r = {0};
		FAB_AUTO(simulated_fini) struct simulated s;

		if (is_adaptive)
			fab_sim_set_routing(
				&params,
				seed % 4 == 1 ? FAB_SIM_BY_QUEUE : FAB_SIM_BY_UGAL, 0);
		params.buffer += seed % 4 == 3 ? 4 : 0;
		simulated_init(&s,
			       is_adaptive ? "torus:dims=4x4,hosts=2"
					   : "kfat:dims=4x4,hosts=4",
			       is_adaptive ? "dor" : "xy");
		if (!is_adaptive)
			fail(&s, "1.1,2.3");
		params.buffer_shared = true;
		params.buffer_private = 1;
		simulated_seed(&s, &params, 1, PACKET, seed, &r);
		cr_expect(!r.is_stalled && !r.is_deadlocked, "seed %d", (int)seed);
		cr_expect_gt(r.delivered, 1000);
	}
}

Test(sim_shared, refused)
{
	static const struct {
		const char *engine;
		uint32_t buffer, part;
		bool per_vl, is_adaptive;
		const char *why;
	} bad[] = {
		{"dor", 8, 5, false, false,
		 "for 2 lanes: the buffer of 8 has 4 for each"},
		{"dor", 8, 1, true, false, "not of each lane"},
		{"dor", 8, 0, false, true, "each needs a private part"},
		{"minhop", 8, 1, false, false, "there is one lane"},
	};

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		struct fab_sim_params params = params_of("voq", bad[i].buffer);
		FAB_AUTO(simulated_fini) struct simulated s;

		simulated_init(&s, "torus:dims=6,hosts=2", bad[i].engine);
		params.buffer_shared = true;
		params.buffer_private = bad[i].part;
		params.buffer_per_vl = bad[i].per_vl;
		params.chooser = bad[i].is_adaptive;
		FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL, bad[i].why);
	}
}

/* In bytes, where each lane, or each of four outputs with drops, has a private part. */
Test(sim_shared, private_parts)
{
	static const struct {
		bool is_shared;
		enum fab_sim_drop drop;
		uint32_t part;
		const char *why; /* NULL: none */
	} cases[] = {
		{false, FAB_SIM_LOSSLESS, 4096, "of a shared buffer"},
		{true, FAB_SIM_LOSSLESS, 4096, NULL},
		{true, FAB_SIM_LOSSLESS, 2111, "a packet takes 2112"}, /* by 64 bytes */
		{true, FAB_SIM_TAIL, 2111, NULL},
		{true, FAB_SIM_TAIL, 2073, "a packet takes 2074"},
		{true, FAB_SIM_TAIL, 8193, "4 outputs"},
	};
	struct fab_sim_params params = fab_sim_defaults();
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "torus:dims=6,hosts=2", "dor");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		params.buffer_shared = cases[i].is_shared;
		params.drop = cases[i].drop;
		params.buffer_private = cases[i].part;
		if (cases[i].why)
			FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL,
			      cases[i].why);
		else
			MUST(fab_sim_check(&s.problem, &params, ERR));
	}
}
