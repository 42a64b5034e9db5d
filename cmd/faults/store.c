/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults keeps with --store. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

enum { N_METRICS = 18, N_SET_METRICS = 4, N_ROW_METRICS = 4 };

/* The names are those of the JSON output. */
static size_t fill_metrics(const struct faults_result *r, struct fab_store_number *out)
{
	const struct fab_judgement *j = &r->sum;
	const struct fab_store_number metrics[] = {
		{"unreachable", (double)j->unreachable},
		{"pairs", (double)j->pairs},
		{"max_hops", j->max_hops},
		{"minimal", (double)j->minimal},
		{"vls", j->vls},
		{"sls", j->sls},
		{"deadlock_free", j->is_unknown ? NAN : j->deadlock_free},
		{"cycle_channels", (double)j->cycle_channels},
		{"pairs_on_cycles", (double)j->pairs_on_cycles},
		{"entries_changed", (double)r->entries_changed},
		{"load", r->load},
		{"sets_unreachable", (double)r->sets_unreachable},
		{"sets_with_cycle", (double)r->sets_with_cycle},
		{"seconds.route", r->route_seconds},
		{"seconds.judge", r->judge_seconds},
		{"seconds.total", r->route_seconds + r->judge_seconds},
		{"verified", r->is_sound},
	};
	size_t n = 0;

	_Static_assert(FAB_COUNT(metrics) <= N_METRICS, "room for all");
	for (size_t i = 0; i < FAB_COUNT(metrics) - !r->was_verified; i++)
		if (!isnan(metrics[i].value))
			out[n++] = metrics[i];
	return n;
}

/* On the heap: the numbers of each set of faults. */
static struct fab_store_detail *fill_sets(const struct faults_result *r, size_t *n)
{
	struct fab_store_detail *details =
		FAB_NEW(r->each.n * N_SET_METRICS + 1, struct fab_store_detail);

	*n = 0;
	for (size_t i = 0; i < r->each.n; i++) {
		const struct faults_set *set = &r->each.v[i];
		const struct fab_store_number numbers[N_SET_METRICS] = {
			{"pairs", (double)set->pairs},
			{"unreachable", (double)set->unreachable},
			{"max_hops", set->max_hops},
			{"cycle_channels", (double)set->cycle_channels}};

		for (size_t k = 0; k < N_SET_METRICS; k++)
			details[(*n)++] = (struct fab_store_detail){
				set->number, set->dead, numbers[k].name,
				numbers[k].value};
	}
	return details;
}

void faults_store(struct fab_cli_store *store, const struct fab_cli_run *cli,
		  const struct faults_outcome *o)
{
	struct fab_store_number metrics[FAULTS_MAX_ENGINES][N_METRICS];
	struct fab_store_detail *details[FAULTS_MAX_ENGINES];
	struct fab_store_result results[FAULTS_MAX_ENGINES];
	const struct fab_store_number facts[] = {{"faults", (double)o->faults->named.n},
						 {"sets", (double)o->n_sets}};
	struct fab_store_run run = {.facts = facts,
				    .n_facts = FAB_COUNT(facts),
				    .results = results,
				    .n_results = o->n};

	for (size_t i = 0; i < o->n; i++) {
		const struct faults_result *r = &o->results[i];

		results[i] = (struct fab_store_result){.algorithm = r->algorithm,
						       .metrics = metrics[i]};
		results[i].n_metrics = fill_metrics(r, metrics[i]);
		details[i] = fill_sets(r, &results[i].n_details);
		results[i].details = details[i];
	}
	fab_cli_add_run(store, cli, o->f, &run);
	for (size_t i = 0; i < o->n; i++)
		free(details[i]);
}

/* The rows of an algorithm, one after the other, are one result: its last row counts. */
void faults_store_reliability(struct fab_cli_store *store, const struct fab_cli_run *cli,
			      const struct faults_outcome *o)
{
	size_t n = o->reliability.n, n_details = 0;
	struct fab_store_number(*metrics)[2] = fab_alloc(n + 1, sizeof(*metrics));
	struct fab_store_result *results = FAB_NEW0(n + 1, struct fab_store_result);
	struct fab_store_detail *details =
		FAB_NEW(n * N_ROW_METRICS + 1, struct fab_store_detail);
	char **parts = FAB_NEW(n + 1, char *);
	struct fab_store_run run = {.results = results};

	for (size_t i = 0; i < n; i++) {
		const struct faults_reliability_row *row = &o->reliability.v[i];
		const struct fab_store_number numbers[N_ROW_METRICS] = {
			{"probability", row->probability},
			{"low", row->low},
			{"high", row->high},
			{"unreachable_share", row->share}};
		struct fab_store_result *r = &results[run.n_results];

		if (i && !strcmp(row->algorithm, o->reliability.v[i - 1].algorithm))
			r--;
		else
			run.n_results++;
		if (!r->details)
			r->details = details + n_details;
		parts[i] = fab_format("faults=%u", row->faults);
		for (size_t k = 0; k < N_ROW_METRICS; k++, n_details++)
			details[n_details] = (struct fab_store_detail){
				row->faults, parts[i], numbers[k].name, numbers[k].value};
		r->n_details += N_ROW_METRICS;
		r->algorithm = row->algorithm;
		r->metrics = metrics[r - results];
		r->n_metrics = 2;
		metrics[r - results][0] = numbers[0];
		metrics[r - results][1] = numbers[3];
	}
	fab_cli_add_run(store, cli, o->f, &run);
	for (size_t i = 0; i < n; i++)
		free(parts[i]);
	free(parts);
	free(details);
	free(metrics);
	free(results);
}
