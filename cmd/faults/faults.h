/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters and outcome of fabric-faults, and the parts of its tasks. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "present/report.h"
#include "unicast/criticality.h"
#include "unicast/fault_sweep.h"
#include "unicast/path.h"
#include "unicast/reliability.h"

/* Parts: those with a lower number go into the database. */
enum { FAULTS_MAX_ENGINES = 16, FAULTS_PARTS_STORED = 100000 };
/* Parts by --criticality, in the order of its tables. */
enum faults_kind { FAULTS_LEAF, FAULTS_ROOT, FAULTS_LINK, FAULTS_N_KINDS };

struct faults_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct { /* sets of faults */
		struct fab_cli_faults dead;
		uint32_t exhaustive; /* 0: not given */
		uint64_t count;
	} wish;
	struct { /* tables to read and to write */
		struct fab_cli_tables in;
		const char *lfts_out, *fdbs_out, *path_sl_out, *sl2vl_out, *subnet_out;
	} files;
	struct {
		const char *explain; /* SRC,DST */
		bool reroute;
		enum fab_reroute_method reroute_method;
		const char *reroute_lists; /* switch */
		bool has_criticality;
		uint32_t criticality; /* rows */
		FAB_VEC(const char *) permutations;
		bool cure;
		bool reliability;
		uint32_t max_faults; /* 0: not given */
		uint64_t trials;
		double mtbf_seconds, mttr_seconds; /* 0: not given */
	} questions;
	struct fab_cli_shard shard;
	struct fab_opensm opensm;
	struct fab_chosen_list algorithms; /* from which complete() makes these */
	const struct fab_unicast_engine *engines[FAULTS_MAX_ENGINES];
	bool is_optional[FAULTS_MAX_ENGINES]; /* by `all` only: may be left out */
	size_t n_engines;
	bool has_algorithm;
	unsigned max_vls, max_sls;
	const char *root_guids; /* of updn; NULL: it finds its roots */
	enum fab_ends ends;
	bool has_ends;
	bool check;
};

/* Are tables of one algorithm to be written? */
bool faults_writes_tables(const struct faults_params *p);

/* A permutation by an algorithm. */
struct faults_flow {
	const char *permutation, *algorithm;
	struct fab_flow_load before, after;
};

struct faults_reliability_row {
	const char *algorithm, *method;
	struct fab_reliability r; /* n_faults; NaN: not known, 0 trials: exact */
	double bound, as_published;
	const char *shard; /* NULL: all trials */
	double seconds;	   /* to the first unreachable pair, NaN: not asked for */
	/* NaN: not asked for */
	double next_before_repair, availability, downtime_seconds;
};

struct faults_local_reroutes {
	const char *method;
	uint32_t known, unknown;
	uint64_t hops_more;
	struct fab_local_reroute sum;
};

struct faults_outcome {
	const struct fab_fabric *f;
	struct fab_kfat *kfat;	   /* NULL: none */
	struct fab_err kfat_error; /* why not */
	struct fab_faults *faults; /* of the only set; or those that every set has */
	struct fab_ids roots;	   /* of updn by a list */
	struct fab_faults_sweep sweep;
	size_t n;
	struct fab_faults_result results[FAULTS_MAX_ENGINES];
	FAB_VEC(struct faults_flow) flows;
	FAB_VEC(struct faults_reliability_row) reliability;
	char *reliability_text;
	struct fab_lost_ports lost;		/* of the only set */
	const struct fab_faults_result *ranked; /* that losses are of; NULL: none are */
	struct fab_losses losses;		/* worst first */
	uint32_t *hosts;			/* [n_switches] of --criticality */
	uint64_t n_untried;			/* losses with fewer pairs */
	FAB_VEC(struct faults_local_reroutes) rerouted;
	bool left_out_bursts;	      /* of two: too many cases */
	uint32_t lists_of;	      /* switch of --set reroute-lists */
	struct fab_endpoint from, to; /* of --explain */
};

/* A row of the main table, which the store keeps; the result is borrowed. */
struct faults_row {
	struct fab_faults_result a;
	struct fab_names failed;
	struct fab_counts hops;
	uint64_t deadlock_free, verified; /* or FAB_UNKNOWN */
	double gaps[FAB_GAP_KINDS];	  /* [by enum fab_gap_kind], NaN: cannot be */
	double total_seconds;
	const char *assumed, *shard;
	char *why_unknown; /* of the arena */
};
struct faults_row faults_row_of(const struct fab_work *w,
				const struct fab_faults_result *a);

/* A row of the loss of a part; the name is of the arena. */
struct faults_critical {
	struct fab_loss l;
	const char *name, *kind;
	uint64_t host_ports; /* of a switch, of its own */
};
struct faults_critical faults_critical_of(const struct fab_work *w,
					  const struct fab_loss *loss);
enum faults_kind faults_kind_of(const struct fab_loss *loss);

extern const struct fab_column faults_columns[];
extern const struct fab_option faults_settings[];
extern const size_t faults_n_columns;
extern const struct fab_column faults_reliability_columns[];
extern const size_t faults_reliability_n_columns;
extern const struct fab_task faults_results_task, faults_reliability_task,
	faults_cure_task, faults_change_task;

/* Names of dead parts, algorithms and roots; then all sets by all algorithms, and the
 * tables of --lfts. faults_fini() frees the outcome, whatever failed. */
int faults_set_up(struct faults_params *p, const struct fab_fabric *f,
		  struct faults_outcome *o, struct fab_err *err) FAB_MUST_CHECK;
int faults_sweep(struct faults_params *p, struct faults_outcome *o,
		 struct fab_err *err) FAB_MUST_CHECK;
void faults_fini(void *outcome);

/* Problem for engines: these faults (NULL: none), the lanes and threads of the options.
 * Borrows all. */
struct fab_unicast_problem faults_problem(const struct faults_params *p,
					  const struct faults_outcome *o,
					  const struct fab_faults *faults);

/* Questions beyond routing: flows of --permutation, --reliability, --criticality,
 * --local-reroute, the pair of --explain. */
int faults_flow(const struct faults_params *p, struct faults_outcome *o,
		struct fab_err *err) FAB_MUST_CHECK;
int faults_try_reliability(struct faults_params *p, struct faults_outcome *o,
			   struct fab_err *err) FAB_MUST_CHECK;
int faults_rank_parts(struct faults_params *p, struct faults_outcome *o,
		      struct fab_err *err) FAB_MUST_CHECK;
int faults_local_reroute(const struct faults_params *p, struct faults_outcome *o,
			 struct fab_err *err) FAB_MUST_CHECK;
int faults_find_pair(const struct faults_params *p, struct faults_outcome *o,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Length of the path of --explain by a result, or the reason of a missing path (is_bad);
 * of the arena. */
const char *faults_path_text(const struct fab_work *w, size_t result, bool *is_bad);
/* The table of --set reroute-lists. */
void faults_report_lists(struct fab_report *r, const struct fab_work *w);
/* The table `path` of --explain: each algorithm's path. */
void faults_explain(struct fab_report *r, const struct fab_work *w);

/* The sentences that the report begins with. */
void faults_answer(struct fab_report *r, const struct fab_work *w);
/* The short name of a node (fab_label_short()); "h0, h1, h2, ..": hosts with a port that
 * is cut off, each once, and *n, how many; "A to B (16), ..": the first switches of pairs
 * without a path. All are of the arena. */
const char *faults_label(const struct fab_work *w, const char *name);
const char *faults_lost_names(const struct fab_work *w, const struct fab_fabric *f,
			      const struct fab_lost_ports *lost, bool is_host,
			      uint64_t *n);
const char *faults_unreached_text(const struct fab_work *w, const struct fab_analysis *j,
				  bool is_short);
/* Warn once where an algorithm imitates one of OpenSM. */
void faults_say_caveat(struct fab_report *r, const struct faults_params *p);
/* How loads, which count cables alike, mislead: rates that differ or are not known; on
 * the heap, NULL: they do not. */
char *faults_rates_text(const struct faults_outcome *o);
/* Assumption where tables were read without all files; NULL: none. */
const char *faults_assumed(const struct fab_faults_result *r);

void faults_report(struct fab_report *r, const struct fab_work *w);
/* Dead parts, loops and lost pairs in the picture, and the load by the first tables. */
void faults_draw(struct fab_drawing *d, const struct fab_work *w);
