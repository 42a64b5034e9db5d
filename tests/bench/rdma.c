/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events and packet-hops a second of processor time: transfers between random pairs of a
 * torus, under each scheme; then figure 6 of the paper whole, 6 losses x 5 schemes x 200
 * seeds, by the clock on all threads. Best of some runs; with an argument only the cases
 * whose name has it.
 */
#include "bench.h"

#include "event/stream.h"
#include "rdma/choice.h"

#include <math.h>

enum { MTU = 2048, BYTES = 262144, RUNS = 3 };

struct test {
	const char *name, *spec;
	uint32_t transfers;
	const char *route; /* engine, or a routing */
	const char *scheme;
	double loss;
	enum fab_sim_drop drop; /* of 35 packets: tail with DCTCP, trim with pulls */
};

#define TORUS8 "gen:torus:dims=8x8x8,hosts=1"
#define TORUS16 "gen:torus:dims=16x16x16,hosts=1"
#define FATTREE "gen:fattree:radix=16,levels=3"

static const struct test tests[] = {
	{"8x8x8", TORUS8, 512, "dor", "oracle", 0},
	{"8x8x8", TORUS8, 512, "adaptive", "oracle", 0},
	{"8x8x8", TORUS8, 4096, "dor", "rsw", 0},
	{"8x8x8", TORUS8, 4096, "adaptive", "rsw", 0},
	{"8x8x8", TORUS8, 512, "adaptive", "rsw+", 1e-3},
	{"8x8x8", TORUS8, 512, "adaptive", "sack-ro", 1e-3},
	{"16x16x16", TORUS16, 4096, "adaptive", "oracle", 0},
	{"16x16x16", TORUS16, 16384, "adaptive", "oracle", 0},
	{"16x16x16", TORUS16, 16384, "adaptive", "rsw+", 0},
	{"16x16x16", TORUS16, 16384, "dor", "rsw", 0},
	{"tail", FATTREE, 1024, "d-mod-k", "sack-ro", 0, FAB_SIM_TAIL},
	{"trim", FATTREE, 1024, "d-mod-k", "rsw-vec", 0, FAB_SIM_TRIM},
};

static const struct fab_rdma_scheme *scheme_of(const char *name)
{
	return fab_rdma_schemes[fab_choices_find(&fab_rdma_scheme_choices, name,
						 strlen(name))];
}

/* Round by round each endpoint sends to another one, in a random order. */
static struct fab_rdma_transfer *draw(uint32_t n, uint32_t n_ends)
{
	struct fab_rdma_transfer *t = FAB_NEW(n, struct fab_rdma_transfer);
	struct fab_stream chance = fab_stream_of(1, 1);

	for (uint32_t i = 0; i < n; i++) {
		struct fab_rdma_transfer *first = t + i - i % n_ends;
		uint32_t to = i % n_ends;
		uint32_t at = (uint32_t)fab_stream_below(&chance, to + 1);

		t[i] = (struct fab_rdma_transfer){.source = to, .bytes = BYTES};
		t[i].target = first[at].target;
		first[at].target = to;
	}
	for (uint32_t i = 0; i < n; i++)
		if (t[i].target == t[i].source)
			t[i].target = (t[i].source + 1) % n_ends;
	return t;
}

struct stage {
	struct fab_fabric *f;
	struct fab_flow_ends ends;
	struct fab_routes *routes;
	struct fab_rdma_problem problem;
	struct fab_rdma_params params;
	struct fab_rdma_net *net;
	struct fab_rdma_transfer *transfer;
};

static void open_stage(struct stage *st, const char *spec, const char *route, uint32_t n,
		       enum fab_sim_drop drop)
{
	struct fab_unicast_problem up = {.max_vls = 15};

	*st = (struct stage){.params = fab_rdma_defaults()};
	st->params.all_rates = true;
	if (drop) {
		st->params.drop = drop;
		st->params.buffer = 35 * MTU;
		st->params.ecn = 15 * MTU;
		st->params.rate_control =
			drop == FAB_SIM_TAIL ? FAB_RDMA_DCTCP : FAB_RDMA_PULL;
	}
	up.f = st->f = bench_fabric(spec);
	fab_flow_ends_init(&st->ends, st->f, NULL, NULL);
	if (strcmp(route, "adaptive") != 0)
		st->routes = bench_route(&up, route);
	else
		st->params.routing = FAB_SIM_BY_QUEUE;
	st->transfer = draw(n, st->ends.n);
	st->problem = (struct fab_rdma_problem){.f = st->f,
						.ends = &st->ends,
						.routes = st->routes,
						.transfer = st->transfer,
						.n_transfers = n};
	MUST(fab_rdma_net_new, &st->problem, &st->params, &st->net);
}

static void one(const void *of)
{
	const struct test *t = of;
	struct fab_rdma_result r = {0};
	struct stage st;
	double best = INFINITY;

	open_stage(&st, t->spec, t->route, t->transfers, t->drop);
	st.params.bad.loss = t->loss;
	st.params.rto_ps = 1000000000;
	for (int i = 0; i < RUNS; i++) {
		fab_rdma_result_fini(&r);
		MUST(fab_rdma_run, st.net, &st.params, scheme_of(t->scheme), &r);
		best = fmin(best, r.simulate_seconds);
	}
	printf("%-9s %5u %-8s %-7s %8.3e events/s  %8.3e hops/s  %6.3f s  mean %7.2f us  "
	       "max %7.2f us  %4.0f MiB%s\n",
	       t->name, t->transfers, t->route, t->scheme, (double)r.events / best,
	       (double)r.packet_hops / best, best, r.completion_mean, r.completion_max,
	       bench_peak_mib(),
	       r.n_done == r.n_transfers && !r.n_wrong ? "" : "  WRONG");
}

/* 512 packets from end to end of a torus; examples/paper-rdma.sh judges the results. */
static void figure6(const void *unused)
{
	enum { LOSSES = 6, SCHEMES = 5, SEEDS = 200 };
	static const char *const name[SCHEMES] = {"oracle", "rsw", "rsw+", "ssw", "rc"};
	struct fab_rdma_case cases[LOSSES * SCHEMES];
	struct fab_rdma_summary out[LOSSES * SCHEMES] = {{0}};
	const struct fab_rdma_runs runs = {
		.of = cases, .n_cases = LOSSES * SCHEMES, .n_runs = SEEDS};
	double clock, cpu = 0;
	struct stage st;

	(void)unused;
	open_stage(&st, "gen:torus:dims=4x4x4,hosts=1", "dor", 1, FAB_SIM_LOSSLESS);
	st.transfer[0] = (struct fab_rdma_transfer){.target = 42, .bytes = 512 * 512};
	st.params.mtu = 512;
	for (uint32_t i = 0; i < LOSSES * SCHEMES; i++) {
		cases[i] = (struct fab_rdma_case){.net = st.net,
						  .params = st.params,
						  .scheme = scheme_of(name[i % SCHEMES]),
						  .baseline = i - i % SCHEMES};
		cases[i].params.bad.loss = 1e-3 * (i / SCHEMES);
	}
	clock = SECONDS(MUST(fab_rdma_compare, &runs, out));
	for (uint32_t i = 0; i < LOSSES * SCHEMES; i++)
		cpu += out[i].simulate_seconds;
	printf("figure 6  %.2f s by the clock, %.2f s of processor time\n", clock, cpu);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < FAB_COUNT(tests); i++)
		if (argc < 2 || strstr(tests[i].name, argv[1]))
			bench_apart(one, &tests[i]);
	if (argc < 2 || strstr("figure 6", argv[1]))
		bench_apart(figure6, NULL);
	return 0;
}
