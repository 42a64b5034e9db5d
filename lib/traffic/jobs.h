/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several jobs at once: finite traffic of each on hosts of its own, and a load of uniform
 * messages on the others. Together they are one source of messages. Jobs alone, together
 * and in pairs: which job slows which.
 */
#pragma once

#include "base/arena.h"
#include "traffic/traffic.h"

enum { FAB_JOBS_MAX = 16 };

/* A job; all is borrowed. */
struct fab_job {
	const char *traffic; /* spec of finite traffic */
	uint32_t size;	     /* payload of a message; 0: that of the problem */
	const uint32_t *end; /* [n] numbers of ends, ascending */
	uint32_t n;
};

/*
 * Jobs of n texts TRAFFIC[,size=SIZE],hosts=LIST, into job[FAB_JOBS_MAX]; with memory of
 * `arena`. Their traffic is not checked. Of *ends those of no job are dropped, unless
 * keeps_rest. EINVAL, ENOENT: one sentence, also on a host in two jobs and on more jobs
 * than FAB_JOBS_MAX. O(ends * n + matches).
 */
int fab_jobs_read(const char *const *text, size_t n, const struct fab_fabric *f,
		  struct fab_flow_ends *ends, bool keeps_rest, struct fab_arena *arena,
		  struct fab_job *job, struct fab_err *err) FAB_MUST_CHECK;

/* A job alone and with the others. */
struct fab_job_times {
	uint64_t alone, together; /* ticks until its last message has arrived */
	/* The job with which alone it takes longest, and how long; FAB_NONE: there is no
	 * other. */
	uint32_t slowed_by;
	uint64_t with;
	uint32_t unfinished; /* endpoints or transfers that did not finish, in any run */
};

/* How sets of jobs are simulated. */
struct fab_job_runs {
	uint32_t n;
	/* Jobs `set` (bits), `is_last`: all of them, after all other sets. Gives the end
	 * of each, end[n], and raises job[n].unfinished. */
	int (*run)(void *context, uint64_t set, bool is_last, uint64_t *end,
		   struct fab_job_times *job, struct fab_err *err);
	void *context;
};

/* Each job alone, of three and more also each two, then all together, into job[runs->n].
 * Errors: those of runs->run(). O(n^2) runs. */
int fab_jobs_compare(const struct fab_job_runs *runs, struct fab_job_times *job,
		     struct fab_err *err) FAB_MUST_CHECK;

struct fab_jobs_problem {
	const struct fab_job *job;
	uint32_t n_jobs;
	uint64_t runs;	    /* bits of the jobs that are to run */
	double load;	    /* of each end of no job, share of its cable; 0: none */
	uint64_t load_ends; /* ticks after which it creates no message */
	const struct fab_traffic_problem *traffic; /* of all ends */
};

struct fab_jobs; /* a source of messages, and when each job has ended */

/*
 * Make the source of messages. The caller frees. Errors: those of fab_traffic_make();
 * EINVAL also if a job is endless, or fewer than two ends are left for the load.
 * O(ends + those of fab_traffic_make()).
 */
int fab_jobs_new(const struct fab_jobs_problem *problem, struct fab_jobs **out,
		 struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. O(size). */
void fab_jobs_free(struct fab_jobs *jobs);
FAB_AUTO_POINTER(fab_jobs)

const struct fab_messages *fab_jobs_messages(const struct fab_jobs *jobs);
/* Time of a job's last delivery; of its endpoints that did not finish: *unfinished.
 * O(ends). */
uint64_t fab_jobs_end(const struct fab_jobs *jobs, uint32_t job, uint32_t *unfinished);
