/* SPDX-License-Identifier: BSD-2-Clause */
/* --merge: shards of a sweep as the run that they are together. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/human.h"
#include "base/mem.h"
#include "compare.h"
#include "store/merge.h"

/* The shards that were found, and what they live in. */
struct found {
	struct fab_store_runs *files; /* [n_files] */
	size_t n_files;
	FAB_VEC(struct fab_merge_part) parts;
};

const char *compare_shard_text(const struct fab_store_run *run, char *out, size_t size)
{
	if (!run->n_shard)
		return NULL;
	snprintf(out, size, "%" PRIu64 "/%" PRIu64, run->shard->number,
		 run->shard->count);
	return out;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* The shards of a file that pass; a file without any is one too many. */
static void read_file(struct found *f, const char *path, const struct compare_merge *p)
{
	struct fab_store_runs *runs = &f->files[f->n_files++];
	size_t before = f->parts.n;

	compare_read(path, p->filter, p->run, runs);
	for (size_t i = 0; i < runs->n; i++)
		if (runs->v[i].n_shard)
			FAB_PUSH(&f->parts, ((struct fab_merge_part){&runs->v[i], path}));
	if (f->parts.n == before)
		fab_cli_exit(FAB_EXIT_ERROR,
			     "%s: no shard of a sweep that passes: --shard=K/N with "
			     "--store makes them",
			     path);
}

static void find_shards(const struct compare_merge *p, struct found *f)
{
	f->files = FAB_NEW0(p->n_files + 1, struct fab_store_runs);
	if (!p->n_files)
		read_file(f, p->path, p);
	for (size_t i = 0; i < p->n_files; i++) {
		if (is_same_file(p->path, p->files[i]))
			fab_cli_exit(FAB_EXIT_ERROR,
				     "%s: is the database that is written: --merge "
				     "without files merges the shards in it",
				     p->files[i]);
		read_file(f, p->files[i], p);
	}
}

/* Store the run; its shards go where they lie in the same database. */
static uint64_t store_run(const struct compare_merge *p, const struct found *f,
			  const struct fab_store_run *run)
{
	uint64_t *ids = FAB_NEW(f->parts.n + 1, uint64_t), id;
	struct fab_store *store;
	struct fab_err err;

	for (size_t i = 0; i < f->parts.n; i++)
		ids[i] = f->parts.v[i].run->id;
	if (fab_store_open(p->path, FAB_STORE_WRITE, &store, &err) != 0 ||
	    fab_store_replace(store, ids, p->n_files ? 0 : f->parts.n, run, &id, &err) !=
		    0)
		fab_cli_die(&err);
	fab_store_close(store);
	free(ids);
	return id;
}

/* A row of a table. */
struct record {
	const char *unit, *run_command, *arguments;
	uint64_t run, shards, items;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(run, UINT, "number that it got"),
	FAB_COLUMN(shards, UINT, "that it is made of"),
	FAB_COLUMN(items, UINT, "of all of them together"),
	FAB_COLUMN(unit, TEXT, "what the items are"),
	FAB_COLUMN(run_command, TEXT, "command that the shards are of"),
	FAB_COLUMN(arguments, TEXT, "what they have in common"),
};

struct compare_columns compare_merge_columns(void)
{
	return (struct compare_columns){columns, FAB_COUNT(columns)};
}

static int report(FILE *out, const struct fab_report_options *options,
		  const struct compare_merge *p, const struct found *f, uint64_t id,
		  struct fab_err *err)
{
	const struct fab_store_shard *shard = f->parts.v[0].run->shard;
	struct fab_report *r =
		fab_report_new(out, options, "fabric-compare", "merged", NULL);
	const struct record row = {
		.run = id,
		.shards = f->parts.n,
		.items = shard->all_items,
		.unit = shard->unit,
		.run_command = f->parts.v[0].run->command,
		.arguments = shard->job,
	};
	char items[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, FAB_TONE_GOOD, "All %zu shards are merged as run %" PRIu64 ": %s %s.",
		f->parts.n, id, fab_human_count(shard->all_items, items), shard->unit);
	if (!p->n_files)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "It takes the place of their runs in %s.", p->path);
	fab_report_table_begin(r, "merged", "Merged", columns, FAB_COUNT(columns));
	fab_report_record(r, &row);
	fab_report_table_end(r);
	return fab_report_finish(r, err);
}

void compare_merge(const struct compare_merge *p, const struct fab_cli_output *output)
{
	struct found f = {0};
	struct fab_merged merged;
	struct fab_cli_sink sink;
	struct fab_report_options options;
	struct fab_err err;
	uint64_t id;

	find_shards(p, &f);
	if (fab_store_merge(f.parts.v, f.parts.n, f.files[0].kinds, f.files[0].n_kinds,
			    &merged, &err))
		fab_cli_die(&err);
	fab_cli_open_sink(&sink, output->path);
	id = store_run(p, &f, &merged.run);
	options = fab_cli_report_options(output, &sink);
	if (report(sink.file, &options, p, &f, id, &err))
		fab_cli_die(&err);
	fab_cli_commit_sink(&sink);
	fab_merged_fini(&merged);
	for (size_t i = 0; i < f.n_files; i++)
		fab_store_runs_fini(&f.files[i]);
	free(f.files);
	free(f.parts.v);
}
