/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet-hops (one packet over one cable) a second of processor time, uniform traffic on
 * kfats and on a fat tree of 40 960 hosts, all kinds of switches, beside what is wanted.
 * What is measured is the time behind the warm-up, in which the network fills and memory
 * is touched for the first time. Two threads, two simulations side by side: by the
 * clock, against one, which needs a machine with nothing else to do. Best of some runs.
 * Arguments: the hosts of a network, words of the lines wanted.
 */
#include "bench.h"

#include "fabric/kfat.h"
#include "sim/sim.h"
#include "support/uniform.h"

#include <math.h>

static const struct {
	const char *name, *spec, *engine;
	double target; /* packet-hops a second by slots and bytes */
} nets[] = {
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 1.5e7},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 8e6},
	{"40960", "gen:taihulight", "minhop", 5e6},
};

struct test {
	int net;
	double rate;
	bool by_flit;
	uint32_t packet; /* flits or bytes */
	uint64_t time;
	const char *kind;
	double target; /* 0: that of the network */
	bool is_adaptive;
};

static const struct test tests[] = {
	{0, 0.5, true, 16, 60000, "voq"},
	{0, 0.5, true, 16, 60000, "oq"},
	{0, 0.5, true, 16, 60000, "fifo"},
	{0, 0.5, true, 1, 4000, "voq"},
	{0, 0.5, true, 1, 4000, "oq"},
	{0, 0.5, false, 2048, 700000000, "voq"},
	{0, 0.5, true, 16, 60000, "voq", 8e6, true},
	{1, 1, true, 16, 6000, "voq"},
	{1, 1, true, 16, 6000, "oq"},
	{1, 1, true, 16, 6000, "fifo"},
	{1, 1, true, 1, 400, "voq"},
	{1, 1, true, 1, 400, "oq"},
	{1, 1, false, 2048, 60000000, "voq"},
	{2, 0.5, true, 16, 1500, "voq"},
	{2, 0.5, true, 16, 1500, "oq"},
	{2, 0.5, true, 1, 200, "voq"},
	{2, 0.5, false, 2048, 15000000, "voq"},
	{2, 0.05, true, 16, 4000, "voq"},
	{2, 0.05, true, 1, 400, "voq"},
};

enum { RUNS = 3 };

/* When the measured time began and ended. */
struct watch {
	uint64_t begin, end; /* ticks */
	bool by_clock;
	double at_begin, at_end;
};

static int look(void *context, uint64_t done, uint64_t total)
{
	struct watch *w = context;
	double now = w->by_clock ? fab_now() : bench_cpu();

	(void)total;
	if (done <= w->begin)
		w->at_begin = now;
	if (done <= w->end)
		w->at_end = now;
	return 0;
}

/* One simulation. Returns packet-hops a second of the measured time. */
static double simulate(const struct test *t, const struct fab_sim_problem *problem,
		       int n_threads, struct fab_sim_result *r)
{
	struct fab_sim_params params =
		t->by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();
	uint64_t hops = 0;
	FAB_AUTOFREE uint64_t *wire = FAB_NEW(problem->ends->n, uint64_t);
	struct watch w = {t->time / 5, t->time / 5 + t->time, n_threads > 1, 0, 0};
	struct fab_messages messages;
	FAB_AUTO(fab_uniform_fini) struct fab_uniform u;

	params.kind = &fab_sim_switches[fab_choices_find(&fab_sim_switch_choices, t->kind,
							 strlen(t->kind))];
	params.mtu = t->packet;
	params.chooser = t->is_adaptive;
	params.warmup = w.begin;
	params.time = t->time;
	params.drain = 0;
	params.n_threads = n_threads;
	params.progress = look;
	params.progress_context = &w;
	for (uint32_t i = 0; i < problem->ends->n; i++)
		wire[i] = fab_sim_wire(&(struct fab_sim_wires){problem, &params}, i,
				       t->packet, false);
	fab_uniform_init(&u, problem->ends->n, wire, t->rate, t->packet,
			 t->by_flit ? 1 : 0, 1, &messages);
	messages.least_payload = t->packet;
	MUST(fab_sim_run, problem, &params, &messages, r);
	for (uint32_t i = 0; i < r->n_cables; i++)
		hops += r->cable[i].packets;
	return (double)hops / (w.at_end - w.at_begin);
}

static void run(const struct test *t, const char *line, double target,
		const struct fab_sim_problem *problem)
{
	struct fab_sim_result r = {0};
	double best = 0;

	for (int i = 0; i < RUNS; i++) {
		fab_sim_result_fini(&r);
		best = fmax(best, simulate(t, problem, 1, &r));
	}
	printf("%s %9.3e hops/s, wanted %.1e: %s; %4.2f events a hop, accepted %.4f, "
	       "latency %.1f, %.0f MiB\n",
	       line, best, target, best >= target ? "yes" : "NO",
	       (double)r.events / (double)r.packet_hops, r.accepted, r.latency_mean,
	       bench_peak_mib());
	fflush(stdout);
	fab_sim_result_fini(&r);
}

/* The rate alone. */
static double rate_of(const struct test *t, const struct fab_sim_problem *problem,
		      int n_threads)
{
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r = {0};

	return simulate(t, problem, n_threads, &r);
}

static void side_by_side(const struct test *t, const struct fab_sim_problem *problem)
{
#pragma omp parallel for num_threads(2)
	for (int k = 0; k < 2; k++)
		(void)rate_of(t, problem, 1);
}

/* Threads against one: of one simulation, and of two side by side. */
static void compare(const struct fab_sim_problem *problem)
{
	const struct test t = {1, 1, true, 16, 6000, "voq"};
	double one = 0, two = 0, alone = INFINITY, beside = INFINITY;

	for (int i = 0; i < RUNS; i++) {
		alone = fmin(alone, SECONDS(one = fmax(one, rate_of(&t, problem, 1))));
		two = fmax(two, rate_of(&t, problem, 2));
		beside = fmin(beside, SECONDS(side_by_side(&t, problem)));
	}
	printf("4096 two threads: %.2f times one, wanted 1.6: %s; two runs side by side: "
	       "%.2f, wanted 1.9: %s\n",
	       two / one, two >= 1.6 * one ? "yes" : "NO", 2 * alone / beside,
	       2 * alone >= 1.9 * beside ? "yes" : "NO");
}

/* A whole rate of a curve, setup and drain included. */
static void curve(const struct fab_sim_problem *problem)
{
	const struct test t = {0, 0.5, true, 16, 4000, "voq"};
	double best = INFINITY;

	for (int i = 0; i < RUNS; i++)
		best = fmin(best, CPU_SECONDS(rate_of(&t, problem, 1)));
	printf("512 one rate of the curve: %.3f s, wanted 0.2: %s\n", best,
	       best <= 0.2 ? "yes" : "NO");
}

static bool is_wanted(const char *line, char **word, int n)
{
	for (int i = 0; i < n; i++)
		if (!strstr(line, word[i]))
			return false;
	return true;
}

static void measure(int net, const struct fab_sim_problem *problem, char **word, int n)
{
	char line[64];

	for (size_t i = 0; i < FAB_COUNT(tests); i++) {
		const struct test *t = &tests[i];

		if (t->net != net)
			continue;
		snprintf(line, sizeof(line), "%-5s at %4.2f %-4s %4u%c%s", nets[net].name,
			 t->rate, t->kind, t->packet, t->by_flit ? 'f' : 'B',
			 t->is_adaptive ? " adaptive" : "");
		if (is_wanted(line, word, n))
			run(t, line, t->target > 0 ? t->target : nets[net].target,
			    problem);
	}
	if (net == 0 && is_wanted("512 curve", word, n))
		curve(problem);
	if (net == 1 && is_wanted("4096 two threads", word, n))
		compare(problem);
}

static void measure_net(int net, char **word, int n)
{
	struct fab_unicast_problem route = {.max_vls = 1};
	struct fab_sim_problem problem = {0};
	FAB_AUTO(fab_flow_ends_fini) struct fab_flow_ends ends = {0};
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *kfat = NULL;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *routes = NULL;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = bench_fabric(nets[net].spec);

	if (!strcmp(nets[net].engine, "xy"))
		MUST(fab_kfat_recognize, f, &kfat);
	route.f = problem.f = f;
	route.kfat = kfat;
	problem.routes = routes = bench_route(&route, nets[net].engine);
	fab_flow_ends_init(&ends, f, NULL, NULL);
	problem.ends = &ends;
	measure(net, &problem, word, n);
}

int main(int argc, char **argv)
{
	for (int i = 0; i < (int)FAB_COUNT(nets); i++)
		if (argc < 2 || !strcmp(argv[1], nets[i].name))
			measure_net(i, argv + 1, argc - 1);
	return 0;
}
