/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs: each alone, all together, and which job slows which. */
#include "cli/jobs.h"

#include "fabric_sim.h"

static int progress(void *context, uint64_t done, uint64_t total)
{
	fab_cli_progress_tick(context, done, total);
	return fab_cli_is_interrupted(NULL);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	struct fab_job_times jobs[FAB_JOBS_MAX];
	struct fab_traffic_problem traffic;
	struct fab_sim_params params;
	bool fails = false;
	int rc = sim_set_up(w, err);

	if (rc)
		return rc;
	traffic = sim_traffic_of(o);
	traffic.how.seed = p->run.seed;
	params = p->sim;
	params.n_threads = p->run.threads;
	params.seed = p->run.seed;
	params.progress = progress;
	params.progress_context = fab_cli_progress_new(&p->run, "simulating", "ticks");
	o->job_rows =
		FAB_ARENA_NEW(w->arena, o->n_nets * o->n_jobs + 1, struct fab_cli_job);
	fab_cli_catch_interrupt();
	for (size_t i = 0; i < o->n_nets && !rc; i++) {
		const struct fab_jobs_problem problem = {.job = o->jobs,
							 .n_jobs = (uint32_t)o->n_jobs,
							 .load = p->load,
							 .traffic = &traffic};

		rc = fab_sim_jobs(&o->nets[i].problem, &params, &problem, jobs, err);
		for (uint32_t k = 0; k < o->n_jobs && !rc; k++) {
			fails |= jobs[k].unfinished > 0;
			o->job_rows[o->n_job_rows++] = fab_cli_job_row(
				o->nets[i].algorithm, o->jobs, jobs, k, p->unit);
		}
	}
	fab_cli_progress_free(params.progress_context);
	if (rc)
		return rc;
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static const char *time_text(void *outcome, double time)
{
	return sim_time_text(outcome, time);
}

static const struct fab_column job_columns[] = {FAB_CLI_JOB_COLUMNS(
	"algorithm", "routing algorithm", "_ns", "ns (flit times by flit)", "hosts")};

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;

	for (size_t i = 0; i < o->n_job_rows; i += o->n_jobs)
		fab_cli_say_jobs(r, o->arena, &o->job_rows[i], o->n_jobs, o->p->load > 0,
				 time_text, w->outcome);
	sim_say_notes(r, o);
	sim_print_parameters(r, o);
	fab_report_table(r, "jobs", "Jobs", w->columns.v, w->columns.n, o->job_rows,
			 sizeof(*o->job_rows), o->n_job_rows);
}

const struct fab_task sim_jobs_task = {
	.primary = "jobs",
	FAB_TASK_COLUMNS(job_columns),
	.outcome_bytes = sizeof(struct sim_outcome),
	.solve = solve,
	.report = report,
	.fini = sim_outcome_fini,
};
