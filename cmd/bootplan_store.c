/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-bootplan keeps with --store: the largest batch by every algorithm and
 * model. */
#include "bootplan.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { N_METRICS = 5 };

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
	const struct fab_share_segment *tightest = &r->share.segment[r->share.bottleneck];
	size_t n = 0;

	out[n++] = (struct fab_store_number){"boot_seconds", r->boot_seconds};
	out[n++] = (struct fab_store_number){"bandwidth_mbps", r->bandwidth_mbps};
	out[n++] = (struct fab_store_number){"servers", r->n_servers};
	if (r->share.bottleneck != FAB_NONE)
		out[n++] =
			(struct fab_store_number){"max_sharers", tightest->max_sharers};
	if (o->was_verified)
		out[n++] = (struct fab_store_number){"verified", r->is_sound};
	return n;
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
	char **names = FAB_NEW(o->results.n + 1, char *);
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .results = results,
				    .source = o->m->source,
				    .fingerprint = fingerprint(o->m),
				    .hosts = (uint64_t)o->m->n_nodes + o->m->n_servers};

	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *r = &o->results.v[i];
		size_t k = run.n_results;

		if (r->batch != batch)
			continue;
		names[k] = fab_format("%s%s", r->algorithm,
				      strcmp(r->model, "max-min") ? "" : "/max-min");
		results[k] = (struct fab_store_result){.algorithm = names[k],
						       .metrics = metrics[k]};
		results[k].n_metrics = fill_metrics(o, r, metrics[k]);
		run.n_results++;
	}
	fab_cli_add_run(store, cli, o->m->fabric, &run);
	for (size_t k = 0; k < run.n_results; k++)
		free(names[k]);
	free(names);
	free(metrics);
	free(results);
}
