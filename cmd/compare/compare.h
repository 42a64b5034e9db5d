/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-compare: its command line, the runs that were read, and how they compare. */
#pragma once

#include "base/mem.h"
#include "cli/command.h"
#include "store/store.h"

/* RUN or RUN:ALGORITHM of the command line, found. */
struct compare_item {
	const struct fab_store_run *run;
	const char *algorithm; /* NULL: all */
};
/* Are results of this name part of the item? */
bool compare_has(const struct compare_item *item, const char *algorithm);

/* RUN or RUN:ALGORITHM of the command line. */
struct compare_spec {
	const char *label; /* the argument; NULL: it begins with a number or `last` */
	uint64_t id;	   /* 0: the last one, or not yet found by its label */
	const char *algorithm;
};

enum compare_plot {
	COMPARE_DISTRIBUTION, /* cables (log) that carry at least a number of trees */
	COMPARE_SECONDS,      /* max_efi against seconds.total */
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
	bool merge, compare, check, has_tolerance, prune, yes;
	char older_than[32]; /* UTC as in fab_store_run; "": any age */
	uint64_t keep_last;  /* of each label; 0: none */
	double tolerance_percent;
	struct fab_cli_plot plot;
	enum compare_plot plot_kind;
};

/* Two results that are compared; one of them may be missing. */
struct compare_pair {
	const struct compare_item *base_item, *item;
	const struct fab_store_result *base, *other;
};

enum compare_verdict { COMPARE_NONE, COMPARE_SAME, COMPARE_BETTER, COMPARE_WORSE };

/* One metric of a pair, or of a part of it. */
struct compare_row {
	const struct compare_pair *pair;
	const struct fab_store_kind *kind; /* NULL: unknown metric */
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

/* Runs read from the database, for all tasks but --merge. */
struct compare_outcome {
	struct fab_store_runs runs;
	struct compare_item *items; /* the runs named, or all */
	size_t n_items;
	bool is_removed; /* --prune --yes */
	/* of two runs and more: all that is compared, pair by pair: metrics, then parts
	 */
	const char *notes; /* compare_notes() */
	FAB_VEC(struct compare_pair) pairs;
	FAB_VEC(struct compare_row) rows;
	size_t *first;			     /* [pairs + 1] row of each pair */
	struct compare_counts counts, parts; /* of metrics; of parts */
};

extern const struct fab_task compare_list, compare_show, compare_diff, compare_prune,
	compare_merge;

/* The runs that are named. EINVAL. */
int compare_parse_specs(struct compare_params *p, struct fab_err *err);
/* Read the runs that are asked for; `names_only`: without results. */
int compare_find(struct fab_work *w, bool names_only, struct fab_err *err);
void compare_fini(void *outcome);
/* Read runs of a database. */
int compare_read(const char *path, const struct fab_store_filter *filter,
		 struct fab_store_runs *runs, struct fab_err *err) FAB_MUST_CHECK;
/* For sentences on runs that are not there: " among those that the options choose", where
 * some leave runs out; else "". */
const char *compare_among(const struct compare_params *p)
	__attribute__((returns_nonnull));
/* --plot, of list, show and diff. */
extern const struct fab_task_file compare_files[];

/*
 * Pairs and rows of the items: every item after the first with the first, the base. A
 * base that names its algorithm is compared with all; else results of one name belong
 * together, and where there is no such name, one result on a side is compared with all of
 * the other.
 */
void compare_pair_up(const struct compare_params *p, struct compare_outcome *o,
		     struct fab_arena *arena);

/* "2/8"; NULL when the run is all of its sweep. */
char *compare_shard_text(struct fab_arena *arena, const struct fab_store_run *run);
/* A column for a metric; kind NULL: unknown. */
struct fab_column compare_metric_column(const char *name,
					const struct fab_store_kind *kind);
/* A column for a fact, which says its unit in its name. */
struct fab_column compare_fact_column(const char *name);
/* A fact with its unit. */
char *compare_fact_text(struct fab_arena *arena, const struct fab_store_number *fact);

extern const struct fab_option compare_settings[];
