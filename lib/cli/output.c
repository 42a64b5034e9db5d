/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports: how wide, in colour or not. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/cli.h"
#include "cli/internal.h"

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
