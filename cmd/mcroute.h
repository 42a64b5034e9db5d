/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-mcroute computes and how it is printed. */
#pragma once

#include "cli/cli.h"
#include "mcast/efi.h"
#include "present/report.h"

enum { MCROUTE_MAX_ENGINES = 32 };

/* Everything that was computed and is reported. */
struct mcroute_outcome {
	struct fab_mcast_problem problem;
	size_t n; /* engines */
	struct fab_mcast_result results[MCROUTE_MAX_ENGINES];
	struct fab_efi efi[MCROUTE_MAX_ENGINES];
	bool was_verified;
	bool is_sound[MCROUTE_MAX_ENGINES];
	uint32_t lower_bound;
	double distances_seconds, roots_seconds;
};

/* Columns of the main table. */
extern const struct fab_column mcroute_columns[];
extern const size_t mcroute_n_columns;

/*
 * Print the report: fields, algorithms, histogram and the `n_fullest` fullest cables of
 * each algorithm. Fails with the errno of the write.
 */
int mcroute_report(FILE *out, const struct fab_report_options *options,
		   const struct mcroute_outcome *o, uint32_t n_fullest,
		   struct fab_err *err) FAB_MUST_CHECK;

/* With --store: add the outcome to the database. Exits on failure. */
void mcroute_store(struct fab_cli_store *store, const struct fab_cli_run *cli,
		   const struct mcroute_outcome *o);
