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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mcast/bounds.h"
#include "mcast/route.h"
#include "source/source.h"

struct row {
	const char *fabric;
	uint32_t n_groups;
	const char *algorithm;
	int n_threads;
	double target_s, target_mib; /* 0: none */
};

#define FATTREE "gen:fattree:radix=64,levels=3"

static const struct row rows[] = {
	{FATTREE, 10000, "fulb", 1, 0, 0},
	{FATTREE, 30000, "fulb", 1, 0, 0},
	{FATTREE, 100000, "fulb", 1, 0.5, 0},
	{FATTREE, 300000, "fulb", 1, 0, 0},
	{FATTREE, 1000000, "fulb", 1, 0, 0},
	{FATTREE, 10000, "balanced", 1, 0, 0},
	{FATTREE, 30000, "balanced", 1, 0, 0},
	{FATTREE, 100000, "balanced", 1, 2, 0},
	{FATTREE, 100000, "balanced", 2, 0, 0},
	{FATTREE, 300000, "balanced", 1, 0, 0},
	{FATTREE, 1000000, "balanced", 1, 15, 1024},
	{"gen:torus:dims=20x20x20,hosts=2", 8000, "fulb", 1, 0, 0},
	{"gen:torus:dims=20x20x20,hosts=2", 8000, "balanced", 1, 0, 0},
	{"gen:torus:dims=20x20x20,hosts=2", 8000, "balanced", 2, 0, 0},
	{"gen:torus:dims=30x30x30,hosts=2", 27000, "fulb", 1, 0, 0},
	{"gen:torus:dims=40x40x40,hosts=2", 64000, "fulb", 1, 0, 0},
	{"gen:torus:dims=50x50x40,hosts=2", 100000, "fulb", 1, 0, 16384},
};

static void fail(const struct fab_err *err)
{
	fprintf(stderr, "bench-mcast-scale: %s\n", err->text);
	exit(1);
}

static struct fab_groups *make_groups(const struct fab_fabric *f, uint32_t n)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	FAB_AUTOFREE char *pattern =
		fab_format("random:groups=%" PRIu32 ",size=16,seed=1", n);
	struct fab_groups *groups = NULL;
	struct fab_err err;

	if (fab_groups_add_pattern(b, pattern, 1, &err) ||
	    fab_groups_builder_finish(b, false, &groups, &err))
		fail(&err);
	return groups;
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A figure, and what it is to be. */
static void print_figure(double value, double target)
{
	printf("%8.*f", value < 100 ? 2 : 0, value);
	if (target > 0)
		printf(" (< %-5g)", target);
	else
		printf("          ");
}

static void run(const struct row *row)
{
	const struct fab_mcast_engine *engine =
		fab_mcast_engine_find(row->algorithm, strlen(row->algorithm));
	struct fab_mcast_options options = {.n_threads = row->n_threads};
	struct fab_mcast_problem problem = {0};
	struct fab_mcast_result result;
	struct fab_fabric *f;
	struct fab_shape *shape;
	struct fab_dist *dist;
	struct rusage usage;
	struct fab_efi efi;
	struct fab_err err;
	double roots, start, on_clock, of_processor;

	if (fab_source_open(row->fabric, NULL, &f, &err))
		fail(&err);
	problem.f = f;
	problem.groups = make_groups(f, row->n_groups);
	start = fab_now();
	of_processor = processor_s();
	if (fab_dist_new(f, row->n_threads, &dist, &err))
		fail(&err);
	problem.dist = dist;
	problem.shape = shape = fab_shape_recognize(f);
	options.bound = fab_mcast_lower_bound(&problem); /* where it may stop */
	if (fab_mcast_route(&problem, &engine, 1, &options, &result, &roots, &err))
		fail(&err);
	of_processor = processor_s() - of_processor;
	on_clock = fab_now() - start;
	fab_efi_of(&problem, &result, &efi);
	getrusage(RUSAGE_SELF, &usage);
	printf("%-32s %6u %8u %-8s %2d ", row->fabric + 4, f->n_switches, row->n_groups,
	       row->algorithm, row->n_threads);
	print_figure(of_processor, row->target_s);
	printf("%8.2f ", on_clock);
	print_figure((double)usage.ru_maxrss / 1024, row->target_mib);
	printf("%6u\n", efi.max);
}

/* In a process of its own, so that no row inherits the memory of the one before. */
static void apart(const struct row *row)
{
	int status = 0;

	fflush(stdout);
	if (!fork()) {
		run(row);
		fflush(stdout);
		_exit(0);
	}
	if (wait(&status) < 0 || status)
		exit(1);
}

int main(int argc, char **argv)
{
	unsigned long most = argc > 1 ? strtoul(argv[1], NULL, 10) : UINT32_MAX;

	printf("%-32s %6s %8s %-8s %2s %18s %8s %17s %6s\n", "fabric", "sw", "groups", "",
	       "th", "processor s", "clock s", "MiB", "EFI");
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		if (rows[i].n_groups <= most &&
		    (argc < 3 || strstr(rows[i].fabric, argv[2])))
			apart(&rows[i]);
	return 0;
}
