/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding a run in one transaction, and removing runs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "store/internal.h"

/* A statement for each kind of rows, made when the first one comes. */
struct adding {
	struct fab_store *store;
	struct fab_statement inserts[FAB_N_ROWS];
};

static void bind_field(struct fab_statement *in, const struct fab_field *field,
		       const char *row)
{
	const void *at = row + field->offset;
	char hex[32];

	switch (field->type) {
	case FAB_FIELD_ID:
		return;
	case FAB_FIELD_UINT:
		fab_statement_bind_uint(in, *(const uint64_t *)at);
		return;
	case FAB_FIELD_HEX:
		snprintf(hex, sizeof(hex), "0x%016" PRIx64, *(const uint64_t *)at);
		fab_statement_bind_text(in, hex);
		return;
	case FAB_FIELD_REAL:
		fab_statement_bind_real(in, *(const double *)at);
		return;
	case FAB_FIELD_NUMBER:
		if (fabs(*(const double *)at) <= 0x1p53 &&
		    floor(*(const double *)at) == *(const double *)at)
			fab_statement_bind_uint(in,
						(uint64_t)(int64_t) * (const double *)at);
		else
			fab_statement_bind_real(in, *(const double *)at);
		return;
	default:
		fab_statement_bind_text(in, *(const char *const *)at);
	}
}

static void add_list(struct adding *a, int which, uint64_t owner_id, const char *owner);

/* A row and all that belongs to it; returns its id. */
static uint64_t add_row(struct adding *a, int which, uint64_t owner_id, size_t place,
			const char *row)
{
	const struct fab_rows_kind *kind = &fab_rows_kinds[which];
	struct fab_statement *in = &a->inserts[which];
	uint64_t id;

	if (!in->of && in->rc == SQLITE_OK) {
		FAB_AUTOFREE char *sql = NULL;
		size_t size, n = kind->owner_column != NULL;
		FILE *out = fab_text_stream(&sql, &size);

		fprintf(out, "INSERT INTO %s (%s", kind->table,
			n ? kind->owner_column : "");
		if (kind->has_place)
			fprintf(out, ", position"), n++;
		for (size_t i = 0; i < kind->n_fields; i++)
			if (kind->fields[i].type != FAB_FIELD_ID)
				fprintf(out, "%s%s", n++ ? ", " : "",
					kind->fields[i].name);
		fputs(") SELECT ?", out);
		for (size_t i = 1; i < n; i++)
			fputs(", ?", out);
		if (kind->is_last_needed)
			fprintf(out, " WHERE ?%zu IS NOT NULL", n);
		fclose(out);
		fab_statement_init(in, a->store, "write", sql);
	}
	if (kind->owner_column)
		fab_statement_bind_uint(in, owner_id);
	if (kind->has_place)
		fab_statement_bind_uint(in, place);
	for (size_t i = 0; i < kind->n_fields; i++)
		bind_field(in, &kind->fields[i], row);
	fab_statement_next(in);
	id = (uint64_t)sqlite3_last_insert_rowid(a->store->db);
	for (int k = 0; k < FAB_N_ROWS && in->rc == SQLITE_OK; k++)
		if (fab_rows_kinds[k].owner == which)
			add_list(a, k, id, row);
	return id;
}

static void add_list(struct adding *a, int which, uint64_t owner_id, const char *owner)
{
	const struct fab_rows_kind *kind = &fab_rows_kinds[which];
	const char *rows = *(const char *const *)(const void *)(owner + kind->list);
	size_t n = *(const size_t *)(const void *)(owner + kind->n);

	for (size_t i = 0; i < n && a->inserts[which].rc == SQLITE_OK; i++)
		add_row(a, which, owner_id, i, rows + i * kind->size);
}

/* In a transaction: remove runs; EBUSY when one that must exist does not. */
static int take_out(struct fab_store *store, const uint64_t *ids, size_t n,
		    bool must_exist, struct fab_err *err)
{
	struct fab_statement s;
	int rc = 0, second;

	fab_statement_init(&s, store, "write", "DELETE FROM run WHERE id = ?");
	for (size_t i = 0; i < n && s.rc == SQLITE_OK && !rc; i++) {
		fab_progress_report("removing", "runs", i, n);
		fab_statement_bind_uint(&s, ids[i]);
		fab_statement_next(&s);
		if (s.rc == SQLITE_OK && must_exist && !sqlite3_changes(store->db))
			rc = fab_fail(
				err, EBUSY,
				"%s: run %llu is not there any more: another program has removed it",
				store->path, (unsigned long long)ids[i]);
	}
	second = fab_statement_fini(&s, rc ? NULL : err);
	return rc ? rc : second;
}

int fab_store_add(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		  struct fab_err *err)
{
	return fab_store_replace(store, NULL, 0, run, id, err);
}

int fab_store_replace(struct fab_store *store, const uint64_t *ids, size_t n_ids,
		      const struct fab_store_run *run, uint64_t *id, struct fab_err *err)
{
	struct adding a = {.store = store};
	uint64_t run_id = 0;
	struct stat st;
	int rc = store->db ? 0 : fab_store_make(store, err), has_moved = 0;

	if (!rc)
		rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);
	if (!rc && store->lacks_schema)
		rc = fab_store_bring_up(store, err);
	if (!rc)
		run_id = add_row(&a, FAB_ROWS_RUN, 0, 0, (const char *)run);
	for (size_t i = 0; i < FAB_N_ROWS; i++) {
		int one = a.inserts[i].store
				  ? fab_statement_fini(&a.inserts[i], rc ? NULL : err)
				  : 0;

		rc = rc ? rc : one;
	}
	if (!rc) {
		static const char *const better[] = {"less", NULL, "more"};
		static const char *const merge[] = {[FAB_MERGE_SUM] = "sum",
						    [FAB_MERGE_MAX] = "max",
						    [FAB_MERGE_ALL] = "all"};
		struct fab_statement in;

		/* The kinds of metrics of the run; the first of a name counts. A kind
		 * that is there already is not written. */
		fab_statement_init(
			&in, store, "write",
			"INSERT INTO metric_kind (command, name, position, better, is_time, unit, help, merge) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (command, name) DO UPDATE SET position = excluded.position, better = excluded.better, is_time = excluded.is_time, unit = excluded.unit, help = excluded.help, merge = excluded.merge WHERE (position, better, is_time, unit, help, merge) IS NOT (excluded.position, excluded.better, excluded.is_time, excluded.unit, excluded.help, excluded.merge)");
		/* backwards: the first of a name is written last */
		for (size_t i = run->n_kinds; i-- > 0;) {
			const struct fab_store_kind *k = &run->kinds[i];

			if (k->command && strcmp(k->command, run->command) != 0)
				continue;
			fab_statement_bind_text(&in, run->command);
			fab_statement_bind_text(&in, k->name);
			fab_statement_bind_uint(&in, i + 1);
			fab_statement_bind_text(&in, better[k->better + 1]);
			fab_statement_bind_uint(&in, k->is_time);
			fab_statement_bind_text(&in, k->unit);
			fab_statement_bind_text(&in, k->help);
			fab_statement_bind_text(&in, merge[k->merge]);
			fab_statement_next(&in);
		}
		rc = fab_statement_fini(&in, err);
	}
	if (!rc && n_ids)
		rc = take_out(store, ids, n_ids, true, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	/* who made the file and failed has removed it: what was written is in none */
	if (!rc &&
	    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) ==
		    SQLITE_OK &&
	    has_moved)
		rc = fab_fail(err, ENOENT,
			      "%s: was removed or renamed while the run was written",
			      store->path);
	if (rc) {
		if (store->db)
			fab_store_rollback(store);
		/* a file that we made and that holds nothing yet goes */
		if (store->is_new && stat(store->path, &st) == 0 && !st.st_size)
			unlink(store->path);
		return rc;
	}
	store->is_new = store->lacks_schema = false;
	if (id)
		*id = run_id;
	return 0;
}

int fab_store_remove(struct fab_store *store, const uint64_t *ids, size_t n,
		     struct fab_err *err)
{
	int rc, before;

	if (!store->db || !n)
		return 0;
	rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);
	if (!rc)
		rc = take_out(store, ids, n, false, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	if (rc) {
		fab_store_rollback(store);
		return rc;
	}
	/* SQLite builds the smaller file in one that it attaches */
	before = sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 1);
	rc = fab_store_exec(store, "VACUUM", "shrink the file", err);
	sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, before);
	return rc;
}
