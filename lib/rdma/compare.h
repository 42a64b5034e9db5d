/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many runs of several schemes, or of one under several circumstances: means with their
 * intervals, and differences of pairs of runs that had the same luck.
 *
 * Run r of every case has the seed fab_rdma_run_seed(params.seed, r): cases with the same
 * seed see common random numbers.
 */
#pragma once

#include "event/sweep.h"
#include "rdma/rdma.h"

/* One scheme under one set of circumstances. */
struct fab_rdma_case {
	const struct fab_rdma_net *net; /* cases may share one */
	struct fab_rdma_params params;	/* borrowed arrays live as long as the call */
	const struct fab_rdma_scheme *scheme;
	uint32_t baseline; /* case that it is compared with, run by run; FAB_NONE: none */
};

/* What a run comes to. */
struct fab_rdma_figures {
	double completion_mean, completion_p50, completion_p99, completion_max; /* us */
	double goodput_gbps, goodput_mean, rounds;
};

/* Ratio of two means over pairs of runs. */
struct fab_rdma_ratio {
	double value; /* NaN: no pair */
	double half;  /* half of its 95 % interval; NaN: fewer than two pairs */
};

/* All runs of a case. */
struct fab_rdma_summary {
	uint32_t n_runs;
	/* Over runs in which any transfer was done. */
	struct fab_tally completion_mean, completion_p50, completion_p99, completion_max;
	struct fab_tally goodput_gbps, goodput_mean, rounds;
	/* Over pairs of runs: mean completion time less that of the baseline, us. */
	struct fab_tally difference;
	/* Mean completion time of the baseline / its own over the same pairs (1: as fast,
	 * 0.5: takes twice as long). */
	struct fab_rdma_ratio share;
	struct fab_rdma_figures *run; /* [n_runs]; NaN: no transfer was done */
	struct fab_rdma_counts n;     /* sums */
	uint64_t n_transfers, n_done, n_hung, n_no_path, n_wrong; /* sums */
	uint64_t n_packets, wire_bytes, events, packet_hops;
	uint32_t peak_contexts, peak_tombstones, peak_range; /* most of a run */
	uint64_t peak_send_buffer, peak_queue_bytes, end_ps; /* the same */
	struct fab_histogram reorder, ahead;
	const char *no_deadlock;
	uint32_t n_stalled, n_cut; /* runs */
	double simulate_seconds;   /* sum */
};

/*
 * Mean of `over` / mean of `under`, over the runs that both have and in which transfers
 * of both ended. The interval is that of the residuals over - ratio * under (the
 * linearised ratio estimator; Cochran, Sampling Techniques, section 6.4). O(runs).
 */
struct fab_rdma_ratio fab_rdma_ratio_of(const struct fab_rdma_summary *over,
					const struct fab_rdma_summary *under);

/* Seed of a run. O(1). */
uint64_t fab_rdma_run_seed(uint64_t seed, uint32_t run);

struct fab_rdma_runs {
	const struct fab_rdma_case *of;
	uint32_t n_cases;
	uint32_t first_run, n_runs; /* runs first_run .. first_run + n_runs - 1 */
	const bool *is_left_out;    /* [n_cases] these get no runs; NULL: none */
	int n_threads;		    /* 0: as many as OpenMP gives */
	fab_progress_fn progress;
	void *progress_context;
};

/*
 * All runs of all cases, a run a thread. out[n_cases]: zeroed, or with first_run > 0
 * those that an earlier call has filled, which the runs are added to. The caller ends
 * each, also after an error: then it holds the runs that were finished before. Equal for
 * any number of threads but for simulate_seconds. Errors: those of fab_rdma_run();
 * ECANCELED. O(sum of all runs).
 */
int fab_rdma_compare(const struct fab_rdma_runs *runs, struct fab_rdma_summary *out,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Did all that have a path come to their end, with the right bytes? false: or none has.
 * O(1). */
bool fab_rdma_all_ended(const struct fab_rdma_summary *summary);
/* Zeroed is allowed. O(1). */
void fab_rdma_summary_fini(struct fab_rdma_summary *summary);
