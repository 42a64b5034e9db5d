/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options for commands that do not have tables yet. */
#include <string.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/internal.h"

void fab_cli_check_files(const struct fab_cli_output *output, struct argp_state *state)
{
	struct fab_err err;

	if (!output->list_columns && fab_cli_find_clash(output, &err))
		argp_error(state, "%s", err.text);
}

void fab_cli_check_outputs(const struct fab_cli_output *output,
			   const struct fab_cli_file *more, size_t n,
			   struct argp_state *state)
{
	for (size_t i = 0; i < n; i++)
		if (more[i].path)
			fab_cli_note_output(more[i].option, more[i].path);
	fab_cli_check_files(output, state);
}

const char *fab_cli_file_name(const char *option, const char *arg,
			      struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s: the file name is empty", option);
	fab_cli_note_input(option, arg);
	return arg;
}

const char *fab_cli_output_name(const char *option, const char *arg,
				struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s: the file name is empty", option);
	fab_cli_note_output(option, arg);
	return arg;
}

void fab_cli_set_fabric(struct fab_cli_input *input, const char *arg,
			struct argp_state *state)
{
	struct fab_err err;

	if (fab_cli_take_fabric(input, arg, &err))
		argp_error(state, "%s", err.text);
}

uint64_t fab_cli_number(const char *option, const char *arg, uint64_t min, uint64_t max,
			struct argp_state *state)
{
	uint64_t n = min;

	if (!fab_parse_u64(arg, strlen(arg), min, max, &n))
		argp_error(state, "%s: '%s' is not a number from %llu to %llu", option,
			   arg, (unsigned long long)min, (unsigned long long)max);
	return n;
}

void fab_cli_parse_shard(struct fab_cli_shard *shard, const char *arg,
			 struct argp_state *state)
{
	struct fab_err err;

	if (fab_cli_take_shard(shard, arg, &err))
		argp_error(state, "--shard: %s", err.text);
}
