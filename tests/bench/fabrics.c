/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: bench-fabrics [FABRIC...]
 * Seconds to make a fabric or read it, to recognise its shape, and to read what we write
 * of it, on one thread, from text in memory to the finished model; best of a few runs.
 * Without arguments: the fabrics of the papers and, if the folder of real dumps is there,
 * the largest of them.
 */
#include "bench.h"

#include "export/fabrics.h"
#include "fabric/shape.h"

#include <math.h>

static void dump_of(const struct fab_fabric *f, char **text, size_t *n)
{
	FILE *out = open_memstream(text, n);

	MUST(fab_export_ibnetdiscover, out, f);
	fclose(out);
}

static void measure(const char *spec)
{
	enum { RUNS = 5 };
	double make = INFINITY, recognise = INFINITY, read = INFINITY;
	FAB_AUTOFREE char *text = NULL;
	char form[64] = "";
	uint32_t switches = 0, hosts = 0;
	size_t n = 0;

	for (int run = 0; run < RUNS; run++) {
		FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = NULL;
		FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL, *again = NULL;

		make = fmin(make, SECONDS(f = bench_fabric(spec)));
		recognise = fmin(recognise, SECONDS(shape = fab_shape_recognize(f)));
		if (!text)
			dump_of(f, &text, &n);
		read = fmin(read, SECONDS(MUST(fab_source_parse, "dump", text, n, NULL,
					       &again)));
		fab_shape_text(shape, form, sizeof(form));
		switches = f->n_switches;
		hosts = f->n_hosts;
	}
	printf("%-40.40s %8u %8u %8.4f %8.4f %8.2f %8.4f %9.1f  %s\n", spec, switches,
	       hosts, make, recognise, (double)n / 1e6, read, (double)n / 1e6 / read,
	       form);
}

int main(int argc, char **argv)
{
	static const char *const specs[] = {
		"gen:fattree:radix=40,levels=3",
		"gen:torus:dims=30x20x20,hosts=2",
		"gen:dragonfly:a=18,p=9,h=9",
		"gen:bluelight",
		"gen:taihulight",
		"gen:kfat:dims=16x16,hosts=16",
		"gen:kfat:dims=72x72,hosts=24",
		"gen:hyperx:dims=32x32,hosts=16",
		"gen:random:switches=4096,degree=24,hosts=12",
	};
	const char *data = getenv("FAB_TEST_DATA"), *source = getenv("FAB_SOURCE_DIR");
	FAB_AUTOFREE char *selene =
		fab_format("%s%s/ibnetdiscover/selene-compute-hdr.txt",
			   data && *data ? data : (source ? source : "."),
			   data && *data ? "" : "/../shared/topologies");

	printf("%-40s %8s %8s %8s %8s %8s %8s %9s  %s\n", "name", "switches", "hosts",
	       "make_s", "shape_s", "MB", "read_s", "MB_per_s", "shape");
	for (int i = 1; i < argc; i++)
		measure(argv[i]);
	for (size_t i = 0; i < FAB_COUNT(specs) && argc < 2; i++)
		measure(specs[i]);
	if (argc < 2 && !access(selene, R_OK))
		measure(selene);
	return 0;
}
