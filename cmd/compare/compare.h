/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-compare can do with the runs that it has read. */
#pragma once

#include "cli/cli.h"
#include "export/gnuplot.h"
#include "present/report.h"
#include "store/store.h"

struct compare_columns {
	const struct fab_column *v;
	size_t n;
};

/* RUN or RUN:ALGORITHM of the command line, found. */
struct compare_item {
	const struct fab_store_run *run;
	const char *algorithm; /* NULL: all */
};

/* The list of runs: the columns of its table, and the report. */
struct compare_columns compare_list_columns(void);
int compare_list(FILE *out, const struct fab_report_options *options,
		 const struct fab_store_runs *runs, struct fab_err *err) FAB_MUST_CHECK;

/*
 * All about one run. The columns of its table depend on its metrics; the caller frees
 * them with compare_show_columns_free().
 */
struct compare_columns compare_show_columns(const struct fab_store_runs *runs,
					    const struct compare_item *item);
void compare_show_columns_free(struct compare_columns *columns);
int compare_show(FILE *out, const struct fab_report_options *options,
		 const struct fab_store_runs *runs, const struct compare_columns *columns,
		 const struct compare_item *item, struct fab_err *err) FAB_MUST_CHECK;

/* Side by side: every item after the first with the first. */
struct compare_columns compare_diff_columns(void);
struct compare_counts {
	uint64_t better, worse, same; /* times apart */
};
/* tolerance: so large a part of the base value is no difference. */
int compare_diff(FILE *out, const struct fab_report_options *options,
		 const struct fab_store_runs *runs, const struct compare_item *items,
		 size_t n_items, double tolerance, struct compare_counts *counts,
		 struct fab_err *err) FAB_MUST_CHECK;

/* Draw the items with gnuplot into `path`. Exits with status 3 when that cannot be. */
void compare_plot(const char *path, enum fab_plot_kind kind,
		  enum fab_plot_terminal terminal, const struct compare_item *items,
		  size_t n_items, struct fab_cli_results *results);

/* The sentences that the reports begin with. */
void compare_list_answer(struct fab_report *r, const struct fab_store_runs *runs);
void compare_show_answer(struct fab_report *r, const struct fab_store_runs *runs,
			 const struct compare_item *item);
void compare_diff_answer(struct fab_report *r, const struct compare_counts *counts);
/* What changed most, verdict is "worse" or "better". */
void compare_change_answer(struct fab_report *r, const char *verdict, const char *metric,
			   const char *algorithm, double base, double value);
