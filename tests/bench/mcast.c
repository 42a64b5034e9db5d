/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast routing on the fabrics of the paper (Chen et al. 2022), one thread: time for
 * distances, roots and the trees of every algorithm, largest EFI, SSSP against FULB.
 * Memory: bench-mcast-scale.
 *
 *   bench-mcast [FABRIC PATTERN]
 */
#include "bench.h"

#include "mcast/bounds.h"
#include "mcast/route.h"
#include "support/sssp_heap.h"

enum { REPEATS = 5, MAX_ENGINES = 16, DISTANCES = 0, ROOTS, TREES };

#define FATTREE "gen:fattree:radix=40,levels=3"
#define TORUS "gen:torus:dims=30x20x20,hosts=2"
#define DRAGONFLY "gen:dragonfly:a=18,p=9,h=9"

struct row {
	const char *fabric, *pattern;
};

static const struct row rows[] = {
	{FATTREE, "grid:160x100"},
	{FATTREE, "grid:40x20x20"},
	{FATTREE, "random:groups=5000,size=8-24,seed=1"},
	{TORUS, "grid:240x100"},
	{TORUS, "grid:20x30x40"},
	{TORUS, "random:groups=1500,size=8-24,seed=1"},
	{DRAGONFLY, "grid:163x162"},
	{DRAGONFLY, "grid:81x27x12"},
	{"gen:bluelight", "grid:34x16x64,ppn=4"},
	{"gen:taihulight", "grid:160x16x16"},
	{"gen:taihulight", "grid:202x202"},
	{"gen:taihulight", "random:groups=5000,size=8-24,seed=1"},
};

struct times {
	double of[TREES + MAX_ENGINES]; /* seconds */
	uint32_t max_efi[MAX_ENGINES];
};

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* Of all runs. */
static double median(const struct times *runs, size_t what)
{
	double v[REPEATS];

	for (int i = 0; i < REPEATS; i++)
		v[i] = runs[i].of[what];
	qsort(v, REPEATS, sizeof(*v), by_value);
	return v[REPEATS / 2];
}

static void run_once(const struct fab_fabric *f, const struct fab_groups *groups,
		     const struct fab_mcast_engine *const *engines, size_t n,
		     struct times *t)
{
	const struct fab_mcast_options options = {.n_threads = 1};
	struct fab_mcast_problem problem = {.f = f, .groups = groups};
	struct fab_mcast_result results[MAX_ENGINES];
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = NULL;
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct fab_efi efi;

	t->of[DISTANCES] =
		SECONDS(MUST(fab_dist_new, f, 1, &dist); shape = fab_shape_recognize(f));
	problem.dist = dist;
	problem.shape = shape;
	MUST(fab_mcast_route, &problem, engines, n, &options, results, &t->of[ROOTS]);
	for (size_t i = 0; i < n; i++) {
		t->of[TREES + i] = results[i].trees_seconds;
		fab_efi_of(&problem, &results[i], &efi);
		t->max_efi[i] = efi.max;
		fab_mcast_result_fini(&results[i]);
	}
}

static void run(const void *of)
{
	const struct row *row = of;
	struct times runs[REPEATS];
	double fulb = 0, sssp = 0, distances, roots;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = bench_fabric(row->fabric);
	FAB_AUTO(fab_groups_free_at)
	struct fab_groups *groups = bench_groups(f, row->pattern);
	size_t n = fab_mcast_n_engines + 1;
	const struct fab_mcast_engine *engines[MAX_ENGINES] = {&sssp_heap_new};

	memcpy(engines + 1, fab_mcast_engines, (n - 1) * sizeof(*engines));
	for (int i = 0; i < REPEATS; i++)
		run_once(f, groups, engines, n, &runs[i]);
	printf("%s %s: %u switches, %u groups\n", row->fabric, row->pattern,
	       f->n_switches, groups->n);
	for (size_t e = 0; e < n; e++) {
		double trees = median(runs, TREES + e);

		if (!strcmp(engines[e]->name, "fulb"))
			fulb = trees;
		if (!strcmp(engines[e]->name, "sssp-heap-new"))
			sssp = trees;
		printf("  %-14s trees %8.2f ms  max EFI %5u\n", engines[e]->name,
		       trees * 1e3, runs[0].max_efi[e]);
	}
	distances = median(runs, DISTANCES);
	roots = median(runs, ROOTS);
	printf("  distances %.2f ms + roots %.2f ms + fulb trees %.2f ms = %.2f ms; "
	       "sssp-heap-new / fulb trees = %.1f\n",
	       distances * 1e3, roots * 1e3, fulb * 1e3, (distances + roots + fulb) * 1e3,
	       sssp / fulb);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		bench_apart(run, &(struct row){argv[1], argv[2]});
	for (size_t i = 0; i < FAB_COUNT(rows) && argc != 3; i++)
		bench_apart(run, &rows[i]);
	return 0;
}
