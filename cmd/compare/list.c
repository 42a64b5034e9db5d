/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of runs. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct fab_column columns[] = {
	{"run", FAB_UINT, "number of the run", 0},
	{"time", FAB_TEXT, "when it ended, UTC", 0},
	{"label", FAB_TEXT, "its --label", 0},
	{"source", FAB_TEXT, "the FABRIC argument", 0},
	{"groups", FAB_NUMBER, "multicast groups", 0},
	{"algorithms", FAB_TEXT, "names, separated by blanks", 0},
	{"members", FAB_NUMBER, "members of all groups together", FAB_COL_EXTRA},
	{"command", FAB_TEXT, "what was run", FAB_COL_EXTRA},
	{"version", FAB_TEXT, "version of the command", FAB_COL_EXTRA},
	{"arguments", FAB_TEXT, "its command line, as a shell would read it",
	 FAB_COL_EXTRA},
	{"host", FAB_TEXT, "where it ran", FAB_COL_EXTRA},
	{"fingerprint", FAB_GUID, "of the fabric", FAB_COL_EXTRA},
	{"switches", FAB_UINT, "of the fabric", FAB_COL_EXTRA},
	{"hosts", FAB_UINT, "of the fabric", FAB_COL_EXTRA},
};

struct compare_columns compare_list_columns(void)
{
	return (struct compare_columns){columns, FAB_COUNT(columns)};
}

/* On the heap. */
static char *join_algorithms(const struct fab_store_run *run)
{
	size_t size = 1;
	char *text, *end;

	for (size_t i = 0; i < run->n_results; i++)
		size += strlen(run->results[i].algorithm) + 1;
	end = text = fab_zalloc(size, 1);
	for (size_t i = 0; i < run->n_results; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, run->results[i].algorithm);
	}
	return text;
}

static void print_run(struct fab_report *r, const struct fab_store_run *run)
{
	char *algorithms = join_algorithms(run);
	const union fab_cell cells[] = {
		{.u = run->id},
		{.text = run->time},
		{.text = run->label},
		{.text = run->source},
		{.real = fab_store_number_get(run->facts, run->n_facts, "groups")},
		{.text = algorithms},
		{.real = fab_store_number_get(run->facts, run->n_facts, "members")},
		{.text = run->command},
		{.text = run->version},
		{.text = run->arguments},
		{.text = run->host},
		{.u = run->fingerprint},
		{.u = run->switches},
		{.u = run->hosts},
	};

	fab_report_row(r, cells);
	free(algorithms);
}

int compare_list(FILE *out, const struct fab_report_options *options,
		 const struct fab_store_runs *runs, struct fab_err *err)
{
	struct fab_report *r =
		fab_report_new(out, options, "fabric-compare", "runs", NULL);

	compare_list_answer(r, runs);
	fab_report_table_begin(r, "runs", "Runs", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < runs->n; i++)
		print_run(r, &runs->v[i]);
	fab_report_table_end(r);
	return fab_report_finish(r, err);
}
