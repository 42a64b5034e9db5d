/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters of fabric-rdma, its tasks and sentences. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "cli/jobs.h"
#include "fabric/kfat.h"
#include "present/report.h"
#include "rdma/choice.h"
#include "unicast/engine.h"

enum {
	RDMA_MAX_WINDOWS = 64,
	RDMA_MAX_SCHEMES = FAB_RDMA_CASES_MAX - 1,
	/* Events of all runs of a command without --runs, shared by the points of a
	 * sweep: some tens of seconds of processor time. */
	RDMA_MAX_EVENTS = 300000000,
};

/* Rows of the table of verbs. */
enum rdma_verb { RDMA_RUN, RDMA_SWEEP, RDMA_PLAN, RDMA_COST, RDMA_TRACE };

struct rdma_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_faults faults;
	struct fab_cli_tables tables;
	struct fab_opensm opensm;
	struct fab_cli_shard shard;
	uint32_t verb;

	/* trace, cost */
	struct fab_rdma_arrivals arrivals;
	bool as_printed;
	uint32_t window[RDMA_MAX_WINDOWS];
	size_t n_windows;
	uint64_t memory;
	bool has_memory;
	const char *bits;
	struct fab_rdma_widths widths;

	/* transfers */
	struct fab_chosen_list schemes;
	const char *pattern;
	FAB_VEC(const char *) hosts, jobs;
	bool has_pattern_file; /* it names one, which errors name */
	uint64_t bytes;
	uint32_t repeats, op;
	bool has_sender_window;

	/* the network */
	uint32_t route;
	bool has_route;
	struct fab_chosen_list algorithms;
	bool has_algorithm;
	uint32_t max_vls;
	uint64_t buffer; /* 0: without bounds */
	uint64_t ecn, private_buffer;
	double default_mbps, cable_mbps;
	FAB_VEC(const char *) link_down;

	/* schemes */
	bool has_rto, has_gap, has_credit, has_cap;
	uint32_t gap, cap;
	struct fab_rdma_params sim; /* all of them together */

	uint32_t runs;
	struct fab_rdma_axes axes;
	double target;
	bool check;
	const char *histogram_out;
	struct fab_cli_plot plot;
};

/* The fabric made ready: endpoints and tables. */
struct rdma_network {
	struct fab_kfat *kfat; /* NULL: none */
	struct fab_err kfat_error;
	struct fab_faults *dead;
	struct fab_flow_ends ends;
	struct fab_routes *routes; /* NULL: adaptive or spray without bounds */
	const char *algorithm;	   /* of the tables; NULL: none */
	enum fab_sim_routing route;
	struct fab_rdma_outage *outage;
	struct fab_job jobs[FAB_JOBS_MAX]; /* of --job: ends as numbers of `ends` */
	uint32_t n_unknown_rates;
};

/* Outcome of run, sweep and plan. */
struct rdma_outcome {
	struct rdma_network net;
	struct fab_rdma_question q;
	struct fab_cli_progress *progress;
	struct fab_rdma_sweep sweep;
	struct fab_rdma_plans plans;
	struct fab_cli_job *job_rows; /* by scheme, then job */
	bool was_interrupted;
};

/* A row of the main table. */
struct rdma_row {
	struct fab_rdma_outcome r;
	const char *route, *pattern, *op, *shard;
};

/* values.c: values of options with forms of their own; EINVAL: one sentence */
int rdma_take_arrivals(void *params, const char *arg, struct fab_err *err);
int rdma_take_windows(void *params, const char *arg, struct fab_err *err);
int rdma_take_pattern(void *params, const char *arg, struct fab_err *err);
int rdma_take_delay(void *params, const char *arg, struct fab_err *err);
int rdma_take_buffer(void *params, const char *arg, struct fab_err *err);
int rdma_take_over(void *params, const char *arg, struct fab_err *err);
/* --set bits=LIST, into p->widths. */
int rdma_read_bits(struct rdma_params *p, struct fab_err *err);
/* --link-down: check a text; read all of them, into out[]. EINVAL, ENOENT. */
int rdma_check_link_down(const char *arg, struct fab_err *err);
int rdma_read_link_down(const struct rdma_params *p, const struct fab_fabric *f,
			struct fab_rdma_outage *out, struct fab_err *err);

/* run.c: the network, and the question for the library */
int rdma_set_up(struct fab_work *w, struct fab_err *err);
void rdma_outcome_fini(void *outcome);

/* columns.c */
extern const struct fab_column rdma_columns[], rdma_plan_columns[];
extern const size_t rdma_n_columns, rdma_n_plan_columns;
extern const struct fab_option rdma_settings[];

/* answer.c: sentences before the report of a run or sweep */
void rdma_answer(struct fab_report *r, const struct fab_work *w);
/* How many of all transfers have no path; nothing for 0. */
void rdma_say_no_path(struct fab_report *r, uint64_t n, uint64_t of);
/* Runs after which there are enough losses, where each loses `lost` packets. */
uint64_t rdma_runs_for_losses(double lost);
/* Fields with the parameters that the results depend on, and what the model leaves out.
 */
void rdma_print_parameters(struct fab_report *r, const struct fab_work *w);
void rdma_print_approximations(struct fab_report *r, const struct rdma_params *p);

extern const struct fab_task rdma_results_task;		      /* run.c */
extern const struct fab_task rdma_plan_task;		      /* plan.c */
extern const struct fab_task rdma_jobs_task;		      /* jobs.c */
extern const struct fab_task rdma_cost_task, rdma_trace_task; /* contexts.c */
