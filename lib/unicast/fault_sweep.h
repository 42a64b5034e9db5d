/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of faults routed by several algorithms, analysed and summed. */
#pragma once

#include "event/sweep.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/faults.h"

/* One set of faults by one algorithm. */
struct fab_faults_set {
	uint64_t number; /* from 0 */
	char *dead;
	uint64_t pairs, unreachable, cycle_channels;
	uint32_t max_hops;
};

/* One algorithm, summed over the sets of faults. */
struct fab_faults_result {
	const char *algorithm;
	const struct fab_unicast_engine *engine; /* NULL: tables that were read */
	uint64_t sets, sets_unreachable, sets_with_cycle;
	struct fab_analysis sum; /* as fab_analysis_add() */
	struct fab_lost lost;
	struct fab_changes changes; /* against the tables without faults */
	uint32_t max_destinations;  /* columns by one port to a switch; 0: unknown */
	bool was_verified, is_sound;
	double load, load_before; /* fab_uniform_load(), of the only set; NaN: unknown */
	double route_seconds, analysis_seconds;
	FAB_VEC(struct fab_faults_set) each; /* below number n_kept */
	char *note;			     /* of the first set that has one */
	char *instead;			     /* of routes, of the first set that has it */
	char *worst; /* faults of the first set with lost pairs or a cycle */
	struct fab_routes *routes; /* of the only set, if it is needed, else NULL */
};

struct fab_faults_sweep {
	/* faults: dead in every set; the parts of the only set are added to them */
	struct fab_unicast_problem problem;
	struct fab_faults *faults;
	const struct fab_unicast_engine *const *engines;
	size_t n_engines;
	/* `random` parts drawn `count` times, or every set of `exhaustive` parts of a
	 * kind; both 0: no more than `faults` */
	enum fab_fault_kind of;
	uint32_t random, exhaustive;
	uint64_t count, seed;
	bool has_ends; /* else leaf switches for engines on a kfat, or hosts */
	enum fab_ends ends;
	bool needs_tables; /* of the only set: results keep routes */
	bool verify;	   /* fab_unicast_verify() of each set, see on_trouble */
	uint64_t n_kept;   /* sets of which results keep the numbers one by one */
	struct fab_shard shard;
	fab_progress_fn progress;
	void *progress_context;
	void (*on_trouble)(void *context, const char *algorithm, const char *text);
	void *trouble_context;

	/* set by fab_faults_sweep_init() */
	bool is_one_set;
	uint64_t n_sets;
	struct fab_fault_sets sets;
};

/* Number the sets; the only one that is drawn is added to sweep->faults. EINVAL: too few
 * parts, or too many sets. */
int fab_faults_sweep_init(struct fab_faults_sweep *sweep,
			  struct fab_err *err) FAB_MUST_CHECK;
/*
 * Route and analyse all sets, or those of the shard: results[n_engines], zeroed before,
 * which the caller frees, also after an error. A set a thread; the same for any number of
 * threads. Errors of engines and of fab_sweep_run(). O(sets * engines * routing).
 */
int fab_faults_sweep_run(struct fab_faults_sweep *sweep,
			 struct fab_faults_result *results,
			 struct fab_err *err) FAB_MUST_CHECK;
/* Analyse tables that were read, under sweep->faults, into a zeroed result, which takes
 * them. `seconds`: time to read them. */
int fab_faults_add_loaded(struct fab_faults_sweep *sweep, struct fab_routes *routes,
			  double seconds, struct fab_faults_result *result,
			  struct fab_err *err) FAB_MUST_CHECK;
void fab_faults_sweep_fini(struct fab_faults_sweep *sweep);
void fab_faults_result_fini(struct fab_faults_result *result);
