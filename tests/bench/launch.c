/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds for fences of 16 384 nodes with contention, for a table of five algorithms, 15
 * sizes and three fabrics, for every placement of five failures among 64 nodes, and for
 * direct exchange of a large job. Processor time; the table in wall-clock time, too.
 */
#include "bench.h"

#include "launch/detector.h"
#include "launch/exchange.h"
#include "launch/fence.h"

#include <math.h>
#include <omp.h>

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

struct site {
	const char *spec, *engine;
	struct fab_fabric *f;
	struct fab_routes *r;
	struct fab_launch_nodes nodes;
};

static void open_site(struct site *s, const char *order)
{
	struct fab_unicast_problem p = {.max_vls = 2};
	struct fab_launch_choice choice = {0};

	p.f = s->f = bench_fabric(s->spec);
	s->r = bench_route(&p, s->engine);
	MUST(fab_node_order_parse, order, 1, &choice.order);
	MUST(fab_launch_nodes_make, &memory, s->f, NULL, &choice, &s->nodes);
}

static void close_site(struct site *s)
{
	fab_routes_free(s->r);
	fab_fabric_free(s->f);
}

static void prepare(struct fab_fence_setup *setup, const struct site *s, const char *name)
{
	struct fab_fence_job job = {.n_nodes = s->nodes.n,
				    .bytes = 1,
				    .leaf = s->nodes.sw,
				    .costs = {1, 1.5, 0.1, 0.1}};
	struct fab_fence_chosen chosen;

	MUST(fab_fence_parse, name, strlen(name), &chosen);
	MUST(fab_fence_setup_init, setup, chosen, &job, &s->nodes, s->r);
}

static struct fab_fence_time time_of(struct fab_fence_setup *setup, uint64_t bytes)
{
	const struct fab_fence_sim_options options = {0};
	struct fab_fence_time t;

	MUST(fab_fence_setup_time, setup, bytes, &options, &t);
	return t;
}

static void large(void)
{
	struct site sites[] = {{"gen:torus:dims=16x16x16,hosts=4", "dor-up"},
			       {"gen:torus:dims=128x128", "dor-up"},
			       {"gen:torus:dims=16x16x64", "dor"},
			       {"gen:pgft:h=3,m=32/16/32,w=1/16/16", "d-mod-k"}};

	for (struct site *s = sites; s < sites + FAB_COUNT(sites); s++) {
		printf("%-34s fabric, tables by %s and nodes %.3f s\n", s->spec,
		       s->engine, CPU_SECONDS(open_site(s, "fabric")));
		for (int i = 0; i < 2; i++) {
			const char *name = i ? "ring" : "bruck";
			FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup setup;
			struct fab_fence_time t;
			double prepared = CPU_SECONDS(prepare(&setup, s, name));
			double simulated = CPU_SECONDS(t = time_of(&setup, 4096));

			printf("%-34s %-6s %6u nodes: paths and loads %.3f s, simulation "
			       "%.3f s, %.0f us%s\n",
			       s->spec, name, s->nodes.n, prepared, simulated,
			       t.simulated_us, t.sim.by_symmetry ? " by symmetry" : "");
		}
		close_site(s);
	}
}

/* Five algorithms, 15 sizes, three fabrics. */
static void table(void)
{
	static const char *const names[] = {"ring", "tree:16", "bruck", "recdbl", "leaf"};
	struct site sites[] = {{"gen:torus:dims=8x8x16", "dor-up"},
			       {"gen:fattree:radix=16,levels=3", "d-mod-k"},
			       {"gen:pgft:h=3,m=16/8/8,w=1/4/8,p=1/1/1", "minhop"}};
	double start = bench_cpu(), wall = fab_now();
	int n_fences = 0;

	for (size_t i = 0; i < FAB_COUNT(sites); i++) {
		open_site(&sites[i], "fabric");
#pragma omp parallel for schedule(dynamic) reduction(+ : n_fences)
		for (int k = 0; k < (int)FAB_COUNT(names) * 15; k++) {
			FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup setup = {0};

			prepare(&setup, &sites[i], names[k / 15]);
			n_fences += !isnan(time_of(&setup, 1u << k % 15).simulated_us);
		}
		close_site(&sites[i]);
	}
	printf("5 algorithms, 15 sizes, 3 fabrics of 1024 nodes: %d fences, %.2f s of "
	       "processors, %.2f s on %d threads\n",
	       n_fences, bench_cpu() - start, fab_now() - wall, omp_get_max_threads());
}

static void detectors(void)
{
	struct fab_detector d = {
		.n = 64, .period_us = 1e6, .timeout_us = 1e7, .message_us = 3.5};
	uint32_t failed[5];
	struct fab_detector_worst w;
	struct fab_detection x;
	double seconds = CPU_SECONDS(MUST(fab_detector_worst, &memory, &d, 5, &w));

	printf("5 failures of 64: %llu placements, %llu beyond the bound, worst %.1f of "
	       "%.1f s: %.2f s\n",
	       (unsigned long long)w.n_placements, (unsigned long long)w.n_beyond,
	       w.worst.stable_us / 1e6, w.worst.bound_us / 1e6, seconds);
	d.n = 1000000;
	fab_detector_place(d.n, 5, false, failed);
	seconds = CPU_SECONDS(MUST(fab_detector_run, &d, failed, 5, &x));
	printf("5 failures of 1000000: known after %.3f s: %.2f s\n", x.stable_us / 1e6,
	       seconds);
}

static void exchange(void)
{
	const struct fab_exchange_costs costs = {
		.get_us = 6, .local_us = 75, .remote_us = 220, .serve_us = 25};
	struct fab_exchange e;
	struct fab_peers p;
	double start = bench_cpu();

	MUST(fab_peers_make, &memory, "stencil:3", 10000, 128, 1, &p);
	MUST(fab_exchange_run, &p, &costs, &e);
	printf("direct exchange of 10000 x 128, stencil:3: %llu Gets, %.0f us: %.2f s\n",
	       (unsigned long long)e.gets, e.total_us, bench_cpu() - start);
}

int main(void)
{
	large();
	table();
	detectors();
	exchange();
	return 0;
}
