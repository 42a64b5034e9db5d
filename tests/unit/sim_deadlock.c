/* SPDX-License-Identifier: BSD-2-Clause */
/* What the analysis of tables promises, and what packets do under them. */
#include "support/simulated.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/path.h"

enum { RING = 6, MEMBERS = 5, PARTS = 8, SETS = 125 / TEST_SHARE };

/* Does a path between two live leaf switches go from one channel to the other? */
static bool depends(const struct simulated *s, uint32_t from, uint32_t to)
{
	for (uint32_t e = 0; e < s->ends.n; e++)
		for (uint32_t c = 0; c < s->routes->n_columns; c++) {
			struct fab_path path = fab_path_from(s->routes, s->ends.sw[e], c);
			uint32_t sw = path.at, before = FAB_NONE;

			for (; fab_path_step(&path); sw = path.at) {
				uint32_t port = fab_arc_port(s->f, sw, path.arc);

				if (before == from && port == to)
					return true;
				before = port;
			}
		}
	return false;
}

/* The cycle is one of dependencies of the tables. */
static void check_cycle(const struct simulated *s, const struct fab_sim_result *r)
{
	simulated_cycle(r);
	for (size_t i = 0; i < r->cycle.n; i++)
		cr_expect(depends(s, r->cycle.v[i].port,
				  r->cycle.v[(i + 1) % r->cycle.n].port),
			  "channel %zu", i);
}

/* Two faults and one lane: algorithm A stops for good, and the cycle is one that the
 * analysis of the same tables finds, too. */
Test(sim_deadlock, algorithm_a_stops)
{
	struct fab_sim_params params = simulated_flits(FIFO, 4, 1, 3000);
	OWN(fab_analysis) analysis;
	OWN(fab_sim_result) r;
	OWN(simulated) s;

	simulated_init(&s, "kfat:dims=8x8,hosts=8", "xy");
	simulated_fail(&s, "3.4,5.2", "algorithm-a");
	analysis = test_analysis(s.routes, FAB_ENDS_LEAVES);
	cr_expect_not(analysis.deadlock_free);
	simulated_uniform(&s, &params, 1, 4, 1, &r);
	cr_assert(r.is_deadlocked);
	cr_expect(r.stuck_packets > 0 && r.cycle.n <= analysis.cycle_channels);
	check_cycle(&s, &r);
}

/* A group for each switch of a ring: its host and those of the next ones; the tree goes
 * from the first to the last. */
static void make_arcs(const struct simulated *s, struct fab_groups **groups,
		      struct fab_forest *forest)
{
	struct fab_groups_builder *b = fab_groups_builder_new(s->f);
	uint64_t n = 0;

	fab_forest_init(forest, RING);
	for (uint32_t g = 0; g < RING; g++) {
		fab_groups_builder_begin(b, "arc", 3);
		forest->root[g] = g;
		fab_forest_reserve(forest, n, MEMBERS);
		for (uint32_t i = 0; i < MEMBERS; i++) {
			uint32_t sw = (g + i) % RING, a = s->f->arc_first[sw];

			fab_groups_builder_add(b, s->ends.port[sw]);
			if (!i)
				continue;
			while (s->f->arc_peer[a] != (sw + RING - 1) % RING)
				a++;
			forest->sw[n] = sw;
			forest->cable[n++] = s->f->arc_cable[a];
		}
		forest->first[g + 1] = n;
	}
	MUST(fab_groups_builder_finish(b, false, groups, ERR));
}

/* Each host sends to the group of its own number, all the time: copies wait for one
 * another around a ring of trees; what goes to hosts goes on. */
Test(sim_deadlock, multicast_around_a_ring)
{
	for (unsigned kind = OQ; kind <= FIFO; kind++) {
		struct fab_sim_params params = simulated_flits(kind, 4, 1, 4000);
		struct source source = {.size = 4, .every = 4, .to_group = true};
		FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = NULL;
		FAB_AUTO(fab_forest_fini) struct fab_forest forest = {0};
		OWN(fab_sim_result) r;
		OWN(simulated) s;

		params.stall = 500;
		params.by_heap = kind == OQ;
		simulated_init(&s, "torus:dims=6,hosts=1", "minhop");
		make_arcs(&s, &groups, &forest);
		s.problem.groups = groups;
		s.problem.forest = &forest;
		MUST(simulated_send(&s, &params, source, &r));
		cr_expect(r.is_stalled);
		cr_assert(r.is_deadlocked, "%s", params.kind->name);
		cr_expect_eq(r.cycle.n, RING);
		/* one packet in each buffer of the ring and behind each host */
		cr_expect_eq(r.stuck_channels, 2 * RING);
		cr_expect_eq(r.stuck_packets, 2 * RING, "%zu", r.stuck_packets);
		cr_expect_lt(r.end, 1000); /* soon after those 500 */
		for (size_t i = 0; i < r.cycle.n; i++)
			cr_expect(r.cycle.v[i].to_group && r.cycle.v[i].packets == 1);
	}
}

/* A kfat of 4 x 4 to 8 x 8 leaf switches of which some are dead, under tables that need
 * the lanes they have; every third set under updn, on kfats with a root or, without one,
 * by the fewest hops; the root is any line switch, or the one that updn takes. */
static void drawn(struct simulated *s, int number, bool with_root)
{
	static const char *const engines[] = {"vtftr", "vtftr-ib", "updn"};
	struct fab_stream stream = fab_stream_of(7, (uint64_t)number);
	int side = number % 10 < 7 ? 4 : 5 + number % 4;
	bool has_roots = number % 6 == 2; /* a tree: updn finds its roots */
	OWN_HEAP char *spec =
		fab_format("kfat:dims=%dx%d,hosts=%d", side, side, number % 5 ? 1 : 2);

	simulated_init(s, has_roots ? "fattree:radix=8,levels=2" : spec, "minhop");
	s->faults = fab_faults_new(s->f);
	test_draw_faults(s->faults, has_roots ? FAB_FAULT_LINKS : FAB_FAULT_LEAVES,
			 1 + fab_stream_below(&stream, has_roots ? 2 : (unsigned)side),
			 &stream);
	s->has_root = with_root && s->kfat && number % 12 < 6;
	s->fills_roots = with_root && !s->has_root;
	do
		s->root = (uint32_t)fab_stream_below(&stream, s->f->n_switches);
	while (s->has_root && s->kfat->leaf_of[s->root] != FAB_NONE);
	simulated_route(s, engines[number % 3]);
}

/* Returns whether the tables are free of deadlock. */
static bool stops_only_if_allowed(int number, bool with_root)
{
	struct fab_sim_params params =
		simulated_flits((unsigned)number / 6 % 3, 4, 1 + number % 2, 250);
	OWN(fab_analysis) analysis;
	OWN(fab_sim_result) r;
	OWN(simulated) s;

	drawn(&s, number, with_root);
	analysis = test_analysis(s.routes, FAB_ENDS_LEAVES);
	if (analysis.deadlock_free && number % 3) /* vtftr leaves some out */
		cr_expect_eq(analysis.connected, analysis.connected_in_graph, "set %d",
			     number);
	params.stall = 200;
	simulated_uniform(&s, &params, 1, 4, 1, &r);
	if (analysis.deadlock_free)
		cr_expect(!r.is_deadlocked && !r.is_stalled && r.cycle.n == 0, "set %d",
			  number);
	else if (r.is_deadlocked)
		check_cycle(&s, &r);
	cr_expect(r.delivered > 0 && r.looped == 0);
	return analysis.deadlock_free;
}

/* Many sets of faults under vtftr, vtftr-ib and updn with roots: free of deadlock by
 * their tables, and nothing ever stops. */
TEST_EACH(part, PARTS, sim_deadlock, sound_tables_never_stop)
{
	for (int i = *part * SETS; i < (*part + 1) * SETS; i++)
		cr_expect(stops_only_if_allowed(i, true), "set %d", i);
}

/* updn without roots takes the fewest hops: the analysis says that it may stop. */
Test(sim_deadlock, updn_without_roots_may_stop)
{
	int n_sound = 0;

	for (int i = 0; i < 30; i++)
		n_sound += stops_only_if_allowed(i * 6 + 5, false);
	cr_expect_lt(n_sound, 30);
}
