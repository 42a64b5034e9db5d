/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many runs of several schemes: means with their intervals, the scheme to take, and the
 * least window and timeout for a share of the ideal.
 */
#pragma once

#include "event/sweep.h"
#include "rdma/rdma.h"

/*
 * Many runs of several schemes, or of one under several circumstances: means with their
 * intervals, and differences of pairs of runs with the same seeds.
 *
 * Run r of every case has the seed fab_rdma_run_seed(params.seed, r): cases with the same
 * seed see common random numbers.
 */
/* One scheme under one set of circumstances. */
struct fab_rdma_case {
	const struct fab_rdma_net *net; /* cases may share one */
	struct fab_rdma_params params;	/* borrowed arrays live as long as the call */
	const struct fab_rdma_scheme *scheme;
	uint32_t baseline; /* case that it is compared with, run by run; FAB_NONE: none */
};

/* Results of a run. */
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
	uint64_t peak_send_buffer, peak_queue_bytes, end_ps; /* most of a run */
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

/*
 * Which scheme to take, as a statement that holds for other seeds, too.
 *
 * A scheme may be taken if at 95 % confidence no other one that ends all transfers has a
 * mean completion time more than 2 % below its own. Schemes are compared in pairs of runs
 * that have the same seed. Runs are added, twice as many at each look, until that is
 * known, or a bound on runs or events is reached.
 *
 * Confidence. The mean of d = own - 1.02 * other over n runs is below 0 if
 *
 *     mean(d) + sqrt(2 V ln(2/D) / n) + 7 R ln(2/D) / (3 (n - 1)) <= 0,
 *
 * the empirical Bernstein bound (Maurer, Pontil: Empirical Bernstein Bounds and Sample
 * Variance Penalization, COLT 2009, theorem 4), V the sample variance. Student's interval
 * does not hold here: a timeout in one run of a thousand can be several per cent of a
 * mean. R is the range of d: the one that was seen, or what one more timeout costs the
 * mean of a run where that is more, so that the bound holds before any was seen. D is
 * 0.05 divided by the number of looks, by the number of comparisons in which the truly
 * fastest scheme takes part, and by the number of choices made together (Bonferroni):
 * neither repeated looks nor many schemes make errors more frequent.
 *
 * Schemes that are known to be more than 2 % slower than the fastest get no more runs.
 */
/* Means that differ by less are the same to an administrator. */
#define FAB_RDMA_AS_FAST 1.02

enum {
	FAB_RDMA_LOOKS = 16, /* at 1, 2, 4 ... runs */
	FAB_RDMA_RUNS_MAX = 1 << (FAB_RDMA_LOOKS - 1),
	FAB_RDMA_FEW = 30, /* packets lost, or held up: with fewer nothing is decided */
};

enum fab_rdma_verdict {
	FAB_RDMA_TAKE,	    /* `best` may be taken */
	FAB_RDMA_ALONE,	    /* one scheme: nothing to compare it with */
	FAB_RDMA_UNDECIDED, /* see `reason` */
	FAB_RDMA_UNTOUCHED, /* no packet was lost or late: nothing to choose by */
	FAB_RDMA_NO_END,    /* under no scheme did all transfers come to their end */
};
/* Names in JSON: take, alone, undecided, untouched, no_end. */
extern const char *const fab_rdma_verdict_name[];

/* Why it is undecided. */
enum fab_rdma_reason {
	FAB_RDMA_TOO_CLOSE,   /* more runs would decide between those that are open */
	FAB_RDMA_FEW_LOST,    /* fewer than FAB_RDMA_FEW packets were lost */
	FAB_RDMA_FEW_DELAYED, /* ... held up */
};

/* A case beside the others. */
enum fab_rdma_standing {
	FAB_RDMA_REFERENCE, /* cannot be built: the oracle */
	FAB_RDMA_UNSOUND,   /* transfers did not end, or were wrong */
	FAB_RDMA_SLOWER, /* more than 2 % slower than the fastest, at 95 % confidence */
	FAB_RDMA_OPEN,	 /* neither is known */
	FAB_RDMA_FAST,	 /* none is more than 2 % faster, at 95 % confidence */
};
/* Names in JSON: reference, unsound, slower, open, fast. */
extern const char *const fab_rdma_standing_name[];

enum { FAB_RDMA_CASES_MAX = 32 };

struct fab_rdma_choice {
	enum fab_rdma_verdict verdict;
	enum fab_rdma_reason reason;
	/* The case to take, of several that may be taken the one with the least context;
	 * if there is none, or nothing to choose, that of the least mean. FAB_NONE: under
	 * no scheme did all transfers come to their end. */
	uint32_t best;
	uint32_t fastest; /* least mean; FAB_NONE */
	uint32_t n_runs;  /* of the cases that were not left out earlier */
	/* Packets of the best that were lost, of all kinds, and held up. */
	uint64_t n_lost, n_delayed;
	enum fab_rdma_standing standing[FAB_RDMA_CASES_MAX];
};

struct fab_rdma_choice_question {
	/* Cases of one network and one set of parameters, at most FAB_RDMA_CASES_MAX;
	 * n_runs: that many, 0: as many as are needed. */
	struct fab_rdma_runs runs;
	const uint64_t *context_bits; /* [n_cases] */
	uint64_t max_events; /* no further runs if these would come to more events */
	uint32_t
		n_claims; /* choices made together, which share the 5 % of errors; >= 1 */
};

/*
 * Run and choose. out[n_cases] zeroed; the caller ends each, also after an error.
 * ECANCELED: *choice is made of the runs that were finished. Other errors: those of
 * fab_rdma_compare(). O(all runs).
 */
int fab_rdma_choose(const struct fab_rdma_choice_question *q,
		    struct fab_rdma_summary *out, struct fab_rdma_choice *choice,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * Choose by the runs that out[n_cases] holds, looked at n_looks times. O(cases^2 runs).
 */
void fab_rdma_judge(const struct fab_rdma_choice_question *q,
		    const struct fab_rdma_summary *out, uint32_t n_looks,
		    struct fab_rdma_choice *choice);

/*
 * The least window and timeout of a scheme for a share of the ideal, found by simulation
 * and checked by simulating the answer and the window below it.
 */

/* Times of the oracle under load where no packet is lost or held up. */
struct fab_rdma_load {
	double mean_us;	   /* mean completion time; NaN: no transfer has a path */
	uint64_t most_ps;  /* of the longest transfer */
	uint64_t alone_ps; /* of the one that takes longest alone */
};
/* Time that packets wait for each other: a timeout below it is too short. O(1). */
static inline uint64_t fab_rdma_wait(const struct fab_rdma_load *load)
{
	return load->most_ps > load->alone_ps ? load->most_ps - load->alone_ps : 0;
}
/* A timeout that no wait makes too short: `rto_ps`, or twice the wait, within
 * FAB_RDMA_TIME_MAX_PS. ps. O(1). */
uint64_t fab_rdma_fitting_timeout(const struct fab_rdma_load *load, uint64_t rto_ps);
/* Transfers that are not done by then have failed: 50 times the time of the oracle, at
 * least 2000 times that of a transfer alone, 1000 timeouts and 50 ms, within
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

/* A set of runs that was simulated. */
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
