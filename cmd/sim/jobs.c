/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs: each alone, all together, and which job slows which. */
#include <math.h>

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
	struct fab_sim_job jobs[FAB_JOBS_MAX];
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
	o->job_rows = FAB_ARENA_NEW(w->arena, o->n_nets * o->n_jobs + 1, struct sim_job);
	fab_cli_catch_interrupt();
	for (size_t i = 0; i < o->n_nets && !rc; i++) {
		const struct fab_jobs_problem problem = {.job = o->jobs,
							 .n_jobs = (uint32_t)o->n_jobs,
							 .load = p->load,
							 .traffic = &traffic};
		struct fab_sim_result together;

		rc = fab_sim_jobs(&o->nets[i].problem, &params, &problem, jobs, &together,
				  err);
		if (rc)
			break;
		fab_sim_result_fini(&together);
		for (uint32_t k = 0; k < o->n_jobs; k++) {
			const struct fab_sim_job *x = &jobs[k];
			struct sim_job *row = &o->job_rows[o->n_job_rows++];
			bool is_done = !x->unfinished;

			fails |= !is_done;
			*row = (struct sim_job){
				.number = k + 1,
				.algorithm = o->nets[i].algorithm,
				.traffic = o->jobs[k].traffic,
				.hosts = o->jobs[k].n,
				.unfinished = x->unfinished,
				.alone = is_done ? (double)x->alone / p->unit : NAN,
				.together = is_done ? (double)x->together / p->unit : NAN,
				.slowdown = is_done && x->alone ? (double)x->together /
									  (double)x->alone
								: NAN,
				.with = NAN};
			if (x->slowed_by == FAB_NONE || !is_done)
				continue;
			row->slowed_by = o->jobs[x->slowed_by].traffic;
			row->slowed_by_number = x->slowed_by + 1;
			row->with = (double)x->with / p->unit;
		}
	}
	fab_cli_progress_free(params.progress_context);
	if (rc)
		return rc;
	return p->check && fails ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

/* Jobs of one algorithm, jobs x[0] .. x[n - 1]. */
static void say_jobs(struct fab_report *r, const struct sim_outcome *o,
		     const struct sim_job *x, size_t n)
{
	const struct sim_job *most = x;

	for (size_t k = 0; k < n; k++) {
		if (x[k].unfinished)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"%s: job %zu (%s) is not finished: in one of its runs not all packets have arrived.",
				x->algorithm, k + 1, x[k].traffic);
		if (x[k].slowdown > most->slowdown || isnan(most->slowdown))
			most = &x[k];
	}
	if (isnan(most->slowdown))
		return;
	if (n == 1) {
		fab_report_answer(
			r, FAB_TONE_PLAIN, "%s: the job (%s) takes %s%s.", x->algorithm,
			x->traffic, sim_time_text(o, x->together),
			o->p->load > 0
				? fab_arena_format(
					  o->arena,
					  " with the load, %.2f times as long as the %s without",
					  x->slowdown, sim_time_text(o, x->alone))
				: "");
		return;
	}
	if (most->slowdown < 1.01) {
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s: no job slows another by more than 1 %%: job %llu most, %s together, %s alone.",
			x->algorithm, (unsigned long long)most->number,
			sim_time_text(o, most->together), sim_time_text(o, most->alone));
		return;
	}
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s: job %llu (%s) is slowed most: %s together, %.2f times as long as the %s alone%s.",
		x->algorithm, (unsigned long long)most->number, most->traffic,
		sim_time_text(o, most->together), most->slowdown,
		sim_time_text(o, most->alone),
		n > 2 ? fab_arena_format(o->arena, "; most by job %llu (%s): %.2f times",
					 (unsigned long long)most->slowed_by_number,
					 most->slowed_by, most->with / most->alone)
		      : "");
}

#define AT(member) FAB_AT(struct sim_job, member)
static const struct fab_column job_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"job", FAB_UINT, "number of the job, in the order of --job", 0, AT(number)},
	{"traffic", FAB_TEXT, "what it sends", 0, AT(traffic)},
	{"hosts", FAB_UINT, "hosts of the job", 0, AT(hosts)},
	{"alone_ns", FAB_REAL,
	 "until its last message has arrived, without other jobs, ns (flit times by flit); null: not finished",
	 FAB_COL_EXACT, AT(alone)},
	{"together_ns", FAB_REAL, "with all jobs, and the load", FAB_COL_EXACT,
	 AT(together)},
	{"slowdown", FAB_REAL, "together_ns / alone_ns", 0, AT(slowdown)},
	{"slowed_by", FAB_UINT, "the job that slows it most; 0: there is no other", 0,
	 AT(slowed_by_number)},
	{"with_ns", FAB_REAL, "with that job alone", FAB_COL_EXTRA | FAB_COL_EXACT,
	 AT(with)},
	{"unfinished", FAB_UINT, "hosts that did not come to the end in some run",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_ANY, AT(unfinished)},
};
#undef AT

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct sim_outcome *o = w->outcome;

	for (size_t i = 0; i < o->n_job_rows; i += o->n_jobs)
		say_jobs(r, o, &o->job_rows[i], o->n_jobs);
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
