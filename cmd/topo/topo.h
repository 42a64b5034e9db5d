/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-topo prints: one function and its columns a kind of report. */
#pragma once

#include "cli/cli.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/fabric.h"
#include "fabric/summary.h"

/* Of the main table of each report. */
struct fab_cli_columns topo_summary_columns(void);
struct fab_cli_columns topo_check_columns(void);
struct fab_cli_columns topo_diff_columns(void);
struct fab_cli_columns topo_ports_columns(void);
struct fab_cli_columns topo_trace_columns(void);
struct fab_cli_columns topo_users_columns(void);

/* Print to `out`; the status to exit with, or a negative errno. */
int topo_summary(FILE *out, const struct fab_report_options *options,
		 const struct fab_fabric *f, const struct fab_cli_run *run,
		 struct fab_err *err) FAB_MUST_CHECK;
/* Files of accepted problems; NULL: none. */
struct topo_known {
	const char *in, *out;
};
/* This one opens its report among the results, after the file of problems. */
int topo_check(struct fab_cli_results *results, const struct fab_cli_output *output,
	       const struct fab_fabric *f, const struct fab_cli_run *run,
	       const struct topo_known *known, struct fab_err *err) FAB_MUST_CHECK;
/* From `old` to `f`. */
int topo_diff(FILE *out, const struct fab_report_options *options,
	      const struct fab_fabric *f, const struct fab_fabric *old,
	      struct fab_err *err) FAB_MUST_CHECK;
int topo_ports(FILE *out, const struct fab_report_options *options,
	       const struct fab_fabric *f, struct fab_err *err) FAB_MUST_CHECK;

/* --trace and --users: the question, and where the tables come from; NULL: not given. */
struct topo_tables {
	const char *trace, *users;
	const char *lfts, *mcfdbs;
	uint32_t algorithm; /* of fab_unicast_engines */
};
int topo_trace(FILE *out, const struct fab_report_options *options,
	       const struct fab_fabric *f, const struct topo_tables *tables,
	       struct fab_err *err) FAB_MUST_CHECK;
int topo_users(FILE *out, const struct fab_report_options *options,
	       const struct fab_fabric *f, const struct topo_tables *tables, bool verbose,
	       struct fab_err *err) FAB_MUST_CHECK;

/* The sentences that the reports begin with. `detail` is the shape, NULL: none known. */
void topo_summary_answer(struct fab_report *r, const struct fab_fabric *f,
			 const struct fab_summary *s, const char *detail);
/* `check` without what is accepted by --known (has_known), which are n_left_out. */
void topo_check_answer(struct fab_report *r, const struct fab_fabric *f,
		       const struct fab_check *check, bool has_known,
		       uint64_t n_left_out);
/* object_of: "switch", "adapter", "switch-link" or "host-link". */
void topo_diff_answer(struct fab_report *r, const struct fab_diff *diff,
		      const char *(*object_of)(const void *context,
					       const struct fab_change *change),
		      const void *context);
void topo_ports_answer(struct fab_report *r, const struct fab_fabric *f);
