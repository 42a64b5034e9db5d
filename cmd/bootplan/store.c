/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fabric-bootplan keeps with --store: as results the largest batch by every
 * algorithm and model, as batches all of a sweep with their segments.
 */
#include "bootplan.h"

#include <stdlib.h>
#include <string.h>

#include "store/store.h"

static char *name_of(const struct bootplan_result *r)
{
	return fab_format("%s%s", r->algorithm,
			  strcmp(r->model, "max-min") ? "" : "/max-min");
}

static void add_batch(struct fab_draft *d, const struct bootplan_outcome *o, size_t i,
		      const char *algorithm)
{
	const struct bootplan_result *r = &o->results.v[i];
	uint64_t per_batch = o->results.n / o->n_batches;
	struct bootplan_segments s;

	bootplan_segments_of(o->m, r, &s);
	fab_draft_batch(
		d, &(struct fab_store_batch){
			   .position = fab_shard_item(&o->sharding->part, i / per_batch) *
					       per_batch +
				       i % per_batch,
			   .algorithm = algorithm,
			   .name = r->batch->text,
			   .nodes = r->batch->n,
			   .servers = r->n_servers,
			   .bandwidth_mbps = r->bandwidth_mbps,
			   .boot_seconds = r->boot_seconds,
			   .bottleneck = *s.bottleneck ? s.bottleneck : NULL});
	for (uint32_t l = 0; l < s.n; l++)
		fab_draft_segment(d, &(struct fab_store_segment){
					     .name = s.v[l].name,
					     .tightest = s.v[l].tightest,
					     .capacity_mbps = s.v[l].capacity_mbps,
					     .share_mbps = s.v[l].share_mbps,
					     .max_sharers = s.v[l].max_sharers});
}

static void add_result(struct fab_draft *d, const struct bootplan_outcome *o, size_t i,
		       const char *algorithm)
{
	struct bootplan_row *row = FAB_NEW0(1, struct bootplan_row);

	bootplan_row_init(row, o, &o->results.v[i]);
	fab_draft_result(d, algorithm, bootplan_columns, bootplan_n_columns, row);
	bootplan_row_fini(row);
	free(row);
}

int bootplan_store(const struct bootplan_params *p, const struct bootplan_outcome *o,
		   struct fab_err *err)
{
	struct fab_draft d = {
		.run.fabric = {.source = o->m->source,
			       .fingerprint = o->fingerprint,
			       .hosts = (uint64_t)o->m->n_nodes + o->m->n_servers}};
	int rc;

	fab_draft_fact(&d, "nodes", o->largest_nodes);
	fab_draft_fact(&d, "machine_nodes", o->m->n_nodes);
	fab_draft_fact(&d, "machine_servers", o->m->n_servers);
	fab_draft_fact(&d, "image_bytes", (double)o->image_bytes);
	fab_draft_asked(&d, "batch", fab_strdup(o->largest_text));
	if (p->is_sweep)
		fab_draft_asked(&d, "sweep", fab_strdup(p->sweep ? p->sweep : "all"));
	fab_draft_table(&d, bootplan_columns, bootplan_n_columns);
	fab_draft_table(&d, bootplan_segment_columns, bootplan_segment_n_columns);
	for (size_t i = 0; i < o->results.n; i++) {
		char *algorithm = name_of(&o->results.v[i]);

		add_batch(&d, o, i, algorithm);
		if (o->results.v[i].batch == &o->batches[o->n_batches - 1])
			add_result(&d, o, i, algorithm);
		free(algorithm);
	}
	rc = fab_cli_add_run(&p->store, &p->run, o->m->fabric, fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}
