/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs alone, together, and in pairs: which job slows which. */
#pragma once

#include "sim/sim.h"
#include "traffic/jobs.h"

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
