/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters and outcome of fabric-sim. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "fabric/kfat.h"
#include "mcast/route.h"
#include "present/report.h"
#include "sim/sweep.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/path.h"

enum {
	SIM_MAX_NETS = 32,
	SIM_MAX_RUNS = 10000,
	SIM_MAX_SIZES = 64, /* of messages, and of buffers */
	SIM_MAX_POINTS = 100000
};

/* Unit of times and sizes. */
enum sim_tick { SIM_TICK_PS, SIM_TICK_FLIT };
enum sim_arrivals { SIM_POISSON, SIM_BERNOULLI, SIM_SLOTTED };

/* Values as typed: their meaning depends on --tick and --preset. */
struct sim_texts {
	const char *packet, *sizes, *buffer, *private_buffer, *warmup, *time, *drain,
		*stall, *think;
	const char *switch_delay, *cable_delay, *host_delay;
	const char *fail_at, *detection, *trap, *computation, *block, *interval;
};

struct sim_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_faults faults;
	struct fab_cli_tables tables;
	struct fab_opensm opensm;
	struct fab_cli_groups groups;
	struct fab_cli_shard shard;
	struct fab_chosen_list algorithms, mcast_algorithms;
	bool has_algorithm, has_mcast_algorithm;
	uint32_t max_vls;
	const char *root_guids; /* of updn; NULL: it finds its roots */
	const char *mcfdbs;
	uint32_t mlid_cap; /* 0: a tree for each group */
	const char *traffic;
	double rate;
	bool has_rate, is_sweep;
	double from, to, step; /* rates of a sweep */
	uint32_t tick, arrivals, preset, route, chooser;
	bool has_preset, has_arrivals;
	struct sim_texts texts;
	uint32_t window; /* 0: open loop */
	bool is_closed;
	uint32_t switch_kind;
	bool buffer_per_vl, spread_vls, shared_buffer;
	uint32_t drop;
	uint64_t ecn;
	uint32_t vls, speedup, header;
	bool has_header;
	double default_mbps, cable_mbps; /* 0: not given */
	uint32_t runs;
	bool has_runs;
	FAB_VEC(const char *) hosts, jobs;
	struct fab_chosen_list dodges; /* --fail-at */
	uint64_t count;		       /* sets of drawn faults */
	uint32_t max_faults;	       /* 0: not given */
	double load;		       /* of hosts of no job; 0: none */
	const char *pair;
	uint32_t n_traced;
	bool check;
	double min_throughput;
	bool has_min_throughput;
	struct fab_cli_plot plot;
	const char *cables_out, *histogram_out;

	/* derived from them */
	const struct fab_traffic_kind *traffic_kind;
	struct fab_sim_params sim; /* borrows nothing of the options */
	double unit;		   /* ticks of a printed time: ns, or flit time */
	uint32_t size[SIM_MAX_SIZES];
	size_t n_sizes;
	uint32_t buffer[SIM_MAX_SIZES]; /* ascending; sim.buffer is the first */
	size_t n_buffers;
	uint64_t think;
	struct fab_sim_failure failure; /* its times */
	double *rates; /* [n_rates]; of traffic without a rate one, NaN */
	size_t n_rates;
};

/* Tables or trees of one algorithm. */
struct sim_net {
	const char *algorithm;
	struct fab_routes *routes; /* NULL: multicast only */
	struct fab_mcast_result trees;
	bool has_trees;
	struct fab_mft *mft;
	uint16_t *mlid;
	const struct fab_unicast_engine *engine; /* NULL: tables that were read */
	struct fab_routes *after; /* --fail-at: without what dies; else NULL */
	bool is_copy;		  /* tables are those of the net before */
	struct fab_sim_failure failure;
	struct fab_sim_problem problem;
	struct fab_no_path no_path; /* of tables */
	const char *circle;	    /* of no_path; NULL: none */
	const char *note;	    /* NULL: none */
	double seconds;		    /* for tables or trees */
};

/* A row of the main table: a point of the sweep with names. Texts are in the arena. */
struct sim_row {
	const struct sim_net *net;
	const struct fab_sim_point *point;
	struct fab_sim_summary sum;
	struct fab_sim_cause cause;
	const char *algorithm, *route, *switch_kind, *tick;
	struct fab_names failed;
	uint64_t packet, cables_at_max;
	uint64_t saturated_sources, saturated_receivers;
	double accepted_per_host, mean_utilisation;
	double pairs_without_path, looping_destinations; /* NaN: trees */
	const char *circle, *fullest, *cause_name, *waits_at, *saturation, *note, *shard;
	double setup_seconds, total_seconds;
};

/* The pair of --pair by one algorithm. */
struct sim_pair {
	const char *algorithm, *why; /* why: there is no path */
	uint32_t hops;
	double latency; /* printed; NaN: no path */
};

struct sim_outcome {
	const struct sim_params *p;
	struct fab_arena *arena; /* of the command */
	const struct fab_fabric *f;
	struct fab_fabric *left; /* rest of it, for trees; NULL: f is all */
	struct fab_kfat *kfat;	 /* NULL: none */
	struct fab_err kfat_error;
	struct fab_faults *dead;   /* as named and drawn */
	struct fab_ids roots;	   /* of updn by a list */
	struct fab_faults *faults; /* dead, or none of `left` */
	struct fab_flow_ends ends;
	uint32_t n_all_ends;		    /* dead ones, too */
	struct fab_groups *groups, *shared; /* shared: those of shared trees; NULL */
	uint32_t *group_end;		    /* members as ends */
	struct fab_dist *dist;
	const char **methods; /* of the traffic: specs of what is simulated */
	size_t n_methods;
	const char *trees_by; /* algorithm of the tree of a collective; NULL: none */
	size_t n_nets;
	struct sim_net nets[SIM_MAX_NETS];
	struct fab_sim_points points;
	struct sim_row *rows; /* [points.of.n] by algorithm, then rate */
	size_t n_rows;
	bool was_interrupted;
	struct fab_job jobs[FAB_JOBS_MAX]; /* of --job: ends as numbers of `ends` */
	size_t n_jobs;
	struct fab_cli_job *job_rows; /* by algorithm, then job */
	size_t n_job_rows;
	struct sim_pair pairs[SIM_MAX_NETS];
	struct fab_endpoint from, to; /* of --pair */
	uint32_t n_unknown_rates;
};

/* sim/columns.c */
extern const struct fab_column sim_columns[];
extern const size_t sim_n_columns;
/* Expert options: rows for --set. */
extern const struct fab_option sim_settings[];

/* sim/setup.c: texts into numbers, as --tick and --preset have it. EINVAL. */
int sim_read_texts(struct sim_params *p, struct fab_err *err);
/* Ends, tables and trees of the options. */
int sim_set_up(struct fab_work *w, struct fab_err *err);
void sim_outcome_fini(void *outcome);
/* Number of rows of one algorithm from `first` on. */
size_t sim_count_rows(const struct sim_outcome *o, size_t first);
/* A text of the heap, which lives as long as the outcome from now on; NULL stays NULL. */
const char *sim_keep(const struct sim_outcome *o, char *text);

/* The traffic of a set-up fabric. */
struct fab_traffic_problem sim_traffic_of(const struct sim_outcome *o);

/* Tables of an engine where `faults` are dead. EINVAL: it does not fit. */
int sim_route(const struct sim_params *p, const struct sim_outcome *o,
	      const struct fab_unicast_engine *engine, const struct fab_faults *faults,
	      struct fab_routes **out, struct fab_err *err);
/* Can the parameters be simulated, and can adaptive packets escape without deadlock? */
int sim_check_problem(const struct sim_params *p, const struct fab_sim_problem *problem,
		      const char *algorithm, struct fab_err *err);
/* A sweep of all but nets, shard and progress. */
void sim_sweep_of(const struct sim_outcome *o, struct fab_sim_sweep *out);
/* Let the networks have the tree of a collective, or not, which is faster. */
void sim_take_groups(struct sim_outcome *o, bool has);
/* All rates, buffers and runs, into o->points. EINTR: nothing was measured. */
int sim_simulate(struct fab_work *w, struct fab_err *err);
/* Both, in this order. */
int sim_solve(struct fab_work *w, struct fab_err *err);
/* Names of the dead parts. */
struct fab_names sim_failed_names(const struct sim_outcome *o);

/* Does a traffic take the tree? */
bool sim_is_by_tree(const struct sim_params *p, const char *traffic);

/* sim/run.c, sim/jobs.c, sim/failure.c, sim/collectives.c, sim/faults.c */
extern const struct fab_task sim_results_task, sim_pairs_task, sim_jobs_task;
extern const struct fab_task sim_failure_task, sim_collectives_task, sim_faults_task;

/* sim/report.c */
/* "1.85 us", "237 flit times" of a printed time. */
const char *sim_time_text(const struct sim_outcome *o, double time);
void sim_say_notes(struct fab_report *r, const struct sim_outcome *o);
void sim_print_parameters(struct fab_report *r, const struct sim_outcome *o);
void sim_report(struct fab_report *r, const struct fab_work *w);
/* Utilisation of cables, the fullest ones and what stalls, at the last rate. */
void sim_draw(struct fab_drawing *d, const struct fab_work *w);
/* The backlog that grows, or why that is not decided; NULL: none grows. */
const char *sim_saturation_text(const struct sim_outcome *o, const struct sim_row *x);
