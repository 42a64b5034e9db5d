/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-rdma computes and how it is printed. */
#pragma once

#include "cli/faults.h"
#include "fabric/kfat.h"
#include "present/report.h"
#include "rdma/context.h"
#include "rdma/choice.h"
#include "rdma/rdma.h"
#include "unicast/engine.h"

enum {
	RDMA_MAX_WINDOWS = 64,
	RDMA_MAX_SCHEMES = 16,
	RDMA_MAX_VALUES = 1000, /* of an axis */
	RDMA_MAX_POINTS = 100000,
	RDMA_MAX_RUNS = 100000,
	RDMA_MAX_SENDER_WINDOW = 1 << 20,
	/* Events of all runs of a command whose --runs is not given, shared by the points
	 * of a sweep: some tens of seconds of processor time. */
	RDMA_MAX_EVENTS = 300000000,
	RDMA_GAP_ADAPTS = 1 << 30,
};

/* What is asked: the rows of the table of verbs. */
enum rdma_verb { RDMA_RUN, RDMA_SWEEP, RDMA_FIGURE, RDMA_PLAN, RDMA_COST, RDMA_TRACE };

/* What a sweep goes over. */
enum rdma_axis {
	RDMA_LOSS,
	RDMA_DROP_CONTROL,
	RDMA_DELAYED,
	RDMA_DELAY_NS,
	RDMA_SIZE,
	RDMA_MTU,
	RDMA_WINDOW,
	RDMA_SENDER_WINDOW,
	RDMA_RTO_NS,
	RDMA_CONTEXTS,
	RDMA_AXES
};
extern const char *const rdma_axis_name[RDMA_AXES];

struct rdma_values {
	enum rdma_axis axis;
	double v[RDMA_MAX_VALUES];
	size_t n;
};

/* Times of the command line, nanoseconds. */
struct rdma_times {
	uint64_t rto, rto_low, rto_high, reorder, ask, retry, end;
	uint64_t switch_delay, cable_delay, host_delay;
};

struct rdma_params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
	struct fab_cli_store store;
	struct fab_cli_faults faults;
	struct fab_cli_tables tables;
	struct fab_cli_shard shard;
	uint32_t verb, figure; /* 4 .. 7; 0: none */

	/* trace, cost */
	struct fab_rdma_arrivals arrivals;
	bool as_printed;
	uint32_t window[RDMA_MAX_WINDOWS];
	size_t n_windows;
	uint64_t memory;
	struct fab_rdma_widths widths;

	/* what is transferred */
	struct fab_chosen_list schemes;
	bool has_schemes;
	const char *pattern;
	bool has_pattern_file; /* it names one, which errors name */
	uint64_t bytes;
	uint32_t repeats, op, mtu, sender_window;
	bool has_pattern, has_bytes, has_mtu, has_window, has_sender_window;

	/* the network */
	uint32_t route;
	bool has_route;
	struct fab_chosen_list algorithms;
	bool has_algorithm;
	uint32_t max_vls;
	uint64_t buffer; /* 0: without bounds */
	double default_mbps, cable_mbps;
	bool has_delay, has_loss;
	FAB_VEC(const char *) link_down;
	uint32_t gap;	 /* 0: no gap NAK; RDMA_GAP_ADAPTS */
	uint64_t credit; /* 0: none; UINT64_MAX: W / 4 */
	uint32_t timers; /* 1: one */
	struct rdma_times times;
	bool has_rto;
	uint32_t retry;
	struct fab_rdma_params sim; /* what the rest comes to */

	/* how often, and what is asked */
	uint32_t runs;
	bool has_runs;
	FAB_VEC(struct rdma_values) axes;
	double target;
	bool check;
	const char *histogram_out;
	struct fab_cli_plot plot;
};

/* Values of options with forms of their own; EINVAL: one sentence. */
int rdma_take_arrivals(void *params, const char *arg, struct fab_err *err);
int rdma_take_windows(void *params, const char *arg, struct fab_err *err);
int rdma_take_bits(void *params, const char *arg, struct fab_err *err);
int rdma_take_size(void *params, const char *arg, struct fab_err *err);
int rdma_take_pattern(void *params, const char *arg, struct fab_err *err);
int rdma_take_delay(void *params, const char *arg, struct fab_err *err);
int rdma_take_buffer(void *params, const char *arg, struct fab_err *err);
int rdma_take_credit(void *params, const char *arg, struct fab_err *err);
int rdma_take_gap_nak(void *params, const char *arg, struct fab_err *err);
int rdma_take_nacks(void *params, const char *arg, struct fab_err *err);
int rdma_take_cap(void *params, const char *arg, struct fab_err *err);
int rdma_take_over(void *params, const char *arg, struct fab_err *err);
/* Add values to an axis that nobody asked for. */
void rdma_add_axis(struct rdma_params *p, enum rdma_axis axis, const double *v, size_t n);
/* "10us-50us", with a link before it and @: is it such a text? */
int rdma_check_link_down(const char *arg, struct fab_err *err);
/* All of them, into out[]. EINVAL, ENOENT. */
int rdma_read_link_down(const struct rdma_params *p, const struct fab_fabric *f,
			struct fab_rdma_outage *out, struct fab_err *err);

/* The fabric made ready: endpoints, tables. */
struct rdma_network {
	const struct rdma_params *p;
	const struct fab_fabric *f;
	struct fab_kfat *kfat; /* NULL: none */
	struct fab_err kfat_error;
	struct fab_faults *dead;
	struct fab_flow_ends ends;
	struct fab_routes *routes; /* NULL: adaptive or spray without bounds */
	const char *algorithm;	   /* of the tables; NULL: none */
	const struct fab_rdma_route *route;
	struct fab_rdma_outage *outage;
	uint32_t n_unknown_rates;
};
int rdma_set_up(struct rdma_params *p, const struct fab_fabric *f, struct rdma_network *n,
		struct fab_err *err);
void rdma_network_fini(struct rdma_network *n);

/* The transfers of a size, and the network made ready for them; not to be moved. */
struct rdma_traffic {
	struct fab_rdma_transfers transfers;
	struct fab_rdma_problem problem;
	struct fab_rdma_net *net;
	uint64_t bytes;
};
/* Into a zeroed one, which the caller ends, also after an error. */
int rdma_traffic_init(struct rdma_traffic *t, const struct rdma_network *n,
		      uint64_t bytes, const struct fab_rdma_params *sim,
		      struct fab_err *err);
void rdma_traffic_fini(struct rdma_traffic *t);
/* Packets of data of those that have a path. */
uint64_t rdma_traffic_packets(const struct rdma_traffic *t, uint32_t mtu);
/* Of the longest. */
uint64_t rdma_traffic_most_packets(const struct rdma_traffic *t, uint32_t mtu);

/* Circumstances of one point of a sweep. */
struct rdma_point {
	double at[RDMA_AXES];
	uint64_t bytes;
	struct fab_rdma_params sim;
	bool is_there; /* it was simulated */
	struct fab_rdma_choice choice;
};

/* One scheme at one point, all runs together. */
struct rdma_result {
	const struct rdma_point *point;
	const struct fab_rdma_scheme *scheme;
	struct fab_rdma_summary sum;
	enum fab_rdma_standing standing;
	uint64_t bits;	      /* of a context; 0: it cannot be built */
	double ideal_us;      /* mean of the oracle where nothing is lost or held up */
	double total_seconds; /* elapsed, of all schemes of the point together */
};

/* Everything that was computed and is reported. */
struct rdma_outcome {
	const struct rdma_params *p;
	struct rdma_network net;
	const struct fab_rdma_scheme *scheme[RDMA_MAX_SCHEMES]; /* those asked for */
	size_t n_schemes;
	struct rdma_point *point; /* [n_points], of all shards */
	size_t n_points;
	FAB_VEC(struct rdma_result) results; /* by point, then scheme */
	uint64_t round_trip_ps;		     /* longest, of the first point */
	uint64_t ideal_ps;		     /* of its first transfer alone */
	uint32_t n_transfers, n_no_path;     /* of a run of the first point */
	uint64_t n_packets;		     /* of those that have a path */
	uint64_t n_left_out, n_priorities;
	uint64_t n_items, n_done; /* points asked for, and there */
	bool was_interrupted;
	double total_seconds;
};

/* Points of what is asked for. EINVAL: too many. */
int rdma_make_points(const struct rdma_params *p, struct rdma_outcome *o,
		     struct fab_err *err);
/* Packets of ssw in flight: --sender-window, or without it the default, and at least what
 * a round trip carries. */
uint32_t rdma_fitting_sender_window(const struct rdma_params *p,
				    const struct fab_rdma_net *net,
				    const struct fab_rdma_params *sim);
/* All of them. */
int rdma_simulate(struct rdma_params *p, struct rdma_outcome *o, struct fab_err *err);
void rdma_outcome_fini(struct rdma_outcome *o);

/* What a row of the main table is made of, and the store keeps; borrows the result. */
struct rdma_row {
	const char *scheme, *route, *pattern, *op;
	double loss, drop_control, delayed, delay_us, rto_us;
	uint64_t size, mtu, window, sender_window, buffer, contexts_limit, runs;
	uint64_t transfers, done, hung, wrong, no_path;
	double mean, p50, p99, max, ci95, goodput, goodput_mean, ratio, ratio_ci95,
		ideal_ratio;
	double difference, difference_ci95;
	const char *standing, *verdict;
	uint64_t packets, packets_sent;
	double rounds;
	uint64_t retransmitted, spurious, beyond, duplicates, zombies, stale, lost;
	uint64_t timeouts, resends, refusals, control, wire_bytes, control_bytes;
	uint64_t reorder_max, reorder_p99, ahead_max, ahead_p99;
	uint64_t peak_contexts, peak_tombstones, send_buffer, queue_bytes;
	uint64_t context_bits, contexts, packet_hops, events, stalled;
	double simulate_seconds, total_seconds;
	const char *shard;
};
void rdma_row_init(struct rdma_row *row, const struct rdma_outcome *o,
		   const struct rdma_result *r);
extern const struct fab_column rdma_columns[];
extern const size_t rdma_n_columns;

/* Bits of a context of a scheme for the longest of these transfers; 0: it cannot be
 * built. */
uint64_t rdma_context_bits(const struct rdma_params *p, const struct rdma_traffic *t,
			   const struct fab_rdma_params *sim,
			   const struct fab_rdma_scheme *scheme);

/* The result of a scheme at a point; NULL: there is none. */
const struct rdma_result *rdma_result_of(const struct rdma_outcome *o,
					 const struct rdma_point *point,
					 const struct fab_rdma_scheme *scheme);
/* Mean completion time, us; NaN. */
static inline double rdma_mean(const struct rdma_result *r)
{
	return fab_tally_mean(&r->sum.completion_mean);
}
/* Half of the interval of 95 %; NaN: one run has none. */
double rdma_half_interval(const struct fab_tally *t);

/* What the paper claims of a figure, and what came out. */
struct rdma_claim {
	const char *claim, *verdict, *shown; /* the last on the heap */
	double value, low, high;	     /* NaN: no bound */
};
enum { RDMA_MAX_CLAIMS = 16 };
/* Options that the figure sets where the command line does not. */
void rdma_set_figure(struct rdma_params *p);
size_t rdma_claims(const struct rdma_outcome *o, struct rdma_claim *out);

/* The verbs; the exit status. */
int rdma_trace(const struct rdma_params *p, FILE *out,
	       const struct fab_report_options *options, struct fab_err *err);
int rdma_cost(const struct rdma_params *p, FILE *out,
	      const struct fab_report_options *options, struct fab_err *err);
int rdma_run(struct rdma_params *p, const struct fab_fabric *f, struct fab_err *err);
int rdma_plan(struct rdma_params *p, const struct fab_fabric *f, struct fab_err *err);
extern const struct fab_column rdma_trace_columns[], rdma_cost_columns[];
extern const size_t rdma_n_trace_columns, rdma_n_cost_columns;
extern const struct fab_column rdma_plan_columns[];
extern const size_t rdma_n_plan_columns;

/* The sentences that the report begins with. */
void rdma_answer(struct fab_report *r, const struct rdma_outcome *o);
/* One of them: how many of so many transfers have no path; nothing for 0. */
void rdma_say_no_path(struct fab_report *r, uint64_t n, uint64_t of);
/* Runs after which there are enough losses, where each loses so many packets. */
uint64_t rdma_runs_for_losses(double lost);
/* How many transfers have no path, not in tables: there a sentence says it. */
void rdma_print_no_path(struct fab_report *r, uint32_t n);
/* Fields that say what the figures rest on. */
void rdma_print_parameters(struct fab_report *r, const struct rdma_params *p,
			   const struct rdma_network *n);
int rdma_report(FILE *out, const struct fab_report_options *options,
		const struct rdma_outcome *o, struct fab_err *err) FAB_MUST_CHECK;
int rdma_store(const struct rdma_params *p, const struct rdma_outcome *o,
	       struct fab_err *err) FAB_MUST_CHECK;
int rdma_write_histogram(FILE *out, const struct rdma_outcome *o, struct fab_err *err);
void rdma_plot(const struct fab_cli_plot *plot, const struct rdma_outcome *o,
	       struct fab_cli_results *results);
