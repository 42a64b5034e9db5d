/* SPDX-License-Identifier: BSD-2-Clause */
/* Adaptive routing: nothing stalls, nothing is lost. */
#include "support/simulated.h"
#include "support/test.h"
#include "support/unicast_check.h"

enum { PARTS = 6, SETS = 24 / TEST_SHARE, SOUND = 18 / TEST_SHARE };

/* A fabric with dead cables under updn, with a root of its own. */
static void drawn(struct simulated *s, int number)
{
	static const char *const specs[] = {
		"torus:dims=4x4,hosts=2",   "kfat:dims=4x4,hosts=2",
		"hyperx:dims=3x3,hosts=2",  "random:switches=16,degree=4,hosts=2,seed=3",
		"fattree:radix=6,levels=2", "mesh:dims=4x3,hosts=2"};
	struct fab_stream stream = fab_stream_of(11, (uint64_t)number);

	simulated_init(s, specs[number % 6], "minhop");
	s->faults = fab_faults_new(s->f);
	test_draw_faults(s->faults, FAB_FAULT_LINKS, 1 + fab_stream_below(&stream, 3),
			 &stream);
	s->has_root = s->fills_roots = true; /* fills: in parts without that root */
	s->root = (uint32_t)fab_stream_below(&stream, s->f->n_switches);
	simulated_route(s, "updn");
}

/* 144 sets of faults, with tables that cannot stall, buffers of one packet or
 * shared ones, all hosts send all they can, by each chooser on each kind of switch:
 * nothing stalls or loops; any number of threads agree. */
TEST_EACH(part, PARTS, sim_adaptive, never_stops)
{
	int n_sound = 0;

	for (int i = 0; i < SETS; i++) {
		int number = *part * SETS + i;
		struct fab_sim_params params =
			simulated_flits((unsigned)number / 24 % 2, 4, 1, 600);
		OWN(fab_analysis) analysis = {0};
		OWN(fab_sim_result) r = {0}, more = {0};
		OWN(simulated) s;

		drawn(&s, number);
		analysis = test_analysis(s.routes, FAB_ENDS_HOSTS);
		if (!analysis.deadlock_free) /* some pairs have no path up and down */
			continue;
		n_sound++;
		cr_expect_eq(fab_sim_check_escape(&s.problem, NULL), 0);
		params.chooser = 1 + (uint32_t)number / 6 % 4;
		params.detour = (enum fab_sim_detour)(number / 48 % 3);
		params.stall = 300;
		params.buffer_shared = number % 5 == 0;
		params.buffer_per_vl = !params.buffer_shared;
		if (params.buffer_shared) { /* a packet for each lane alone, and more */
			params.buffer_private = 1;
			params.buffer = 8 + (uint32_t)number % 3;
		}
		simulated_uniform(&s, &params, 1, 4, 1, &r);
		cr_expect(!r.is_stalled && !r.is_deadlocked, "set %d", number);
		cr_expect(r.delivered > 100 && r.looped == 0);
		params.n_threads = 2 + number % 2;
		simulated_uniform(&s, &params, 1, 4, 1, &more);
		simulated_same(&r, &more);
	}
	cr_expect_geq(n_sound, SOUND);
}

/* Refused: tables that wait in a cycle from some switch, tables of several lanes where a
 * switch has no host, fifo switches, traces, more lanes than ports have. */
Test(sim_adaptive, what_does_not_go_together)
{
	struct fab_sim_params params = simulated_flits(FIFO, 4, 4, 600);
	OWN(simulated) s, tree;

	simulated_init(&s, "torus:dims=6,hosts=1", "minhop");
	params.chooser = 1;
	FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL, "voq or oq");
	params.kind = &fab_sim_switches[VOQ];
	MUST(fab_sim_check(&s.problem, &params, ERR));
	cr_expect_eq(fab_sim_check_escape(&s.problem, ERR), -EINVAL);
	params.n_traced = 1;
	cr_expect_eq(fab_sim_check(&s.problem, &params, ERR), -EINVAL);
	params.n_traced = 0;
	s.has_root = s.fills_roots = true;
	simulated_route(&s, "updn");
	MUST(fab_sim_check_escape(&s.problem, ERR));
	simulated_route(&s, "dor");
	MUST(fab_sim_check(&s.problem, &params, ERR));
	MUST(fab_sim_check_escape(&s.problem, ERR));
	params.detour = FAB_SIM_UGAL;
	s.routes->n_vls = 7; /* 14 lanes and two more */
	FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL, "15 are possible");
	s.routes->n_vls = 2;
	simulated_init(&tree, "fattree:radix=4,levels=2", "minhop");
	MUST(fab_sim_check_escape(&tree.problem, ERR));
	tree.routes->n_vls = 2;
	FAILS(fab_sim_check_escape(&tree.problem, ERR), -EINVAL, "without a live host");
	tree.routes->n_vls = 1;
}
