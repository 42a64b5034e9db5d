/* SPDX-License-Identifier: BSD-2-Clause */
/* --merge: shards of a sweep as the run that they are together. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/human.h"
#include "base/mem.h"
#include "compare.h"

/* The shards that were found, and what they live in. */
struct found {
	struct fab_store_runs *files; /* [n_files] */
	size_t n_files;
	FAB_VEC(struct fab_merge_part) parts;
	struct fab_store_run merged;
	uint64_t id; /* of the run */
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
static int read_file(struct found *f, const char *path, const struct compare_params *p,
		     struct fab_err *err)
{
	struct fab_store_runs *runs = &f->files[f->n_files++];
	size_t before = f->parts.n;
	int rc = compare_read(path, &p->filter, runs, err);

	for (size_t i = 0; !rc && i < runs->n; i++)
		if (runs->v[i].n_shard)
			FAB_PUSH(&f->parts, ((struct fab_merge_part){&runs->v[i], path}));
	if (!rc && f->parts.n == before)
		rc = fab_fail(err, ENOENT,
			      "%s: no shard of a sweep%s: --shard=K/N with --store makes "
			      "them",
			      path, compare_among(p));
	return rc;
}

static int find_shards(const struct compare_params *p, struct found *f,
		       struct fab_err *err)
{
	int rc = 0;

	f->files = FAB_NEW0(p->args.n + 1, struct fab_store_runs);
	if (!p->args.n)
		return read_file(f, p->path, p, err);
	for (size_t i = 0; i < p->args.n && !rc; i++) {
		if (is_same_file(p->path, p->args.v[i]))
			return fab_fail(err, EINVAL,
					"%s: is the database that is written: --merge "
					"without files merges the shards in it",
					p->args.v[i]);
		rc = read_file(f, p->args.v[i], p, err);
	}
	return rc;
}

/* Store the run; its shards go where they lie in the same database. */
static int store_run(const struct compare_params *p, const struct found *f,
		     const struct fab_store_run *run, uint64_t *id, struct fab_err *err)
{
	uint64_t *ids = FAB_NEW(f->parts.n + 1, uint64_t);
	struct fab_store *store = NULL;
	int rc = fab_store_open(p->path, FAB_STORE_WRITE, &store, err);

	for (size_t i = 0; i < f->parts.n; i++)
		ids[i] = f->parts.v[i].run->id;
	if (!rc)
		rc = fab_store_replace(store, ids, p->args.n ? 0 : f->parts.n, run, id,
				       err);
	fab_store_close(store);
	free(ids);
	return rc;
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

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct found *f = w->outcome;
	int rc = find_shards(w->params, f, err);

	return rc ? rc
		  : fab_store_merge(f->parts.v, f->parts.n, f->files[0].kinds,
				    f->files[0].n_kinds, w->arena, &f->merged, err);
}

static int apply(struct fab_work *w, struct fab_err *err)
{
	struct found *f = w->outcome;

	return store_run(w->params, f, &f->merged, &f->id, err);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct compare_params *p = w->params;
	const struct found *f = w->outcome;
	const struct fab_store_shard *shard = f->parts.v[0].run->shard;
	const struct record row = {
		.run = f->id,
		.shards = f->parts.n,
		.items = shard->all_items,
		.unit = shard->unit,
		.run_command = f->parts.v[0].run->command,
		.arguments = shard->job,
	};
	char items[FAB_HUMAN_BYTES];

	fab_report_answer(
		r, FAB_TONE_GOOD, "All %zu shards are merged as run %" PRIu64 ": %s %s.",
		f->parts.n, f->id, fab_human_count(shard->all_items, items), shard->unit);
	if (!p->args.n)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "It takes the place of their runs in %s.", p->path);
	fab_report_table(r, "merged", "Merged", columns, FAB_COUNT(columns), &row,
			 sizeof(row), 1);
}

static void fini(void *outcome)
{
	struct found *f = outcome;

	for (size_t i = 0; i < f->n_files; i++)
		fab_store_runs_fini(&f->files[i]);
	free(f->files);
	free(f->parts.v);
}

const struct fab_task compare_merge = {
	.primary = "merged",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct found),
	.solve = solve,
	.apply = apply,
	.report = report,
	.fini = fini,
};
