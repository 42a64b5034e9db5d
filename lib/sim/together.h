/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs alone, together, and in pairs: which job slows which. */
#pragma once

#include "sim/sim.h"
#include "traffic/jobs.h"

struct fab_sim_job {
	uint64_t alone, together; /* ticks until its last message has arrived */
	/* The job with which alone it takes longest, and how long; FAB_NONE: there is no
	 * other. */
	uint32_t slowed_by;
	uint64_t with;
	uint32_t unfinished; /* endpoints that did not finish, in any of the runs */
};

/*
 * Simulate each job alone, without the load; all together, with it; with three jobs and
 * more also each two. job: [problem->n_jobs]. *together: the result of all together, of
 * which the caller calls fini. params->time is 0. The load lasts twice as long as the
 * longest job alone, and twice that again until it lasts as long as all jobs. Equal bytes
 * for any number of threads. Errors: those of fab_jobs_new() and fab_sim_run(); EINTR:
 * stopped by params->progress. O(jobs^2 * packets * hops).
 */
int fab_sim_jobs(const struct fab_sim_problem *net, const struct fab_sim_params *params,
		 const struct fab_jobs_problem *problem, struct fab_sim_job *job,
		 struct fab_sim_result *together, struct fab_err *err) FAB_MUST_CHECK;
