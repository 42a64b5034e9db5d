/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-launch computes and how it is printed. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "launch/size.h"
#include "present/report.h"
#include "store/draft.h"

/* In the order of the table of verbs. */
enum launch_verb {
	LAUNCH_SIZE,
};

struct launch_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	uint32_t verb; /* enum launch_verb */
	uint32_t ppn;
	uint32_t n_nodes; /* 0: not given */

	/* size */
	const char *keys_text;
	struct fab_puts keys;
	struct fab_chosen_list layouts, opts;
	bool has_layout, has_opt;
	uint32_t namespace_chars;
};

/* One verb: its main table, and what it does. */
struct launch_work {
	const struct fab_column *columns;
	const size_t *n_columns;
	/* The exit status, or a negative errno. */
	int (*run)(struct launch_params *p, const struct fab_fabric *f,
		   struct fab_err *err);
};
extern const struct launch_work launch_size;

/*
 * The end of every verb: a report by `print` and, with --store, a run made by `keep`, all
 * of it or nothing. `of` is what both are given; keep may be NULL.
 */
struct launch_result {
	const char *primary; /* table that CSV prints */
	void (*print)(struct fab_report *r, const struct launch_params *p, const void *of,
		      enum fab_format format);
	void (*keep)(struct fab_draft *d, const struct launch_params *p, const void *of);
	const void *of;
};
int launch_finish(struct launch_params *p, const struct fab_fabric *f,
		  const struct launch_result *result, struct fab_cli_results *files,
		  struct fab_err *err);

/* Records of the main tables. */
struct launch_size_row {
	const char *layout;
	char *opt; /* on the heap */
	uint32_t ppn, keys;
	uint64_t value_bytes, bytes;
	double job_bytes, overhead, factor;
	bool table;
	uint64_t verified;
};

extern const struct fab_column launch_size_columns[];
extern const size_t launch_size_n_columns;
