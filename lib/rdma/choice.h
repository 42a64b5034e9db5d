/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many runs of several schemes: means with their intervals, the scheme to take, and the
 * least window and timeout for a share of the ideal.
 */
#pragma once

#include "event/sweep.h"
#include "rdma/context.h"
#include "rdma/rdma.h"
#include "traffic/jobs.h"

/*
 * Runs of several schemes, or of one under several circumstances, and differences of
 * pairs of them: run r of every case has the seed fab_rdma_run_seed(params.seed, r):
 * cases with the same seed see common random numbers.
 */
/* One scheme under one set of circumstances. */
struct fab_rdma_case {
	const struct fab_rdma_net *net; /* cases may share one */
	struct fab_rdma_params params;	/* borrowed arrays live as long as the call */
	const struct fab_rdma_scheme *scheme;
	uint32_t baseline; /* case that it is compared with, run by run; FAB_NONE: none */
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
	double *run; /* [n_runs] mean completion time; NaN: no transfer was done */
	struct fab_rdma_counts n;				  /* sums */
	uint64_t n_transfers, n_done, n_hung, n_no_path, n_wrong; /* sums */
	uint64_t n_packets, events, packet_hops;
	uint32_t peak_contexts, peak_tombstones;     /* most of a run */
	uint64_t peak_send_buffer, peak_queue_bytes; /* most of a run */
	struct fab_histogram reorder, ahead;
	const char *no_deadlock;
	uint32_t n_stalled;	 /* runs */
	double simulate_seconds; /* sum */
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

/* Are all transfers that have a path done, with the right bytes? false also where none
 * has a path. O(1). */
bool fab_rdma_all_ended(const struct fab_rdma_summary *summary);
/* Can one run differ from another with another seed? O(1). */
bool fab_rdma_is_random(const struct fab_rdma_params *params);
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
 * repeated looks and many schemes do not make errors more frequent.
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
	FAB_RDMA_NO_END,    /* transfers hang under all schemes */
};
/* Names in JSON: take, alone, undecided, untouched, no_end. */
extern const char *const fab_rdma_verdict_name[];

/* Why it is undecided. */
enum fab_rdma_reason {
	FAB_RDMA_TOO_CLOSE,   /* more runs would decide between those that are open */
	FAB_RDMA_FEW_LOST,    /* fewer than FAB_RDMA_FEW packets were lost */
	FAB_RDMA_FEW_DELAYED, /* ... held up */
};

/* A case compared with the others. */
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
	 * else, or without anything to choose, that of the least mean. FAB_NONE:
	 * transfers hang under all schemes. */
	uint32_t best;
	uint32_t fastest; /* least mean; FAB_NONE */
	uint32_t n_runs;  /* of the cases that were not left out earlier */
	/* Packets of the best that were lost or damaged, of all kinds, and held up. */
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
	fab_progress_fn progress; /* counts simulations; not 0: stop. NULL: no callback */
	void *progress_context;
};

/* A set of runs that was simulated. */
struct fab_rdma_trial {
	uint32_t window; /* 0: the scheme has none */
	uint64_t rto_ps;
	double rto_us; /* in us; NaN: no trial */
	uint32_t n_runs;
	struct fab_rdma_ratio share;
	double rounds; /* packets of data sent / packets there are, mean */
	bool is_done;  /* all transfers came to the right end */
};

struct fab_rdma_plan {
	bool is_found;
	struct fab_rdma_trial answer; /* not found: the best of the widest window */
	/* The best of the window below; window 0: no such window. All timeouts were tried
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

/* Sweeps and plans of several schemes over the transfers of a pattern */

/* Parameters that a sweep varies. */
enum fab_rdma_axis {
	FAB_RDMA_AXIS_LOSS,
	FAB_RDMA_AXIS_DROP_CONTROL,
	FAB_RDMA_AXIS_DELAYED,
	FAB_RDMA_AXIS_DELAY, /* ns */
	FAB_RDMA_AXIS_SIZE,
	FAB_RDMA_AXIS_MTU,
	FAB_RDMA_AXIS_WINDOW,
	FAB_RDMA_AXIS_SENDER_WINDOW,
	FAB_RDMA_AXIS_RTO, /* ns */
	FAB_RDMA_AXIS_CONTEXTS,
	FAB_RDMA_AXES
};
extern const char *const fab_rdma_axis_name[FAB_RDMA_AXES];

enum {
	FAB_RDMA_VALUES_MAX = 1000, /* of an axis */
	FAB_RDMA_POINTS_MAX = 100000,
	FAB_RDMA_ASKED_RUNS_MAX = 100000,
	FAB_RDMA_SENDER_WINDOW_MAX = 1 << 20,
};

struct fab_rdma_values {
	enum fab_rdma_axis axis;
	size_t n;
	double v[FAB_RDMA_VALUES_MAX];
};
struct fab_rdma_axes {
	FAB_VEC(struct fab_rdma_values) of;
};
/* Add axes between commas, AXIS=FROM:TO:STEP, FROM..TO (doubled each time) or A/B/C.
 * EINVAL with one sentence. The caller frees axes->of.v, also after an error. O(values).
 */
int fab_rdma_axes_parse(struct fab_rdma_axes *axes, const char *text,
			struct fab_err *err) FAB_MUST_CHECK;

/* Question of a sweep, a plan or jobs; all is borrowed. */
struct fab_rdma_question {
	struct fab_rdma_pattern_problem pattern;
	const char *spec; /* of the pattern */
	/* Instead of the pattern: those of jobs, each between its own ends. */
	const struct fab_job *job;
	uint32_t n_jobs;
	bool names_file; /* it names one, which errors name; else they name --pattern */
	const struct fab_faults *faults;
	const struct fab_routes *routes; /* NULL: adaptive or spray without bounds only */
	struct fab_rdma_params params;
	/* Given by the user; else fitted to the load. The end is when params.end_ps is.
	 */
	bool has_rto, has_sender_window;
	const struct fab_rdma_scheme *scheme[FAB_RDMA_CASES_MAX - 1];
	uint32_t n_schemes;
	const struct fab_rdma_axes *axes; /* of sweeps */
	struct fab_shard shard;		  /* of the points */
	double target;			  /* of plans: share of the oracle */
	uint32_t n_runs;		  /* 0: as many as decide (sweeps) */
	uint64_t max_events;		  /* of all points, where n_runs is 0 */
	int n_threads;
	struct fab_rdma_widths widths; /* of contexts, in a memory of this size */
	uint64_t memory_bytes;
	/* A node receives, and asks for, as many transfers at once as this memory holds
	 * contexts of the scheme, at least one. */
	bool memory_limits;
	fab_progress_fn progress; /* counts runs; not 0: stop */
	void (*warn)(void *context, const char *text);
	void *context;
};

/* Transfers of one size, and the network made ready for them; not to be moved. */
struct fab_rdma_traffic {
	struct fab_rdma_transfers transfers;
	struct fab_rdma_problem problem;
	struct fab_rdma_net *net;
	uint64_t bytes;
	uint32_t first[FAB_JOBS_MAX + 1]; /* transfer of each job, and behind the last */
};
/* Transfers of `bytes`, of jobs their own size, into a zeroed one. Errors: those of
 * fab_rdma_pattern_make() and fab_rdma_net_new(). */
int fab_rdma_traffic_init(struct fab_rdma_traffic *t, const struct fab_rdma_question *q,
			  uint64_t bytes, const struct fab_rdma_params *params,
			  struct fab_err *err) FAB_MUST_CHECK;
void fab_rdma_traffic_fini(struct fab_rdma_traffic *t);

/* A point of a sweep: parameters, and the choice between the schemes there. */
struct fab_rdma_point {
	double at[FAB_RDMA_AXES];
	uint64_t bytes;
	struct fab_rdma_params params;
	bool is_there; /* it was simulated */
	struct fab_rdma_choice choice;
};

/* A scheme at a point. */
struct fab_rdma_outcome {
	const struct fab_rdma_point *point;
	const struct fab_rdma_scheme *scheme;
	const char *name, *standing, *verdict;
	struct fab_rdma_params params;
	uint64_t bytes;
	double delay_us, rto_us;
	struct fab_rdma_summary sum;
	/* means over runs, of which each ci95 is half of the 95 % interval; us, Gbit/s */
	double mean, p50, p99, max, ci95, goodput, goodput_mean, rounds;
	double ideal_us, ideal_ratio; /* the oracle where nothing is lost or held up */
	double difference, difference_ci95;
	struct fab_rdma_counts each; /* mean of a run */
	uint64_t packets, lost, resends, control, control_bytes;
	uint64_t reorder_p99, ahead_p99;
	uint64_t context_bits, contexts; /* 0: it cannot be built */
	double total_seconds; /* elapsed, of all schemes of the point together */
};

struct fab_rdma_sweep {
	struct fab_rdma_point *point; /* [n_points], of all shards */
	size_t n_points;
	FAB_VEC(struct fab_rdma_outcome) results; /* by point, then scheme */
	uint64_t n_items, n_done;		  /* points asked for, and there */
	/* a run of the first point */
	uint64_t round_trip_ps, ideal_ps; /* longest; its first transfer alone */
	uint32_t n_transfers, n_no_path;
	uint64_t n_packets; /* of transfers that have a path */
	uint64_t n_left_out, n_priorities;
};

/* Points of the axes. EINVAL: too many. O(points). */
int fab_rdma_sweep_init(struct fab_rdma_sweep *s, const struct fab_rdma_question *q,
			struct fab_err *err) FAB_MUST_CHECK;
/* All schemes at all points of the shard. ENOMEM: the machine does not hold it;
 * ECANCELED: results that were finished are there. The caller ends *s. O(all runs). */
int fab_rdma_sweep(struct fab_rdma_sweep *s, const struct fab_rdma_question *q,
		   struct fab_err *err) FAB_MUST_CHECK;
void fab_rdma_sweep_fini(struct fab_rdma_sweep *s);

/* Share of the time that each port of the fabric sends in the first run of a result, into
 * busy[ports of the fabric]: that run is made again. Errors: those of fab_rdma_run(). O(a
 * run). */
int fab_rdma_busy(const struct fab_rdma_question *q, const struct fab_rdma_outcome *r,
		  double *busy, struct fab_err *err) FAB_MUST_CHECK;
/* The result of scheme i of a point; NULL: no result. O(results). */
const struct fab_rdma_outcome *fab_rdma_result_at(const struct fab_rdma_sweep *s,
						  const struct fab_rdma_question *q,
						  const struct fab_rdma_point *x,
						  uint32_t scheme);
/* Its mean over that of the fastest, over the runs that both have; NaN: not known to be
 * slower. O(runs). */
double fab_rdma_slowness(const struct fab_rdma_outcome *r,
			 const struct fab_rdma_outcome *fastest);
/* The reason why a scheme is slow, by its counts; on the heap, NULL: nothing stands out.
 */
char *fab_rdma_cause(const struct fab_rdma_sweep *s, const struct fab_rdma_outcome *r);

/* A scheme at all points at which one may be taken. */
struct fab_rdma_standing_of {
	size_t n_fast; /* points at which it may be taken */
	double worst;  /* slowness at worst; infinite: transfers do not end */
	const struct fab_rdma_point *worst_at;
};
/* The scheme that may be taken at most points; of several the one with the least
 * slowness at worst. O(points * schemes * results). */
uint32_t fab_rdma_sweep_best(const struct fab_rdma_sweep *s,
			     const struct fab_rdma_question *q,
			     struct fab_rdma_standing_of *best);

/* The plan of a scheme. */
struct fab_rdma_planned {
	const char *name;
	struct fab_rdma_plan plan;
	uint64_t context_bits, contexts;
};
struct fab_rdma_plans {
	struct fab_rdma_planned of[FAB_RDMA_CASES_MAX];
	uint32_t n, best; /* FAB_NONE: none was found */
	struct fab_rdma_traffic traffic;
	uint32_t n_no_path, sender_window;
	uint64_t n_packets; /* of transfers that have a path */
};
/* Plans of all schemes but the oracle. The caller ends p->traffic, also after an error.
 * EINVAL: no transfer has a path; ECANCELED. O(plans). */
int fab_rdma_plan_all(struct fab_rdma_plans *p, const struct fab_rdma_question *q,
		      struct fab_err *err) FAB_MUST_CHECK;

/*
 * Each job alone, in pairs and together under each scheme, by fab_jobs_compare(): times
 * in ps until the last transfer of a job is done, into job[q->n_schemes][q->n_jobs].
 * Random numbers of a transfer are the same in all these runs. What the user left open is
 * as in sweeps, fitted to all jobs together. EINVAL: a job without transfers ...; ENOMEM;
 * ECANCELED. O(schemes * jobs^2) runs.
 */
int fab_rdma_jobs(const struct fab_rdma_question *q, struct fab_job_times *job,
		  struct fab_err *err) FAB_MUST_CHECK;
