/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma run --job: each job alone, all together, and which job slows which. */
#include <errno.h>

#include "base/units.h"
#include "event/stream.h"
#include "fabric_rdma.h"

static const double PS_PER_US = 1e6;

enum { RUNS = 8 }; /* where the answer depends on chance */

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct rdma_params *p = w->params;
	struct rdma_outcome *o = w->outcome;
	uint32_t n = (uint32_t)p->jobs.n, n_runs;
	uint64_t seed = p->sim.seed;
	struct fab_job_times *job;
	bool fails = false;
	int rc = rdma_set_up(w, err);

	if (rc)
		return rc;
	n_runs = p->runs ? p->runs : fab_rdma_is_random(&o->q.params) ? RUNS : 1;
	job = FAB_ARENA_NEW(w->arena, (size_t)o->q.n_schemes * n, struct fab_job_times);
	o->job_rows =
		FAB_ARENA_NEW0(w->arena, (size_t)o->q.n_schemes * n, struct fab_cli_job);
	o->progress = fab_cli_progress_new(&p->run, "simulating", "schemes");
	fab_cli_catch_interrupt();
	for (uint32_t run = 0; run < n_runs && !rc; run++) {
		o->q.params.seed = run ? fab_stream_at(seed, run, 0) : seed;
		rc = fab_rdma_jobs(&o->q, job, err);
		for (uint32_t i = 0; i < o->q.n_schemes * n && !rc; i++) {
			struct fab_cli_job row =
				fab_cli_job_row(o->q.scheme[i / n]->name, o->net.jobs,
						&job[i / n * n], i % n, PS_PER_US);

			fab_cli_job_add(&o->job_rows[i], &row);
		}
	}
	fab_cli_progress_free(o->progress);
	if (rc == -ECANCELED)
		return fab_fail(err, EINTR, "interrupted before all jobs were measured");
	if (rc)
		return rc;
	for (uint32_t i = 0; i < o->q.n_schemes * n; i++)
		fails |= o->job_rows[i].unfinished > 0;
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static const char *time_text(void *arena, double us)
{
	char text[FAB_HUMAN_BYTES];

	return fab_arena_strdup(arena, fab_human_seconds(us * 1e-6, text));
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct rdma_params *p = w->params;
	const struct rdma_outcome *o = w->outcome;
	size_t n = p->jobs.n;

	for (uint32_t i = 0; i < o->q.n_schemes; i++)
		fab_cli_say_jobs(r, w->arena, &o->job_rows[i * n], n, false, time_text,
				 w->arena);
	fab_report_text(r, "verb", "run");
	rdma_print_parameters(r, w);
	rdma_print_approximations(r, p);
	fab_report_table(r, "jobs", "Jobs", w->columns.v, w->columns.n, o->job_rows,
			 sizeof(*o->job_rows), o->q.n_schemes * n);
}

static const struct fab_column job_columns[] = {
	FAB_CLI_JOB_COLUMNS("scheme", "reliability scheme", "_us", "us", "transfers")};

const struct fab_task rdma_jobs_task = {
	.primary = "jobs",
	FAB_TASK_COLUMNS(job_columns),
	.outcome_bytes = sizeof(struct rdma_outcome),
	.solve = solve,
	.report = report,
	.fini = rdma_outcome_fini,
};
