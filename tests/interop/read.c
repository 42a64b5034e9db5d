/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: read dump|fingerprint FABRIC   what our readers make of a fabric */
#include "export/fabrics.h"
#include "source/source.h"

int main(int argc, char **argv)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;
	struct fab_err err;

	if (argc != 3)
		return 2;
	if (fab_source_open(argv[2], NULL, &f, &err) ||
	    (!strcmp(argv[1], "dump") && fab_export_ibnetdiscover(stdout, f, &err))) {
		fprintf(stderr, "%s\n", err.text);
		return 3;
	}
	if (strcmp(argv[1], "dump") != 0)
		printf("%s %u %u %u %016llx\n", argv[1], f->n_switches, f->n_adapters,
		       f->n_cables, (unsigned long long)fab_fabric_fingerprint(f));
	return 0;
}
