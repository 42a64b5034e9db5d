/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening the fabric of a command, and what there is to say about it. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "source/source.h"

static void print_warning(const struct fab_cli_run *run, const struct fab_fabric *f,
			  const struct fab_warning *w, uint32_t n_alike)
{
	char line[24] = "", more[64] = "";

	if (w->line)
		snprintf(line, sizeof(line), ":%" PRIu64, w->line);
	if (n_alike > 1)
		snprintf(more, sizeof(more), " (and %" PRIu32 " more like this)",
			 n_alike - 1);
	fab_cli_warn(run, "%s%s: %s%s", strcmp(f->source, "-") ? f->source : "<stdin>",
		     line, w->message, more);
}

/* Is it the first of its code? Then *n says how many have the code. */
static bool is_first_of_code(const struct fab_fabric *f, uint32_t i, uint32_t *n)
{
	*n = 0;
	for (uint32_t k = 0; k < f->n_warnings; k++) {
		if (strcmp(f->warnings[k].code, f->warnings[i].code) != 0)
			continue;
		if (k < i)
			return false;
		++*n;
	}
	return true;
}

static void print_warnings(const struct fab_cli_run *run, const struct fab_fabric *f)
{
	uint32_t n;

	for (uint32_t i = 0; i < f->n_warnings; i++) {
		if (run->verbose)
			print_warning(run, f, &f->warnings[i], 1);
		else if (is_first_of_code(f, i, &n))
			print_warning(run, f, &f->warnings[i], n);
	}
	if (f->n_warnings_total > f->n_warnings)
		fab_cli_warn(run, "%s: %" PRIu64 " further warnings were not kept",
			     f->source, f->n_warnings_total - f->n_warnings);
}

/* What --hca leaves out is no part of any answer. */
static void print_left_out(const struct fab_cli_run *run, const struct fab_fabric *f,
			   const char *hca)
{
	if (f->n_left_out_switches)
		fab_cli_warn(run,
			     "%s: --hca '%s' leaves out %" PRIu32
			     " switch%s, on which no adapter is left",
			     strcmp(f->source, "-") ? f->source : "<stdin>", hca,
			     f->n_left_out_switches,
			     f->n_left_out_switches == 1 ? "" : "es");
}

int fab_cli_open_fabric(const struct fab_cli_input *input, const struct fab_cli_run *run,
			struct fab_fabric **out, struct fab_err *err)
{
	struct fab_source_options options = {.node_name_map = input->node_name_map,
					     .hca = input->hca,
					     .subnet = input->subnet};
	int rc;

	fab_cli_progress_listen(run);
	rc = fab_source_open(input->fabric, &options, out, err);
	if (!rc && !run->quiet) {
		print_warnings(run, *out);
		print_left_out(run, *out, input->hca);
	}
	return rc;
}
