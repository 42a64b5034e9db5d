/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least window, and for it the least timeout, with which a scheme reaches a share of
 * the ideal: found by simulation, and checked by simulating the answer and the window
 * below it.
 */
#pragma once

#include "rdma/compare.h"

/* Under load: what the oracle does where nothing is lost or held up. */
struct fab_rdma_load {
	double mean_us;	   /* mean completion time; NaN: no transfer has a path */
	uint64_t most_ps;  /* of the longest transfer */
	uint64_t alone_ps; /* of the one that takes longest alone */
};
/* Packets wait so long for each other: a timeout below that is too short. O(1). */
static inline uint64_t fab_rdma_wait(const struct fab_rdma_load *load)
{
	return load->most_ps > load->alone_ps ? load->most_ps - load->alone_ps : 0;
}
/* A timeout that no wait makes too short: `rto_ps`, or twice what packets wait, within
 * FAB_RDMA_TIME_MAX_PS. ps. O(1). */
uint64_t fab_rdma_fitting_timeout(const struct fab_rdma_load *load, uint64_t rto_ps);
/* Transfers that are not done by then never will be: 50 times what the oracle takes, at
 * least 2000 times what a transfer takes alone, 1000 timeouts and 50 ms, within
 * FAB_RDMA_END_MAX_PS. ps. O(1). */
uint64_t fab_rdma_late_end(const struct fab_rdma_load *load, uint64_t rto_ps);
/* Of the n_transfers that `net` was made for. Errors as of fab_rdma_run(), ECANCELED too.
 * O(packets * hops). */
int fab_rdma_load(const struct fab_rdma_net *net, const struct fab_rdma_params *params,
		  uint32_t n_transfers, struct fab_rdma_load *out,
		  struct fab_err *err) FAB_MUST_CHECK;

enum { FAB_RDMA_TIMEOUTS = 12 };

struct fab_rdma_plan_question {
	const struct fab_rdma_net *net;
	struct fab_rdma_params params; /* but for windows and timeouts */
	const struct fab_rdma_scheme *scheme;
	uint64_t wait_ps;      /* of packets for each other: fab_rdma_wait() */
	uint64_t most_packets; /* of the longest transfer: no window need be wider */
	double target;	       /* of mean of the oracle / mean of the scheme */
	uint32_t n_runs;       /* of a trial that may reach the target */
	int n_threads;
	fab_progress_fn progress; /* counts simulations; not 0: stop. NULL: nobody asks */
	void *progress_context;
};

/* What was simulated. */
struct fab_rdma_trial {
	uint32_t window; /* 0: the scheme has none */
	uint64_t rto_ps;
	uint32_t n_runs;
	struct fab_rdma_ratio share;
	double rounds; /* packets of data sent / packets there are, mean */
	bool is_done;  /* all transfers came to the right end */
};

struct fab_rdma_plan {
	bool is_found;
	struct fab_rdma_trial answer; /* not found: the best of the widest window */
	/* The best of the window below; window 0: there is none. All timeouts were tried
	 * and none reaches the target, unless the answer is not found. */
	struct fab_rdma_trial below;
	uint32_t n_trials; /* sets of runs that were simulated */
};

/* The timeouts that are tried, ascending: from 1.25 to 64 times the longest round trip
 * with that wait. Those of irn: this one with few in flight, else 3.2 times it. O(1).
 */
void fab_rdma_timeouts(const struct fab_rdma_net *net, uint64_t wait_ps,
		       uint64_t rto_ps[FAB_RDMA_TIMEOUTS]);

/*
 * Bisection over the windows, each with every timeout; a share may fall where a window
 * grows, so that the windows below the answer are tried one by one until one fails. A
 * trial reaches the target if it does so over all n_runs runs; one whose share is below
 * it at 99.9 % confidence after an eighth of them gets no more.
 * ECANCELED: progress said stop. Errors as of fab_rdma_compare(). O(log W * timeouts)
 * sets of runs.
 */
int fab_rdma_plan(const struct fab_rdma_plan_question *q, struct fab_rdma_plan *out,
		  struct fab_err *err) FAB_MUST_CHECK;

/* A scheme that sends more times the packets than there are harms other traffic. */
#define FAB_RDMA_WASTE 1.5
/*
 * The plan to take: of those that were found and do not waste the one whose context
 * bits[i] are fewest; if all waste the one with the fewest. FAB_NONE: none was found.
 * O(n).
 */
uint32_t fab_rdma_plan_best(const struct fab_rdma_plan *plans, const uint64_t *bits,
			    uint32_t n);
