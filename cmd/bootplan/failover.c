/* SPDX-License-Identifier: BSD-2-Clause */
/* What --fail-server does to nodes and to the servers that are left. */
#include <stdlib.h>

#include "bootplan.h"

enum { NAME_BYTES = 256, SHOWN = 10, N_CELLS = 3 };

/* In JSON these are `failover` of a result, without the first two. */
static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT, "rule that gave the servers", 0},
	{"moved_nodes", FAB_UINT, "nodes of the batch with another server than before",
	 0},
	{"server", FAB_TEXT, "a server that takes over", 0},
	{"nodes_before", FAB_UINT, "that it serves when all servers are up", 0},
	{"nodes", FAB_UINT, "that it serves now", 0},
};

static void fill(const struct fab_machine *m, const struct fab_failover_server *s,
		 char name[NAME_BYTES], union fab_cell *cells)
{
	cells[0].text = fab_machine_server_name(m, s->server, name, NAME_BYTES);
	cells[1].u = s->nodes_before;
	cells[2].u = s->nodes;
}

void bootplan_failover_rows(const struct bootplan_outcome *o,
			    const struct bootplan_result *result,
			    struct bootplan_failover_rows *out)
{
	const struct fab_failover *f = result->failover;
	uint32_t n = f ? f->n : 0;

	out->cells = FAB_NEW((size_t)n * N_CELLS + 1, union fab_cell);
	out->names = fab_alloc((size_t)n + 1, NAME_BYTES);
	for (uint32_t i = 0; i < n; i++)
		fill(o->m, &f->grown[i], out->names[i], out->cells + i * N_CELLS);
	out->rows = (struct fab_rows){columns + 2, N_CELLS, out->cells, n};
}

void bootplan_failover_rows_fini(struct bootplan_failover_rows *rows)
{
	free(rows->cells);
	free(rows->names);
}

void bootplan_print_failover(struct fab_report *r, const struct bootplan_outcome *o)
{
	fab_report_table_begin(r, "failover", "Servers that take over most", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *result = &o->results.v[i];
		const struct fab_failover *f = result->failover;
		char name[NAME_BYTES];

		if (result->batch != &o->batches[o->n_batches - 1] || !f ||
		    (i && f == result[-1].failover))
			continue; /* or the same by another model */
		for (uint32_t k = 0; k < f->n && k < SHOWN; k++) {
			union fab_cell cells[2 + N_CELLS] = {{.text = result->algorithm},
							     {.u = f->n_moved}};

			fill(o->m, &f->grown[k], name, cells + 2);
			fab_report_row(r, cells);
		}
	}
	fab_report_table_end(r);
}
