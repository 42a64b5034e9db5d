/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that all commands check alike. */
#include <string.h>

#include "base/num.h"
#include "cli/cli.h"

void fab_cli_set_fabric(struct fab_cli_input *input, const char *arg,
			struct argp_state *state)
{
	if (input->fabric)
		argp_error(state, "more than one FABRIC: '%s' and '%s'", input->fabric,
			   arg);
	if (!*arg)
		argp_error(state, "FABRIC is empty");
	input->fabric = arg;
}

const char *fab_cli_file_name(const char *option, const char *arg,
			      struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s: the file name is empty", option);
	return arg;
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

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

static bool is_same_file(const char *a, const char *b)
{
	return !strcmp(a, b) && strncmp(a, "/dev/", 5) != 0;
}

void fab_cli_check_outputs(const struct fab_cli_output *output,
			   const struct fab_cli_file *files, size_t n,
			   struct argp_state *state)
{
	const char *report = output->path ? output->path : "-";

	for (size_t i = 0; i < n; i++) {
		const char *path = files[i].path;

		if (!path)
			continue;
		if (is_stdout(path) && is_stdout(report))
			argp_error(state, "%s=- needs --output=FILE for the report",
				   files[i].option);
		if (is_same_file(path, report))
			argp_error(state, "%s and --output are the same file: '%s'",
				   files[i].option, path);
		for (size_t k = 0; k < i; k++)
			if (files[k].path && is_same_file(path, files[k].path))
				argp_error(state, "%s and %s are the same file: '%s'",
					   files[k].option, files[i].option, path);
	}
}
