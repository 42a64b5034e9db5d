/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening the fabric of a command, and what there is to say about it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

/* Warnings of one code: the first, and how many there are. */
struct code {
	const struct fab_warning *first;
	uint32_t n;
};

/* One line for each code; the number of codes is small, that of warnings is not. */
static void print_codes(const struct fab_cli_run *run, const struct fab_fabric *f)
{
	FAB_VEC(struct code) codes = {.n = 0};

	for (uint32_t i = 0; i < f->n_warnings; i++) {
		size_t k = 0;

		while (k < codes.n &&
		       strcmp(codes.v[k].first->code, f->warnings[i].code) != 0)
			k++;
		if (k == codes.n)
			FAB_PUSH(&codes, ((struct code){&f->warnings[i], 0}));
		codes.v[k].n++;
	}
	for (size_t k = 0; k < codes.n; k++)
		print_warning(run, f, codes.v[k].first, codes.v[k].n);
	free(codes.v);
}

static void print_warnings(const struct fab_cli_run *run, const struct fab_fabric *f)
{
	if (!run->verbose)
		print_codes(run, f);
	for (uint32_t i = 0; run->verbose && i < f->n_warnings; i++)
		print_warning(run, f, &f->warnings[i], 1);
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
