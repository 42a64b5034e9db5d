/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers of which lanes have a part each and share the rest: no stall where each part
 * holds a packet, and stalls of tables that are free of deadlock where lanes share all.
 */
#include "support/simulated.h"
#include "support/test.h"

enum { PACKET = 4, SEEDS = 40 / TEST_SHARE };

static struct fab_sim_params params_of(unsigned kind, uint32_t buffer)
{
	struct fab_sim_params params = simulated_flits(kind, PACKET, buffer, 1500);

	params.buffer_per_vl = false;
	params.stall = 300;
	params.buffer_shared = true;
	params.buffer_private = 1;
	return params;
}

/* dor on a ring has two lanes without a cycle. With a packet's room for each lane alone
 * nothing stalls, whatever is shared besides; where all is shared the same packets stall,
 * by any switch, as they do with one lane. */
Test(sim_shared, a_private_packet_keeps_deadlock_away)
{
	OWN(simulated) s;
	int n_stalled = 0;

	simulated_init(&s, "torus:dims=8,hosts=2", "dor");
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct fab_sim_params params = params_of(seed % 3, 2 + seed % 5);
		OWN(fab_sim_result) some = {0}, none = {0};

		simulated_uniform(&s, &params, 1, PACKET, seed, &some);
		cr_expect(!some.is_stalled && !some.is_deadlocked && !some.cycle.n,
			  "seed %d", (int)seed);
		/* a lane alone takes all but the packet of the other: 4 ticks for each
		 * packet, 6 for its credit */
		cr_expect_eq(some.credit_limited,
			     seed % 5 ? 0 : 2 * (s.ends.n + 2 * s.f->n_switch_links));
		params.buffer_private = 0;
		simulated_uniform(&s, &params, 1, PACKET, seed, &none);
		n_stalled += none.is_deadlocked;
		cr_expect_eq(none.is_stalled, none.is_deadlocked, "seed %d", (int)seed);
		if (none.is_deadlocked)
			simulated_cycle(&none);
	}
	cr_expect_gt(n_stalled, SEEDS / 2, "%d", n_stalled);
}

/* Adaptive packets escape to lanes that have a part alone; the tables of VTFTR around two
 * dead leaves. */
Test(sim_shared, escape_lanes_and_vtftr_never_stop)
{
	static const enum fab_sim_routing routings[] = {
		FAB_SIM_BY_TABLE, FAB_SIM_BY_QUEUE, FAB_SIM_BY_TABLE, FAB_SIM_BY_UGAL};
	OWN(simulated) kfat, torus;

	simulated_init(&kfat, "kfat:dims=4x4,hosts=4", "xy");
	simulated_fail(&kfat, "1.1,2.3", "vtftr");
	simulated_init(&torus, "torus:dims=4x4,hosts=2", "dor");
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct fab_sim_params params =
			params_of(VOQ, 4 + seed % 6 + (seed % 4 == 3 ? 4 : 0));
		OWN(fab_sim_result) r = {0};

		fab_sim_set_routing(&params, routings[seed % 4], 0);
		simulated_uniform(seed % 2 ? &torus : &kfat, &params, 1, PACKET, seed,
				  &r);
		cr_expect(!r.is_stalled && !r.is_deadlocked, "seed %d", (int)seed);
		cr_expect_gt(r.delivered, 1000);
	}
}

/* By flit, or in bytes with packets of 2074, of which buffers are counted by 64; drops on
 * four outputs. The last rows are of drops without sharing. */
Test(sim_shared, what_does_not_fit)
{
	enum { LOSSLESS = FAB_SIM_LOSSLESS, TAIL = FAB_SIM_TAIL };
	static const struct {
		const char *engine;
		bool by_flit, is_shared, per_vl, is_adaptive;
		unsigned drop;
		uint32_t buffer, part, ecn;
		const char *why; /* NULL: none */
	} cases[] = {
		{"dor", 1, 1, 0, 0, LOSSLESS, 8, 5, 0,
		 "for 2 lanes: the buffer of 8 has 4 for each"},
		{"dor", 1, 1, 1, 0, LOSSLESS, 8, 1, 0, "not of each lane"},
		{"dor", 1, 1, 0, 1, LOSSLESS, 8, 0, 0, "each needs a private part"},
		{"minhop", 1, 1, 0, 0, LOSSLESS, 8, 1, 0, "there is one lane"},
		{"dor", 0, 0, 0, 0, LOSSLESS, 32768, 4096, 0, "of a shared buffer"},
		{"dor", 0, 1, 0, 0, LOSSLESS, 32768, 4096, 0, NULL},
		{"dor", 0, 1, 0, 0, LOSSLESS, 32768, 2111, 0, "a packet takes 2112"},
		{"dor", 0, 1, 0, 0, TAIL, 32768, 2111, 0, NULL},
		{"dor", 0, 1, 0, 0, TAIL, 32768, 2073, 0, "a packet takes 2074"},
		{"dor", 0, 1, 0, 0, TAIL, 32768, 8193, 0, "4 outputs"},
		{"minhop", 1, 0, 0, 0, TAIL, 4000, 0, 0, "in bytes"},
		{"minhop", 0, 0, 0, 0, TAIL, 2000, 0, 0, "holds one packet"},
		{"minhop", 0, 0, 0, 0, LOSSLESS, 8000, 0, 9, "go with drops"},
	};
	OWN(simulated) s;

	simulated_init(&s, "torus:dims=6,hosts=2", "dor");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_sim_params params = cases[i].by_flit
						       ? fab_sim_defaults_by_flit()
						       : fab_sim_defaults();

		params.buffer = cases[i].buffer;
		simulated_route(&s, cases[i].engine);
		params.buffer_shared = cases[i].is_shared;
		params.buffer_private = cases[i].part;
		params.buffer_per_vl = cases[i].per_vl;
		params.chooser = cases[i].is_adaptive;
		params.drop = (enum fab_sim_drop)cases[i].drop;
		params.ecn = cases[i].ecn;
		if (cases[i].why)
			FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL,
			      cases[i].why);
		else
			MUST(fab_sim_check(&s.problem, &params, ERR));
	}
}
