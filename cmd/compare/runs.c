/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole runs: the list of them, --prune, and --merge of shards into one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/units.h"
#include "compare.h"

/* A run as the list shows it. */
struct record {
	struct fab_store_run run;
	char *asked, *algorithms;
	const char *shard;
	double groups, members;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column columns[] = {
	{"run", FAB_UINT, "number of the run", 0, AT(run.id)},
	{"time", FAB_TEXT, "when it ended, UTC", 0, AT(run.time)},
	{"command", FAB_TEXT, "what was run", 0, AT(run.command)},
	{"label", FAB_TEXT, "its --label", 0, AT(run.label)},
	{"source", FAB_TEXT, "the FABRIC argument", 0, AT(run.fabric.source)},
	FAB_COLUMN_AS(groups, NUMBER, "multicast groups", FAB_COL_EXTRA),
	FAB_COLUMN(algorithms, TEXT, "names, separated by blanks"),
	FAB_COLUMN(shard, TEXT, "K/N: part of a sweep; null: all of it"),
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

char *compare_shard_text(struct fab_arena *arena, const struct fab_store_run *run)
{
	return !run->n_shard ? NULL
			     : fab_arena_format(arena, "%" PRIu64 "/%" PRIu64,
						run->shard->number, run->shard->count);
}

struct fab_column compare_fact_column(const char *name)
{
	const char *end = strrchr(name, '_');

	return (struct fab_column){
		name, FAB_NUMBER, NULL,
		fab_unit_flags(end && !strcmp(end, "_bytes") ? "B" : NULL)};
}

char *compare_fact_text(struct fab_arena *arena, const struct fab_store_number *fact)
{
	struct fab_column column = compare_fact_column(fact->name);
	char *text = fab_cell_human(&column, (union fab_cell){.real = fact->value});

	fab_arena_own(arena, free, text);
	return text;
}

static void print_runs(struct fab_report *r, const struct fab_work *w)
{
	const struct fab_store_runs *runs =
		&((const struct compare_outcome *)w->outcome)->runs;

	fab_report_table_begin(r, "runs", "Runs", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < runs->n; i++) {
		const struct fab_store_run *run = &runs->v[i];
		struct record record = {
			.run = *run,
			.algorithms = fab_strdup(""),
			.shard = compare_shard_text(w->arena, run),
			.groups =
				fab_store_number_get(run->facts, run->n_facts, "groups"),
			.members =
				fab_store_number_get(run->facts, run->n_facts, "members"),
		};

		for (size_t k = 0; k < run->n_results; k++)
			fab_append(&record.algorithms, " ", "%s",
				   run->results[k].algorithm);
		for (size_t k = 0; k < run->n_asked; k++)
			fab_append(&record.asked, ", ", "%s %s", run->asked[k].name,
				   run->asked[k].value);
		for (size_t k = 0; k < run->n_facts; k++)
			if (run->facts[k].value != 0)
				fab_append(&record.asked, ", ", "%s %s",
					   run->facts[k].name,
					   compare_fact_text(w->arena, &run->facts[k]));
		fab_report_record(r, &record);
		free(record.asked);
		free(record.algorithms);
	}
	fab_report_table_end(r);
}

static int solve_list(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;

	return compare_find(w, !p->plot.path && !p->output.report, err);
}

static void report_list(struct fab_report *r, const struct fab_work *w)
{
	const struct fab_store_runs *runs =
		&((const struct compare_outcome *)w->outcome)->runs;

	if (runs->n)
		fab_report_answer(r, FAB_TONE_PLAIN, "%s; the last, %" PRIu64 ", of %s.",
				  fab_human_counted(w->arena, runs->n, "run", NULL),
				  runs->v[runs->n - 1].id, runs->v[runs->n - 1].time);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "No runs are kept here.");
	print_runs(r, w);
}

const struct fab_task compare_list = {
	.primary = "runs",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve_list,
	.files = compare_files,
	.report = report_list,
	.fini = compare_fini,
};

static int solve_prune(struct fab_work *w, struct fab_err *err)
{
	return compare_find(w, true, err);
}

static int apply_prune(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	struct compare_outcome *o = w->outcome;
	uint64_t *ids = FAB_ARENA_NEW(w->arena, o->runs.n, uint64_t);
	struct fab_store *store;
	int rc;

	o->is_removed = p->yes && o->runs.n;
	if (!o->is_removed)
		return 0;
	rc = fab_store_open(p->path, FAB_STORE_WRITE, &store, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < o->runs.n; i++)
		ids[i] = o->runs.v[i].id;
	rc = fab_store_remove(store, ids, o->runs.n, err);
	fab_store_close(store);
	return rc;
}

static void report_prune(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_outcome *o = w->outcome;
	const struct fab_store_run *v = o->runs.v;
	size_t n = o->runs.n;

	if (n)
		fab_report_answer(r, o->is_removed ? FAB_TONE_PLAIN : FAB_TONE_WARN,
				  "%s %s, from %" PRIu64 " of %s to %" PRIu64 " of %s.%s",
				  fab_human_counted(w->arena, n, "run", NULL),
				  o->is_removed ? "removed" : "would go", v[0].id,
				  v[0].time, v[n - 1].id, v[n - 1].time,
				  o->is_removed ? ""
						: " Nothing was removed: add --yes.");
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "No run is to go.");
	fab_report_field(r,
			 &(struct fab_column){"removed", FAB_BOOL, NULL, FAB_COL_EXTRA},
			 (union fab_cell){.u = o->is_removed});
	print_runs(r, w);
}

const struct fab_task compare_prune = {
	.primary = "runs",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct compare_outcome),
	.solve = solve_prune,
	.apply = apply_prune,
	.report = report_prune,
	.fini = compare_fini,
};

/* The shards that were found, and the run that they are together. */
struct merge {
	struct fab_store_runs *files; /* [n_files] */
	size_t n_files;
	FAB_VEC(struct fab_merge_part) parts;
	struct fab_store_run merged;
	uint64_t id; /* of the run */
};

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* The shards of a file that pass; a file without any is one too many. */
static int read_shards(struct merge *m, const char *path, const struct compare_params *p,
		       struct fab_err *err)
{
	struct fab_store_runs *runs = &m->files[m->n_files++];
	size_t before = m->parts.n;
	int rc = compare_read(path, &p->filter, runs, err);

	for (size_t i = 0; !rc && i < runs->n; i++)
		if (runs->v[i].n_shard)
			FAB_PUSH(&m->parts, ((struct fab_merge_part){&runs->v[i], path}));
	if (!rc && m->parts.n == before)
		rc = fab_fail(
			err, ENOENT,
			"%s: no shard of a sweep%s: --shard=K/N with --store makes them",
			path, compare_among(p));
	return rc;
}

static int solve_merge(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	struct merge *m = w->outcome;
	int rc = 0;

	m->files = FAB_ARENA_NEW0(w->arena, p->args.n + 1, struct fab_store_runs);
	if (!p->args.n)
		rc = read_shards(m, p->path, p, err);
	for (size_t i = 0; i < p->args.n && !rc; i++)
		rc = is_same_file(p->path, p->args.v[i])
			     ? fab_fail(
				       err, EINVAL,
				       "%s: is the database that is written: --merge without files merges the shards in it",
				       p->args.v[i])
			     : read_shards(m, p->args.v[i], p, err);
	return rc ? rc
		  : fab_store_merge(m->parts.v, m->parts.n, m->files[0].kinds,
				    m->files[0].n_kinds, w->arena, &m->merged, err);
}

/* Store the run; its shards go where they lie in the same database. */
static int apply_merge(struct fab_work *w, struct fab_err *err)
{
	const struct compare_params *p = w->params;
	struct merge *m = w->outcome;
	uint64_t *ids = FAB_ARENA_NEW(w->arena, m->parts.n, uint64_t);
	struct fab_store *store = NULL;
	int rc = fab_store_open(p->path, FAB_STORE_WRITE, &store, err);

	for (size_t i = 0; i < m->parts.n; i++)
		ids[i] = m->parts.v[i].run->id;
	if (!rc)
		rc = fab_store_replace(store, ids, p->args.n ? 0 : m->parts.n, &m->merged,
				       &m->id, err);
	fab_store_close(store);
	return rc;
}

struct merged {
	const char *unit, *run_command, *arguments;
	uint64_t run, shards, items;
};

#define AT(member) FAB_AT(struct merged, member)
static const struct fab_column merged_columns[] = {
	{"run", FAB_UINT, "number that it got", 0, AT(run)},
	{"shards", FAB_UINT, "that it is made of", 0, AT(shards)},
	{"items", FAB_UINT, "of all of them together", 0, AT(items)},
	{"unit", FAB_TEXT, "what the items are", 0, AT(unit)},
	{"run_command", FAB_TEXT, "command that the shards are of", 0, AT(run_command)},
	{"arguments", FAB_TEXT, "what they have in common", 0, AT(arguments)},
};
#undef AT

static void report_merge(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_params *p = w->params;
	const struct merge *m = w->outcome;
	const struct fab_store_shard *shard = m->parts.v[0].run->shard;
	const struct merged row = {
		.run = m->id,
		.shards = m->parts.n,
		.items = shard->all_items,
		.unit = shard->unit,
		.run_command = m->parts.v[0].run->command,
		.arguments = shard->job,
	};
	char items[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, FAB_TONE_GOOD, "All %zu shards are merged as run %" PRIu64 ": %s %s.",
		m->parts.n, m->id, fab_human_count(shard->all_items, items), shard->unit);
	if (!p->args.n)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "It takes the place of their runs in %s.", p->path);
	fab_report_table(r, "merged", "Merged", merged_columns, FAB_COUNT(merged_columns),
			 &row, sizeof(row), 1);
}

static void fini_merge(void *outcome)
{
	struct merge *m = outcome;

	for (size_t i = 0; i < m->n_files; i++)
		fab_store_runs_fini(&m->files[i]);
	free(m->parts.v);
}

const struct fab_task compare_merge = {
	.primary = "merged",
	FAB_TASK_COLUMNS(merged_columns),
	.outcome_bytes = sizeof(struct merge),
	.solve = solve_merge,
	.apply = apply_merge,
	.report = report_merge,
	.fini = fini_merge,
};
