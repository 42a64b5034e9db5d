/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-sim computes and how it is printed. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "event/stats.h"
#include "fabric/kfat.h"
#include "mcast/route.h"
#include "present/report.h"
#include "sim/sim.h"
#include "traffic/traffic.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/path.h"

enum { SIM_MAX_NETS = 32, SIM_MAX_SIZES = 64, SIM_MAX_POINTS = 100000 };

/* What a time and a size are counted in. */
enum sim_tick { SIM_TICK_PS, SIM_TICK_FLIT };
enum sim_arrivals { SIM_POISSON, SIM_BERNOULLI, SIM_SLOTTED };

/* Rates of a sweep. */
struct sim_sweep {
	double from, to, step;
};

/* Values as the command line has them: what they mean hangs on --tick and --preset. */
struct sim_texts {
	const char *packet, *sizes, *buffer, *warmup, *time, *drain, *stall, *think;
	const char *switch_delay, *cable_delay, *host_delay, *header;
};

struct sim_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_faults faults;
	struct fab_cli_tables tables;
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
	struct sim_sweep sweep;
	uint32_t tick, arrivals, preset;
	bool has_preset, has_arrivals;
	struct sim_texts texts;
	uint32_t window; /* 0: open loop */
	bool is_closed;
	uint32_t switch_kind;
	bool buffer_per_vl, spread_vls;
	uint32_t vls, speedup;
	double default_mbps, cable_mbps; /* 0: not given */
	uint32_t runs;
	const char *pair;
	uint32_t n_traced;
	bool check;
	double min_throughput;
	bool has_min_throughput;
	struct fab_cli_plot plot;
	const char *cables_out, *histogram_out;

	/* what follows from them */
	const struct fab_traffic_kind *traffic_kind;
	struct fab_sim_params sim; /* borrows nothing of the options */
	uint32_t size[SIM_MAX_SIZES];
	size_t n_sizes;
	uint64_t think;
	double *rates; /* [n_rates]; of traffic without a rate one, NaN */
	size_t n_rates;
};

/* Texts into numbers, as --tick and --preset have it. EINVAL: one sentence. */
int sim_read_texts(struct sim_params *p, struct fab_err *err);

/* Tables or trees of one algorithm. */
struct sim_net {
	const char *algorithm;
	struct fab_routes *routes; /* NULL: multicast only */
	struct fab_mcast_result trees;
	bool has_trees;
	struct fab_mft *mft;
	uint16_t *mlid;
	struct fab_sim_problem problem;
	struct fab_no_path no_path; /* of tables; of trees nothing */
	double seconds;		    /* for tables or trees */
};

/* One rate by one algorithm, all runs together. */
struct sim_point {
	const struct sim_net *net;
	double rate;	 /* NaN: none was asked for */
	uint64_t number; /* which of all rates that is */
	uint32_t runs;
	struct fab_tally born, accepted, goodput, latency, network, source_wait;
	struct fab_tally message_latency, hops, backlog, end, measured;
	struct fab_histogram histogram, message_histogram;
	uint64_t packets, packet_hops, events, unroutable, looped, copied, unknown_sl;
	uint32_t hops_max;
	uint32_t saturated, undecided, stalled, deadlocked, unsteady, cut,
		stopped;      /* runs */
	double least_carried; /* of what was created of a saturated flow, of any run */
	uint32_t unfinished;  /* endpoints of finite traffic, most of any run */
	uint64_t n_left_out, credit_limited;
	double simulate_seconds;
	struct fab_sim_result first; /* of the first run, or the first that stalled */
};

/* The pair of --pair by one algorithm. */
struct sim_pair {
	const char *algorithm;
	uint32_t hops;
	double latency; /* NaN: no path */
	char *why;	/* there is none; on the heap */
};

/* Everything that was computed and is reported. */
struct sim_outcome {
	const struct sim_params *p;
	const struct fab_fabric *f;
	struct fab_fabric *left; /* what is left of it, for trees; NULL: f is all */
	struct fab_kfat *kfat;	 /* NULL: none */
	struct fab_err kfat_error;
	struct fab_faults *dead;   /* as named and drawn */
	struct fab_ids roots;	   /* of updn by a list */
	struct fab_faults *faults; /* the same, or none of what is left */
	struct fab_flow_ends ends;
	uint32_t n_all_ends; /* dead ones, too */
	struct fab_groups *groups;
	uint64_t *group_first; /* members as ends */
	uint32_t *group_end;
	uint32_t group_members;
	struct fab_dist *dist;
	size_t n_nets;
	struct sim_net nets[SIM_MAX_NETS];
	FAB_VEC(struct sim_point) points; /* by algorithm, then rate */
	uint64_t n_items, n_done;	  /* simulations asked for, and complete */
	bool was_interrupted;
	FAB_VEC(struct sim_pair) pairs;
	struct fab_endpoint from, to; /* of --pair */
	uint32_t n_unknown_rates;
	double total_seconds;
};

/* From options and fabric to ends, tables, trees. */
int sim_set_up(struct sim_params *p, const struct fab_fabric *f, struct sim_outcome *o,
	       struct fab_err *err);
void sim_outcome_fini(void *outcome);
/* All simulations. */
int sim_simulate(struct sim_params *p, struct sim_outcome *o, struct fab_err *err);
/* --pair. */
int sim_try_pair(const struct sim_params *p, struct sim_outcome *o, struct fab_err *err);
extern const struct fab_task sim_results_task, sim_pairs_task;
/* Expert options: rows for --set. */
extern const struct fab_option sim_settings[];

/* Ticks as they are printed: nanoseconds, or flit times. */
static inline double sim_time(const struct sim_params *p, double ticks)
{
	return p->tick == SIM_TICK_FLIT ? ticks : ticks / 1000;
}
/* "1.85 us", "237 flit times"; returns `out`, of FAB_HUMAN_BYTES. */
char *sim_time_text(const struct sim_params *p, double ticks, char *out);

/* What a row of the main table is made of, and the store keeps; borrows the point. */
struct sim_row {
	const char *algorithm, *traffic, *switch_kind, *tick;
	struct fab_names failed;
	uint64_t faults, vls, buffer, packet, runs;
	double offered, born, accepted_per_live_host, accepted_per_host, goodput;
	double accepted_ci95, latency_ci95;
	double latency_mean, latency_p50, latency_p99, latency_max, network_mean;
	double source_wait_mean;
	double message_mean, message_p50, message_p99, message_max;
	double completion, measured;
	uint64_t interrupted;
	double hops_mean;
	uint64_t hops_max, backlog, saturated, deadlock, stalled, steady;
	double pairs_without_path, looping_destinations; /* NaN: trees */
	char *circle;					 /* on the heap; NULL: none */
	uint64_t unroutable, looped, packets, copied, packet_hops, events;
	double max_utilisation, mean_utilisation;
	uint64_t cables_at_max;
	const char *fullest, *cause;
	double no_credit, waiting, waiting_for_credit;
	char *waits_at; /* on the heap; NULL: nowhere */
	uint64_t unfinished;
	double simulate_seconds, setup_seconds, total_seconds;
	const char *shard;
	const char *note; /* NULL: nothing */
	const char *saturation;
	uint64_t saturated_sources, saturated_receivers;
	char *fullest_text, *saturation_text; /* on the heap */
};
void sim_row_init(struct sim_row *row, const struct sim_outcome *o,
		  const struct sim_point *point);
void sim_row_fini(struct sim_row *row);
extern const struct fab_column sim_columns[];
extern const size_t sim_n_columns;
/* Those of --pair. */
extern const struct fab_column sim_pair_columns[];
extern const size_t sim_n_pair_columns;

/* Points of one algorithm from `first` on. */
size_t sim_count_points(const struct sim_outcome *o, size_t first);

/* Is a point saturated: in all its runs (1), in none (0), or FAB_UNKNOWN. O(1). */
uint64_t sim_is_saturated(const struct sim_point *x);
/* Which backlog grows, or why that is not decided; on the heap; NULL: none grows. */
char *sim_saturation_text(const struct sim_outcome *o, const struct sim_point *x);

/* The cycle of a stall: is it one of the tables'? */
enum sim_cycle_origin {
	SIM_CYCLE_UNKNOWN,   /* there is no unicast table */
	SIM_CYCLE_SHORTEST,  /* that which fabric-faults shows */
	SIM_CYCLE_OF_TABLES, /* of channels in cycles of the tables */
	SIM_CYCLE_OTHER,     /* the tables have none that it could be */
};
enum sim_cycle_origin sim_cycle_origin(const struct sim_outcome *o,
				       const struct sim_point *point,
				       uint64_t *cycle_channels);
bool sim_has_cycle(const struct sim_outcome *o);
void sim_print_cycle(struct fab_report *r, const struct sim_outcome *o);

/* The sentences that the report begins with. */
void sim_answer(struct fab_report *r, const struct sim_outcome *o);
void sim_report(struct fab_report *r, const struct fab_work *w);
void sim_store(struct fab_draft *d, const struct fab_work *w);
/* --cables-out, --histogram-out: JSON lines; --plot: a script of gnuplot. */
int sim_write_cables(FILE *out, const struct fab_work *w, struct fab_err *err);
int sim_write_histogram(FILE *out, const struct fab_work *w, struct fab_err *err);
int sim_plot(FILE *script, const struct fab_work *w, struct fab_err *err);
