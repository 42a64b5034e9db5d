/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: bench-read [FABRIC...]
 * How fast dumps are read, on one thread, from text to the finished model; best of a few
 * runs: rows of `fabric MB ports seconds MB_per_s`. The text is what we
 * write of each fabric, in memory. Without arguments: two generated fabrics and, if the
 * folder of real dumps is there, the largest of them.
 */
#include "bench.h"

#include "export/fabrics.h"

static void dump_of(const char *fabric, char **text, size_t *n)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = bench_fabric(fabric);
	FILE *out = open_memstream(text, n);

	MUST(fab_export_ibnetdiscover, out, f);
	fclose(out);
}

static void measure(const char *fabric)
{
	enum { RUNS = 7 };
	double best = 1e9;
	uint32_t ports = 0;
	FAB_AUTOFREE char *text = NULL;
	size_t n = 0;

	dump_of(fabric, &text, &n);
	for (int run = 0; run < RUNS; run++) {
		FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;
		double start = fab_now(), seconds;

		MUST(fab_source_parse, "dump", text, n, NULL, &f);
		seconds = fab_now() - start;
		best = seconds < best ? seconds : best;
		ports = f->n_ports;
	}
	printf("%-40.40s %8.2f %9u %9.4f %9.1f\n", fabric, (double)n / 1e6, ports, best,
	       (double)n / 1e6 / best);
}

int main(int argc, char **argv)
{
	const char *data = getenv("FAB_TEST_DATA"), *source = getenv("FAB_SOURCE_DIR");
	char selene[4096];

	printf("%-40s %8s %9s %9s %9s\n", "fabric", "MB", "ports", "seconds", "MB_per_s");
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	if (argc > 1)
		return 0;
	measure("gen:fattree:radix=40,levels=3");
	measure("gen:torus:dims=30x20x20,hosts=2");
	snprintf(selene, sizeof(selene), "%s%s/ibnetdiscover/selene-compute-hdr.txt",
		 data && *data ? data : (source ? source : "."),
		 data && *data ? "" : "/../shared/topologies");
	if (!access(selene, R_OK))
		measure(selene);
	return 0;
}
