/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fabric-bootplan keeps with --store: as results the largest batch by every
 * algorithm and model, as batches all of a sweep with their segments.
 */
#include "bootplan.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { N_METRICS = 5, NAME_BYTES = 256 };

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

static size_t fill_metrics(const struct bootplan_outcome *o,
			   const struct bootplan_result *r, struct fab_store_number *out)
{
	uint32_t at = r->share.bottleneck;
	size_t n = 0;

	out[n++] = (struct fab_store_number){"boot_seconds", r->boot_seconds};
	out[n++] = (struct fab_store_number){"bandwidth_mbps", r->bandwidth_mbps};
	out[n++] = (struct fab_store_number){"servers", r->n_servers};
	if (at != FAB_NONE)
		out[n++] = (struct fab_store_number){"max_sharers",
						     r->share.segment[at].max_sharers};
	if (o->was_verified)
		out[n++] = (struct fab_store_number){"verified", r->is_sound};
	return n;
}

static char *name_of(const struct bootplan_result *r)
{
	return fab_format("%s%s", r->algorithm,
			  strcmp(r->model, "max-min") ? "" : "/max-min");
}

/* Everything that was computed, with the names that it needs. */
struct batches {
	struct fab_store_batch *v;
	struct fab_store_segment *segments;
	char **names; /* of algorithms */
	char (*tightest)[NAME_BYTES], (*kinds)[NAME_BYTES];
};

static void fill_segments(const struct bootplan_outcome *o,
			  const struct bootplan_result *r, struct batches *b, size_t at)
{
	for (uint32_t i = 0; i < r->share.n_segments; i++, at++) {
		const struct fab_share_segment *s = &r->share.segment[i];

		b->segments[at] = (struct fab_store_segment){
			.name = fab_share_segment_name(o->m, s, b->kinds[at], NAME_BYTES),
			.tightest = fab_machine_vertex_name(o->m, s->vertex,
							    b->tightest[at], NAME_BYTES),
			.capacity_mbps = s->capacity_mbps,
			.share_mbps = s->share_mbps,
			.max_sharers = s->max_sharers};
	}
}

static void fill_batches(const struct bootplan_outcome *o, struct batches *b)
{
	size_t n = o->results.n, n_segments = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		n_segments += o->results.v[i].share.n_segments;
	b->v = FAB_NEW0(n + 1, struct fab_store_batch);
	b->names = FAB_NEW(n + 1, char *);
	b->segments = FAB_NEW0(n_segments + 1, struct fab_store_segment);
	b->tightest = fab_alloc(n_segments + 1, NAME_BYTES);
	b->kinds = fab_alloc(n_segments + 1, NAME_BYTES);
	for (size_t i = 0; i < n; i++) {
		const struct bootplan_result *r = &o->results.v[i];

		fill_segments(o, r, b, at);
		b->names[i] = name_of(r);
		b->v[i] = (struct fab_store_batch){.algorithm = b->names[i],
						   .name = r->batch->text,
						   .nodes = r->batch->n,
						   .servers = r->n_servers,
						   .bandwidth_mbps = r->bandwidth_mbps,
						   .boot_seconds = r->boot_seconds,
						   .segments = b->segments + at,
						   .n_segments = r->share.n_segments};
		if (r->share.bottleneck != FAB_NONE)
			b->v[i].bottleneck = b->kinds[at + r->share.bottleneck];
		at += r->share.n_segments;
	}
}

static void free_batches(struct batches *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(b->names[i]);
	free(b->v);
	free(b->names);
	free(b->segments);
	free(b->tightest);
	free(b->kinds);
}

void bootplan_store(struct fab_cli_store *store, const struct fab_cli_run *cli,
		    const struct bootplan_outcome *o)
{
	const struct fab_batch *batch = &o->batches[o->n_batches - 1];
	const struct fab_store_number facts[] = {{"nodes", batch->n},
						 {"machine_nodes", o->m->n_nodes},
						 {"machine_servers", o->m->n_servers},
						 {"image_bytes", (double)o->image_bytes}};
	struct fab_store_number(*metrics)[N_METRICS] =
		fab_alloc(o->results.n + 1, sizeof(*metrics));
	struct fab_store_result *results =
		FAB_NEW0(o->results.n + 1, struct fab_store_result);
	struct batches batches;
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .results = results,
				    .source = o->m->source,
				    .fingerprint = fingerprint(o->m),
				    .hosts = (uint64_t)o->m->n_nodes + o->m->n_servers};

	fill_batches(o, &batches);
	run.batches = batches.v;
	run.n_batches = o->results.n;
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *r = &o->results.v[i];
		size_t k = run.n_results;

		if (r->batch != batch)
			continue;
		results[k] = (struct fab_store_result){.algorithm = batches.names[i],
						       .metrics = metrics[k]};
		results[k].n_metrics = fill_metrics(o, r, metrics[k]);
		run.n_results++;
	}
	fab_cli_add_run(store, cli, o->m->fabric, &run);
	free_batches(&batches, o->results.n);
	free(metrics);
	free(results);
}
