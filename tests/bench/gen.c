/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds to make the fabrics of the papers and to recognise their shapes, best of a few
 * runs: rows of `name switches hosts generate_s shape_s shape`.
 */
#include "bench.h"

#include "fabric/shape.h"

#include <math.h>

static const char *const specs[] = {
	"fattree:radix=40,levels=3",
	"torus:dims=30x20x20,hosts=2",
	"dragonfly:a=18,p=9,h=9",
	"bluelight",
	"taihulight",
	"kfat:dims=16x16,hosts=16",
	"kfat:dims=72x72,hosts=24",
	"hyperx:dims=32x32,hosts=16",
	"random:switches=4096,degree=24,hosts=12",
};

static void measure(const char *spec)
{
	char full[256];
	enum { RUNS = 5 };
	double generate = 1e9, recognise = 1e9, start;
	uint32_t switches = 0, hosts = 0;
	char text[64] = "";

	snprintf(full, sizeof(full), "gen:%s", spec);
	for (int run = 0; run < RUNS; run++) {
		FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = NULL;
		FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;

		start = fab_now();
		f = bench_fabric(full);
		generate = fmin(generate, fab_now() - start);
		start = fab_now();
		shape = fab_shape_recognize(f);
		recognise = fmin(recognise, fab_now() - start);
		fab_shape_text(shape, text, sizeof(text));
		switches = f->n_switches;
		hosts = f->n_hosts;
	}
	printf("%-40s %8u %8u %10.4f %10.4f  %s\n", spec, switches, hosts, generate,
	       recognise, text);
}

int main(void)
{
	printf("%-40s %8s %8s %10s %10s  %s\n", "name", "switches", "hosts", "generate_s",
	       "shape_s", "shape");
	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		measure(specs[i]);
	return 0;
}
