/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-mcroute keeps with --store. */
#include "mcroute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

/* Where groups come from, as the command line has it; on the heap. */
static char *join_groups(const struct mcroute_params *p, bool is_pattern)
{
	char *text = NULL;

	for (size_t i = 0; i < p->groups.n; i++)
		if (p->groups.v[i].is_pattern == is_pattern)
			fab_append(&text, " ", "%s", p->groups.v[i].text);
	return text;
}

/* Where a pattern is drawn; on the heap. */
static char *seed_of(const struct mcroute_params *p)
{
	for (size_t i = 0; i < p->groups.n; i++)
		if (p->groups.v[i].is_pattern &&
		    !strncmp(p->groups.v[i].text, "random", 6))
			return fab_format("%" PRIu64, p->run.seed);
	return NULL;
}

void mcroute_store(const struct mcroute_params *p, const struct mcroute_outcome *o)
{
	const struct fab_groups *g = o->problem.groups;
	const struct fab_store_table table = {mcroute_columns, mcroute_n_columns};
	const struct fab_store_number facts[] = {
		{"groups", g->n},
		{"members", (double)g->first[g->n]},
		{"unknown_members", (double)g->n_unknown}};
	const struct fab_store_text asked[] = {
		{"pattern", join_groups(p, true)},
		{"groups", join_groups(p, false)},
		{"seed", seed_of(p)},
		{"tables", o->has_tables ? p->mcfdbs : NULL}};
	struct fab_store_number *metrics =
		FAB_NEW(o->n * mcroute_n_columns + 1, struct fab_store_number);
	struct fab_store_bin *bins[MCROUTE_MAX_ENGINES];
	struct fab_store_result results[MCROUTE_MAX_ENGINES];
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .asked = asked,
				    .n_asked = FAB_COUNT(asked),
				    .tables = &table,
				    .n_tables = 1,
				    .results = results,
				    .n_results = o->n};

	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = mcroute_row_of(o, i);

		results[i] = (struct fab_store_result){.algorithm = row.algorithm,
						       .metrics = metrics +
								  i * mcroute_n_columns};
		results[i].n_metrics =
			fab_store_metrics(mcroute_columns, mcroute_n_columns, &row,
					  metrics + i * mcroute_n_columns);
		results[i].bins = bins[i] = fill_bins(o, i, &results[i].n_bins);
	}
	fab_cli_add_run(&p->store, &p->run, o->problem.f, &run);
	for (size_t i = 0; i < o->n; i++)
		free(bins[i]);
	for (size_t i = 0; i < 3; i++)
		free((char *)(uintptr_t)asked[i].value);
	free(metrics);
}
