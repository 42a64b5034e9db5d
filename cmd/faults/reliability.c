/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults --reliability: how likely faults cost a pair. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "faults.h"

static const char rule_name[] = "vtftr-rule";
static const double YEAR_SECONDS = 365.25 * 86400; /* as the unit y */

static bool is_whole_rectangle(const struct fab_kfat *k)
{
	return k->n_dims == 2 && (uint64_t)k->dims[0] * k->dims[1] == k->n_leaves;
}

static bool is_whole_square(const struct fab_kfat *k)
{
	return is_whole_rectangle(k) && k->dims[0] == k->dims[1];
}

/* A row without trials: `probability` is known, or NaN. */
static struct faults_reliability_row new_row(const char *algorithm, const char *method,
					     uint32_t faults, double probability)
{
	return (struct faults_reliability_row){.algorithm = algorithm,
					       .method = method,
					       .r = {.n_faults = faults,
						     .probability = probability,
						     .low = probability,
						     .high = probability,
						     .share = NAN},
					       .bound = NAN,
					       .as_published = NAN,
					       .seconds = NAN,
					       .next_before_repair = NAN,
					       .availability = NAN,
					       .downtime_seconds = NAN};
}

/* Mean times, by probabilities[0 .. k_max] of numbers of faults. */
static void add_times(const struct faults_params *p, const struct fab_kfat *k,
		      const double *probability, uint32_t k_max,
		      struct faults_reliability_row *row)
{
	double mtbf = p->questions.mtbf_seconds, mttr = p->questions.mttr_seconds;
	bool is_whole;

	if (!(mtbf > 0))
		return;
	row->seconds =
		fab_time_to_unreachable(probability, k_max, k->n_leaves, mtbf, &is_whole);
	if (!(mttr > 0))
		return;
	row->next_before_repair = fab_next_before_repair(k->n_leaves, mtbf, mttr);
	row->downtime_seconds =
		YEAR_SECONDS *
		fab_unavailability(probability, k_max, k->n_leaves, mtbf, mttr);
	row->availability = 1 - row->downtime_seconds / YEAR_SECONDS;
}

/* The rule of Liu et al. 2022: nothing is promised when every row and every column is
 * touched. */
static void add_rule(const struct faults_params *p, struct faults_outcome *o, uint32_t k)
{
	const struct fab_kfat *kfat = o->kfat;
	FAB_AUTOFREE double *all = FAB_NEW(kfat->n_leaves + 1, double);
	struct faults_reliability_row row;

	fab_touch_all(kfat->dims[0], kfat->dims[1], kfat->n_leaves, all);
	row = new_row(rule_name, "exact", k, all[k]);
	if (is_whole_square(kfat))
		row.as_published = fab_touch_all_as_published(kfat->dims[0], k);
	add_times(p, kfat, all, kfat->n_leaves, &row);
	FAB_PUSH(&o->reliability, row);
}

static void explain_rule(struct faults_outcome *o, uint32_t k)
{
	const struct fab_kfat *kfat = o->kfat;
	uint32_t n = kfat->dims[0];

	if (!is_whole_square(kfat) || k < n || k > n * n)
		return;
	o->reliability_text = fab_format(
		"Liu et al. 2022 give %.4g for %u faults on %u x %u: that is C(%u,%u)/C(%u,%u), which lets the faults touch every row and column on one given diagonal only and forgets its %u! orderings and all other sets; the exact figure is that of %s",
		fab_touch_all_as_published(n, k), k, n, n, n * n - n, k - n, n * n, k, n,
		rule_name);
}

int faults_try_reliability(struct faults_params *p, struct faults_outcome *o,
			   struct fab_err *err)
{
	uint32_t first = p->questions.max_faults ? 1 : p->wish.dead.random;
	uint32_t last = p->questions.max_faults ? p->questions.max_faults : first;
	FAB_AUTOFREE double *probability = NULL;
	int rc;

	if (!o->kfat)
		return fab_fail(err, EINVAL,
				"%s: --reliability needs a high-dimension fat tree; %s",
				p->input.fabric, o->kfat_error.text);
	if (last + 2 > o->kfat->n_leaves)
		return fab_fail(err, EINVAL,
				"%s: %u faults leave no pair of %u leaf switches",
				p->input.fabric, last, o->kfat->n_leaves);
	rc = fab_cli_count_shard(&p->shard, p->questions.trials, "trials", err);
	for (size_t i = 0; i < p->n_engines; i++)
		for (uint32_t k = first; k <= last && !rc; k++) {
			const struct fab_kfat *kfat = o->kfat;
			struct faults_reliability_row row =
				new_row(p->engines[i]->name, "monte-carlo", k, NAN);
			bool is_ours = p->engines[i] == &fab_unicast_vtftr_ib &&
				       is_whole_rectangle(kfat);
			struct fab_cli_progress *progress = fab_cli_progress_new(
				&p->run, p->engines[i]->name, "trials");
			const struct fab_trials trials = {.kfat = kfat,
							  .engine = p->engines[i],
							  .max_vls = p->max_vls,
							  .max_sls = p->max_sls,
							  .seed = p->run.seed,
							  .n_trials = p->questions.trials,
							  .shard = p->shard.part,
							  .n_threads = p->run.threads,
							  .progress =
								  fab_cli_progress_tick,
							  .progress_context = progress};
			if (is_ours && k <= fab_faults_survived(kfat)) {
				row = new_row(p->engines[i]->name, "exact", k, 0);
				row.r.share = 0;
			} else {
				rc = fab_reliability_try(&trials, k, &row.r, err);
				row.shard = fab_cli_shard_text(&p->shard);
			}
			if (is_ours)
				row.bound =
					fab_cut_bound(kfat->dims[0], kfat->dims[1], k);
			fab_cli_progress_free(progress);
			if (!rc)
				FAB_PUSH(&o->reliability, row);
		}
	if (rc)
		return rc;
	if (o->kfat->n_dims == 2) {
		for (uint32_t k = first; k <= last; k++)
			add_rule(p, o, k);
		explain_rule(o, last);
	}
	/* The rows of an algorithm have all numbers of faults from 1 on. */
	probability = FAB_NEW0((size_t)last + 1, double);
	for (size_t i = 0; i < o->reliability.n; i++) {
		struct faults_reliability_row *row = &o->reliability.v[i];

		if (!strcmp(row->algorithm, rule_name))
			continue;
		probability[row->r.n_faults] = row->r.probability;
		if (row->r.n_faults == p->questions.max_faults)
			add_times(p, o->kfat, probability, last, row);
	}
	return 0;
}
