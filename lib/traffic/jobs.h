/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several jobs at once: finite traffic of each on hosts of its own, and a load of uniform
 * messages on the others. Together they are one source of messages.
 */
#pragma once

#include "traffic/traffic.h"

enum { FAB_JOBS_MAX = 16 };

/* A job; all is borrowed. */
struct fab_job {
	const char *traffic; /* spec of finite traffic */
	uint32_t size;	     /* payload of a message; 0: that of the problem */
	const uint32_t *end; /* [n] numbers of ends, ascending */
	uint32_t n;
};

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
