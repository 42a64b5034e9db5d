/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs alone, together, and in pairs: each run simulates a set of the jobs. */
#include "sim/sweep.h"

#include <errno.h>

enum { LOAD_TIMES = 2 }; /* as long as the longest job alone, at first */

struct runs {
	struct fab_sim_wires of;
	struct fab_jobs_problem jobs;
	double load;
};

/* Simulate a set of jobs; end: [n_jobs] of those of the set. */
static int run(const struct runs *r, uint64_t *end, struct fab_job_times *job,
	       struct fab_err *err)
{
	FAB_AUTO(fab_jobs_free_at) struct fab_jobs *jobs = NULL;
	struct fab_sim_result result;
	int rc = fab_jobs_new(&r->jobs, &jobs, err);

	if (!rc)
		rc = fab_sim_run(r->of.net, r->of.params, fab_jobs_messages(jobs),
				 &result, err);
	if (rc)
		return rc;
	if (result.is_stopped)
		rc = fab_fail(err, EINTR, "interrupted before all jobs were measured");
	for (uint32_t i = 0; i < r->jobs.n_jobs && !rc; i++) {
		uint32_t unfinished;

		if (!(r->jobs.runs >> i & 1))
			continue;
		end[i] = fab_jobs_end(jobs, i, &unfinished);
		if (result.is_stalled || result.lost || result.unroutable ||
		    result.looped || result.dropped || result.trimmed)
			unfinished += !unfinished;
		if (unfinished > job[i].unfinished)
			job[i].unfinished = unfinished;
	}
	fab_sim_result_fini(&result);
	return rc;
}

/* A set without the load; the last one with it, until it is longer than all jobs. */
static int run_set(void *context, uint64_t set, bool is_last, uint64_t *end,
		   struct fab_job_times *job, struct fab_err *err)
{
	struct runs *r = context;
	uint64_t last = 1;
	bool hangs = false;
	int rc;

	r->jobs.runs = set;
	r->jobs.load = is_last ? r->load : 0;
	for (uint32_t i = 0; i < r->jobs.n_jobs; i++)
		last = job[i].alone > last ? job[i].alone : last;
	r->jobs.load_ends = LOAD_TIMES * last;
	while (!(rc = run(r, end, job, err)) && is_last && r->load > 0) {
		last = 0;
		for (uint32_t i = 0; i < r->jobs.n_jobs; i++) {
			last = end[i] > last ? end[i] : last;
			hangs |= job[i].unfinished > 0;
		}
		if (hangs || last <= r->jobs.load_ends)
			break;
		r->jobs.load_ends *= 2;
	}
	return rc;
}

int fab_sim_jobs(const struct fab_sim_problem *net, const struct fab_sim_params *params,
		 const struct fab_jobs_problem *problem, struct fab_job_times *job,
		 struct fab_err *err)
{
	struct fab_traffic_problem traffic = *problem->traffic;
	struct runs r = {.of = {net, params}, .jobs = *problem, .load = problem->load};
	const struct fab_job_runs runs = {problem->n_jobs, run_set, &r};

	traffic.wire = fab_sim_wire;
	traffic.wire_context = &r.of;
	r.jobs.traffic = &traffic;
	return fab_jobs_compare(&runs, job, err);
}
