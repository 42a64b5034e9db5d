/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters of fabric-launch, the parts that its verbs share, and their columns. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "launch/fence.h"
#include "launch/fit.h"
#include "launch/size.h"
#include "launch/stages.h"
#include "present/report.h"

/* In the order of the table of verbs. */
enum launch_verb {
	LAUNCH_STAGES,
	LAUNCH_FENCE,
	LAUNCH_MODEX,
	LAUNCH_SIZE,
	LAUNCH_STORE,
	LAUNCH_FAULTS,
	LAUNCH_ADVISE,
	LAUNCH_MECHANISMS,
	LAUNCH_CALIBRATE,
};

struct launch_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_faults faults;
	struct fab_cli_tables tables;
	struct fab_opensm opensm;
	struct fab_cli_shard shard;
	const struct fab_verb *verbs;
	uint32_t verb; /* enum launch_verb */
	/* the job */
	struct fab_ids nodes; /* requested numbers of nodes */
	bool has_nodes, has_ppn;
	const char *node_list, *node_file;
	FAB_VEC(const char *) orders; /* texts in `memory` */
	uint32_t ppn;
	uint32_t algorithm;
	bool has_algorithm;
	const char *keys_text;
	struct fab_puts keys, exchanged; /* all, those that enter a fence */
	/* fence */
	struct fab_chosen_list fences;
	bool has_fence;
	FAB_VEC(uint64_t) bytes;
	bool model_only;
	uint32_t rails;	 /* of a node, used by each message */
	uint32_t pieces; /* of a simulated message */
	/* stages */
	struct fab_chosen_list ifaces, wireups;
	uint32_t stage_in; /* enum fab_stage_in */
	bool socket_store;
	uint32_t respawn;
	double goal_s;
	struct fab_cli_plot plot;
	/* modex, faults, size */
	const char *peers;
	bool no_cache, has_peers;
	struct fab_ids failures;
	bool exhaustive, has_failures;
	struct fab_chosen_list layouts, opts;
	bool has_opt;
	uint32_t namespace_chars;
	/* constants: --params, then --set */
	const char *params_path, *params_out;
	/* calibrate */
	const char *fs, *program;
	FAB_VEC(const char *) measured;
	double given[FAB_N_LAUNCH_CONSTANTS];
	bool is_given[FAB_N_LAUNCH_CONSTANTS];
	struct fab_launch_params constants;
	bool uses[FAB_N_LAUNCH_CONSTANTS]; /* those that the verb uses */
	struct fab_arena memory;
};
extern const struct fab_option launch_settings[];
enum { LAUNCH_LIST_MAX = 1000 }; /* most values of a list */
/* Numbers between commas, 1 to `most`; `what` is their name in messages. */
int launch_take_numbers(struct fab_ids *out, const char *arg, const char *what,
			uint32_t most, struct fab_err *err);

/* Nodes of --nodes; 0: not given. */
static inline uint32_t launch_n_nodes(const struct launch_params *p)
{
	return p->nodes.of.n ? p->nodes.of.v[0] : 0;
}

/* Read the constants, and mark those that the verb uses. */
int launch_read_constants(struct launch_params *p, struct fab_err *err);
/* The table, the verb and a text (NULL: none) of a result that is stored. */
void launch_store_begin(struct fab_draft *d, const struct fab_work *w, const char *asked,
			const char *text);
/* The table of the constants that the verb uses. */
void launch_report_constants(struct fab_report *r, const struct launch_params *p);
/* Seconds over the assumed constant that changes them most: a sentence, and the fields
 * total_low_s, total_high_s and range_by. */
void launch_answer_range(struct fab_report *r, const struct launch_params *p,
			 const char *subject, const struct fab_launch_range *range);
void launch_report_range(struct fab_report *r, const struct fab_launch_range *range);

/* The fabric's part of a job: its hosts and the tables between them. */
struct launch_job {
	const struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_ids hosts; /* of --node-list or --node-file; none: all */
	struct fab_routes *routes;
	const char *algorithm; /* of the tables */
};
/* In the outcome, whose arena frees it. The first: hosts alone, without tables. */
int launch_job_hosts(struct fab_work *w, struct launch_job *job, struct fab_err *err);
int launch_job_init(struct fab_work *w, struct launch_job *job, struct fab_err *err);
/* Its first n_nodes (0: all) in an order of --set order. */
int launch_job_nodes(const struct launch_params *p, const struct launch_job *job,
		     uint32_t n_nodes, const char *order, struct fab_arena *memory,
		     struct fab_launch_nodes *out, struct fab_err *err);
/* "16 nodes of 1 process start". */
char *launch_job_text(struct fab_arena *memory, uint32_t n_nodes, uint32_t ppn,
		      const char *verb);

/* Bytes of a fence with blocks of `bytes` on the cables of the picture; messages where it
 * carries none. Nothing where there is one node. */
void launch_draw_fence(struct fab_drawing *d, const struct fab_work *w,
		       const struct launch_job *job, const struct fab_launch_nodes *nodes,
		       struct fab_fence_chosen fence, uint64_t bytes);

/* A job whose fences are timed, with a fabric or by formula: in the outcome. */
struct launch_timing {
	struct launch_job job;
	struct fab_launch_nodes nodes;
	struct fab_fence_clock clock;
};
int launch_timing_init(struct fab_work *w, struct launch_timing *t, struct fab_err *err);
/* A sentence on times that would take too long to simulate. */
void launch_answer_cut(struct fab_report *r, const struct launch_timing *t);
/* The first of --fence; auto is the fastest. */
int launch_choose_fence(const struct launch_params *p, struct launch_timing *t,
			uint64_t bytes, struct fab_fence_chosen *out,
			struct fab_err *err);
/* A start by PMIx with the options. */
struct fab_launch_start launch_start(const struct launch_params *p,
				     struct launch_timing *t);

extern const struct fab_task launch_stages, launch_fence, launch_modex, launch_size,
	launch_store, launch_faults, launch_advise, launch_mechanisms, launch_calibrate;
/* A start is explained if it is predicted within this factor. */
#define LAUNCH_FIT_FACTOR 1.5

/* Records of the main tables, where the library has none, and their columns. */
struct launch_size_row {
	const char *layout, *opt;
	uint32_t ppn, keys;
	uint64_t value_bytes, bytes;
	double job_bytes, overhead, factor;
	bool table;
	uint64_t verified;
};
struct launch_stages_row {
	const char *interface, *wireup, *stage_in, *fence, *critical_path;
	uint32_t nodes, ppn;
	uint64_t bytes, goal_met;
	double total_s, saved_s, fence_us, barrier_us, memory_bytes;
	double goal_fs_MBps, goal_fs_ops, least_s;
};
struct launch_modex_row {
	const char *method, *fence;
	double degree, total_us, mean_us, gets, local, requests, shared, most_served;
	double longest_wait_us, busy_share, memory_bytes, memory_each_bytes;
	bool is_model;
};

#define LAUNCH_COLUMNS(verb)                                                             \
	extern const struct fab_column launch_##verb##_columns[];                        \
	extern const size_t launch_##verb##_n_columns;
LAUNCH_COLUMNS(stages)
LAUNCH_COLUMNS(fence)
LAUNCH_COLUMNS(modex)
LAUNCH_COLUMNS(size)
LAUNCH_COLUMNS(store)
LAUNCH_COLUMNS(faults)
LAUNCH_COLUMNS(advise)
LAUNCH_COLUMNS(mechanisms)
LAUNCH_COLUMNS(calibrate)

/* The task of a verb, whose main table is `results`; fields of struct fab_task follow. */
#define LAUNCH_TASK(verb, outcome, ...)                                                  \
	const struct fab_task launch_##verb = {.primary = "results",                     \
					       .columns = launch_##verb##_columns,       \
					       .n_columns = &launch_##verb##_n_columns,  \
					       .outcome_bytes = sizeof(outcome),         \
					       __VA_ARGS__}
