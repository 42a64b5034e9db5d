/* SPDX-License-Identifier: BSD-2-Clause */
/* A command from its first line to its end. */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "cli/internal.h"

static int list_columns(const struct fab_cli_output *output,
			const struct fab_cli_columns *columns, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};

	fab_columns_list(fab_cli_open_result(&results, output->path), columns->v,
			 columns->n);
	return fab_cli_commit_results(&results, err);
}

/* A shard is of what the files hold now. */
static void note_inputs(const struct fab_given *g)
{
	for (size_t i = 0; i < g->of.n; i++) {
		const struct fab_given_option *o = &g->of.v[i];
		struct fab_cli_shard *shard;

		if (o->row->takes != FAB_TAKES_SHARD)
			continue;
		shard = (struct fab_cli_shard *)((char *)o->at + o->row->to.offset);
		if (shard->part.count)
			shard->input = fab_cli_hash_inputs();
	}
}

static int run(const struct fab_given *g, struct fab_err *err)
{
	const struct fab_cli_input *input = fab_given_part(g, fab_cli_input_rows);
	const struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	const struct fab_cli_run *how = fab_given_part(g, fab_cli_run_rows);
	struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);
	struct fab_cli_columns columns = g->command->columns(g->params);
	struct fab_fabric *f = NULL;
	int rc = 0;

#ifdef _OPENMP
	if (how->threads)
		omp_set_num_threads(how->threads);
#endif
	if (output->list_columns && columns.v)
		return list_columns(output, &columns, err);
	note_inputs(g);
	rc = fab_cli_check_outputs(err);
	if (!rc && store)
		rc = fab_cli_open_store(store, err);
	if (!rc && input && input->fabric)
		rc = fab_cli_open_fabric(input, how, &f, err);
	if (!rc)
		rc = g->command->run(g->params, f, err);
	fab_fabric_free(f);
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
	fab_cli_read(command, argc, argv, params);
	fab_given_init(&g, command, params);
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
