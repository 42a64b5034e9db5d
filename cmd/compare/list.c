/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of runs. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A run as the list shows it. */
struct record {
	struct fab_store_run run;
	char *asked, *algorithms; /* on the heap */
	const char *shard;
	double groups, members;
};

#define AT(member) FAB_AT(struct record, member)
const struct fab_column compare_run_columns[] = {
	{"run", FAB_UINT, "number of the run", 0, AT(run.id)},
	{"time", FAB_TEXT, "when it ended, UTC", 0, AT(run.time)},
	{"command", FAB_TEXT, "what was run", 0, AT(run.command)},
	{"label", FAB_TEXT, "its --label", 0, AT(run.label)},
	{"source", FAB_TEXT, "the FABRIC argument", 0, AT(run.fabric.source)},
	FAB_COLUMN_AS(groups, NUMBER, "multicast groups", FAB_COL_EXTRA),
	FAB_COLUMN(algorithms, TEXT, "names, separated by blanks"),
	FAB_COLUMN(shard, TEXT, "K/N: only so much of a sweep; null: all of it"),
	FAB_COLUMN(asked, TEXT, "what was asked for, such as traffic, groups and faults"),
	FAB_COLUMN_AS(members, NUMBER, "members of all groups together", FAB_COL_EXTRA),
	{"version", FAB_TEXT, "version of the command", FAB_COL_EXTRA, AT(run.version)},
	{"arguments", FAB_TEXT, "its command line, as a shell would read it",
	 FAB_COL_EXTRA, AT(run.arguments)},
	{"host", FAB_TEXT, "where it ran", FAB_COL_EXTRA, AT(run.host)},
	{"fingerprint", FAB_GUID, "of the fabric", FAB_COL_EXTRA,
	 AT(run.fabric.fingerprint)},
	{"switches", FAB_UINT, "of the fabric", FAB_COL_EXTRA, AT(run.fabric.switches)},
	{"hosts", FAB_UINT, "of the fabric", FAB_COL_EXTRA, AT(run.fabric.hosts)},
};
#undef AT

const size_t compare_n_run_columns = FAB_COUNT(compare_run_columns);

/* Names separated by blanks; on the heap. */
static char *join_algorithms(const struct fab_store_run *run)
{
	char *text = fab_strdup("");

	for (size_t i = 0; i < run->n_results; i++)
		fab_append(&text, " ", "%s", run->results[i].algorithm);
	return text;
}

char *compare_fact_text(const struct fab_store_number *fact)
{
	struct fab_column column = compare_fact_column(fact->name);

	return fab_cell_human(&column, (union fab_cell){.real = fact->value});
}

/* `pattern grid:8x4, groups 32, members 224`: what is not 0; NULL: nothing. On the heap.
 */
static char *join_facts(const struct fab_store_run *run)
{
	char *text = NULL;

	for (size_t i = 0; i < run->n_asked; i++)
		fab_append(&text, ", ", "%s %s", run->asked[i].name, run->asked[i].value);
	for (size_t i = 0; i < run->n_facts; i++) {
		const struct fab_store_number *fact = &run->facts[i];
		char *value;

		if (fact->value == 0)
			continue;
		value = compare_fact_text(fact);
		fab_append(&text, ", ", "%s %s", fact->name, value);
		free(value);
	}
	return text;
}

static void print_run(struct fab_report *r, const struct fab_store_run *run)
{
	char shard[64];
	struct record record = {
		.run = *run,
		.asked = join_facts(run),
		.algorithms = join_algorithms(run),
		.shard = compare_shard_text(run, shard, sizeof(shard)),
		.groups = fab_store_number_get(run->facts, run->n_facts, "groups"),
		.members = fab_store_number_get(run->facts, run->n_facts, "members"),
	};

	fab_report_record(r, &record);
	free(record.asked);
	free(record.algorithms);
}

void compare_print_runs(struct fab_report *r, const struct fab_store_runs *runs)
{
	fab_report_table_begin(r, "runs", "Runs", compare_run_columns,
			       compare_n_run_columns);
	for (size_t i = 0; i < runs->n; i++)
		print_run(r, &runs->v[i]);
	fab_report_table_end(r);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	return compare_find(w, !((struct compare_params *)w->params)->plot.path, err);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;

	compare_list_answer(r, &o->runs);
	compare_print_runs(r, &o->runs);
}

const struct fab_task compare_list = {
	.primary = "runs",
	FAB_TASK_COLUMNS(compare_run_columns),
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve,
	.files = compare_files,
	.report = report,
	.fini = compare_fini,
};
