/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters and outcome of fabric-mcroute. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "mcast/bounds.h"
#include "mcast/route.h"
#include "mcast/tables.h"
#include "present/report.h"

/* Results: those of the engines and that of tables that were read. */
enum { MCROUTE_MAX_ENGINES = 32 };

/* --events FILE, --events-pattern SPEC and their options. */
struct mcroute_events {
	const char *path, *pattern, *out, *states; /* NULL: not given */
	uint64_t compute_ns; /* or MCROUTE_MEASURED: what the algorithm takes */
	uint64_t timeout_ns, poll_ns, notify_ns;
	double loss;
};
#define MCROUTE_MEASURED UINT64_MAX

/* The command line. */
struct mcroute_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_groups groups;
	struct fab_chosen_list algorithms; /* from which complete() makes these */
	const struct fab_mcast_engine *engines[MCROUTE_MAX_ENGINES];
	size_t n_engines;
	bool has_algorithm;
	const char *trees_out;
	const char *bound_out;
	const char *weight;
	enum mcroute_capacity { MCROUTE_EQUAL, MCROUTE_RATE } capacity;
	const char *explain, *explain_cable, *dot_out;
	uint32_t explained_group, explained_cable;
	const char *mcfdbs, *mcfdbs_out;
	bool check;
	uint32_t mlid_cap; /* 0: not given */
	uint32_t fullest;
	enum fab_root_ties root_ties;
	double time_limit_s;
	bool has_time_limit;
	uint32_t height_slack;
	bool has_height_slack;
	enum mcroute_sweep { MCROUTE_SWEEP_HEIGHT } sweep;
	bool has_sweep;
	bool has_search; /* balanced or optimal is among the algorithms, or has_sweep */
	struct mcroute_events events;
};

/* The bounds that are tried: NATURAL and MATCHING always. */
enum mcroute_bound {
	MCROUTE_NATURAL,
	MCROUTE_DUAL,
	MCROUTE_FORCED,
	MCROUTE_MATCHING,
	MCROUTE_N_BOUNDS
};

/* A height, and what optimal reaches with it. */
struct mcroute_sweep_row {
	uint32_t slack;
	struct fab_efi efi;
	uint32_t bound; /* that holds for it */
	const char *ended;
	uint64_t verified; /* or FAB_UNKNOWN */
	double seconds;
};

/* Everything that was computed and is reported. */
struct mcroute_outcome {
	struct fab_arena *arena; /* of the run */
	struct fab_mcast_problem problem;
	struct fab_groups *groups;
	struct fab_mft *tables; /* of --mcfdbs; NULL */
	struct fab_dist *dist;
	struct fab_shape *shape;
	struct fab_roots roots; /* of all groups, shared; else zeroed */
	size_t n;		/* results: first that of the tables, if there are any */
	bool has_tables;
	struct fab_loaded loaded;
	uint32_t mlid_cap;
	FAB_VEC(struct mcroute_sweep_row) sweep;
	bool has_sharing;
	uint32_t shared_efi[MCROUTE_MAX_ENGINES]; /* largest, with has_sharing */
	struct fab_mcast_result results[MCROUTE_MAX_ENGINES];
	struct fab_efi efi[MCROUTE_MAX_ENGINES];
	bool was_verified;
	bool is_sound[MCROUTE_MAX_ENGINES];
	struct fab_bound bounds[MCROUTE_N_BOUNDS];
	bool has_deep_bounds;	     /* those that take long were tried, too */
	uint32_t lower_bound;	     /* the largest for any trees */
	uint32_t height_bound;	     /* of trees of minimal height; 0: not tried */
	struct fab_weights *weights; /* of the problem; NULL: none asked for */
	double load_bound;	     /* the weighted load cannot be less */
	double distances_seconds, roots_seconds;
};

/* The larger of the bounds, for trees of minimal height. */
static inline uint32_t mcroute_low_bound(const struct mcroute_outcome *o)
{
	return o->height_bound > o->lower_bound ? o->height_bound : o->lower_bound;
}

/* A row of the main table, also for the store. */
struct mcroute_row {
	const char *algorithm;
	struct fab_efi efi;
	uint32_t lower_bound;
	double height_bound, load_bound;       /* NaN: none for this algorithm */
	uint64_t verified;		       /* or FAB_UNKNOWN */
	const char *ended;		       /* NULL: tables that were read */
	double distances, roots, trees, total; /* seconds */
};
extern const struct fab_column mcroute_columns[];
extern const struct fab_option mcroute_settings[];
extern const size_t mcroute_n_columns;

/* The tasks: trees of groups, and groups that come and go. */
extern const struct fab_task mcroute_task, mcroute_events_task;
void mcroute_report(struct fab_report *r, const struct fab_work *w);
void mcroute_draw(struct fab_drawing *d, const struct fab_work *w);
void mcroute_store(struct fab_draft *d, const struct fab_work *w);
