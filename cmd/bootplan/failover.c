/* SPDX-License-Identifier: BSD-2-Clause */
/* What --fail-server, --with-server and --without-node do to nodes and servers. */
#include <stdlib.h>

#include "bootplan.h"

enum { SHOWN = 10 };

/* In JSON these are `failover` of a result, without the first two. */
#define AT(member) FAB_AT(struct bootplan_failover_server, member)
static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT, "rule that gave the servers", 0, AT(algorithm)},
	{"moved_nodes", FAB_UINT, "nodes of the batch with another server than before", 0,
	 AT(moved_nodes)},
	{"server", FAB_TEXT, "a server that takes over", 0, AT(server)},
	{"nodes_before", FAB_UINT, "that it served before", 0, AT(nodes_before)},
	{"nodes", FAB_UINT, "that it serves now", 0, AT(nodes)},
};
#undef AT

void bootplan_failover_rows(const struct bootplan_outcome *o,
			    const struct bootplan_result *result,
			    struct bootplan_failover_rows *out)
{
	const struct fab_failover *f = result->failover;
	uint32_t n = f ? f->n : 0;

	out->v = FAB_NEW0((size_t)n + 1, struct bootplan_failover_server);
	for (uint32_t i = 0; i < n; i++) {
		struct bootplan_failover_server *s = &out->v[i];

		s->algorithm = result->algorithm;
		s->moved_nodes = f->n_moved;
		s->server = fab_machine_server_name(o->m, f->grown[i].server, s->name,
						    sizeof(s->name));
		s->nodes_before = f->grown[i].nodes_before;
		s->nodes = f->grown[i].nodes;
	}
	out->rows = (struct fab_rows){columns + 2, FAB_COUNT(columns) - 2, out->v,
				      sizeof(*out->v), n};
}

void bootplan_failover_rows_fini(struct bootplan_failover_rows *rows)
{
	free(rows->v);
}

/* Of the largest batch, mappings side by side: what moves, and what that gives. */
static void print_changes(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column fields[] = {
		{"algorithm", FAB_TEXT, "rule that gave the servers", 0},
		{"model", FAB_TEXT, "how nodes share a segment", 0},
		{"moved_nodes", FAB_UINT, "nodes with another server than before", 0},
		{"seconds_before", FAB_REAL, "until all had booted", FAB_COL_SECONDS},
		{"boot_seconds", FAB_REAL, "until all have booted now", FAB_COL_SECONDS},
	};

	fab_report_table_begin(r, "changes", "Before and now", fields, FAB_COUNT(fields));
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *x = &o->results.v[i];

		if (x->batch != &o->batches[o->n_batches - 1] || !x->failover)
			continue;
		fab_report_row(r, (const union fab_cell[]){
					  {.text = x->algorithm},
					  {.text = x->model},
					  {.u = x->failover->n_moved},
					  {.real = x->seconds_before},
					  {.real = x->boot_seconds},
				  });
	}
	fab_report_table_end(r);
}

void bootplan_print_failover(struct fab_report *r, const struct bootplan_outcome *o)
{
	print_changes(r, o);
	fab_report_table_begin(r, "failover", "Servers that take over most", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *result = &o->results.v[i];
		const struct fab_failover *f = result->failover;
		struct bootplan_failover_rows rows;

		if (result->batch != &o->batches[o->n_batches - 1] || !f ||
		    (i && f == result[-1].failover))
			continue; /* or the same by another model */
		bootplan_failover_rows(o, result, &rows);
		for (size_t k = 0; k < rows.rows.n && k < SHOWN; k++)
			fab_report_record(r, &rows.v[k]);
		bootplan_failover_rows_fini(&rows);
	}
	fab_report_table_end(r);
}
