/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-rdma computes and how it is printed. */
#pragma once

#include "cli/command.h"
#include "present/report.h"
#include "rdma/arrivals.h"
#include "rdma/cost.h"
#include "rdma/window.h"

enum { RDMA_MAX_WINDOWS = 64 };

/* What is asked: the rows of the table of verbs. */
enum rdma_verb { RDMA_TRACE, RDMA_COST };

struct rdma_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	uint32_t verb;
	struct fab_rdma_arrivals arrivals;
	bool as_printed;
	uint32_t window[RDMA_MAX_WINDOWS];
	size_t n_windows;
	uint64_t memory;
	struct fab_rdma_widths widths;
};

/* The verbs; the exit status. */
int rdma_trace(const struct rdma_params *p, FILE *out,
	       const struct fab_report_options *options, struct fab_err *err);
int rdma_cost(const struct rdma_params *p, FILE *out,
	      const struct fab_report_options *options, struct fab_err *err);
extern const struct fab_column rdma_trace_columns[], rdma_cost_columns[];
extern const size_t rdma_n_trace_columns, rdma_n_cost_columns;
