/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command from its first line to its end: it opens the fabric and the database, runs
 * the task, writes files and report, and stores the run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/mem.h"
#include "cli/command.h"
#include "cli/internal.h"
#include "source/source.h"

int fab_cli_open_fabric(const struct fab_cli_input *input, const struct fab_cli_run *run,
			struct fab_fabric **out, struct fab_err *err)
{
	struct fab_source_options options = {.node_name_map = input->node_name_map,
					     .hca = input->hca,
					     .subnet = input->subnet,
					     .edits = input->edit.v,
					     .n_edits = input->edit.n};
	struct code {
		const struct fab_warning *first;
		uint32_t n;
	};
	FAB_AUTOFREE FAB_VEC(struct code) codes = {.n = 0};
	const struct fab_fabric *f;
	int rc;

	fab_cli_progress_listen(run);
	rc = fab_source_open(input->fabric, &options, out, err);
	if (rc || run->quiet)
		return rc;
	f = *out;
	/* With --verbose all warnings, else one line for each code; the number of codes
	 * is small, that of warnings is not. */
	for (uint32_t i = 0; i < f->n_warnings; i++) {
		size_t k = run->verbose ? codes.n : 0;

		while (k < codes.n &&
		       strcmp(codes.v[k].first->code, f->warnings[i].code) != 0)
			k++;
		if (k == codes.n)
			FAB_PUSH(&codes, ((struct code){&f->warnings[i], 0}));
		codes.v[k].n++;
	}
	for (size_t k = 0; k < codes.n; k++) {
		const struct fab_warning *w = codes.v[k].first;
		char line[24] = "", more[64] = "";

		if (w->line)
			snprintf(line, sizeof(line), ":%" PRIu64, w->line);
		if (codes.v[k].n > 1)
			snprintf(more, sizeof(more), " (and %" PRIu32 " more like this)",
				 codes.v[k].n - 1);
		fab_cli_warn(run, "%s%s: %s%s",
			     strcmp(f->source, "-") ? f->source : "<stdin>", line,
			     w->message, more);
	}
	if (f->n_warnings_total > f->n_warnings)
		fab_cli_warn(run, "%s: %" PRIu64 " further warnings were not kept",
			     f->source, f->n_warnings_total - f->n_warnings);
	/* parts that --hca leaves out are in no answer */
	if ((*out)->n_left_out_switches)
		fab_cli_warn(run,
			     "%s: --hca '%s' leaves out %" PRIu32
			     " switch%s, on which no adapter is left",
			     strcmp((*out)->source, "-") ? (*out)->source : "<stdin>",
			     input->hca, (*out)->n_left_out_switches,
			     (*out)->n_left_out_switches == 1 ? "" : "es");
	return 0;
}

/*
 * With --store: complete `run` (command, version, arguments, label, host, time, fabric;
 * its facts and results are the caller's; without a fabric (NULL) so are source,
 * fingerprint and counts), add it, and say on standard error, unless
 * quiet, which number it got.
 */
static int add_run(const struct fab_cli_store *store, const struct fab_cli_run *cli,
		   const struct fab_fabric *f, const struct fab_store_run *run,
		   struct fab_err *err)
{
	const struct fab_cli_shard *shard = store->shard;
	struct fab_store_run complete = *run;
	struct fab_store_shard part;
	char host[256] = "", when[32];
	time_t now = time(NULL);
	struct tm utc;
	uint64_t id;
	int rc;

	if (!store->store)
		return 0;
	if (gethostname(host, sizeof(host) - 1) != 0)
		*host = 0;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	complete.time = when;
	complete.command = program_invocation_short_name;
	complete.version = FAB_VERSION;
	complete.arguments = store->arguments;
	complete.host = host;
	complete.label = store->label;
	if (f)
		complete.fabric = fab_fabric_brief(f);
	if (shard && shard->part.count) {
		part = (struct fab_store_shard){
			shard->part.number, shard->part.count, shard->items, shard->all,
			shard->unit,	    store->job,	       shard->input};
		complete.shard = &part;
		complete.n_shard = 1;
	}
	rc = fab_store_add(store->store, &complete, &id, err);
	if (!rc)
		fab_cli_note(cli, "stored as run %" PRIu64 " in %s", id, store->path);
	return rc;
}

void fab_cli_close_store(struct fab_cli_store *store)
{
	fab_store_close(store->store);
	store->store = NULL;
	free(store->arguments);
	free(store->job);
	store->arguments = store->job = NULL;
}

static int list_columns(const struct fab_cli_output *output,
			const struct fab_cli_columns *columns, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};

	fab_columns_list(fab_cli_open_result(&results, output->path), columns->v,
			 columns->n);
	return fab_cli_commit_results(&results, err);
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
	const struct fab_cli_plot *plot = fab_given_plot(g, option);
	const struct fab_given_option *o = fab_given_option(g, option);

	*is_plot = plot;
	return plot ? plot->path
		    : *(const char *const *)((char *)o->at + o->row->to.offset);
}

/* The last result: with it all of them are committed. */
static int write_report(const struct run *run, struct fab_cli_results *results,
			struct fab_err *err)
{
	const struct fab_cli_output *output = fab_given_part(run->g, fab_cli_output_rows);
	struct fab_report_options options;
	struct fab_report *r;
	FILE *file;
	int rc = 0;

	if (output->report)
		rc = fab_cli_write_page(fab_cli_open_result(results, output->report),
					run->g, run->task, run->w, err);
	if (rc)
		return rc;
	file = fab_cli_open_report(results, output, &options);
	/* where nothing can be written nothing is changed */
	if (run->task->apply && !results->rc)
		rc = run->task->apply(run->w, err);
	if (rc)
		return rc;
	if (run->task->write)
		return run->task->write(file, run->w, err);
	if (run->task->is_page)
		return fab_cli_write_page(file, run->g, run->task, run->w, err);
	r = fab_cli_begin_report(file, &options, run->g->command->name,
				 run->task->primary, run->w->f);
	run->task->report(r, run->w);
	return fab_report_finish(r, err);
}

static int keep(void *context, struct fab_err *err)
{
	const struct run *run = context;
	const struct fab_cli_store *store = fab_given_part(run->g, fab_cli_store_rows);
	FAB_AUTO(fab_draft_fini) struct fab_draft d = {0};

	if (!run->task->store || !store || !store->store || run->w->is_partial)
		return 0;
	if (!run->w->f)
		d.run.fabric.source = "none";
	run->task->store(&d, run->w);
	return add_run(store, fab_given_part(run->g, fab_cli_run_rows), run->w->f,
		       fab_draft_run(&d), err);
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
	rc = status < 0 || status == FAB_EXIT_USAGE ? status : 0;
	/* columns that are known only now */
	if (!rc && !task->columns && output->columns &&
	    fab_columns_check(output->columns, w->columns.v, w->columns.n, err)) {
		fab_err_prefix(err, "--columns");
		rc = FAB_EXIT_USAGE;
	}
	if (!rc && output->list_columns)
		rc = list_columns(output, &w->columns, err);
	else if (!rc) {
		rc = 0;
		for (const struct fab_task_file *x = run.task->files;
		     x && (x->option || x->write_all) && !rc; x++) {
			bool is_plot;
			const char *path =
				x->option ? path_of(run.g, x->option, &is_plot) : NULL;

			if (x->write_all) {
				rc = x->write_all(&results, run.w, err);
			} else if (path && is_plot) {
				FILE *svg = fab_cli_begin_plot(&results);

				rc = x->write(svg, run.w, err);
				if (!rc)
					fab_cli_end_plot(svg, path, &results);
			} else if (path) {
				rc = x->write(fab_cli_open_result(&results, path), run.w,
					      err);
			}
		}
	}
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
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;
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
	/* a shard is stored as one, with the content of the input files */
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];
		struct fab_cli_shard *shard;

		if (o->row->takes != FAB_TAKES_SHARD)
			continue;
		shard = (struct fab_cli_shard *)((char *)o->at + o->row->to.offset);
		if (store)
			store->shard = shard;
		if (shard->part.count)
			shard->input = fab_cli_hash_inputs();
	}
	fab_cli_progress_listen(how);
	rc = fab_cli_check_outputs(err);
	if (!rc && store && store->path)
		rc = fab_store_open(store->path, FAB_STORE_WRITE, &store->store, err);
	if (!rc && input && input->fabric)
		rc = fab_cli_open_fabric(input, how, &f, err);
	work.f = f;
	return rc ? rc : do_task(g, task, &work, err);
}

int fab_cli_main(const struct fab_command *command, int argc, char **argv, void *params)
{
	struct fab_cli_store *store;
	struct fab_given g;
	struct fab_err err = {""};
	int status;

	fab_cli_init(command->name);
	fab_given_init(&g, command, params);
	if (argc > 2 && !strcmp(argv[1], "--complete")) {
		fab_given_complete(&g, argc - 2, argv + 2);
		fab_given_fini(&g);
		fab_cli_expect_end();
		return FAB_EXIT_DONE;
	}
	fab_given_read(&g, argc, argv);
	status = run(&g, &err);
	if (status != FAB_EXIT_DONE && status != FAB_EXIT_FOUND) {
		bool is_interrupt = status == -EINTR || status == -ECANCELED;

		fab_cli_message("", err.text);
		exit(is_interrupt && fab_cli_is_interrupted(NULL) ? FAB_EXIT_INTERRUPTED
		     : status == FAB_EXIT_USAGE			  ? FAB_EXIT_USAGE
								  : FAB_EXIT_ERROR);
	}
	store = fab_given_part(&g, fab_cli_store_rows);
	if (store)
		fab_cli_close_store(store);
	fab_given_fini(&g);
	fab_cli_expect_end();
	return fab_cli_is_interrupted(NULL) ? FAB_EXIT_INTERRUPTED : status;
}
