/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs side by side: ratios, and what got better or worse. */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum verdict { VERDICT_NONE, VERDICT_SAME, VERDICT_BETTER, VERDICT_WORSE };

static const char *const verdict_names[] = {NULL, "same", "better", "worse"};

static const struct fab_column columns[] = {
	{"metric", FAB_TEXT, "what is compared", 0},
	{"base_run", FAB_UINT, "number of the first run", FAB_COL_EXTRA},
	{"base_algorithm", FAB_TEXT, "algorithm of it", 0},
	{"base_value", FAB_NUMBER, "what it had; null: nothing", 0},
	{"run", FAB_UINT, "number of the other run", 0},
	{"algorithm", FAB_TEXT, "algorithm of it", 0},
	{"value", FAB_NUMBER, "what it had; null: nothing", 0},
	{"ratio", FAB_REAL, "value divided by base_value", 0},
	{"verdict", FAB_TEXT, "better, worse or same; null: neither is better", 0},
};

struct compare_columns compare_diff_columns(void)
{
	return (struct compare_columns){columns, FAB_COUNT(columns)};
}

/* Two results, either of which may be missing. */
struct pair {
	const struct compare_item *base_item, *item;
	const struct fab_store_result *base, *other;
};

struct change {
	const char *metric, *algorithm; /* metric NULL: none */
	double base, value;
};

struct diff {
	bool is_printing;    /* false: count only */
	struct change *most; /* [by verdict] */
	const struct fab_store_runs *runs;
	double tolerance;
	struct compare_counts *counts;
	struct fab_report *report;
};

static double metric_of(const struct fab_store_result *r, const char *name)
{
	return r ? fab_store_number_get(r->metrics, r->n_metrics, name) : NAN;
}

static enum verdict judge(const struct diff *d, const struct fab_store_kind *kind,
			  double base, double value)
{
	if (!kind->better || isnan(base) || isnan(value))
		return VERDICT_NONE;
	if (fabs(value - base) <= d->tolerance * fabs(base))
		return VERDICT_SAME;
	return (value < base) == (kind->better < 0) ? VERDICT_BETTER : VERDICT_WORSE;
}

static void count(struct compare_counts *counts, enum verdict verdict)
{
	counts->better += verdict == VERDICT_BETTER;
	counts->worse += verdict == VERDICT_WORSE;
	counts->same += verdict == VERDICT_SAME;
}

/* How far apart, of the larger; what becomes 0 or was 0 is 1. */
static double change_of(double base, double value)
{
	double larger = fmax(fabs(base), fabs(value));

	return larger > 0 ? fabs(value - base) / larger : 0;
}

/* The first of the largest changes of each verdict. */
static void note_change(struct change *most, const struct fab_store_kind *kind,
			enum verdict verdict, const char *algorithm, double base,
			double value)
{
	struct change *m = &most[verdict];

	if (verdict != VERDICT_BETTER && verdict != VERDICT_WORSE)
		return;
	if (!m->metric || change_of(base, value) > change_of(m->base, m->value))
		*m = (struct change){kind->name, algorithm, base, value};
}

static enum fab_tone tone_of(const struct fab_store_kind *kind, enum verdict verdict)
{
	if (kind->is_time)
		return FAB_TONE_PLAIN;
	return verdict == VERDICT_WORSE	   ? FAB_TONE_BAD
	       : verdict == VERDICT_BETTER ? FAB_TONE_GOOD
					   : FAB_TONE_PLAIN;
}

static void put_metric(const struct diff *d, const struct fab_store_kind *kind,
		       const struct pair *p)
{
	double base = metric_of(p->base, kind->name);
	double value = metric_of(p->other, kind->name);
	enum verdict verdict = judge(d, kind, base, value);
	const union fab_cell cells[] = {
		{.text = kind->name},
		{.u = p->base_item->run->id},
		{.text = p->base ? p->base->algorithm : NULL},
		{.real = base},
		{.u = p->item->run->id},
		{.text = p->other ? p->other->algorithm : NULL},
		{.real = value},
		{.real = base > 0 ? value / base : NAN},
		{.text = verdict_names[verdict]},
	};

	if (isnan(base) && isnan(value))
		return;
	if (!d->is_printing) {
		if (!kind->is_time)
			count(d->counts, verdict);
		if (!kind->is_time && p->other)
			note_change(d->most, kind, verdict, p->other->algorithm, base,
				    value);
		return;
	}
	fab_report_row_tone(d->report, tone_of(kind, verdict), cells);
}

static void put_pair(const struct diff *d, const struct pair *p)
{
	for (size_t k = 0; k < d->runs->n_kinds; k++)
		if (!strcmp(d->runs->kinds[k].command, p->base_item->run->command))
			put_metric(d, &d->runs->kinds[k], p);
}

/* The first result of this name, or NULL. */
static const struct fab_store_result *find(const struct compare_item *item,
					   const char *algorithm)
{
	if (item->algorithm && strcmp(item->algorithm, algorithm) != 0)
		return NULL;
	for (size_t i = 0; i < item->run->n_results; i++)
		if (!strcmp(item->run->results[i].algorithm, algorithm))
			return &item->run->results[i];
	return NULL;
}

/*
 * Which results belong together: those of one name. A name that the command line gives
 * for one side is compared with what it gives for the other, or with everything there.
 */
static void put_item(const struct diff *d, const struct compare_item *base,
		     const struct compare_item *item)
{
	struct pair p = {.base_item = base, .item = item};

	for (size_t i = 0; i < item->run->n_results; i++) {
		const char *name = item->run->results[i].algorithm;

		p.other = find(item, name);
		if (!p.other)
			continue;
		p.base = find(base, base->algorithm ? base->algorithm : name);
		put_pair(d, &p);
	}
	/* what is only in the base */
	for (size_t i = 0; i < base->run->n_results && !base->algorithm; i++) {
		p.base = &base->run->results[i];
		p.other = NULL;
		if (!item->algorithm && !find(item, p.base->algorithm))
			put_pair(d, &p);
	}
}

static char *describe(const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;

	return fab_format("%" PRIu64 "%s%s %s %s%s%s", run->id,
			  item->algorithm ? ":" : "",
			  item->algorithm ? item->algorithm : "", run->time, run->source,
			  run->label ? ", " : "", run->label ? run->label : "");
}

static void put_count(struct fab_report *r, const char *name, uint64_t value)
{
	fab_report_field(r, &(struct fab_column){.name = name, .type = FAB_UINT},
			 (union fab_cell){.u = value});
}

int compare_diff(FILE *out, const struct fab_report_options *options,
		 const struct fab_store_runs *runs, const struct compare_item *items,
		 size_t n_items, double tolerance, struct compare_counts *counts,
		 struct fab_err *err)
{
	static const struct fab_column base_column = {"base", FAB_TEXT, "", 0};
	struct fab_report *r =
		fab_report_new(out, options, "fabric-compare", "comparison", NULL);
	struct change most[VERDICT_WORSE + 1] = {0};
	struct diff d = {.most = most,
			 .runs = runs,
			 .tolerance = tolerance,
			 .counts = counts,
			 .report = r};
	char *base = describe(&items[0]);

	for (size_t i = 1; i < n_items; i++)
		put_item(&d, &items[0], &items[i]);
	d.is_printing = true;
	compare_diff_answer(r, counts);
	for (int v = VERDICT_WORSE; v >= VERDICT_BETTER; v--)
		if (most[v].metric)
			compare_change_answer(r, verdict_names[v], most[v].metric,
					      most[v].algorithm, most[v].base,
					      most[v].value);
	fab_report_field(r, &base_column, (union fab_cell){.text = base});
	fab_report_table_begin(r, "comparison", "Compared with the base", columns,
			       FAB_COUNT(columns));
	for (size_t i = 1; i < n_items; i++)
		put_item(&d, &items[0], &items[i]);
	fab_report_table_end(r);
	put_count(r, "better", counts->better);
	put_count(r, "worse", counts->worse);
	put_count(r, "same", counts->same);
	free(base);
	return fab_report_finish(r, err);
}
