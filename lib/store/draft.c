/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs before they are stored. */
#include "store/store.h"

#include <math.h>
#include <stdlib.h>

static const char *keep(struct fab_draft *d, const char *text)
{
	return text ? fab_arena_strdup(&d->texts, text) : NULL;
}

void fab_draft_fact(struct fab_draft *d, const char *name, double value)
{
	FAB_PUSH(&d->facts, ((struct fab_store_number){name, value}));
}

void fab_draft_asked(struct fab_draft *d, const char *name, char *value)
{
	FAB_PUSH(&d->asked, ((struct fab_store_text){name, value}));
	fab_arena_own(&d->texts, free, value);
}

void fab_draft_table(struct fab_draft *d, const struct fab_column *columns, size_t n)
{
	static const int better[] = {
		[FAB_METRIC_LESS] = -1, [FAB_METRIC_MORE] = 1, [FAB_METRIC_TIME] = -1};

	for (size_t i = 0; i < d->tables.n; i++)
		if (d->tables.v[i] == columns)
			return;
	FAB_PUSH(&d->tables, columns);
	for (size_t i = 0; i < n; i++) {
		const struct fab_column *c = &columns[i];
		bool is_time = c->metric == FAB_METRIC_TIME;
		/* counts are added up, but for those of which the largest counts */
		enum fab_merge merge = c->flags & FAB_COL_MAX		? FAB_MERGE_MAX
				       : c->type == FAB_BOOL		? FAB_MERGE_ALL
				       : c->type == FAB_UINT || is_time ? FAB_MERGE_SUM
									: FAB_MERGE_NONE;

		if (c->metric != FAB_METRIC_NONE)
			FAB_PUSH(&d->kinds,
				 ((struct fab_store_kind){.name = c->name,
							  .better = better[c->metric],
							  .is_time = is_time,
							  .unit = fab_unit_name(c->flags),
							  .help = c->help,
							  .merge = merge}));
	}
}

/* The number of a column that is a metric; NaN: no metric, or no value. */
static double number_of(const struct fab_column *column, const void *record)
{
	return column->metric == FAB_METRIC_NONE ? (double)NAN
						 : fab_column_number(column, record);
}

void fab_draft_result(struct fab_draft *d, const char *algorithm,
		      const struct fab_column *columns, size_t n, const void *record)
{
	struct fab_store_result result = {.algorithm = keep(d, algorithm)};

	fab_draft_table(d, columns, n);
	for (size_t i = 0; i < n; i++) {
		double value = number_of(&columns[i], record);

		if (!isfinite(value))
			continue;
		FAB_PUSH(&d->metrics,
			 ((struct fab_store_number){columns[i].name, value}));
		result.n_metrics++;
	}
	FAB_PUSH(&d->results, result);
}

void fab_draft_part(struct fab_draft *d, uint64_t position, const char *part,
		    const struct fab_column *columns, size_t n, const void *record)
{
	const char *name = keep(d, part);

	for (size_t i = 0; i < n; i++) {
		double value = number_of(&columns[i], record);

		if (!isfinite(value))
			continue;
		FAB_PUSH(&d->details, ((struct fab_store_detail){
					      position, name, columns[i].name, value}));
		d->results.v[d->results.n - 1].n_details++;
	}
}

void fab_draft_bin(struct fab_draft *d, uint64_t load, uint64_t links)
{
	FAB_PUSH(&d->bins, ((struct fab_store_bin){load, links}));
	d->results.v[d->results.n - 1].n_bins++;
}

void fab_draft_batch(struct fab_draft *d, const struct fab_store_batch *batch)
{
	struct fab_store_batch b = *batch;

	b.algorithm = keep(d, b.algorithm);
	b.name = keep(d, b.name);
	b.bottleneck = keep(d, b.bottleneck);
	b.n_segments = 0;
	FAB_PUSH(&d->batches, b);
}

void fab_draft_segment(struct fab_draft *d, const struct fab_store_segment *segment)
{
	struct fab_store_segment s = *segment;

	s.name = keep(d, s.name);
	s.tightest = keep(d, s.tightest);
	FAB_PUSH(&d->segments, s);
	d->batches.v[d->batches.n - 1].n_segments++;
}

const struct fab_store_run *fab_draft_run(struct fab_draft *d)
{
	size_t metric = 0, bin = 0, detail = 0, segment = 0;

	/* they were added in this order, and may have moved since */
	for (size_t i = 0; i < d->results.n; i++) {
		struct fab_store_result *r = &d->results.v[i];

		r->metrics = d->metrics.v + metric;
		r->bins = d->bins.v + bin;
		r->details = d->details.v + detail;
		metric += r->n_metrics;
		bin += r->n_bins;
		detail += r->n_details;
	}
	for (size_t i = 0; i < d->batches.n; i++) {
		d->batches.v[i].segments = d->segments.v + segment;
		segment += d->batches.v[i].n_segments;
	}
	d->run.kinds = d->kinds.v;
	d->run.n_kinds = d->kinds.n;
	d->run.facts = d->facts.v;
	d->run.n_facts = d->facts.n;
	d->run.asked = d->asked.v;
	d->run.n_asked = d->asked.n;
	d->run.results = d->results.v;
	d->run.n_results = d->results.n;
	d->run.batches = d->batches.v;
	d->run.n_batches = d->batches.n;
	return &d->run;
}

void fab_draft_fini(struct fab_draft *d)
{
	FAB_FREE_ALL(d->tables.v, d->kinds.v, d->facts.v, d->metrics.v, d->asked.v,
		     d->results.v, d->bins.v, d->details.v, d->batches.v, d->segments.v);
	fab_arena_free(&d->texts);
}
