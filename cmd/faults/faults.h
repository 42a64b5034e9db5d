/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults computes and how it is printed. */
#pragma once

#include "cli/faults.h"
#include "fabric/shape.h"
#include "present/report.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/faults.h"
#include "unicast/path.h"

enum { FAULTS_MAX_ENGINES = 16 };
/* Parts by --criticality, in the order of its tables. */
enum faults_kind { FAULTS_LEAF, FAULTS_ROOT, FAULTS_LINK, FAULTS_N_KINDS };

/* What is dead, as the command line says. */
struct faults_wish {
	struct fab_cli_faults dead;
	uint32_t exhaustive; /* 0: not given */
	uint64_t count;
};

/* Where tables are read from and written to. */
struct faults_files {
	struct fab_cli_tables in;
	const char *lfts_out, *fdbs_out, *path_sl_out, *sl2vl_out, *subnet_out;
};

/* What else is asked for. */
struct faults_questions {
	const char *explain; /* SRC,DST */
	bool reroute;
	bool has_criticality;
	uint32_t criticality; /* rows */
	FAB_VEC(const char *) permutations;
	bool reliability;
	uint32_t max_faults; /* 0: not given */
	uint64_t trials;
	double mtbf_seconds; /* 0: not given */
};

struct faults_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct faults_wish wish;
	struct faults_files files;
	struct faults_questions questions;
	struct fab_cli_shard shard;
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
/* All of it, from the faults to the report; the exit status. */
int faults_run(void *params, const struct fab_fabric *f, struct fab_err *err);

/* One set of faults by one algorithm, for the database. */
struct faults_set {
	uint64_t number; /* from 0 */
	char *dead;
	uint64_t pairs, unreachable, cycle_channels;
	uint32_t max_hops;
};

/* One algorithm, summed over the sets of faults. */
struct faults_result {
	const char *algorithm;
	const struct fab_unicast_engine *engine; /* NULL: tables that were read */
	uint64_t sets, sets_unreachable, sets_with_cycle;
	struct fab_analysis sum; /* counts summed, maxima taken; cycle of the first */
	struct fab_lost lost;	 /* summed */
	uint64_t entries_changed, switches_changed;
	uint32_t max_destinations; /* 0: unknown */
	bool was_verified, is_sound;
	double load, load_before; /* fullest direction, in hosts' rates; NaN: unknown */
	double route_seconds, analysis_seconds;
	FAB_VEC(struct faults_set) each; /* with --store */
	char *note;			 /* of the first set that has one */
	char *worst;	   /* faults of the first set with unreachable pairs or a cycle */
	const char *shard; /* NULL: all sets */
	struct fab_routes *routes; /* of the only set, else NULL */
};

/* A permutation by an algorithm. */
struct faults_flow {
	const char *permutation, *algorithm;
	struct fab_flow_load before, after;
};

struct faults_reliability_row {
	const char *algorithm, *method;
	uint32_t faults;
	double probability, low, high, share, bound, as_published;
	uint64_t trials;
	uint64_t hits, lost_pairs, pairs; /* of trials: see struct fab_reliability */
	const char *shard;		  /* NULL: all trials */
	double seconds; /* to the first unreachable pair, NaN: not asked for */
};

struct faults_critical {
	uint64_t number; /* see struct fab_loss */
	char *name;
	const char *kind;
	uint64_t pairs, interrupted, unreachable, rerouted, longer;
	uint32_t host_ports; /* of a switch, of its own */
	double load;
};

struct faults_local_reroutes {
	uint32_t known, unknown;
	uint64_t cases, hops_more, stuck;
};

struct faults_outcome {
	const struct fab_fabric *f;
	struct fab_kfat *kfat;	   /* NULL: none */
	struct fab_err kfat_error; /* why not */
	struct fab_faults *faults; /* of the only set; or those that every set has */
	struct fab_ids roots;	   /* of updn by a list */
	bool is_one_set;
	uint64_t n_sets; /* asked for */
	size_t n;
	struct faults_result results[FAULTS_MAX_ENGINES];
	FAB_VEC(struct faults_flow) flows;
	FAB_VEC(struct faults_reliability_row) reliability;
	FAB_VEC(struct faults_critical) critical; /* worst first; with --store all */
	/* The worst of each kind: leaves, other switches, cables. */
	FAB_VEC(struct faults_critical) worst[FAULTS_N_KINDS];
	struct fab_lost_ports lost;	    /* of the only set */
	const struct faults_result *ranked; /* that critical is of */
	uint64_t n_parts, n_untried;	    /* of these; with fewer pairs */
	FAB_VEC(struct faults_local_reroutes) rerouted;
	char *reliability_text;
	struct fab_endpoint from, to; /* of --explain */
};

/* What a row of the main table is made of, and the store keeps; borrows the result. */
struct faults_row {
	struct faults_result a;
	struct fab_names failed;
	struct fab_counts hops;
	uint64_t deadlock_free, verified; /* or FAB_UNKNOWN */
	double gaps[FAB_GAP_KINDS];	  /* [by enum fab_gap_kind], NaN: cannot be */
	double total_seconds;
	const char *assumed;
	char *why_unknown;
};
void faults_row_init(struct faults_row *row, const struct faults_result *a);
void faults_row_fini(struct faults_row *row);

/* Columns of the main table: all that is known of a metric stands in its row. */
extern const struct fab_column faults_columns[];
extern const size_t faults_n_columns;
extern const struct fab_column faults_reliability_columns[];
extern const size_t faults_reliability_n_columns;

/* What engines route: with these faults, NULL none, and the lanes and threads asked for.
 * Borrows all. */
struct fab_unicast_problem faults_problem(const struct faults_params *p,
					  const struct faults_outcome *o,
					  const struct fab_faults *faults);
/* Route and analyse all sets, or those of the shard, by all algorithms. */
int faults_solve(struct faults_params *p, struct faults_outcome *o,
		 struct fab_err *err) FAB_MUST_CHECK;
/* Tables from --lfts. */
int faults_read_tables(const struct faults_params *p, const struct faults_outcome *o,
		       struct fab_routes **out, struct fab_err *err) FAB_MUST_CHECK;
/* What --lfts-out and the others ask for, of the last result. */
int faults_write_tables(const struct faults_params *p, const struct faults_outcome *o,
			struct fab_cli_results *results,
			struct fab_err *err) FAB_MUST_CHECK;
/* Flows of --permutation. */
int faults_flow(const struct faults_params *p, struct faults_outcome *o,
		struct fab_err *err) FAB_MUST_CHECK;
int faults_try_reliability(struct faults_params *p, struct faults_outcome *o,
			   struct fab_err *err) FAB_MUST_CHECK;
int faults_rank_parts(struct faults_params *p, struct faults_outcome *o,
		      struct fab_err *err) FAB_MUST_CHECK;
int faults_local_reroute(const struct faults_params *p, struct faults_outcome *o,
			 struct fab_err *err) FAB_MUST_CHECK;

/* The sentences that the report begins with. */
void faults_answer(struct fab_report *r, const struct faults_params *p,
		   const struct faults_outcome *o);
/* Those that answer --explain, --permutation, --criticality and --local-reroute. */
void faults_answer_questions(struct fab_report *r, const struct faults_params *p,
			     const struct faults_outcome *o);
/* How loads, which count cables alike, mislead: rates that differ or are not known; on
 * the heap, NULL: they do not. */
char *faults_rates_text(const struct faults_outcome *o);
/* What is assumed where tables were read without all files; NULL: nothing. */
const char *faults_assumed(const struct faults_result *r);
/* First lines and table on what tables that were read do not say. */
void faults_print_gap_texts(struct fab_report *r, const struct faults_outcome *o);
void faults_print_gaps(struct fab_report *r, const struct faults_outcome *o);
/* Say why freedom of deadlock is not known, if so. */
void faults_warn_unknown(const struct faults_params *p, const struct faults_result *r);

/* Print the report. Fails with the errno of the write. */
int faults_report(FILE *out, const struct fab_report_options *options,
		  const struct faults_params *p, const struct faults_outcome *o,
		  struct fab_err *err) FAB_MUST_CHECK;
/* The pair of --explain. */
int faults_find_pair(const struct faults_params *p, struct faults_outcome *o,
		     struct fab_err *err) FAB_MUST_CHECK;
/* How long the path of --explain is by a result, or why there is none (is_bad); on the
 * heap. */
char *faults_path_text(const struct faults_outcome *o, size_t result, bool *is_bad);
/* The table `path` of --explain: each algorithm's path. */
void faults_explain(struct fab_report *r, const struct faults_outcome *o);
int faults_store(const struct faults_params *p, const struct faults_outcome *o,
		 struct fab_err *err) FAB_MUST_CHECK;
int faults_store_reliability(const struct faults_params *p,
			     const struct faults_outcome *o,
			     struct fab_err *err) FAB_MUST_CHECK;
