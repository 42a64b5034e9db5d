/* SPDX-License-Identifier: BSD-2-Clause */
/* A command from its first line to its end. */
#include "cli/command.h"

#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "cli/internal.h"

static void list_columns(const struct fab_cli_output *output,
			 const struct fab_cli_columns *columns)
{
	struct fab_cli_results results = {.n = 0};

	fab_columns_list(fab_cli_open_result(&results, output->path), columns->v,
			 columns->n);
	fab_cli_commit_results(&results);
}

static int run(const struct fab_given *g, struct fab_err *err)
{
	const struct fab_cli_input *input = fab_given_part(g, fab_cli_input_rows);
	const struct fab_cli_output *output = fab_given_part(g, fab_cli_output_rows);
	const struct fab_cli_run *run = fab_given_part(g, fab_cli_run_rows);
	struct fab_cli_store *store = fab_given_part(g, fab_cli_store_rows);
	struct fab_cli_columns columns = g->command->columns(g->params);
	struct fab_fabric *f = NULL;
	int status;

#ifdef _OPENMP
	if (run->threads)
		omp_set_num_threads(run->threads);
#endif
	if (output->list_columns && columns.v) {
		list_columns(output, &columns);
		return FAB_EXIT_DONE;
	}
	if (store)
		fab_cli_open_store(store);
	if (input && input->fabric)
		f = fab_cli_open_fabric(input, run);
	status = g->command->run(g->params, f, err);
	fab_fabric_free(f);
	return status;
}

int fab_cli_main(const struct fab_command *command, int argc, char **argv, void *params)
{
	struct fab_given g;
	struct fab_err err = {""};
	int status;

	fab_cli_init(command->name);
	fab_cli_read(command, argc, argv, params);
	fab_given_init(&g, command, params);
	status = run(&g, &err);
	if (status < 0 || status >= FAB_EXIT_USAGE)
		fab_cli_exit(status < 0 ? FAB_EXIT_ERROR : status, "%s", err.text);
	if (fab_given_part(&g, fab_cli_store_rows))
		fab_cli_close_store(fab_given_part(&g, fab_cli_store_rows));
	fab_cli_free_params(command, params);
	free(g.of.v);
	return status;
}
