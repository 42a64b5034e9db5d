/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults --reliability: how likely faults cost a pair. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "unicast/reliability.h"

static const char rule_name[] = "vtftr-rule";

static bool is_whole_square(const struct fab_kfat *k)
{
	return k->n_dims == 2 && k->dims[0] == k->dims[1] &&
	       (uint64_t)k->dims[0] * k->dims[1] == k->n_leaves;
}

static struct faults_reliability_row new_row(const char *algorithm, const char *method,
					     uint32_t faults)
{
	return (struct faults_reliability_row){.algorithm = algorithm,
					       .method = method,
					       .faults = faults,
					       .probability = NAN,
					       .low = NAN,
					       .high = NAN,
					       .share = NAN,
					       .bound = NAN,
					       .as_published = NAN,
					       .seconds = NAN};
}

/* The rule of Liu et al. 2022: nothing is promised when every row and every column is
 * touched. */
static void add_rule(const struct faults_params *p, struct faults_outcome *o, uint32_t k)
{
	const struct fab_kfat *kfat = o->kfat;
	struct faults_reliability_row row = new_row(rule_name, "exact", k);
	double *all = FAB_NEW(kfat->n_leaves + 1, double);
	bool is_whole;

	fab_touch_all(kfat->dims[0], kfat->dims[1], kfat->n_leaves, all);
	row.probability = row.low = row.high = all[k];
	if (is_whole_square(kfat))
		row.as_published = fab_touch_all_as_published(kfat->dims[0], k);
	if (p->questions.mtbf_seconds > 0)
		row.seconds =
			fab_time_to_unreachable(all, kfat->n_leaves, kfat->n_leaves,
						p->questions.mtbf_seconds, &is_whole);
	FAB_PUSH(&o->reliability, row);
	free(all);
}

static int add_trials(const struct faults_params *p, struct faults_outcome *o,
		      const struct fab_unicast_engine *engine, uint32_t k,
		      struct fab_err *err)
{
	const struct fab_kfat *kfat = o->kfat;
	struct faults_reliability_row row = new_row(engine->name, "monte-carlo", k);
	bool is_ours = engine == &fab_unicast_vtftr_ib;
	bool is_grid = kfat->n_dims == 2 &&
		       (uint64_t)kfat->dims[0] * kfat->dims[1] == kfat->n_leaves;
	struct fab_cli_progress *progress =
		fab_cli_progress_new(&p->run, engine->name, "trials");
	struct fab_trials trials = {.kfat = kfat,
				    .engine = engine,
				    .max_vls = p->max_vls,
				    .max_sls = p->max_sls,
				    .seed = p->run.seed,
				    .n_trials = p->questions.trials,
				    .shard = p->shard.part,
				    .n_threads = p->run.threads,
				    .progress = fab_cli_progress_tick,
				    .progress_context = progress};
	struct fab_reliability r;
	int rc = 0;

	if (is_ours && is_grid)
		row.bound = fab_cut_bound(kfat->dims[0], kfat->dims[1], k);
	if (is_ours && k <= fab_faults_survived(kfat) && is_grid) {
		row.method = "exact";
		row.probability = row.low = row.high = row.share = 0;
	} else {
		rc = fab_reliability_try(&trials, k, &r, err);
		if (rc)
			return rc;
		row.trials = r.trials;
		row.probability = r.probability;
		row.low = r.low;
		row.high = r.high;
		row.share = r.share;
		row.hits = r.hits;
		row.lost_pairs = r.unreachable;
		row.pairs = r.pairs;
		row.shard = fab_cli_shard_text(&p->shard);
	}
	fab_cli_progress_free(progress);
	FAB_PUSH(&o->reliability, row);
	return 0;
}

/* The rows of an algorithm have all numbers of faults from 1 on: add the mean time. */
static void add_times(const struct faults_params *p, struct faults_outcome *o)
{
	double *probability = FAB_NEW0((size_t)p->questions.max_faults + 1, double);

	for (size_t i = 0; i < o->reliability.n; i++) {
		struct faults_reliability_row *row = &o->reliability.v[i];
		bool is_whole;

		if (!strcmp(row->algorithm, rule_name))
			continue;
		probability[row->faults] = row->probability;
		if (row->faults == p->questions.max_faults)
			row->seconds = fab_time_to_unreachable(
				probability, row->faults, o->kfat->n_leaves,
				p->questions.mtbf_seconds, &is_whole);
	}
	free(probability);
}

static void explain_rule(struct faults_outcome *o, uint32_t k)
{
	const struct fab_kfat *kfat = o->kfat;
	uint32_t n = kfat->dims[0];

	if (!is_whole_square(kfat) || k < n || k > n * n)
		return;
	o->reliability_text = fab_format(
		"Liu et al. 2022 give %.4g for %u faults on %u x %u: that is "
		"C(%u,%u)/C(%u,%u), "
		"which lets the faults touch every row and column on one given diagonal "
		"only and forgets its %u! orderings and all other sets; the exact figure "
		"is that of %s",
		fab_touch_all_as_published(n, k), k, n, n, n * n - n, k - n, n * n, k, n,
		rule_name);
}

int faults_try_reliability(struct faults_params *p, struct faults_outcome *o,
			   struct fab_err *err)
{
	uint32_t first = p->questions.max_faults ? 1 : p->wish.dead.random;
	uint32_t last = p->questions.max_faults ? p->questions.max_faults : first;
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
		for (uint32_t k = first; k <= last && !rc; k++)
			rc = add_trials(p, o, p->engines[i], k, err);
	if (rc)
		return rc;
	if (o->kfat->n_dims == 2) {
		for (uint32_t k = first; k <= last; k++)
			add_rule(p, o, k);
		explain_rule(o, last);
	}
	if (p->questions.mtbf_seconds > 0 && p->questions.max_faults)
		add_times(p, o);
	return 0;
}
