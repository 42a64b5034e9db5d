/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/merge_impl.h"

static const char sets_unit[] = "sets of faults", trials_unit[] = "trials",
		  batches_unit[] = "batches", parts_unit[] = "parts",
		  fences_unit[] = "fences", points_unit[] = "points";

static const struct fab_store_shard *shard_of(const struct fab_merging *m)
{
	return m->parts[0].run->shard;
}

static bool is_unit(const struct fab_merging *m, const char *unit)
{
	return !strcmp(shard_of(m)->unit, unit);
}

static int disagree(const struct fab_merging *m, const char *what, struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"%s: the shards of '%.200s' do not agree: %.64s differs or is in "
			"some of them only",
			m->parts[0].path, shard_of(m)->job, what);
}

static bool is_same(const double *value, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (value[i] < value[0] || value[i] > value[0])
			return false;
	return true;
}

/* What so many shards say of a metric; NaN: there is no value. */
static int fold(const struct fab_merging *m, enum fab_merge rule,
		const struct fab_merge_group *g, double *out, struct fab_err *err)
{
	bool all = g->n == m->n;

	*out = g->value[0];
	for (size_t i = 1; i < g->n && rule != FAB_MERGE_NONE; i++)
		*out = rule == FAB_MERGE_SUM   ? *out + g->value[i]
		       : rule == FAB_MERGE_MAX ? fmax(*out, g->value[i])
					       : fmin(*out, g->value[i]);
	switch (rule) {
	case FAB_MERGE_MAX:
		return 0;
	case FAB_MERGE_ALL: /* what is not true in one is not, unknown in one is unknown
			     */
		if (*out > 0 && !all)
			*out = NAN;
		return 0;
	case FAB_MERGE_SUM:
		return all ? 0 : disagree(m, g->name, err);
	default:
		return all && is_same(g->value, g->n) ? 0 : disagree(m, g->name, err);
	}
}

/* Of parts whose loss is tried, each in one shard: all shards have the whole result, and
 * each spent time. */
static enum fab_merge rule_of(const struct fab_merging *m, const char *name)
{
	const char *command = m->parts[0].run->command;
	bool is_parts = is_unit(m, parts_unit);

	for (size_t i = 0; i < m->n_kinds; i++) {
		const struct fab_store_kind *kind = &m->kinds[i];

		if (strcmp(kind->command, command) != 0 || strcmp(kind->name, name) != 0)
			continue;
		if (is_parts)
			return kind->is_time ? FAB_MERGE_SUM : FAB_MERGE_NONE;
		return kind->merge;
	}
	return FAB_MERGE_NONE;
}

static int by_name(const void *a, const void *b)
{
	const struct fab_store_number *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Metrics of result i of all shards, name by name. */
static int merge_metrics(const struct fab_merging *m, size_t result,
			 struct fab_store_result *out, struct fab_err *err)
{
	FAB_VEC(struct fab_store_number) all = {0}, merged = {0};
	double *value = FAB_NEW(m->n, double);
	int rc = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct fab_store_result *r = &m->parts[i].run->results[result];

		for (size_t k = 0; k < r->n_metrics; k++)
			FAB_PUSH(&all, r->metrics[k]);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_name);
	for (size_t from = 0, to; from < all.n && !rc; from = to) {
		struct fab_merge_group g = {.name = all.v[from].name, .value = value};
		double number = 0;

		for (to = from; to < all.n && !strcmp(all.v[to].name, g.name); to++)
			if (g.n < m->n)
				value[g.n++] = all.v[to].value;
		rc = fold(m, rule_of(m, g.name), &g, &number, err);
		FAB_PUSH(&merged, ((struct fab_store_number){g.name, number}));
	}
	free(all.v);
	free(value);
	out->metrics = fab_store_keep(m->memory, merged.v);
	out->n_metrics = merged.n;
	return rc;
}

static int by_position(const void *a, const void *b)
{
	const struct fab_store_detail *x = a, *y = b;

	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Numbers of one name of one part; into the first. */
static int fold_details(const struct fab_merging *m, struct fab_store_detail *v, size_t n,
			struct fab_err *err)
{
	bool is_trials = is_unit(m, trials_unit);

	for (size_t i = 1; i < n; i++) {
		if (strcmp(v[i].part, v[0].part) != 0)
			return disagree(m, v[0].part, err);
		if (is_trials && fab_merge_is_sum_of_trials(v[0].name))
			v[0].value += v[i].value;
		else if (is_trials && fab_merge_follows_from_trials(v[0].name))
			continue;
		else if (is_unit(m, sets_unit) || v[i].value < v[0].value ||
			 v[i].value > v[0].value)
			return disagree(m, v[0].name, err);
	}
	return 0;
}

/* Parts of result i of all shards, in their order. */
static int merge_details(const struct fab_merging *m, size_t result,
			 struct fab_store_result *out, struct fab_err *err)
{
	FAB_VEC(struct fab_store_detail) all = {0};
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct fab_store_result *r = &m->parts[i].run->results[result];

		for (size_t k = 0; k < r->n_details; k++)
			FAB_PUSH(&all, r->details[k]);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_position);
	for (size_t from = 0, to; from < all.n && !rc; from = to) {
		for (to = from; to < all.n && !by_position(&all.v[to], &all.v[from]);
		     to++)
			;
		rc = fold_details(m, &all.v[from], to - from, err);
		all.v[n++] = all.v[from];
	}
	if (!rc && is_unit(m, trials_unit))
		n = fab_merge_trials(m, all.v, n);
	out->details = fab_store_keep(m->memory, all.v);
	out->n_details = n;
	return rc;
}

/* Of trials and fences: the numbers of the last part are those of the result. */
static void take_last_part(const struct fab_merging *m, struct fab_store_result *r)
{
	FAB_VEC(struct fab_store_number) list = {0};

	for (size_t i = 0; i < r->n_details; i++)
		if (r->details[i].position == r->details[r->n_details - 1].position)
			FAB_PUSH(&list, ((struct fab_store_number){r->details[i].name,
								   r->details[i].value}));
	r->metrics = fab_store_keep(m->memory, list.v);
	r->n_metrics = list.n;
}

static int merge_results(const struct fab_merging *m, struct fab_err *err)
{
	const struct fab_store_run *first = m->parts[0].run;
	struct fab_store_result *results =
		FAB_NEW0(first->n_results + 1, struct fab_store_result);
	int rc = 0;

	m->run->results = fab_store_keep(m->memory, results);
	for (size_t k = 0; k < first->n_results && !rc; k++) {
		struct fab_store_result *r = &results[k];

		r->algorithm = first->results[k].algorithm;
		rc = merge_details(m, k, r, err);
		if (!rc && (is_unit(m, trials_unit) || is_unit(m, fences_unit) ||
			    is_unit(m, points_unit)))
			take_last_part(m, r);
		else if (!rc)
			rc = merge_metrics(m, k, r, err);
	}
	return rc;
}

static int by_batch(const void *a, const void *b)
{
	const struct fab_store_batch *x = a, *y = b;

	return x->position < y->position ? -1 : x->position > y->position;
}

/* The batches of all; the results are those of the largest batch, which is the last. */
static int merge_batches(const struct fab_merging *m, struct fab_err *err)
{
	size_t last = (size_t)((shard_of(m)->all_items - 1) % shard_of(m)->count);
	FAB_VEC(struct fab_store_batch) all = {0};
	int rc = 0;

	m->run->results = m->parts[last].run->results;
	m->run->n_results = m->parts[last].run->n_results;
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->parts[i].run->n_batches; k++)
			FAB_PUSH(&all, m->parts[i].run->batches[k]);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_batch);
	for (size_t i = 1; i < all.n && !rc; i++)
		if (all.v[i].position == all.v[i - 1].position)
			rc = disagree(m, all.v[i].name, err);
	m->run->batches = fab_store_keep(m->memory, all.v);
	m->run->n_batches = all.n;
	return rc;
}

static bool is_text_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* What belongs to the run, and must be the same in all. */
static int check_facts(const struct fab_merging *m, struct fab_err *err)
{
	const struct fab_store_run *a = m->parts[0].run;

	for (size_t i = 1; i < m->n; i++) {
		const struct fab_store_run *b = m->parts[i].run;
		bool is_alike = a->n_facts == b->n_facts && a->n_asked == b->n_asked &&
				a->n_results == b->n_results;

		for (size_t k = 0; is_alike && k < a->n_facts; k++)
			is_alike = !strcmp(a->facts[k].name, b->facts[k].name) &&
				   !(a->facts[k].value < b->facts[k].value) &&
				   !(a->facts[k].value > b->facts[k].value);
		for (size_t k = 0; is_alike && k < a->n_asked; k++)
			is_alike = !strcmp(a->asked[k].name, b->asked[k].name) &&
				   is_text_same(a->asked[k].value, b->asked[k].value);
		for (size_t k = 0; is_alike && k < a->n_results; k++)
			is_alike =
				!strcmp(a->results[k].algorithm, b->results[k].algorithm);
		if (!is_alike)
			return disagree(m, "what was asked for", err);
	}
	return 0;
}

/* Columns that say of metrics what the shards say. */
static void describe_metrics(const struct fab_merging *m)
{
	static const enum fab_type types[] = {[FAB_MERGE_NONE] = FAB_REAL,
					      [FAB_MERGE_SUM] = FAB_UINT,
					      [FAB_MERGE_MAX] = FAB_UINT,
					      [FAB_MERGE_ALL] = FAB_BOOL};
	struct fab_column *columns = FAB_NEW0(m->n_kinds + 1, struct fab_column);
	struct fab_store_table *table = FAB_NEW0(1, struct fab_store_table);

	for (size_t i = 0; i < m->n_kinds; i++) {
		const struct fab_store_kind *kind = &m->kinds[i];

		if (strcmp(kind->command, m->run->command) != 0)
			continue;
		columns[table->n++] = (struct fab_column){
			.name = kind->name,
			.type = types[kind->merge],
			.help = kind->help,
			.flags = (kind->merge == FAB_MERGE_MAX ? FAB_COL_MAX : 0u) |
				 fab_unit_flags(kind->unit),
			.metric = kind->is_time	     ? FAB_METRIC_TIME
				  : kind->better > 0 ? FAB_METRIC_MORE
				  : kind->better < 0 ? FAB_METRIC_LESS
						     : FAB_METRIC_PLAIN};
	}
	table->columns = fab_store_keep(m->memory, columns);
	m->run->tables = fab_store_keep(m->memory, table);
	m->run->n_tables = 1;
}

/* Hosts that computed, each once; a label that all have; the end of the last one. */
static void describe_run(const struct fab_merging *m)
{
	struct fab_store_run *run = m->run;
	char *hosts = fab_strdup(run->host);

	for (size_t i = 1; i < m->n; i++) {
		const struct fab_store_run *other = m->parts[i].run;
		bool is_new = true;

		if (strcmp(other->time, run->time) > 0)
			run->time = other->time;
		if (!is_text_same(run->label, other->label))
			run->label = NULL;
		for (size_t k = 0; k < i && is_new; k++)
			is_new = strcmp(m->parts[k].run->host, other->host) != 0;
		if (is_new)
			fab_append(&hosts, ",", "%s", other->host);
	}
	run->host = fab_store_keep(m->memory, hosts);
	run->arguments = shard_of(m)->job;
	run->shard = NULL;
	run->n_shard = 0;
	run->batches = NULL;
	run->n_batches = 0;
}

static int merge_all(const struct fab_merging *m, struct fab_err *err)
{
	static const char *const units[] = {sets_unit,	 trials_unit, batches_unit,
					    fences_unit, parts_unit,  points_unit};
	bool is_known = false;
	int rc = check_facts(m, err);

	for (size_t i = 0; i < FAB_COUNT(units); i++)
		is_known = is_known || is_unit(m, units[i]);
	if (!rc && !is_known)
		rc = fab_fail(err, EINVAL,
			      "%s: this program cannot merge shards of '%.40s'",
			      m->parts[0].path, shard_of(m)->unit);
	if (rc)
		return rc;
	describe_run(m);
	describe_metrics(m);
	return is_unit(m, batches_unit) ? merge_batches(m, err) : merge_results(m, err);
}

int fab_store_merge(const struct fab_merge_part *parts, size_t n,
		    const struct fab_store_kind *kinds, size_t n_kinds,
		    struct fab_merged *out, struct fab_err *err)
{
	struct fab_merged merged = {0};
	struct fab_merge_part *sorted;
	struct fab_merging m;
	int rc = fab_merge_check(parts, n, err);

	if (rc)
		return rc;
	sorted = FAB_NEW(n, struct fab_merge_part);
	for (size_t i = 0; i < n; i++)
		sorted[parts[i].run->shard->number - 1] = parts[i];
	merged.memory = FAB_NEW0(1, struct fab_store_memory);
	merged.run = *sorted[0].run;
	m = (struct fab_merging){sorted, n, kinds, n_kinds, merged.memory, &merged.run};
	rc = merge_all(&m, err);
	free(sorted);
	if (rc)
		fab_merged_fini(&merged);
	else
		*out = merged;
	return rc;
}

void fab_merged_fini(struct fab_merged *merged)
{
	if (merged->memory)
		fab_store_memory_free(merged->memory);
	*merged = (struct fab_merged){0};
}
