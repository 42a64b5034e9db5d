/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the result: where to, in which form. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/internal.h"

enum { KEY_FORMAT = KEY_OUTPUT, KEY_COLUMNS, KEY_LIST_COLUMNS, KEY_NO_HEADER, KEY_COLOR };

static const struct argp_option output_options[] = {
	{.doc = "Output:", .group = FAB_CLI_GROUP_OUTPUT},
	{.name = "output",
	 .key = 'o',
	 .arg = "FILE",
	 .doc = "Write the result to FILE, whole or not at all",
	 .group = FAB_CLI_GROUP_OUTPUT},
	{.name = "format",
	 .key = KEY_FORMAT,
	 .arg = "FORMAT",
	 .doc = "table (default), json or csv",
	 .group = FAB_CLI_GROUP_OUTPUT},
	{.name = "columns",
	 .key = KEY_COLUMNS,
	 .arg = "LIST",
	 .doc = "Columns of the main table, separated by commas",
	 .group = FAB_CLI_GROUP_OUTPUT},
	{.name = "list-columns",
	 .key = KEY_LIST_COLUMNS,
	 .doc = "Say which columns there are, and stop",
	 .group = FAB_CLI_GROUP_OUTPUT},
	{.name = "no-header",
	 .key = KEY_NO_HEADER,
	 .doc = "Leave out headings",
	 .group = FAB_CLI_GROUP_OUTPUT},
	{.name = "color",
	 .key = KEY_COLOR,
	 .arg = "WHEN",
	 .doc = "Colour in tables: auto (default: on a terminal), always or never",
	 .group = FAB_CLI_GROUP_OUTPUT},
	{0},
};

static enum fab_format parse_format(const char *arg, struct argp_state *state)
{
	static const char *const names[] = {
		[FAB_FORMAT_TABLE] = "table",
		[FAB_FORMAT_JSON] = "json",
		[FAB_FORMAT_CSV] = "csv",
	};

	for (size_t i = 0; i < FAB_COUNT(names); i++)
		if (strcmp(arg, names[i]) == 0)
			return (enum fab_format)i;
	argp_error(state, "--format: '%s' is not table, json or csv", arg);
	return FAB_FORMAT_TABLE;
}

static enum fab_cli_color parse_color(const char *arg, struct argp_state *state)
{
	static const char *const names[] = {
		[FAB_COLOR_AUTO] = "auto",
		[FAB_COLOR_ALWAYS] = "always",
		[FAB_COLOR_NEVER] = "never",
	};

	for (size_t i = 0; i < FAB_COUNT(names); i++)
		if (strcmp(arg, names[i]) == 0)
			return (enum fab_cli_color)i;
	argp_error(state, "--color: '%s' is not auto, always or never", arg);
	return FAB_COLOR_AUTO;
}

static error_t parse_output(int key, char *arg, struct argp_state *state)
{
	struct fab_cli_output *output = state->input;

	switch (key) {
	case 'o':
		if (!*arg)
			argp_error(state, "--output: the file name is empty");
		output->path = arg;
		return 0;
	case KEY_FORMAT:
		output->format = parse_format(arg, state);
		output->has_format = true;
		return 0;
	case KEY_COLUMNS:
		output->columns = arg;
		return 0;
	case KEY_LIST_COLUMNS:
		output->list_columns = true;
		return 0;
	case KEY_NO_HEADER:
		output->no_header = true;
		return 0;
	case KEY_COLOR:
		output->color = parse_color(arg, state);
		return 0;
	case ARGP_KEY_END:
		fab_cli_check_files(output, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp fab_cli_output_argp = {.options = output_options,
					 .parser = parse_output};

/* COLUMNS if it is set, else what the terminal says, else no limit. */
static unsigned terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (columns && fab_parse_u64(columns, strlen(columns), 1, 10000, &n))
		return (unsigned)n;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

/* What --color=auto means on a terminal. */
static bool wants_color(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
}

struct fab_report_options fab_cli_report_options(const struct fab_cli_output *output,
						 const struct fab_cli_sink *sink)
{
	struct fab_report_options options = {
		.format = output->format,
		.columns = output->columns,
		.no_header = output->no_header,
		.color = output->color == FAB_COLOR_ALWAYS,
	};

	if (!sink->path && isatty(fileno(sink->file))) {
		options.width = terminal_width(fileno(sink->file));
		if (output->color == FAB_COLOR_AUTO)
			options.color = wants_color();
	}
	return options;
}

struct fab_report *fab_cli_begin_report(FILE *out,
					const struct fab_report_options *options,
					const char *command, const char *primary,
					const struct fab_fabric *fabric)
{
	fab_cli_progress_hide();
	return fab_report_new(out, options, command, primary, fabric);
}

void fab_cli_finish_report(struct fab_report *report)
{
	struct fab_err err;

	if (fab_report_finish(report, &err))
		fab_cli_die(&err);
}
