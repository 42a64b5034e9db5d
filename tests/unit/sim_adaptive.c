/* SPDX-License-Identifier: BSD-2-Clause */
/* Adaptive routing: nothing stalls, nothing is lost, and it spreads what tables bundle.
 */
#include "support/simulated.h"
#include "support/test.h"
#include "support/unicast_check.h"

#include <criterion/parameterized.h>

enum { PARTS = 6, SETS = 24 / TEST_SHARE, SOUND = 18 / TEST_SHARE };

static struct fab_sim_params tight(uint32_t chooser, uint32_t kind, uint32_t buffer)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();

	params.chooser = chooser;
	params.kind = &fab_sim_switches[kind];
	params.buffer = buffer;
	params.buffer_per_vl = true;
	params.mtu = 4;
	params.warmup = 0;
	params.time = 600;
	params.drain = 0;
	params.n_threads = 1;
	return params;
}

static void conserved(const struct fab_sim_result *r)
{
	cr_expect_eq(r->born, r->lost + r->injected + r->waiting);
	cr_expect_eq(r->injected, r->delivered + r->in_flight + r->unroutable);
	cr_expect_eq(r->looped, 0);
}

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

/* 144 sets of faults, with tables that cannot stall, buffers of one packet, all
 * hosts send all they can, by each chooser on each kind of switch: nothing stalls or
 * loops; any number of threads agree. */
TEST_EACH(part, PARTS, sim_adaptive, never_stops)
{
	int n_sound = 0;

	for (int i = 0; i < SETS; i++) {
		int number = *part * SETS + i;
		struct fab_sim_params params =
			tight(1 + (uint32_t)number / 6 % 4, (uint32_t)number / 24 % 2, 1);
		OWN(fab_analysis) analysis = {0};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r = {0}, more = {0};
		FAB_AUTO(simulated_fini) struct simulated s;

		drawn(&s, number);
		analysis = test_analysis(s.routes, FAB_ENDS_HOSTS);
		if (!analysis.deadlock_free) /* some pairs have no path up and down */
			continue;
		n_sound++;
		cr_expect_eq(fab_sim_check_escape(&s.problem, NULL), 0);
		params.detour = (enum fab_sim_detour)(number / 48 % 3);
		params.stall = 300;
		simulated_uniform(&s, &params, 1, 4, &r);
		cr_expect(!r.is_stalled && !r.is_deadlocked, "set %d", number);
		cr_expect_gt(r.delivered, 100);
		conserved(&r);
		params.n_threads = 2 + number % 2;
		simulated_uniform(&s, &params, 1, 4, &more);
		cr_expect_eq(more.events, r.events, "set %d", number);
		cr_expect_eq(memcmp(&more.latency, &r.latency, sizeof(r.latency)), 0);
		cr_expect_eq(memcmp(more.cable, r.cable, r.n_cables * sizeof(*r.cable)),
			     0);
	}
	cr_expect_geq(n_sound, SOUND);
}

/* Hosts of a leaf of 4 send messages of three packets to hosts 8 apart. */
static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	uint64_t *sent = context;

	(void)now;
	*m = (struct fab_message){
		.time = 12 * sent[e]++, .target = e % 4 * 8 + e / 4, .bytes = 12};
	return true;
}

/* A fat tree of full bandwidth: tables put several flows of a permutation on one cable
 * up, adaptive packets take them all. */
Test(sim_adaptive, fat_tree_carries_a_permutation)
{
	double accepted[5];
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "pgft:h=2,m=4/8,w=1/4,p=1/1", "updn");
	for (uint32_t chooser = 0; chooser < 5; chooser++) {
		struct fab_sim_params params = tight(chooser, 1, 16);
		uint64_t sent[32] = {0};
		struct fab_messages messages = {.context = sent, .next = next};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		params.time = 8000;
		MUST(fab_sim_run(&s.problem, &params, &messages, &r, ERR));
		conserved(&r);
		accepted[chooser] = r.accepted;
		cr_expect_geq(r.message_latency_mean, r.latency_mean);
	}
	for (uint32_t chooser = 1; chooser < 5; chooser++)
		cr_expect_gt(accepted[chooser], 2 * accepted[0], "%u: %g, table %g",
			     chooser, accepted[chooser], accepted[0]);
	cr_expect_gt(accepted[1], 0.8, "least: %g", accepted[1]);
}

/* Refused: tables that wait in a cycle from some switch, tables of several lanes where a
 * switch has no host, fifo switches, traces, more lanes than ports have. */
Test(sim_adaptive, what_does_not_go_together)
{
	struct fab_sim_params params = tight(1, 2, 4);
	FAB_AUTO(simulated_fini) struct simulated s, tree;

	simulated_init(&s, "torus:dims=6,hosts=1", "minhop");
	FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL, "voq or oq");
	params.kind = &fab_sim_switches[1];
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
