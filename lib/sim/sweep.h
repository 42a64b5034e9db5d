/* SPDX-License-Identifier: BSD-2-Clause */
/* A sweep: every rate on every network in several runs, summed up. Jobs alone, together,
 * and in pairs: which job slows which. */
#pragma once

#include "event/sweep.h"
#include "sim/sim.h"
#include "traffic/jobs.h"

/* Results of one rate on one network, means or sums of all runs. Times are in ticks /
 * unit; NaN: none was measured. */
struct fab_sim_summary {
	double rate;	 /* NaN: none was asked for */
	uint64_t number; /* of the rate in the whole sweep */
	const char *traffic;
	uint64_t runs, n_vls, buffer;
	double born, accepted, goodput;	    /* shares of the hosts' cables */
	double accepted_ci95, latency_ci95; /* half of the 95 % interval; NaN: one run */
	/* NaN if any run is saturated: latencies grow with the time then. */
	double latency_mean, latency_p50, latency_p99, latency_max, network_mean;
	double source_wait_mean;
	double message_mean, message_p50, message_p99, message_max;
	double hops_mean;
	double end, measured;
	double completion; /* NaN: endless traffic, or not all has arrived */
	uint64_t hops_max, backlog;
	uint64_t packets, packet_hops, events, unroutable, looped, dropped, trimmed,
		marked, copied, unknown_sl;
	uint64_t saturated; /* 1: all runs, 0: none, else UINT64_MAX */
	uint64_t n_saturated, n_undecided, n_cut, n_stopped; /* runs */
	uint64_t is_deadlocked, is_stalled, is_steady, is_stopped;
	uint64_t unfinished; /* endpoints of finite traffic, most of any run */
	uint64_t credit_limited;
	double least_carried; /* of what was created of a saturated flow, of any run */
	double simulate_seconds;
};

struct fab_sim_point {
	uint32_t net; /* number */
	struct fab_sim_summary sum;
	struct fab_histogram latency, message_latency; /* ticks */
	struct fab_sim_result first; /* of the first run, or the first that stalled */
};

struct fab_sim_points {
	FAB_VEC(struct fab_sim_point) of; /* by network, then rate */
	uint64_t n_items, n_done;	  /* simulations asked for, and complete */
};

/* All is borrowed. */
struct fab_sim_sweep {
	const struct fab_sim_problem *const *nets;
	size_t n_nets;
	const double *rates; /* of traffic without a rate one, NaN */
	uint64_t n_rates;
	uint32_t runs;
	const char *traffic;
	struct fab_traffic_problem problem; /* wire, rate and seed are set by the sweep */
	struct fab_sim_params params; /* threads and progress are set by the sweep */
	uint64_t seed;
	double unit; /* ticks */
	int n_threads;
	struct fab_shard shard;	  /* of the rates */
	fab_progress_fn progress; /* in simulations, of a single one in ticks */
	void *progress_context;
	bool (*is_interrupted)(void *); /* ends the sweep: its results so far are kept */
};

/* Simulate, and add the points to those of sweeps before; out is zeroed at first. The
 * caller calls fab_sim_points_fini(), also after an error. Errors: those of
 * fab_traffic_make() and fab_sim_run(). Runs that were cut short count only where no run
 * of the rate is complete. */
int fab_sim_sweep(const struct fab_sim_sweep *sweep, struct fab_sim_points *out,
		  struct fab_err *err) FAB_MUST_CHECK;
void fab_sim_points_fini(struct fab_sim_points *points);

/*
 * Simulate each job alone, without the load; all together, with it; with three jobs and
 * more also each two. job: [problem->n_jobs]. params->time is 0. The load lasts twice as
 * long as the longest job alone, and twice that again until it lasts as long as all jobs.
 * Equal bytes for any number of threads. Errors: those of fab_jobs_new() and
 * fab_sim_run(); EINTR: stopped by params->progress. O(jobs^2 * packets * hops).
 */
int fab_sim_jobs(const struct fab_sim_problem *net, const struct fab_sim_params *params,
		 const struct fab_jobs_problem *problem, struct fab_job_times *job,
		 struct fab_err *err) FAB_MUST_CHECK;
