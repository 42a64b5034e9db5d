/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds for fences of 16 384 nodes with contention, for a table of five algorithms, 15
 * sizes and three fabrics, for the sizes at which dissemination and the ring cross, for
 * every placement of five failures among 64 nodes, and for
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
	struct fab_fabric *f;
	struct fab_routes *r;
	struct fab_launch_nodes nodes;
};

static void open_site(struct site *s, const char *spec, const char *engine,
		      const char *order)
{
	struct fab_unicast_problem p = {.max_vls = 2};
	struct fab_launch_choice choice = {0};

	s->f = bench_fabric(spec);
	p.f = s->f;
	s->r = bench_route(&p, engine);
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

static void one(const struct site *s, const char *spec, const char *name, uint64_t bytes)
{
	struct fab_fence_sim_options options = {0};
	FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup setup;
	struct fab_fence_time t;
	double start = bench_cpu(), prepared;

	prepare(&setup, s, name);
	prepared = bench_cpu();
	MUST(fab_fence_setup_time, &setup, bytes, &options, &t);
	printf("%-34s %-6s %6u nodes: paths and loads %.3f s, simulation %.3f s, %.0f "
	       "us%s\n",
	       spec, name, s->nodes.n, prepared - start, bench_cpu() - prepared,
	       t.simulated_us, t.sim.by_symmetry ? " by symmetry" : "");
}

static void large(void)
{
	static const struct {
		const char *spec, *engine;
	} sites[] = {{"gen:torus:dims=16x16x16,hosts=4", "dor-up"},
		     {"gen:torus:dims=128x128", "dor-up"},
		     {"gen:torus:dims=16x16x64", "dor"},
		     {"gen:pgft:h=3,m=32/16/32,w=1/16/16", "d-mod-k"}};

	for (size_t i = 0; i < FAB_COUNT(sites); i++) {
		double start = bench_cpu();
		struct site s;

		open_site(&s, sites[i].spec, sites[i].engine, "fabric");
		printf("%-34s fabric, tables by %s and nodes %.3f s\n", sites[i].spec,
		       sites[i].engine, bench_cpu() - start);
		one(&s, sites[i].spec, "bruck", 4096);
		one(&s, sites[i].spec, "ring", 4096);
		close_site(&s);
	}
}

/* Five algorithms, 15 sizes, three fabrics. */
static void table(void)
{
	static const char *const names[] = {"ring", "tree:16", "bruck", "recdbl", "leaf"};
	static const struct {
		const char *spec, *engine;
	} sites[] = {{"gen:torus:dims=8x8x16", "dor-up"},
		     {"gen:fattree:radix=16,levels=3", "d-mod-k"},
		     {"gen:pgft:h=3,m=16/8/8,w=1/4/8,p=1/1/1", "minhop"}};
	double start = bench_cpu(), wall = fab_now();
	int n_fences = 0;

	for (size_t i = 0; i < FAB_COUNT(sites); i++) {
		struct site s;

		open_site(&s, sites[i].spec, sites[i].engine, "fabric");
#pragma omp parallel for schedule(dynamic) reduction(+ : n_fences)
		for (int k = 0; k < (int)FAB_COUNT(names) * 15; k++) {
			struct fab_fence_sim_options options = {0};
			FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup setup = {0};
			struct fab_fence_time t;

			prepare(&setup, &s, names[k / 15]);
			MUST(fab_fence_setup_time, &setup, (uint64_t)1 << k % 15,
			     &options, &t);
			n_fences += !isnan(t.simulated_us);
		}
		close_site(&s);
	}
	printf("5 algorithms, 15 sizes, 3 fabrics of 1024 nodes: %d fences, %.2f s of "
	       "processors, %.2f s on %d threads\n",
	       n_fences, bench_cpu() - start, fab_now() - wall, omp_get_max_threads());
}

/* Size from which the ring wins on 8x8x16, first axis fastest: by the line, simulated. */
static void crossings(void)
{
	struct fab_fence_sim_options options = {0};
	FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup bruck = {0}, ring = {0};
	struct site s;
	struct fab_fence_time a, b;
	double start = bench_cpu();
	uint64_t from = 0;

	open_site(&s, "gen:torus:dims=8x8x16", "dor-up", "axes:1,2,0");
	prepare(&bruck, &s, "bruck");
	prepare(&ring, &s, "ring");
	printf("8x8x16: the ring wins from %.0f B by the contended line",
	       (ring.contended.fixed_us - bruck.contended.fixed_us) /
		       (bruck.contended.byte_us - ring.contended.byte_us));
	for (uint64_t bytes = 1; bytes <= 1 << 24; bytes *= 4) {
		MUST(fab_fence_setup_time, &bruck, bytes, &options, &a);
		MUST(fab_fence_setup_time, &ring, bytes, &options, &b);
		if (b.simulated_us <= a.simulated_us && !from)
			from = bytes;
	}
	printf(", of powers of 4 from %llu B by messages: %.2f s\n",
	       (unsigned long long)from, bench_cpu() - start);
	close_site(&s);
}

static void detectors(void)
{
	const struct fab_detector d = {
		.n = 64, .period_us = 1e6, .timeout_us = 1e7, .message_us = 3.5};
	struct fab_detector big = d;
	uint32_t failed[5];
	struct fab_detector_worst w;
	struct fab_detection x;
	double start = bench_cpu();

	MUST(fab_detector_worst, &memory, &d, 5, &w);
	printf("5 failures of 64: %llu placements, %llu beyond the bound, worst %.1f of "
	       "%.1f s: %.2f s\n",
	       (unsigned long long)w.n_placements, (unsigned long long)w.n_beyond,
	       w.worst.stable_us / 1e6, w.worst.bound_us / 1e6, bench_cpu() - start);
	big.n = 1000000;
	fab_detector_place(big.n, 5, false, failed);
	start = bench_cpu();
	MUST(fab_detector_run, &big, failed, 5, &x);
	printf("5 failures of 1000000: known after %.3f s: %.2f s\n", x.stable_us / 1e6,
	       bench_cpu() - start);
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
	crossings();
	return 0;
}
