/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-mcroute keeps with --store. */
#include "mcroute.h"

#include <stdlib.h>

#include "base/mem.h"

enum { N_METRICS = 12 };

/* The names are those of the JSON output. */
static size_t fill_metrics(const struct mcroute_outcome *o, size_t i,
			   struct fab_store_number *out)
{
	const struct fab_efi *e = &o->efi[i];
	double trees = o->results[i].trees_seconds;
	const struct fab_store_number metrics[N_METRICS] = {
		{"max_efi", e->max},
		{"max_efi_all", e->max_all},
		{"mean_efi", e->mean},
		{"links_at_max", e->n_at_max},
		{"lower_bound", o->lower_bound},
		{"max_height", e->max_height},
		{"tree_links", (double)e->tree_links},
		{"seconds.distances", o->distances_seconds},
		{"seconds.roots", o->roots_seconds},
		{"seconds.trees", trees},
		{"seconds.total", o->distances_seconds + o->roots_seconds + trees},
		{"verified", o->is_sound[i]},
	};
	/* nobody knows without --verify */
	size_t n = o->was_verified ? N_METRICS : N_METRICS - 1;

	for (size_t k = 0; k < n; k++)
		out[k] = metrics[k];
	return n;
}

/* On the heap: the loads that occur. */
static struct fab_store_bin *fill_bins(const struct mcroute_outcome *o, size_t i,
				       size_t *n)
{
	uint32_t max = o->efi[i].max;
	uint32_t *count = fab_efi_histogram(o->problem.f, o->results[i].load, max);
	struct fab_store_bin *bins = FAB_NEW((size_t)max + 1, struct fab_store_bin);

	*n = 0;
	for (uint32_t e = 0; e <= max; e++)
		if (count[e])
			bins[(*n)++] = (struct fab_store_bin){e, count[e]};
	free(count);
	return bins;
}

void mcroute_store(struct fab_cli_store *store, const struct fab_cli_run *cli,
		   const struct mcroute_outcome *o)
{
	const struct fab_groups *g = o->problem.groups;
	const struct fab_store_number facts[] = {
		{"groups", g->n},
		{"members", (double)g->first[g->n]},
		{"unknown_members", (double)g->n_unknown}};
	struct fab_store_number metrics[MCROUTE_MAX_ENGINES][N_METRICS];
	struct fab_store_bin *bins[MCROUTE_MAX_ENGINES];
	struct fab_store_result results[MCROUTE_MAX_ENGINES];
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .results = results,
				    .n_results = o->n};

	for (size_t i = 0; i < o->n; i++) {
		results[i] = (struct fab_store_result){
			.algorithm = o->results[i].engine->name, .metrics = metrics[i]};
		results[i].n_metrics = fill_metrics(o, i, metrics[i]);
		results[i].bins = bins[i] = fill_bins(o, i, &results[i].n_bins);
	}
	fab_cli_add_run(store, cli, o->problem.f, &run);
	for (size_t i = 0; i < o->n; i++)
		free(bins[i]);
}
