/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults keeps with --store. */
#include <math.h>

#include "faults.h"

enum { N_METRICS = 16 };

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
		{"deadlock_free", j->deadlock_free},
		{"cycle_channels", (double)j->cycle_channels},
		{"pairs_on_cycles", (double)j->pairs_on_cycles},
		{"entries_changed", (double)r->entries_changed},
		{"load", r->load},
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

void faults_store(struct fab_cli_store *store, const struct fab_cli_run *cli,
		  const struct faults_outcome *o)
{
	struct fab_store_number metrics[FAULTS_MAX_ENGINES][N_METRICS];
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
	}
	fab_cli_add_run(store, cli, o->f, &run);
}
