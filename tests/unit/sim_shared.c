/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers of which lanes have a part each and share the rest: no stall where each part
 * holds a packet, and stalls of tables that are free of deadlock where lanes share all.
 */
#include "support/simulated.h"
#include "support/test.h"

enum { PACKET = 4, SEEDS = 40 / TEST_SHARE };

/* dor on a ring has two lanes without a cycle. With a packet's room for each lane alone
 * nothing stalls, whatever is shared besides; where all is shared the same packets stall,
 * by any switch, as they do with one lane. */
Test(sim_shared, a_private_packet_keeps_deadlock_away)
{
	OWN(simulated) s;
	int n_stalled = 0;

	simulated_init(&s, "torus:dims=8,hosts=2", "dor");
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct fab_sim_params params =
			simulated_flits(seed % 3, PACKET, 2 + seed % 5, 1500);
		OWN(fab_sim_result) some = {0}, none = {0};

		params.buffer_per_vl = false;
		params.buffer_shared = true;
		params.buffer_private = 1;
		params.stall = 300;
		simulated_uniform(&s, &params, 1, PACKET, seed, &some);
		cr_expect(!some.is_stalled && !some.is_deadlocked && !some.cycle.n);
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
