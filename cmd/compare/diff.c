/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on runs side by side. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

const char *compare_verdict_name(enum compare_verdict verdict)
{
	static const char *const names[] = {NULL, "same", "better", "worse"};

	return names[verdict];
}

/* A row for scripts. */
struct record {
	const char *metric, *part, *base_algorithm, *algorithm, *verdict;
	uint64_t base_run, run;
	double base_value, value, ratio;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(metric, TEXT, "what is compared"),
	FAB_COLUMN_AS(base_run, UINT, "number of the first run", FAB_COL_EXTRA),
	FAB_COLUMN(base_algorithm, TEXT, "algorithm of it"),
	FAB_COLUMN(base_value, NUMBER, "what it had; null: nothing"),
	FAB_COLUMN(run, UINT, "number of the other run"),
	FAB_COLUMN(algorithm, TEXT, "algorithm of it"),
	FAB_COLUMN(value, NUMBER, "what it had; null: nothing"),
	FAB_COLUMN(ratio, REAL, "value divided by base_value"),
	FAB_COLUMN_AS(verdict, TEXT, "better, worse or same; null: neither is better",
		      FAB_COL_VERDICT),
	/* from here on of parts only */
	FAB_COLUMN(part, TEXT,
		   "set of faults, number of faults, batch, segment of a batch"),
};
enum { N_COLUMNS = FAB_COUNT(columns) - 1 };

static void put_row(struct fab_report *r, const struct compare_row *row)
{
	const struct compare_pair *p = row->pair;
	const struct record record = {
		.metric = row->metric,
		.part = row->part,
		.base_run = p->base_item->run->id,
		.base_algorithm = p->base ? p->base->algorithm : NULL,
		.base_value = row->base,
		.run = p->item->run->id,
		.algorithm = p->other ? p->other->algorithm : NULL,
		.value = row->value,
		.ratio = row->base > 0 ? row->value / row->base : (double)NAN,
		.verdict = compare_verdict_name(row->verdict),
	};

	fab_report_record(r, &record);
}

static void put_rows(struct fab_report *r, const char *name, const char *title,
		     size_t n_columns, const struct compare_rows *rows, bool are_parts)
{
	fab_report_table_begin(r, name, title, columns, n_columns);
	for (size_t i = 0; i < rows->of.n; i++)
		if ((rows->of.v[i].part != NULL) == are_parts)
			put_row(r, &rows->of.v[i]);
	fab_report_table_end(r);
}

static char *describe(const struct compare_item *item)
{
	const struct fab_store_run *run = item->run;

	return fab_format(
		"%" PRIu64 "%s%s %s %s%s%s", run->id, item->algorithm ? ":" : "",
		item->algorithm ? item->algorithm : "", run->time, run->fabric.source,
		run->label ? ", " : "", run->label ? run->label : "");
}

static void put_counts(struct fab_report *r, const struct compare_rows *rows)
{
	fab_report_uint(r, "better", rows->counts.better);
	fab_report_uint(r, "worse", rows->counts.worse);
	fab_report_uint(r, "same", rows->counts.same);
	fab_report_uint(r, "vanished", rows->counts.vanished);
	fab_report_uint(r, "parts_better", rows->parts.better);
	fab_report_uint(r, "parts_worse", rows->parts.worse);
	fab_report_uint(r, "parts_same", rows->parts.same);
	fab_report_uint(r, "parts_vanished", rows->parts.vanished);
}

/* Does --check fail, and why? What is worse stands in the report. */
static bool has_failed_check(const struct compare_params *p,
			     const struct compare_rows *rows)
{
	const struct compare_counts *c = &rows->counts, *parts = &rows->parts;

	if (c->vanished || parts->vanished)
		fab_cli_warn(&p->run, "--check: %" PRIu64 " values of the base are gone",
			     c->vanished + parts->vanished);
	if (!c->better && !c->worse && !c->same) {
		fab_cli_warn(&p->run, "--check: nothing could be compared");
		return true;
	}
	return c->worse || parts->worse || c->vanished || parts->vanished;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	struct compare_outcome *o = w->outcome;
	int rc = compare_find(w, false, err);

	if (!rc && o->n_items < 2)
		rc = fab_fail(err, ENOENT, "%s: %zu run%s%s: two are needed to compare",
			      p->path, o->n_items, o->n_items == 1 ? "" : "s",
			      compare_among(p));
	if (rc)
		return rc;
	o->notes = compare_notes(o->items, o->n_items);
	if (o->notes && p->output.format == FAB_FORMAT_CSV)
		fab_cli_warn(&p->run, "%s", o->notes);
	compare_pair_up(o->items, o->n_items, &o->pairs);
	compare_rows_init(&o->rows, &o->runs, &o->pairs, p->tolerance_percent / 100,
			  p->metrics != NULL);
	return p->check && has_failed_check(p, &o->rows) ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	static const struct fab_column notes_column = {
		"notes", FAB_TEXT, "differences of command, fabric and job",
		FAB_COL_EXTRA};
	const struct compare_outcome *o = w->outcome;
	const struct fab_report_options *how = fab_report_how(r);
	bool is_for_people = how->format == FAB_FORMAT_TABLE;
	char *base = describe(&o->items[0]);

	compare_diff_answer(r, &o->rows);
	if (o->notes)
		fab_report_answer(r, FAB_TONE_WARN, "%s.", o->notes);
	fab_report_text(r, "base", base);
	fab_report_field(r, &notes_column, (union fab_cell){.text = o->notes});
	free(base);
	/* columns that are named are those for scripts */
	if (is_for_people && !how->columns) {
		compare_print_sides(r, how->width, &o->pairs, &o->rows);
	} else {
		put_rows(r, "comparison", "Compared with the base", N_COLUMNS, &o->rows,
			 false);
		if (!is_for_people)
			put_rows(r, "parts", "Parts compared with those of the base",
				 FAB_COUNT(columns), &o->rows, true);
	}
	if (!is_for_people)
		put_counts(r, &o->rows);
}

const struct fab_task compare_diff = {
	.primary = "comparison",
	.columns = columns,
	.n_columns = &(const size_t){N_COLUMNS},
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve,
	.files = compare_files,
	.report = report,
	.fini = compare_fini,
};
