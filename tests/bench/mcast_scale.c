/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast routing where there is much of it: time and memory against the number of
 * groups on a fat tree of 65 536 hosts, and against the number of switches of a torus,
 * beside what is aimed at. Processor time counts all threads; it and the clock are those
 * of distances, bound, roots and trees, the memory that of the whole process.
 *
 *   bench-mcast-scale [MOST_GROUPS [FABRIC]]    rows of so many groups at most, of
 *     fabrics whose name holds FABRIC
 */
#include "bench.h"

#include "mcast/bounds.h"
#include "mcast/route.h"

struct row {
	const char *fabric;
	uint32_t n_groups;
	const char *algorithm;
	int n_threads;
	double target_s, target_mib; /* 0: none */
};

#define FATTREE "gen:fattree:radix=64,levels=3"

static const struct row rows[] = {
	{FATTREE, 10000, "fulb", 1},
	{FATTREE, 30000, "fulb", 1},
	{FATTREE, 100000, "fulb", 1, 0.5, 0},
	{FATTREE, 300000, "fulb", 1},
	{FATTREE, 1000000, "fulb", 1},
	{FATTREE, 10000, "balanced", 1},
	{FATTREE, 30000, "balanced", 1},
	{FATTREE, 100000, "balanced", 1, 2, 0},
	{FATTREE, 100000, "balanced", 2},
	{FATTREE, 300000, "balanced", 1},
	{FATTREE, 1000000, "balanced", 1, 15, 1024},
	{"gen:torus:dims=20x20x20,hosts=2", 8000, "fulb", 1},
	{"gen:torus:dims=20x20x20,hosts=2", 8000, "balanced", 1},
	{"gen:torus:dims=20x20x20,hosts=2", 8000, "balanced", 2},
	{"gen:torus:dims=30x30x30,hosts=2", 27000, "fulb", 1},
	{"gen:torus:dims=40x40x40,hosts=2", 64000, "fulb", 1},
	{"gen:torus:dims=50x50x40,hosts=2", 100000, "fulb", 1, 0, 16384},
};

/* A figure, and what it is to be. */
static void print_figure(double value, double target)
{
	char wanted[32] = "";

	if (target > 0)
		snprintf(wanted, sizeof(wanted), " (< %-5g)", target);
	printf("%8.*f%-10s", value < 100 ? 2 : 0, value, wanted);
}

static void run(const void *of)
{
	const struct row *row = of;
	const struct fab_mcast_engine *engine =
		fab_mcast_engine_find(row->algorithm, strlen(row->algorithm));
	struct fab_mcast_options options = {.n_threads = row->n_threads};
	struct fab_fabric *f = bench_fabric(row->fabric);
	struct fab_mcast_problem problem = {
		.f = f,
		.groups = bench_groups(
			f, fab_format("random:groups=%u,size=16,seed=1", row->n_groups))};
	struct fab_mcast_result result;
	struct fab_dist *dist;
	struct fab_efi efi;
	double roots, start = fab_now(), of_processor = bench_cpu(), on_clock;

	MUST(fab_dist_new, f, row->n_threads, &dist);
	problem.dist = dist;
	problem.shape = fab_shape_recognize(f);
	options.bound = fab_mcast_lower_bound(&problem); /* where it may stop */
	MUST(fab_mcast_route, &problem, &engine, 1, &options, &result, &roots);
	of_processor = bench_cpu() - of_processor;
	on_clock = fab_now() - start;
	fab_efi_of(&problem, &result, &efi);
	printf("%-32s %6u %8u %-8s %2d ", row->fabric + 4, f->n_switches, row->n_groups,
	       row->algorithm, row->n_threads);
	print_figure(of_processor, row->target_s);
	printf("%8.2f ", on_clock);
	print_figure(bench_peak_mib(), row->target_mib);
	printf("%6u\n", efi.max);
}

int main(int argc, char **argv)
{
	unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : UINT32_MAX;

	printf("%-32s %6s %8s %-8s %2s %18s %8s %17s %6s\n", "fabric", "sw", "groups", "",
	       "th", "processor s", "clock s", "MiB", "EFI");
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		if (rows[i].n_groups <= most &&
		    (argc < 3 || strstr(rows[i].fabric, argv[2])))
			bench_apart(run, &rows[i]);
	return 0;
}
