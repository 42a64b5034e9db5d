/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far apart are the switches of a fabric? A program outside the project:
 *   cc hops.c -o hops $(pkg-config --cflags --libs fabkit) && ./hops gen:taihulight
 */
#include <fabkit/fab.h>

#include <inttypes.h>
#include <stdio.h>

static void print_histogram(const struct fab_fabric *f, const struct fab_dist *dist)
{
	uint64_t pairs[256] = {0};

	for (uint32_t a = 0; a < f->n_switches; a++) {
		const uint8_t *row = fab_dist_row(dist, a);

		for (uint32_t b = 0; b < a; b++)
			pairs[row[b]]++;
	}
	for (unsigned hops = 1; hops < FAB_HOPS_UNREACHABLE; hops++)
		if (pairs[hops])
			printf("%u hops: %" PRIu64 " pairs of switches\n", hops,
			       pairs[hops]);
	if (pairs[FAB_HOPS_UNREACHABLE])
		printf("not connected: %" PRIu64 " pairs\n", pairs[FAB_HOPS_UNREACHABLE]);
}

int main(int argc, char **argv)
{
	struct fab_fabric *fabric;
	struct fab_dist *dist;
	struct fab_err err;
	int rc;

	if (argc != 2) {
		fputs("usage: hops FABRIC\n", stderr);
		return 2;
	}
	if (fab_source_open(argv[1], NULL, &fabric, &err) != 0) {
		fprintf(stderr, "hops: %s\n", err.text);
		return 3;
	}
	rc = fab_dist_new(fabric, 0, &dist, &err);
	if (rc == 0) {
		print_histogram(fabric, dist);
		fab_dist_free(dist);
	} else {
		fprintf(stderr, "hops: %s\n", err.text);
	}
	fab_fabric_free(fabric);
	return rc ? 3 : 0;
}
