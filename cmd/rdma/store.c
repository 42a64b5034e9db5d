/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-rdma keeps with --store. */
#include "store/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fabric_rdma.h"

/* "loss=0.001,size=262144": where a point is in the sweep; on the heap. */
static char *part_name(const struct rdma_params *p, const struct rdma_point *x)
{
	char *text = NULL;

	for (size_t a = 0; a < p->axes.n; a++)
		fab_append(&text, ",", "%s=%.10g", rdma_axis_name[p->axes.v[a].axis],
			   x->at[p->axes.v[a].axis]);
	return text ? text : fab_strdup("point");
}

/* A result has the numbers of the last point of its scheme, and each point of a sweep is
 * a part. */
static void add_scheme(struct fab_draft *d, const struct rdma_outcome *o,
		       const struct fab_rdma_scheme *scheme)
{
	const struct rdma_result *last = NULL;
	struct rdma_row row;

	for (size_t i = 0; i < o->results.n; i++)
		if (o->results.v[i].scheme == scheme)
			last = &o->results.v[i];
	if (!last)
		return;
	rdma_row_init(&row, o, last);
	fab_draft_result(d, scheme->name, rdma_columns, rdma_n_columns, &row);
	for (size_t i = 0; i < o->results.n && o->p->axes.n; i++) {
		const struct rdma_result *r = &o->results.v[i];
		char *part;

		if (r->scheme != scheme)
			continue;
		part = part_name(o->p, r->point);
		rdma_row_init(&row, o, r);
		fab_draft_part(d, (uint64_t)(r->point - o->point), part, rdma_columns,
			       rdma_n_columns, &row);
		free(part);
	}
}

int rdma_store(const struct rdma_params *p, const struct rdma_outcome *o,
	       struct fab_err *err)
{
	struct fab_draft d = {0};
	int rc;

	fab_draft_table(&d, rdma_columns, rdma_n_columns);
	fab_draft_fact(&d, "faults", (double)o->net.dead->named.n);
	fab_draft_fact(&d, "endpoints", o->net.ends.n);
	fab_draft_fact(&d, "transfers", o->n_transfers);
	fab_draft_asked(&d, "pattern", fab_strdup(p->pattern));
	fab_draft_asked(&d, "route", fab_strdup(o->net.route->name));
	fab_draft_asked(&d, "seed", fab_format("%" PRIu64, p->run.seed));
	if (p->figure)
		fab_draft_asked(&d, "figure", fab_format("%u", p->figure));
	if (o->net.dead->named.n)
		fab_draft_asked(&d, "failed", fab_faults_text(o->net.dead, ","));
	if (p->tables.lfts)
		fab_draft_asked(&d, "tables", fab_strdup(p->tables.lfts));
	for (size_t i = 0; i < o->n_schemes; i++)
		add_scheme(&d, o, o->scheme[i]);
	rc = fab_cli_add_run(&p->store, &p->run, o->net.f, fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}
