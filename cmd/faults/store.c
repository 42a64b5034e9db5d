/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults keeps with --store. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

/* Of a result, and of one of its sets of faults. */
static const struct fab_column set_columns[] = {
	{"pairs", FAB_UINT, "", 0, FAB_AT(struct faults_set, pairs), FAB_METRIC_PLAIN},
	{"unreachable", FAB_UINT, "", 0, FAB_AT(struct faults_set, unreachable),
	 FAB_METRIC_LESS},
	{"max_hops", FAB_UINT, "", 0, FAB_AT(struct faults_set, max_hops),
	 FAB_METRIC_LESS},
	{"cycle_channels", FAB_UINT, "", 0, FAB_AT(struct faults_set, cycle_channels),
	 FAB_METRIC_LESS},
};

/* On the heap: the numbers of each set of faults. */
static struct fab_store_detail *fill_sets(const struct faults_result *r, size_t *n)
{
	struct fab_store_detail *details =
		FAB_NEW(r->each.n * FAB_COUNT(set_columns) + 1, struct fab_store_detail);

	*n = 0;
	for (size_t i = 0; i < r->each.n; i++)
		*n += fab_store_details(set_columns, FAB_COUNT(set_columns),
					&r->each.v[i], r->each.v[i].number,
					r->each.v[i].dead, details + *n);
	return details;
}

/* Sets of faults that are drawn or gone through; NULL: none. On the heap. */
static char *sets_asked(const struct faults_params *p)
{
	const struct faults_wish *w = &p->wish;
	const char *kind = fab_fault_kind_name(w->of);

	if (w->random)
		return fab_format("%" PRIu64 " times %u of %s, seed %" PRIu64, w->count,
				  w->random, kind, p->run.seed);
	return w->exhaustive ? fab_format("all %u of %s", w->exhaustive, kind) : NULL;
}

void faults_store(const struct faults_params *p, const struct faults_outcome *o)
{
	const struct fab_store_table table = {faults_columns, faults_n_columns};
	struct fab_store_detail *details[FAULTS_MAX_ENGINES];
	struct fab_store_result results[FAULTS_MAX_ENGINES];
	struct fab_store_number *metrics =
		FAB_NEW(o->n * faults_n_columns + 1, struct fab_store_number);
	const struct fab_store_number facts[] = {{"faults", (double)o->faults->named.n},
						 {"sets", (double)o->n_sets}};
	char *failed = o->faults->named.n ? faults_dead_names(o->faults, ",") : NULL;
	char *sets = sets_asked(p);
	const struct fab_store_text asked[] = {{"failed", failed},
					       {"sets_of_faults", sets},
					       {"tables", p->files.lfts},
					       {"endpoints", p->ends_text}};
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .asked = asked,
				    .n_asked = FAB_COUNT(asked),
				    .tables = &table,
				    .n_tables = 1,
				    .results = results,
				    .n_results = o->n};

	for (size_t i = 0; i < o->n; i++) {
		struct fab_store_number *own = metrics + i * faults_n_columns;
		struct faults_row row;

		faults_row_init(&row, &o->results[i]);
		results[i] = (struct fab_store_result){.algorithm = row.a.algorithm,
						       .metrics = own};
		results[i].n_metrics =
			fab_store_metrics(faults_columns, faults_n_columns, &row, own);
		results[i].details = details[i] =
			fill_sets(&o->results[i], &results[i].n_details);
		faults_row_fini(&row);
	}
	fab_cli_add_run(&p->store, &p->run, o->f, &run);
	for (size_t i = 0; i < o->n; i++)
		free(details[i]);
	free(metrics);
	free(failed);
	free(sets);
}

/* What is kept of the rows of --reliability: of n rows, the parts' names on the heap. */
struct reliability {
	const struct faults_reliability_row *rows;
	size_t n, n_details;
	struct fab_store_result *results;
	size_t n_results;
	struct fab_store_detail *details;
	struct fab_store_number *metrics;
	char **parts;
};

/* All rows of the algorithm of row `first`: the numbers of the last one, and each a part.
 */
static void keep_algorithm(struct reliability *k, size_t first)
{
	const struct fab_column *columns = faults_reliability_columns;
	size_t width = faults_reliability_n_columns;
	struct fab_store_result *r = &k->results[k->n_results];

	r->algorithm = k->rows[first].algorithm;
	r->details = k->details + k->n_details;
	r->metrics = k->metrics + k->n_results++ * width;
	for (size_t i = first; i < k->n; i++) {
		const struct faults_reliability_row *row = &k->rows[i];

		if (strcmp(row->algorithm, r->algorithm) != 0)
			continue;
		k->parts[i] = fab_format("faults=%u", row->faults);
		r->n_metrics = fab_store_metrics(columns, width, row,
						 k->metrics + (k->n_results - 1) * width);
		k->n_details += fab_store_details(columns, width, row, i, k->parts[i],
						  k->details + k->n_details);
	}
	r->n_details = (size_t)(k->details + k->n_details - r->details);
}

void faults_store_reliability(const struct faults_params *p,
			      const struct faults_outcome *o)
{
	size_t n = o->reliability.n, width = faults_reliability_n_columns;
	const struct fab_store_table table = {faults_reliability_columns, width};
	struct reliability k = {
		.rows = o->reliability.v,
		.n = n,
		.results = FAB_NEW0(n + 1, struct fab_store_result),
		.details = FAB_NEW(n * width + 1, struct fab_store_detail),
		.metrics = FAB_NEW(n * width + 1, struct fab_store_number),
		.parts = FAB_NEW0(n + 1, char *)};
	char *trials = fab_format("%" PRIu64 ", seed %" PRIu64, p->questions.trials,
				  p->run.seed);
	const struct fab_store_text asked[] = {{"trials", trials}};
	/* what the mean time follows from */
	const struct fab_store_number facts[] = {
		{"leaves", o->kfat->n_leaves},
		{"mtbf_seconds", p->questions.mtbf_seconds > 0 ? p->questions.mtbf_seconds
							       : (double)NAN}};
	struct fab_store_run run = {.results = k.results,
				    .facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .asked = asked,
				    .n_asked = FAB_COUNT(asked),
				    .tables = &table,
				    .n_tables = 1};

	for (size_t i = 0; i < n; i++)
		if (!k.parts[i])
			keep_algorithm(&k, i);
	run.n_results = k.n_results;
	fab_cli_add_run(&p->store, &p->run, o->f, &run);
	for (size_t i = 0; i < n; i++)
		free(k.parts[i]);
	free(k.parts);
	free(trials);
	free(k.details);
	free(k.metrics);
	free(k.results);
}
