/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences on fabrics: loads of cables through tables, order of nodes, crossings. */
#include "event/stream.h"
#include "support/fences.h"
#include "support/test.h"
#include "support/unicast_check.h"

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

/* A fabric, its tables, nodes in an order; they end with the process, too. */
struct site {
	struct fab_fabric *f;
	struct fab_routes *r;
	struct fab_launch_nodes nodes;
};

static struct site *open_site(const char *spec, const char *engine, const char *order,
			      uint32_t n)
{
	struct fab_launch_choice choice = {.n_nodes = n};
	struct site *s = FAB_ARENA_NEW(&memory, 1, struct site);

	s->f = test_gen(spec);
	s->r = test_tables(s->f, NULL, engine, 2);
	MUST(fab_node_order_parse(order, 1, &choice.order, ERR));
	MUST(fab_launch_nodes_make(&memory, s->f, NULL, &choice, &s->nodes, ERR));
	return s;
}

static struct fab_fence_setup *prepare(const struct site *s, const char *name)
{
	const struct fab_fence_job job = test_fence_job(s->nodes.n, s->nodes.sw, 1);
	struct fab_fence_setup *setup = FAB_ARENA_NEW(&memory, 1, struct fab_fence_setup);

	MUST(fab_fence_setup_init(setup, test_fence(name), &job, &s->nodes, s->r, ERR));
	return setup;
}

static struct fab_fence_time time_by(const struct fab_fence_setup *setup, uint64_t bytes,
				     struct fab_fence_sim_options options)
{
	struct fab_fence_time t;

	MUST(fab_fence_setup_time(setup, bytes, &options, &t, ERR));
	return t;
}

static struct fab_fence_time time_of(const struct fab_fence_setup *setup, uint64_t bytes)
{
	return time_by(setup, bytes, (struct fab_fence_sim_options){0});
}

static void check_loads(const char *spec, const char *order, const uint64_t *loads,
			uint32_t n, double factor)
{
	const struct site *s = open_site(spec, "dor-up", order, 0);
	const struct fab_fence_load *bruck = &prepare(s, "bruck")->load;
	const struct fab_fence_load *ring = &prepare(s, "ring")->load;

	cr_assert_eq(bruck->n_steps, n);
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(bruck->step[i].load_between, loads[i], "%s by %s, step %u",
			     spec, order, i);
	cr_assert_float_eq(bruck->factor, factor, 0.005, "%s by %s", spec, order);
	cr_assert(ring->max == 1 && ring->factor == 1);
}

/* Published loads of the shifts by powers of two, and what they do to dissemination. */
Test(fence_net, loads_of_shifts_on_tori)
{
	static const uint64_t short_first[] = {1, 2, 4, 1, 2, 4, 1, 2, 4, 8};
	static const uint64_t long_first[] = {1, 2, 4, 8, 1, 2, 4, 1, 2, 4};
	static const uint64_t cube[] = {1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8};

	check_loads("torus:dims=8x8x16", "axes:1,2,0", short_first, 10, 5.50);
	check_loads("torus:dims=8x8x16", "axes:2,1,0", short_first, 10, 5.50);
	check_loads("torus:dims=8x8x16", "axes:0,1,2", long_first, 10, 3.04);
	check_loads("torus:dims=8x8x16", "fabric", long_first, 10, 3.04);
	check_loads("torus:dims=16x16x16", "fabric", cube, 12, 5.667);
}

/* The size from which on the ring wins by the formula. Every step waits for its fullest
 * cable, and all nodes with it: the line is exact. */
Test(fence_net, crossing_on_a_torus)
{
	const struct site *s = open_site("torus:dims=8x8x16", "dor-up", "axes:1,2,0", 0);
	const struct fab_fence_setup *bruck = prepare(s, "bruck"),
				     *ring = prepare(s, "ring");
	double bytes = (ring->contended.fixed_us - bruck->contended.fixed_us) /
		       (bruck->contended.byte_us - ring->contended.byte_us);

	test_near(bytes, 7700, 0.01);
	/* (N - 1 - log2 N)(2 o + L) / ((F - 1)(N - 1) G) */
	test_near(bytes, 1013 * 3.5e3 / ((bruck->load.factor - 1) * 1023 * 0.1), 1e-9);
	for (uint64_t b = 1; b < 1 << 24; b *= 8) {
		struct fab_fence_time t = time_of(bruck, b);

		test_near(t.simulated_us, t.contended_us, 1e-9);
		test_near(t.contended_us,
			  35 + 1023 * (double)b * (bruck->load.factor * 0.1 + 0.1) / 1e3,
			  1e-9);
	}
}

/* The ring by symmetry is the ring followed to its end, whatever the order of nodes. */
Test(fence_net, symmetry_is_the_simulation, .timeout = 120)
{
	static const struct {
		const char *spec, *engine, *order;
		uint32_t n;
		bool by_symmetry;
	} sites[] = {{"torus:dims=8x8x8", "dor-up", "fabric", 0, true},
		     {"torus:dims=8x8x8", "dor", "fabric", 0, true},
		     {"torus:dims=8x4x4", "dor", "random", 0, false},
		     {"torus:dims=5x5", "dor", "name", 23, true},
		     {"fattree:radix=8,levels=3", "minhop", "fabric", 0, true},
		     {"fattree:radix=8,levels=3", "minhop", "random", 0, false},
		     {"torus:dims=4x4,hosts=4", "dor-up", "switch", 60, true}};

	/* under sanitizers without the two of 512 nodes */
	for (size_t i = TEST_SHARE > 1 ? 2 : 0; i < FAB_COUNT(sites); i++) {
		const struct site *s = open_site(sites[i].spec, sites[i].engine,
						 sites[i].order, sites[i].n);
		const struct fab_fence_setup *ring = prepare(s, "ring");

		for (uint64_t bytes = 0; bytes < 1 << 20; bytes = bytes * 32 + 1) {
			const struct fab_fence_sim_options whole = {.without_symmetry =
									    true};
			struct fab_fence_time a = time_of(ring, bytes);
			struct fab_fence_time b = time_by(ring, bytes, whole);

			cr_assert_not(b.sim.by_symmetry);
			cr_assert_eq(b.sim.n_followed, s->nodes.n - 1);
			cr_assert_eq(a.simulated_us, b.simulated_us, "%s", sites[i].spec);
			if (sites[i].by_symmetry)
				cr_assert(a.sim.by_symmetry && a.sim.n_followed < 30);
		}
	}
}

static void check_factor(const char *spec, double factor, uint64_t max)
{
	const struct fab_fence_load *load =
		&prepare(open_site(spec, "d-mod-k", "fabric", 0), "bruck")->load;

	test_near(load->factor, factor, max == 1 ? 0 : 1e-3);
	cr_assert_eq(load->max, max);
}

/* Full fat trees share nothing; tapered four to one: the published 3.9. */
Test(fence_net, loads_of_trees)
{
	const struct fab_fence_load *load;

	check_factor("fattree:radix=16,levels=3", 1, 1);
	check_factor("fattree:radix=12,levels=2", 1, 1);
	check_factor("pgft:h=2,m=16/16,w=1/4,p=1/1", 3.855, 4);
	/* cables between switches begin right behind those of the nodes */
	load = &prepare(open_site("mesh:dims=2,hosts=2", "minhop", "fabric", 0), "tree:3")
			->load;
	cr_assert_eq(load->n_steps, 2);
	for (uint32_t i = 0; i < 2; i++)
		cr_assert(load->step[i].load == 3 && load->step[i].load_between == 2);
}

/* Packets over messages. */
static double packets_by(const struct site *s, const char *name, uint64_t bytes)
{
	const struct fab_fence_setup *setup = prepare(s, name);

	return test_fence_packets(setup, &s->nodes, s->r, bytes) /
	       time_of(setup, bytes).simulated_us;
}

static void beside_packets(const char *spec, const char *engine, const char *order,
			   double low, double high)
{
	static const char *const names[] = {"bruck", "ring", "recdbl", "leaf", "tree:4"};
	static const uint64_t bytes[] = {1, 1000, 20000};
	const struct site *s = open_site(spec, engine, order, 0);

	for (size_t i = 0; i < FAB_COUNT(names); i++)
		for (size_t k = 0; k < FAB_COUNT(bytes); k++) {
			double share = packets_by(s, names[i], bytes[k]);

			cr_expect(share > low && share < high, "%s, %s: packets %g", spec,
				  names[i], share);
		}
}

/* Message by message and packet by packet: the same where no cable is shared (to the
 * picoseconds of cables), near where some are. */
Test(fence_net, beside_packets, .timeout = 120)
{
	beside_packets("torus:dims=4x8", "dor-up", "fabric", 0.95, 1.12);
	beside_packets("torus:dims=4x4x4", "dor", "random", 0.95, 1.06);
	beside_packets("pgft:h=2,m=16/4,w=1/4,p=1/1", "d-mod-k", "fabric", 0.99, 1.14);
}

/* What would take too long is not known, unless it is symmetric. */
Test(fence_net, too_many_events)
{
	const struct fab_fence_sim_options options = {.max_events = 400000};
	static const char *const orders[] = {"fabric", "random"};

	for (size_t i = 0; i < FAB_COUNT(orders); i++) {
		const struct site *s =
			open_site("torus:dims=16x16", "dor-up", orders[i], 0);
		const struct fab_fence_setup *ring = prepare(s, "ring");
		struct fab_fence_time t = time_by(ring, 1000, options);

		cr_assert(t.sim.is_cut == (i == 1) && isnan(t.simulated_us) == (i == 1));
		/* no more than 64 rounds show */
		cr_assert_leq(t.sim.events, 64 * ring->paths.first[256] + 1);
	}
}

/* The lowest of lines by trying sizes: any, many that meet in one point, equal ones. */
Test(fence_net, ranges_are_the_lowest_lines)
{
	static const struct fab_fence_line meet[] = {{10, 3}, {20, 2}, {30, 1}};
	struct fab_fence_line lines[12];
	struct fab_fence_range of[12];
	struct fab_stream luck = fab_stream_of(1, 0);
	size_t n_met = 0;

	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t n = 1 + (uint32_t)fab_stream_below(&luck, 12);
		uint32_t few = round % 2 ? 4 : 1000;
		size_t n_ranges;

		for (uint32_t i = 0; i < n; i++)
			lines[i] = (struct fab_fence_line){
				.fixed_us = (double)fab_stream_below(&luck, few),
				.byte_us = (double)fab_stream_below(&luck, few)};
		n_ranges = fab_fence_ranges(lines, n, 50, of);
		cr_assert(n_ranges >= 1 && n_ranges <= n && of[0].from_bytes == 0);
		for (size_t k = 0; k < n_ranges; k++) {
			double to = k + 1 < n_ranges ? of[k + 1].from_bytes : 50;
			double bytes = (of[k].from_bytes + to) / 2;
			double us = lines[of[k].line].fixed_us +
				    lines[of[k].line].byte_us * bytes;

			cr_assert(of[k].from_bytes < to || k + 1 == n_ranges);
			n_met += of[k].from_bytes > 0;
			for (uint32_t i = 0; i < n; i++)
				cr_assert_geq(lines[i].fixed_us +
						      lines[i].byte_us * bytes,
					      us - 1e-9);
		}
	}
	cr_assert(n_met > 500 && fab_fence_ranges(lines, 0, 50, of) == 0);
	/* three that meet at 10 bytes: the flattest goes on */
	cr_assert_eq(fab_fence_ranges(meet, 3, 50, of), 2);
	cr_assert(of[1].line == 2 && of[1].from_bytes == 10);
	cr_assert_eq(fab_fence_ranges(meet, 3, 10, of), 2);
	cr_assert_eq(fab_fence_ranges(meet, 3, 9, of), 1);
}

/* Where nothing is shared but a parent's own cable, on one switch and in a full fat tree,
 * the simulation is the closed form, and packets are messages. */
Test(fence_net, without_contention)
{
	static const char *const names[] = {"ring",   "bruck",	"leaf",	   "recdbl",
					    "tree:1", "tree:2", "tree:16", "bruck-even"};
	static const struct {
		const char *spec, *engine;
		uint32_t n;
	} rows[] = {{"fattree:radix=32,levels=1", "minhop", 2},
		    {"fattree:radix=32,levels=1", "minhop", 3},
		    {"fattree:radix=32,levels=1", "minhop", 31},
		    {"fattree:radix=32,levels=1", "minhop", 32},
		    {"fattree:radix=8,levels=2", "d-mod-k", 0},
		    {"fattree:radix=8,levels=3", "d-mod-k", 0}};

	for (size_t k = 0; k < FAB_COUNT(rows); k++) {
		const struct site *s =
			open_site(rows[k].spec, rows[k].engine, "fabric", rows[k].n);

		/* of several switches not the fences that share their cables */
		for (size_t i = 0; i < (rows[k].n ? FAB_COUNT(names) : 5); i++) {
			const struct fab_fence_setup *setup = prepare(s, names[i]);
			struct fab_fence_time t = time_of(setup, 4096);

			cr_assert_eq(setup->load.factor, 1, "%s", names[i]);
			test_near(t.simulated_us, t.model_us, 1e-9);
			if (k == 4)
				test_near(packets_by(s, names[i], 3000), 1, 1e-5);
		}
	}
}
