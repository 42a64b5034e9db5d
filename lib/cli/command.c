/* SPDX-License-Identifier: BSD-2-Clause */
/* A command from its first line to its end. */
#include "cli/command.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/clock.h"
#include "cli/internal.h"

static int list_columns(const struct fab_cli_output *output,
			const struct fab_cli_columns *columns, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};

	fab_columns_list(fab_cli_open_result(&results, output->path), columns->v,
			 columns->n);
	return fab_cli_commit_results(&results, err);
}

/* A shard is stored as one, with the content of the input files. */
static void note_inputs(const struct fab_given *g)
{
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];
		struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);
		struct fab_cli_shard *shard;

		if (o->row->takes != FAB_TAKES_SHARD)
			continue;
		shard = (struct fab_cli_shard *)((char *)o->at + o->row->to.offset);
		if (store)
			store->shard = shard;
		if (shard->part.count)
			shard->input = fab_cli_hash_inputs();
	}
}

/* A driver's view of a command that runs. */
struct run {
	const struct fab_given *g;
	const struct fab_task *task;
	struct fab_work *w;
};

/* The file or picture that an option names; NULL: it was not given. */
static const char *path_of(const struct fab_given *g, const char *option, bool *is_plot)
{
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];
		const void *to = (char *)o->at + o->row->to.offset;

		if (!o->row->name || strcmp(o->row->name, option) != 0)
			continue;
		*is_plot = o->row->takes == FAB_TAKES_PLOT;
		return *is_plot ? ((const struct fab_cli_plot *)to)->path
				: *(const char *const *)to;
	}
	assert(!"option of a file");
	return NULL;
}

static int write_files(const struct run *run, struct fab_cli_results *results,
		       struct fab_err *err)
{
	int rc = 0;

	for (const struct fab_task_file *x = run->task->files;
	     x && (x->option || x->write_all) && !rc; x++) {
		bool is_plot;
		const char *path =
			x->option ? path_of(run->g, x->option, &is_plot) : NULL;

		if (x->write_all) {
			rc = x->write_all(results, run->w, err);
		} else if (path && is_plot) {
			FILE *script = fab_cli_begin_plot(results);

			rc = x->write(script, run->w, err);
			if (!rc)
				fab_cli_end_plot(script, path, results);
		} else if (path) {
			rc = x->write(fab_cli_open_result(results, path), run->w, err);
		}
	}
	return rc;
}

/* The last result: with it all of them are committed. */
static int write_report(const struct run *run, struct fab_cli_results *results,
			struct fab_err *err)
{
	struct fab_report_options options;
	FILE *file = fab_cli_open_report(
		results, fab_given_part(run->g, fab_cli_output_rows), &options);
	struct fab_report *r;
	int rc = 0;

	/* where nothing can be written nothing is changed */
	if (run->task->apply && !results->rc)
		rc = run->task->apply(run->w, err);
	if (rc)
		return rc;
	if (run->task->write)
		return run->task->write(file, run->w, err);
	r = fab_cli_begin_report(file, &options, run->g->command->name,
				 run->task->primary, run->w->f);
	run->task->report(r, run->w);
	return fab_report_finish(r, err);
}

static int keep(void *context, struct fab_err *err)
{
	const struct run *run = context;
	const struct fab_cli_store *store = fab_given_part(run->g, fab_cli_store_rows);
	struct fab_draft d = {0};
	int rc;

	if (!run->task->store || !store || !store->store || run->w->is_partial)
		return 0;
	if (!run->w->f)
		d.run.fabric.source = "none";
	run->task->store(&d, run->w);
	rc = fab_cli_add_run(store, fab_given_part(run->g, fab_cli_run_rows), run->w->f,
			     fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}

/* The columns of the main table, which is known only now, and those that were asked for.
 */
static int check_columns(const struct run *run, struct fab_err *err)
{
	const struct fab_cli_output *output = fab_given_part(run->g, fab_cli_output_rows);
	const struct fab_cli_columns *c = &run->w->columns;

	if (run->task->columns || !output->columns ||
	    !fab_columns_check(output->columns, c->v, c->n, err))
		return 0;
	fab_err_prefix(err, "--columns");
	return FAB_EXIT_USAGE;
}

static int do_task(const struct fab_given *g, const struct fab_task *task,
		   struct fab_work *w, struct fab_err *err)
{
	const struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	struct run run = {g, task, w};
	struct fab_cli_results results = {.keep = keep, .context = &run};
	int status, rc;

	w->columns = fab_given_columns(g);
	w->outcome = fab_arena_zalloc(w->arena, 1, task->outcome_bytes);
	status = task->solve ? task->solve(w, err) : FAB_EXIT_DONE;
	rc = status < 0 || status == FAB_EXIT_USAGE ? status : check_columns(&run, err);
	if (!rc && output->list_columns)
		rc = list_columns(output, &w->columns, err);
	else if (!rc)
		rc = write_files(&run, &results, err);
	if (!rc && !output->list_columns)
		rc = write_report(&run, &results, err);
	if (!rc && !output->list_columns)
		rc = fab_cli_commit_results(&results, err);
	if (task->fini)
		task->fini(w->outcome);
	return rc ? rc : status;
}

static int run(const struct fab_given *g, struct fab_err *err)
{
	const struct fab_cli_input *input = fab_given_part(g, fab_cli_input_rows);
	const struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	struct fab_cli_run *how = fab_given_part(g, fab_cli_run_rows);
	struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);
	const struct fab_task *task = fab_given_task(g);
	struct fab_cli_columns columns = fab_given_columns(g);
	struct fab_arena arena = FAB_ARENA_INIT;
	struct fab_fabric *f = NULL;
	struct fab_work work = {.params = g->params, .arena = &arena};
	int rc = 0;

#ifdef _OPENMP
	if (how->threads)
		omp_set_num_threads(how->threads);
#endif
	if (g->lists_settings)
		return fab_settings_list(g, err);
	if (output->list_columns && columns.v)
		return list_columns(output, &columns, err);
	note_inputs(g);
	fab_cli_progress_listen(how);
	rc = fab_cli_check_outputs(err);
	if (!rc && store)
		rc = fab_cli_open_store(store, err);
	if (!rc && input && input->fabric)
		rc = fab_cli_open_fabric(input, how, &f, err);
	work.f = f;
	how->started = fab_now();
	if (!rc)
		rc = task ? do_task(g, task, &work, err)
			  : g->command->run(g->params, f, err);
	fab_fabric_free(f);
	fab_arena_free(&arena);
	return rc;
}

/* The exit status of an error. */
static int status_of(int rc)
{
	if (fab_cli_is_interrupted(NULL) && (rc == -EINTR || rc == -ECANCELED))
		return FAB_EXIT_INTERRUPTED;
	return rc == FAB_EXIT_USAGE ? rc : FAB_EXIT_ERROR;
}

int fab_cli_main(const struct fab_command *command, int argc, char **argv, void *params)
{
	struct fab_cli_store *store;
	struct fab_given g;
	struct fab_err err = {""};
	int status;

	fab_cli_init(command->name);
	fab_given_init(&g, command, params);
	fab_given_read(&g, argc, argv);
	status = run(&g, &err);
	if (status != FAB_EXIT_DONE && status != FAB_EXIT_FOUND) {
		fab_cli_message("", err.text);
		exit(status_of(status));
	}
	store = fab_given_part(&g, fab_cli_store_rows);
	if (store)
		fab_cli_close_store(store);
	fab_cli_free_params(command, params);
	free(g.of.v);
	fab_cli_expect_end();
	return fab_cli_is_interrupted(NULL) ? FAB_EXIT_INTERRUPTED : status;
}
