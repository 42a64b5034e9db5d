/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet-hops (one packet over one cable) a second of processor time, uniform traffic on
 * kfats and on a fat tree of 40 960 hosts, all kinds of switches, one thread and two; of
 * two, by the clock. Best of some runs; with an argument only the cases whose name has
 * it.
 */
#include "sim/sim.h"
#include "base/clock.h"
#include "base/mem.h"
#include "fabric/kfat.h"
#include "source/source.h"
#include "support/uniform.h"
#include "unicast/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct test {
	const char *name, *spec, *engine;
	double rate;
	bool by_flit;
	uint32_t packet; /* flits or bytes */
	uint64_t time;
	const char *kind;
	int n_threads;
};

static const struct test tests[] = {
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, true, 16, 60000, "voq",
	 1},
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, true, 16, 60000, "oq",
	 1},
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, true, 16, 60000, "fifo",
	 1},
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, true, 1, 4000, "voq", 1},
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, true, 1, 4000, "oq", 1},
	{"512", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, false, 2048, 700000000,
	 "voq", 1},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 1, true, 16, 6000, "voq",
	 1},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 1, true, 16, 6000, "oq",
	 1},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 1, true, 16, 6000,
	 "fifo", 1},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 1, true, 1, 400, "voq",
	 1},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 1, false, 2048, 60000000,
	 "voq", 1},
	{"4096", "gen:kfat:dims=16x16,hosts=16,planes=16", "xy", 1, true, 16, 6000, "voq",
	 2},
	{"taihulight", "gen:taihulight", "minhop", 0.5, true, 16, 1500, "voq", 1},
	{"taihulight", "gen:taihulight", "minhop", 0.5, true, 16, 1500, "oq", 1},
	{"taihulight", "gen:taihulight", "minhop", 0.5, true, 1, 100, "voq", 1},
	{"taihulight", "gen:taihulight", "minhop", 0.5, false, 2048, 15000000, "voq", 1},
	{"curve", "gen:kfat:dims=8x8,hosts=8,planes=8", "xy", 0.5, true, 16, 4000, "voq",
	 1},
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static int run(const struct test *t, const struct fab_sim_problem *problem)
{
	struct fab_sim_params params =
		t->by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();
	uint64_t *wire = FAB_NEW(problem->ends->n, uint64_t);
	double best = 1e9;
	struct fab_sim_result r;
	struct fab_err err;

	params.kind = fab_sim_switch_find(t->kind, strlen(t->kind));
	params.mtu = t->packet;
	params.warmup = t->time / 10;
	params.time = t->time;
	params.drain = 0;
	params.n_threads = t->n_threads;
	for (uint32_t i = 0; i < problem->ends->n; i++)
		wire[i] = fab_sim_wire_ticks(problem, &params, i, t->packet, false);
	for (int i = 0; i < 3; i++) {
		struct fab_messages messages;
		struct fab_uniform u;
		double cpu = cpu_seconds(), begun = fab_now(), seconds;

		fab_uniform_init(&u, problem->ends->n, wire, t->rate, t->packet,
				 t->by_flit ? 1 : 0, 1, &messages);
		if (fab_sim_run(problem, &params, &messages, &r, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
		cpu = cpu_seconds() - cpu;
		seconds = t->n_threads > 1 ? fab_now() - begun : cpu;
		if (seconds < best)
			best = seconds;
		fab_uniform_fini(&u);
		if (i < 2)
			fab_sim_result_fini(&r);
	}
	printf("%-10s %-4s %5u%c %4.2f %d thread%c %8.3e hops/s  %6.3f s  %4.2f events a "
	       "hop  accepted %.4f  latency %8.1f  %5.0f MiB of %.0f\n",
	       t->name, t->kind, t->packet, t->by_flit ? 'f' : 'B', t->rate, t->n_threads,
	       t->n_threads > 1 ? 's' : ' ', (double)r.packet_hops / best, best,
	       (double)r.events / (double)r.packet_hops, r.accepted, r.latency_mean,
	       (double)r.bytes / 1048576, peak_mib());
	fflush(stdout);
	fab_sim_result_fini(&r);
	free(wire);
	return 0;
}

static int measure(const struct test *t)
{
	struct fab_unicast_problem route = {.max_vls = 1};
	struct fab_sim_problem problem = {0};
	struct fab_flow_ends ends;
	struct fab_kfat *kfat = NULL;
	struct fab_routes *routes;
	struct fab_fabric *f;
	struct fab_err err;
	int rc;

	if (fab_source_open(t->spec, NULL, &f, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	if (!strcmp(t->engine, "xy") && fab_kfat_recognize(f, &kfat, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	route.f = f;
	route.kfat = kfat;
	if (fab_unicast_engine_find(t->engine, strlen(t->engine))
		    ->route(&route, &routes, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	fab_flow_ends_init(&ends, f, NULL, NULL);
	problem.f = f;
	problem.ends = &ends;
	problem.routes = routes;
	rc = run(t, &problem);
	fab_flow_ends_fini(&ends);
	fab_routes_free(routes);
	fab_kfat_free(kfat);
	fab_fabric_free(f);
	return rc;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < FAB_COUNT(tests); i++)
		if ((argc < 2 || strstr(tests[i].name, argv[1])) && measure(&tests[i]))
			return 1;
	return 0;
}
