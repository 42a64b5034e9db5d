/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fabric-bootplan keeps with --store: as results the largest batch by every
 * algorithm and model, as batches all of a sweep with their segments.
 */
#include "bootplan.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* What hangs on what at which rate: for a machine what the fingerprint is for a fabric.
 */
static uint64_t fingerprint(const struct fab_machine *m)
{
	uint64_t hash = fab_hash_bytes(m->parent, m->n_vertices * sizeof(*m->parent), 1);

	hash = fab_hash_bytes(m->capacity_mbps, m->n_vertices * sizeof(*m->capacity_mbps),
			      hash);
	return fab_hash_bytes(m->interface_vertex,
			      m->n_interfaces * sizeof(*m->interface_vertex), hash);
}

static char *name_of(const struct bootplan_result *r)
{
	return fab_format("%s%s", r->algorithm,
			  strcmp(r->model, "max-min") ? "" : "/max-min");
}

/* Everything that was computed, with the names that it needs. */
struct kept {
	struct fab_store_segment *segments; /* all, batch by batch */
	size_t n_segments;
	struct fab_store_batch *batches; /* [results] */
	FAB_VEC(char *) names;
	struct fab_store_number *metrics; /* [results][columns] */
	struct fab_store_result *results; /* of the largest batch */
	size_t n_results;
};

static const char *keep_name(struct kept *k, char *name)
{
	FAB_PUSH(&k->names, name);
	return name;
}

static void keep_batch(const struct bootplan_outcome *o, size_t i, struct kept *k)
{
	const struct bootplan_result *r = &o->results.v[i];
	struct fab_store_batch *b = &k->batches[i];
	uint64_t per_batch = o->results.n / o->n_batches;
	struct bootplan_segments s;

	bootplan_segments_of(o->m, r, &s);
	*b = (struct fab_store_batch){
		.position =
			fab_shard_item(&o->sharding->part, i / per_batch) * per_batch +
			i % per_batch,
		.algorithm = keep_name(k, name_of(r)),
		.name = r->batch->text,
		.nodes = r->batch->n,
		.servers = r->n_servers,
		.bandwidth_mbps = r->bandwidth_mbps,
		.boot_seconds = r->boot_seconds,
		.segments = k->segments + k->n_segments,
		.n_segments = s.n,
	};
	for (uint32_t l = 0; l < s.n; l++)
		k->segments[k->n_segments++] = (struct fab_store_segment){
			.name = keep_name(k, fab_strdup(s.v[l].name)),
			.tightest = keep_name(k, fab_strdup(s.v[l].tightest)),
			.capacity_mbps = s.v[l].capacity_mbps,
			.share_mbps = s.v[l].share_mbps,
			.max_sharers = s.v[l].max_sharers};
	if (*s.bottleneck)
		b->bottleneck = keep_name(k, fab_strdup(s.bottleneck));
}

static void keep_result(const struct bootplan_outcome *o, size_t i, struct kept *k)
{
	struct fab_store_number *metrics = k->metrics + k->n_results * bootplan_n_columns;
	struct bootplan_row *row = FAB_NEW0(1, struct bootplan_row);

	bootplan_row_init(row, o, &o->results.v[i]);
	k->results[k->n_results++] = (struct fab_store_result){
		.algorithm = k->batches[i].algorithm,
		.metrics = metrics,
		.n_metrics = fab_store_metrics(bootplan_columns, bootplan_n_columns, row,
					       metrics)};
	bootplan_row_fini(row);
	free(row);
}

static void kept_init(struct kept *k, const struct bootplan_outcome *o)
{
	size_t n = o->results.n + 1, n_segments = 1;

	for (size_t i = 0; i < o->results.n; i++)
		n_segments += o->results.v[i].share.n_segments;
	*k = (struct kept){
		.segments = FAB_NEW0(n_segments, struct fab_store_segment),
		.batches = FAB_NEW0(n, struct fab_store_batch),
		.metrics = FAB_NEW(n * bootplan_n_columns, struct fab_store_number),
		.results = FAB_NEW0(n, struct fab_store_result),
	};
	for (size_t i = 0; i < o->results.n; i++) {
		keep_batch(o, i, k);
		if (o->results.v[i].batch == &o->batches[o->n_batches - 1])
			keep_result(o, i, k);
	}
}

static void kept_fini(struct kept *k)
{
	for (size_t i = 0; i < k->names.n; i++)
		free(k->names.v[i]);
	free(k->names.v);
	free(k->segments);
	free(k->batches);
	free(k->metrics);
	free(k->results);
}

void bootplan_store(const struct bootplan_params *p, const struct bootplan_outcome *o)
{
	const struct fab_store_number facts[] = {{"nodes", o->largest_nodes},
						 {"machine_nodes", o->m->n_nodes},
						 {"machine_servers", o->m->n_servers},
						 {"image_bytes", (double)o->image_bytes}};
	const struct fab_store_text asked[] = {
		{"batch", o->largest_text},
		{"sweep", p->is_sweep ? p->sweep ? p->sweep : "all" : NULL}};
	const struct fab_store_table tables[] = {
		{bootplan_columns, bootplan_n_columns},
		{bootplan_segment_columns, bootplan_segment_n_columns}};
	struct kept kept;
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .asked = asked,
				    .n_asked = FAB_COUNT(asked),
				    .tables = tables,
				    .n_tables = FAB_COUNT(tables),
				    .source = o->m->source,
				    .fingerprint = fingerprint(o->m),
				    .hosts = (uint64_t)o->m->n_nodes + o->m->n_servers};

	kept_init(&kept, o);
	run.results = kept.results;
	run.n_results = kept.n_results;
	run.batches = kept.batches;
	run.n_batches = o->results.n;
	fab_cli_add_run(&p->store, &p->run, o->m->fabric, &run);
	kept_fini(&kept);
}
