/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds for the tables of a kfat with dead leaf switches, and for the analysis: exact
 * graph of channel dependencies and trace of all leaf pairs; peak memory so far. The best
 * of three runs.
 */
#include "bench.h"

#include "unicast/analysis.h"
#include "unicast/faults.h"

#include <math.h>

enum { RUNS = 3 };

struct row {
	const char *spec;
	enum fab_fault_kind of;
	size_t n_faults;
	const char *engine;
};

static double least(double best, double start)
{
	return fmin(best, fab_now() - start);
}

static void measure(const struct row *row)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_LEAVES};
	struct fab_unicast_problem problem = {.max_vls = 3};
	struct fab_fault_list list;
	FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = bench_fabric(row->spec);
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *kfat = NULL;
	FAB_AUTO(fab_faults_free_at) struct fab_faults *faults = NULL;
	struct fab_stream rng = fab_stream_of(1, 0);
	double route = 1e9, analysis = 1e9;

	MUST(fab_kfat_recognize, f, &kfat);
	faults = fab_faults_new(f);
	fab_faults_candidates(f, row->of, NULL, &list);
	fab_faults_draw(faults, &list, row->n_faults, &rng);
	problem.f = f;
	problem.faults = faults;
	problem.kfat = kfat;
	for (int run = 0; run < RUNS; run++) {
		double start = fab_now();
		FAB_AUTO(fab_routes_free_at)
		struct fab_routes *r = bench_route(&problem, row->engine);

		route = least(route, start);
		fab_analysis_fini(&j);
		start = fab_now();
		MUST(fab_analyse, r, &options, &j);
		analysis = least(analysis, start);
	}
	printf("%-36s %-6s %6zu %-10s %8.3f %8.3f %10llu %3u %3u %-4s %6.0f\n", row->spec,
	       fab_fault_kind_choices.names[row->of], row->n_faults, row->engine, route,
	       analysis, (unsigned long long)j.unreachable, j.vls, j.sls,
	       j.deadlock_free ? "yes" : "no", bench_peak_mib());
	free(list.of.v);
}

int main(void)
{
	static const struct row rows[] = {
		{"gen:kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 29, "vtftr-ib"},
		{"gen:kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 80, "vtftr-ib"},
		{"gen:kfat:dims=16x16,hosts=1", FAB_FAULT_LEAVES, 29, "minhop"},
		{"gen:kfat:dims=10x10x10,hosts=1", FAB_FAULT_LEAVES, 20, "vtftr-ib"},
		{"gen:kfat:dims=72x72,hosts=1", FAB_FAULT_LEAVES, 0, "vtftr-ib"},
		{"gen:kfat:dims=72x72,hosts=1", FAB_FAULT_LEAVES, 20, "vtftr-ib"},
		{"gen:kfat:dims=72x72,hosts=1", FAB_FAULT_LEAVES, 141, "vtftr-ib"},
		{"gen:kfat:dims=72x72,hosts=1", FAB_FAULT_LEAVES, 20, "xy"},
		{"gen:kfat:dims=72x72,hosts=1", FAB_FAULT_LEAVES, 20, "minhop"},
		{"gen:kfat:dims=72x72,hosts=1", FAB_FAULT_LINKS, 20, "vtftr-ib"},
	};

	printf("%-36s %-6s %6s %-10s %8s %8s %10s %3s %3s %-4s %6s\n", "fabric", "of",
	       "faults", "algorithm", "tables s", "analysis s", "no path", "vls", "sls",
	       "free", "MiB");
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		measure(&rows[i]);
	return 0;
}
