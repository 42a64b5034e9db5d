/* SPDX-License-Identifier: BSD-2-Clause */
/* The report on runs side by side. */
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

struct fab_cli_columns compare_diff_columns(void)
{
	return (struct fab_cli_columns){columns, N_COLUMNS};
}

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

int compare_diff(FILE *out, const struct fab_report_options *options,
		 const struct compare_item *items, const char *notes,
		 const struct compare_pairs *pairs, const struct compare_rows *rows,
		 struct fab_err *err)
{
	static const struct fab_column notes_column = {
		"notes", FAB_TEXT, "differences of command, fabric and job",
		FAB_COL_EXTRA};
	struct fab_report *r =
		fab_cli_begin_report(out, options, "fabric-compare", "comparison", NULL);
	bool is_for_people = options->format == FAB_FORMAT_TABLE;
	char *base = describe(&items[0]);

	compare_diff_answer(r, rows);
	if (notes)
		fab_report_answer(r, FAB_TONE_WARN, "%s.", notes);
	fab_report_text(r, "base", base);
	fab_report_field(r, &notes_column, (union fab_cell){.text = notes});
	free(base);
	/* columns that are named are those for scripts */
	if (is_for_people && !options->columns) {
		compare_print_sides(r, options->width, pairs, rows);
	} else {
		put_rows(r, "comparison", "Compared with the base", N_COLUMNS, rows,
			 false);
		if (!is_for_people)
			put_rows(r, "parts", "Parts compared with those of the base",
				 FAB_COUNT(columns), rows, true);
	}
	if (!is_for_people)
		put_counts(r, rows);
	return fab_report_finish(r, err);
}
