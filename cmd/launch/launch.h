/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-launch computes and how it is printed. */
#pragma once

#include <string.h>

#include "cli/command.h"
#include "cli/faults.h"
#include "fabric/kfat.h"
#include "launch/fence_run.h"
#include "launch/params.h"
#include "launch/size.h"
#include "launch/stages.h"
#include "present/report.h"
#include "store/store.h"

/* In the order of the table of verbs. */
enum launch_verb {
	LAUNCH_STAGES,
	LAUNCH_FENCE,
	LAUNCH_MODEX,
	LAUNCH_SIZE,
	LAUNCH_STORE,
	LAUNCH_FAULTS,
	LAUNCH_CALIBRATE,
	LAUNCH_ADVISE,
};

enum {
	LAUNCH_MAX_LIST = 1000,
	LAUNCH_CORES_TO_SCALE = 8, /* with fewer, measures say nothing of how locks do */
};

struct launch_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_faults faults;
	struct fab_cli_tables tables;
	struct fab_cli_shard shard;
	uint32_t verb;	      /* enum launch_verb */
	struct fab_ids nodes; /* as many as sizes of the job are asked for */
	bool has_nodes, has_bytes;
	const char *node_list, *node_file;
	FAB_VEC(char *) orders; /* on the heap */
	uint32_t ppn;
	bool has_ppn;
	uint32_t algorithm;
	bool has_algorithm;

	/* fence */
	struct fab_chosen_list fences;
	bool has_fence;
	FAB_VEC(uint64_t) bytes;
	bool model_only;
	uint32_t pieces; /* of a message, when simulated */
	const char *params_path;
	FAB_VEC(const char *) set;
	struct fab_launch_params constants;
	bool uses[FAB_N_LAUNCH_CONSTANTS]; /* those that a verb rests on */

	/* stages */
	struct fab_chosen_list ifaces, wireups;
	uint32_t stage_in; /* enum fab_stage_in */
	bool socket_store;
	uint32_t respawn;
	double goal_s;
	struct fab_cli_plot plot;

	/* modex */
	const char *peers;
	bool no_cache, has_peers;

	/* faults */
	struct fab_ids failures;
	bool exhaustive, has_failures;

	/* store and calibrate */
	struct fab_chosen_list locks;
	double measure_s;
	bool is_measuring;
	const char *params_out;

	/* size */
	const char *keys_text;
	struct fab_puts keys;
	struct fab_chosen_list layouts, opts;
	bool has_layout, has_opt;
	uint32_t namespace_chars;
};

/* Nodes of --nodes; 0: not given. */
static inline uint32_t launch_n_nodes(const struct launch_params *p)
{
	return p->nodes.of.n ? p->nodes.of.v[0] : 0;
}
/* What sentences call an input. */
static inline const char *launch_input_name(const char *path)
{
	return strcmp(path, "-") ? path : "<stdin>";
}
/* --params and --set. */
int launch_read_constants(struct launch_params *p, struct fab_err *err);
/* A fence of so many nodes; leaf as there, NULL: not known. O(1). */
struct fab_fence_job launch_fence_job(const struct fab_launch_params *c, uint32_t n_nodes,
				      const uint32_t *leaf, uint64_t bytes);
/* The verb rests on these; a table of those. */
void launch_use_constants(struct launch_params *p, const enum fab_launch_constant *of,
			  size_t n);
/* Those that starts by PMIx rest on. */
void launch_use_start_constants(struct launch_params *p);
/* Those of them that are assumptions. */
unsigned launch_count_assumed(const struct launch_params *p);
void launch_print_constants(struct fab_report *r, const struct launch_params *p);
/* A figure of seconds over the assumed constant that moves it most: a sentence, and the
 * fields total_low_s, total_high_s and range_by. */
struct fab_launch_range;
void launch_answer_range(struct fab_report *r, const struct launch_params *p,
			 const char *subject, const struct fab_launch_range *range);
void launch_print_range(struct fab_report *r, const struct fab_launch_range *range);

/* The fabric's part of a job: its hosts and the tables between them. */
struct launch_job {
	const struct launch_params *p;
	const struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_resolver *resolver;
	struct fab_ids hosts; /* of --node-list or --node-file; none: all */
	struct fab_kfat *kfat;
	struct fab_err kfat_error;
	struct fab_routes *routes;
	const char *algorithm; /* that made them */
};
/* The caller ends it, also after an error. */
/* Its hosts alone, without tables. */
int launch_job_hosts(const struct launch_params *p, const struct fab_fabric *f,
		     struct launch_job *job, struct fab_err *err);
int launch_job_init(const struct launch_params *p, const struct fab_fabric *f,
		    struct launch_job *job, struct fab_err *err);
void launch_job_fini(struct launch_job *job);
/* "16 nodes of 1 process start", on the heap. */
char *launch_job_text(uint32_t n_nodes, uint32_t ppn, const char *verb)
	__attribute__((returns_nonnull));
/* Its first n_nodes (0: all) in an order of --order. */
int launch_job_nodes(const struct launch_job *job, uint32_t n_nodes, const char *order,
		     struct fab_launch_nodes *out, struct fab_err *err);

/* Fences of one job, timed as they are asked for: on the fabric, or by formula. */
struct launch_known {
	const struct fab_fence_setup *setup;
	uint64_t bytes;
	double us;
};
struct launch_timing {
	const struct launch_params *p;
	bool has_fabric;
	uint32_t n_nodes;
	struct launch_job job;
	struct fab_launch_nodes nodes;
	FAB_VEC(struct fab_fence_setup *) setups;
	FAB_VEC(struct launch_known) known;
	uint32_t n_cut; /* times that would take too long to simulate */
};
/* The caller ends it, also after an error. */
int launch_timing_init(const struct launch_params *p, const struct fab_fabric *f,
		       struct launch_timing *t, struct fab_err *err);
void launch_timing_fini(struct launch_timing *t);
/* What these times are not. */
void launch_answer_cut(struct fab_report *r, const struct launch_timing *t);
/* Shape of struct fab_launch_timer; context: a launch_timing. Without a fabric by
 * formula.
 */
double launch_fence_us(void *context, struct fab_fence_chosen fence, uint64_t bytes,
		       struct fab_err *err);
/* The fastest of those that auto tries. */
int launch_fastest_fence(struct launch_timing *t, uint64_t bytes,
			 struct fab_fence_chosen *out, struct fab_err *err);
/* One of --fence; auto is the fastest. */
int launch_choose_fence(const struct fab_chosen *chosen, struct launch_timing *t,
			uint64_t bytes, struct fab_fence_chosen *out,
			struct fab_err *err);
/* What the options say of a start by PMIx. */
struct fab_launch_start launch_start(const struct launch_params *p,
				     struct launch_timing *t);

/* One verb: its main table, and what it does. */
struct launch_work {
	const struct fab_column *columns;
	const size_t *n_columns;
	/* The exit status, or a negative errno. */
	int (*run)(struct launch_params *p, const struct fab_fabric *f,
		   struct fab_err *err);
};
extern const struct launch_work launch_stages;
extern const struct launch_work launch_fence;
extern const struct launch_work launch_modex;
extern const struct launch_work launch_size;
extern const struct launch_work launch_store;
extern const struct launch_work launch_faults;
extern const struct launch_work launch_calibrate;
extern const struct launch_work launch_advise;

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

struct launch_fence_row {
	const char *algorithm, *stands_for, *why, *order;
	uint32_t nodes;
	uint64_t bytes, steps, max_link_load, max_between;
	double model_us, contended_us, simulated_us, factor;
	uint64_t by_symmetry;
	const char *loads, *shard;
};
extern const struct fab_column launch_fence_columns[];
extern const size_t launch_fence_n_columns;

struct launch_stages_row {
	const char *interface, *wireup, *stage_in;
	char *fence, *critical_path; /* on the heap */
	uint32_t nodes, ppn;
	uint64_t bytes, goal_met;
	double total_s, saved_s, fence_us, barrier_us, memory_bytes;
	double goal_fs_MBps, goal_fs_ops, least_s;
};
extern const struct fab_column launch_stages_columns[];
extern const size_t launch_stages_n_columns;

struct launch_modex_row {
	const char *method, *fence;
	double degree, total_us, mean_us, gets, local, requests, shared, most_served;
	double longest_wait_us, busy_share, memory_bytes, memory_each_bytes;
	bool is_model;
};
extern const struct fab_column launch_modex_columns[];
extern const size_t launch_modex_n_columns;

struct launch_faults_row {
	const char *placement;
	uint32_t nodes;
	uint64_t failures, news, most_news, placements, mpd_parts, mpd_largest;
	double first_s, stable_s, repaired_s, bound_s;
	bool within, proven;
};
extern const struct fab_column launch_faults_columns[];
extern const size_t launch_faults_n_columns;

struct launch_store_row {
	const char *lock;
	uint32_t ppn;
	double read_ns, get_us, shifted_get_us, write_us;
	double measured_read_ns, measured_wait_us, measured_longest_us, measured_writes;
};
extern const struct fab_column launch_store_columns[];
extern const size_t launch_store_n_columns;
/* Readers alone, then beside a writer, `seconds` each; fills what was measured. */
int launch_measure_lock(uint32_t lock, uint32_t readers, double seconds,
			struct launch_store_row *row, struct fab_err *err);

struct launch_calibrate_row {
	const char *constant, *unit, *source;
	double value, spread, before;
};
extern const struct fab_column launch_calibrate_columns[];
extern const size_t launch_calibrate_n_columns;

struct launch_advise_row {
	const char *setting, *scope, *verdict;
	const char *depends_on;	   /* the constant by which it is not worth it; NULL */
	const char *range_by;	   /* NULL: no assumed constant changes what it saves */
	char *now, *advised, *how; /* on the heap */
	double total_s, saved_s, could_save_s, saved_low_s, saved_high_s;
	bool helps;
};
extern const struct fab_column launch_advise_columns[];
extern const size_t launch_advise_n_columns;
