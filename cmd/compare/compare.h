/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-compare can do with the runs that it has read. */
#pragma once

#include "base/mem.h"
#include "cli/command.h"
#include "export/gnuplot.h"
#include "present/report.h"
#include "store/store.h"

/* RUN or RUN:ALGORITHM of the command line, found. */
struct compare_item {
	const struct fab_store_run *run;
	const char *algorithm; /* NULL: all */
};

/* RUN or RUN:ALGORITHM as it was given. */
struct compare_spec {
	const char *label; /* the argument; NULL: it begins with a number or `last` */
	uint64_t id;	   /* 0: the last one, or not yet found by its label */
	const char *algorithm;
};

/* --prune and the options beside it. */
struct compare_prune {
	bool is_asked, yes;
	char before[32]; /* UTC as in fab_store_run; "": any age */
	uint64_t keep;	 /* newest of each label; 0: none */
};

/* The command line. */
struct compare_params {
	struct fab_cli_output output;
	struct fab_cli_run run;
	const char *path;
	FAB_VEC(const char *) args; /* behind DATABASE: runs, or files of --merge */
	FAB_VEC(struct compare_spec) specs; /* those runs */
	struct fab_store_filter filter;
	const char *metrics; /* comma list; NULL: all */
	bool merge, compare, check, has_tolerance;
	double tolerance_percent;
	struct fab_cli_plot plot;
	enum fab_plot_kind plot_kind;
	struct compare_prune prune;
};
/* What is asked for, by the options and the number of arguments. */
enum compare_mode {
	COMPARE_LIST,
	COMPARE_SHOW,
	COMPARE_DIFF,
	COMPARE_PRUNE,
	COMPARE_MERGE,
};
enum compare_mode compare_mode_of(const struct compare_params *p);
/* Arguments into specs. EINVAL: one is no run. */
int compare_parse_specs(struct compare_params *p, struct fab_err *err) FAB_MUST_CHECK;
/* Read runs of the database. */
int compare_read(const char *path, const struct fab_store_filter *filter,
		 struct fab_store_runs *runs, struct fab_err *err) FAB_MUST_CHECK;

/* For sentences on runs that are not there: " among those that the options choose", where
 * some leave runs out; else "". */
const char *compare_among(const struct compare_params *p)
	__attribute__((returns_nonnull));

/* The table of runs. */
void compare_print_runs(struct fab_report *r, const struct fab_store_runs *runs);
extern const struct fab_column compare_run_columns[];
extern const size_t compare_n_run_columns;

/* --older-than: AGE or a day into prune->before of struct compare_params. */
int compare_take_age(void *params, const char *arg, struct fab_err *err);
/* Two results that are compared; one of them may be missing. */
struct compare_pair {
	const struct compare_item *base_item, *item;
	const struct fab_store_result *base, *other;
};
struct compare_pairs {
	struct compare_pair *v;
	size_t n, cap;
};
/*
 * Every item after the first with the first, the base. A base that names its algorithm is
 * compared with all; else results of one name belong together, and where there is no such
 * name, one result on a side is compared with all of the other. The caller frees
 * pairs->v.
 */
void compare_pair_up(const struct compare_item *items, size_t n_items,
		     struct compare_pairs *pairs);

/* A number of a part of a result: of a set of faults, a batch, a segment of one. */
struct compare_value {
	const char *part, *metric;
	double value;
	uint32_t occurrence; /* of the same part and metric, from 0 */
};
struct compare_values {
	FAB_VEC(struct compare_value) of;
	FAB_VEC(char *) names; /* that parts point to */
	struct fab_strmap *index;
};
/* Parts of a result of the run; r NULL: none. */
void compare_values_init(struct compare_values *v, const struct fab_store_run *run,
			 const struct fab_store_result *r);
/* The value of this part, metric and occurrence; NaN: none. O(1). */
double compare_values_get(const struct compare_values *v, const struct compare_value *x);
void compare_values_fini(struct compare_values *v);

enum compare_verdict { COMPARE_NONE, COMPARE_SAME, COMPARE_BETTER, COMPARE_WORSE };
/* NULL for COMPARE_NONE. */
const char *compare_verdict_name(enum compare_verdict verdict);

/* One metric of a pair, or of a part of it. */
struct compare_row {
	const struct compare_pair *pair;
	const struct fab_store_kind *kind; /* NULL: nobody says what it is */
	const char *part;		   /* NULL: of the result as a whole */
	const char *metric;
	double base, value; /* NaN: none */
	enum compare_verdict verdict;
	bool has_vanished; /* the base has it and less or more of it is better; no time */
};

/* Times apart. */
struct compare_counts {
	uint64_t better, worse, same, vanished;
};

/* All that is compared, pair by pair: metrics, then parts. */
struct compare_rows {
	FAB_VEC(struct compare_row) of;
	size_t *first;	  /* [pairs + 1] of each pair */
	double tolerance; /* so large a part of the base is no difference */
	struct compare_counts counts, parts; /* of metrics; of parts */
	FAB_VEC(struct compare_values *) kept;
};
/* is_chosen: by --metric, runs has these kinds only. Borrows runs and pairs. */
void compare_rows_init(struct compare_rows *rows, const struct fab_store_runs *runs,
		       const struct compare_pairs *pairs, double tolerance,
		       bool is_chosen);
void compare_rows_fini(struct compare_rows *rows);

/* What was read from the database for all tasks but --merge. */
struct compare_outcome {
	struct fab_store_runs runs;
	struct compare_item *items; /* the runs named, or all */
	size_t n_items;
	/* of two runs and more */
	char *notes; /* compare_notes() */
	struct compare_pairs pairs;
	struct compare_rows rows;
	bool is_removed; /* --prune --yes */
};
extern const struct fab_task compare_list, compare_show, compare_diff, compare_prune,
	compare_merge;
/* Read the runs that are asked for; `names_only`: without results. */
int compare_find(struct fab_work *w, bool names_only, struct fab_err *err);
void compare_fini(void *outcome);
/* --plot, of list, show and diff. */
int compare_plot(FILE *script, const struct fab_work *w, struct fab_err *err);
extern const struct fab_task_file compare_files[];

/* For people: the tables of metrics and of parts. */
void compare_print_sides(struct fab_report *r, unsigned width,
			 const struct compare_pairs *pairs,
			 const struct compare_rows *rows);
/* A value of the row with its unit; on the heap. */
char *compare_value_text(const struct compare_row *row, double value);
/* Sentences on differences of command, fabric and job between the first run and each
 * other, without the last full stop; NULL: no difference. On the heap. */
char *compare_notes(const struct compare_item *items, size_t n);
/* A column for a metric; kind NULL: nobody says what it is. */
struct fab_column compare_metric_column(const char *name,
					const struct fab_store_kind *kind);
/* A column for a fact, which says its unit in its name. */
struct fab_column compare_fact_column(const char *name);
/* A fact with its unit; on the heap. */
char *compare_fact_text(const struct fab_store_number *fact);

/* "2/8" into `out`; NULL when the run is all of its sweep. */
const char *compare_shard_text(const struct fab_store_run *run, char *out, size_t size);

/* The sentences that the reports begin with. */
void compare_list_answer(struct fab_report *r, const struct fab_store_runs *runs);
void compare_show_answer(struct fab_report *r, const struct fab_store_runs *runs,
			 const struct compare_item *item);
void compare_diff_answer(struct fab_report *r, const struct compare_rows *rows);
