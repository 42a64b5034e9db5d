/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/booksim.h"

#include <errno.h>
#include <inttypes.h>

#include "traffic/ends.h"

/* Ends of a switch follow each other in no order of the switches. */
static void put_nodes(FILE *out, const struct fab_flow_ends *ends, uint32_t sw)
{
	for (uint32_t e = 0; e < ends->n; e++)
		if (ends->sw[e] == sw)
			fprintf(out, " node %" PRIu32, e);
}

int fab_export_booksim(FILE *out, const struct fab_fabric *f, uint32_t *n_parallel,
		       struct fab_err *err)
{
	struct fab_flow_ends ends;
	int rc = 0;

	*n_parallel = 0;
	fab_flow_ends_init(&ends, f, NULL, NULL);
	if (!ends.n)
		rc = fab_fail(err, EINVAL, "%s: no host is on a switch: nobody can send",
			      f->source);
	for (uint32_t sw = 0; sw < f->n_switches && !rc; sw++) {
		fprintf(out, "router %" PRIu32, sw);
		put_nodes(out, &ends, sw);
		for (uint32_t i = f->peer_first[sw]; i < f->peer_first[sw + 1]; i++)
			if (f->peer[i] > sw)
				fprintf(out, " router %" PRIu32, f->peer[i]);
		putc('\n', out);
		*n_parallel += f->arc_first[sw + 1] - f->arc_first[sw] -
			       (f->peer_first[sw + 1] - f->peer_first[sw]);
	}
	*n_parallel /= 2;
	fab_flow_ends_fini(&ends);
	return rc;
}
