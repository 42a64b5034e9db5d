/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs alone, together, and in pairs: each run simulates a set of the jobs. */
#include "sim/together.h"

#include <errno.h>

enum { LOAD_TIMES = 2 }; /* as long as the longest job alone, at first */

struct runs {
	const struct fab_sim_problem *net;
	const struct fab_sim_params *params;
	struct fab_jobs_problem jobs;
	struct fab_sim_job *job;
};

static uint64_t wire(const void *context, uint32_t end, uint32_t bytes, bool to_group)
{
	const struct runs *r = context;

	return fab_sim_wire_ticks(r->net, r->params, end, bytes, to_group);
}

/* Simulate a set of jobs; end: [n_jobs] of those of the set. */
static int run(struct runs *r, uint64_t set, uint64_t *end, struct fab_sim_result *result,
	       struct fab_err *err)
{
	FAB_AUTO(fab_jobs_free_at) struct fab_jobs *jobs = NULL;
	int rc;

	r->jobs.runs = set;
	rc = fab_jobs_new(&r->jobs, &jobs, err);
	if (!rc)
		rc = fab_sim_run(r->net, r->params, fab_jobs_messages(jobs), result, err);
	if (rc)
		return rc;
	if (result->is_stopped) {
		fab_sim_result_fini(result);
		return fab_fail(err, EINTR, "interrupted before all jobs were measured");
	}
	for (uint32_t i = 0; i < r->jobs.n_jobs; i++) {
		uint32_t unfinished;

		if (!(set >> i & 1))
			continue;
		end[i] = fab_jobs_end(jobs, i, &unfinished);
		if (result->is_stalled || result->lost || result->unroutable ||
		    result->looped || result->dropped || result->trimmed)
			unfinished += !unfinished;
		if (unfinished > r->job[i].unfinished)
			r->job[i].unfinished = unfinished;
	}
	return 0;
}

/* Run a set and note which other job of it makes `i` take longest. */
static int run_pair(struct runs *r, uint32_t i, uint32_t k, struct fab_err *err)
{
	uint64_t end[FAB_JOBS_MAX];
	struct fab_sim_result result;
	int rc = run(r, 1ull << i | 1ull << k, end, &result, err);

	if (rc)
		return rc;
	fab_sim_result_fini(&result);
	for (unsigned turn = 0; turn < 2; turn++) {
		struct fab_sim_job *job = &r->job[turn ? k : i];
		uint64_t with = end[turn ? k : i];

		if (job->slowed_by != FAB_NONE && with <= job->with)
			continue;
		job->slowed_by = turn ? i : k;
		job->with = with;
	}
	return 0;
}

int fab_sim_jobs(const struct fab_sim_problem *net, const struct fab_sim_params *params,
		 const struct fab_jobs_problem *problem, struct fab_sim_job *job,
		 struct fab_sim_result *together, struct fab_err *err)
{
	struct fab_traffic_problem traffic = *problem->traffic;
	struct runs r = {.net = net, .params = params, .jobs = *problem, .job = job};
	uint32_t n = problem->n_jobs;
	uint64_t end[FAB_JOBS_MAX], longest = 1, last = 0;
	struct fab_sim_result result;
	int rc = 0;

	traffic.wire = wire;
	traffic.wire_context = &r;
	r.jobs.traffic = &traffic;
	r.jobs.load = 0;
	for (uint32_t i = 0; i < n; i++) {
		job[i] = (struct fab_sim_job){.slowed_by = FAB_NONE};
		rc = run(&r, 1ull << i, end, &result, err);
		if (rc)
			return rc;
		fab_sim_result_fini(&result);
		job[i].alone = end[i];
		longest = end[i] > longest ? end[i] : longest;
	}
	for (uint32_t i = 0; i < n && n > 2; i++)
		for (uint32_t k = i + 1; k < n && !rc; k++)
			rc = run_pair(&r, i, k, err);
	r.jobs.load = problem->load;
	r.jobs.load_ends = LOAD_TIMES * longest;
	if (!rc)
		rc = run(&r, (1ull << n) - 1, end, together, err);
	while (!rc && problem->load > 0) { /* until it is longer than all jobs */
		bool hangs = false;

		for (uint32_t i = 0; i < n; i++) {
			last = end[i] > last ? end[i] : last;
			hangs |= job[i].unfinished > 0;
		}
		if (hangs || last <= r.jobs.load_ends)
			break;
		fab_sim_result_fini(together);
		r.jobs.load_ends *= 2;
		rc = run(&r, (1ull << n) - 1, end, together, err);
	}
	for (uint32_t i = 0; i < n && !rc; i++) {
		job[i].together = end[i];
		if (n != 2)
			continue;
		job[i].slowed_by = 1 - i;
		job[i].with = end[i];
	}
	return rc;
}
