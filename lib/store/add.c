/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding a run: one transaction. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/rows.h"
#include "store/store_impl.h"

/* A statement that is run for many rows; remembers the first failure. */
struct insert {
	struct fab_store *store;
	sqlite3_stmt *statement;
	int column; /* bound so far */
	int rc;
};

static void insert_init(struct insert *in, struct fab_store *store, const char *sql)
{
	*in = (struct insert){.store = store};
	in->rc = sqlite3_prepare_v2(store->db, sql, -1, &in->statement, NULL);
}

static void bind_text(struct insert *in, const char *text)
{
	if (in->rc == SQLITE_OK) /* NULL becomes a null */
		in->rc = sqlite3_bind_text(in->statement, ++in->column, text, -1,
					   SQLITE_TRANSIENT);
}

static void bind_uint(struct insert *in, uint64_t value)
{
	if (in->rc == SQLITE_OK)
		in->rc = sqlite3_bind_int64(in->statement, ++in->column,
					    (sqlite3_int64)value);
}

/* What is not finite becomes a null. */
static void bind_real(struct insert *in, double value)
{
	if (in->rc != SQLITE_OK)
		return;
	in->column++;
	in->rc = isfinite(value) ? sqlite3_bind_double(in->statement, in->column, value)
				 : sqlite3_bind_null(in->statement, in->column);
}

/* Whole numbers as such: 4 and not 4.0. */
static void bind_number(struct insert *in, double value)
{
	if (fabs(value) <= 0x1p53 && floor(value) == value)
		bind_uint(in, (uint64_t)(int64_t)value);
	else
		bind_real(in, value);
}

static void run_insert(struct insert *in)
{
	if (in->rc != SQLITE_OK)
		return;
	fab_store_step(in->store);
	in->rc = sqlite3_step(in->statement);
	if (in->rc == SQLITE_DONE)
		in->rc = sqlite3_reset(in->statement);
	in->column = 0;
}

static int insert_fini(struct insert *in, struct fab_err *err)
{
	int rc =
		in->rc == SQLITE_OK ? 0 : fab_store_fail(in->store, in->rc, "write", err);

	sqlite3_finalize(in->statement);
	return rc;
}

/* A statement for each kind of rows, made when the first one comes. */
struct adding {
	struct fab_store *store;
	struct insert inserts[FAB_N_ROWS];
};

/* On the heap. */
static char *insert_of(const struct fab_rows_kind *kind)
{
	size_t size, n = kind->owner_column != NULL;
	char *sql;
	FILE *out = open_memstream(&sql, &size);

	if (!out)
		fab_oom(0);
	fprintf(out, "INSERT INTO %s (%s", kind->table, n ? kind->owner_column : "");
	if (kind->has_place)
		fprintf(out, ", position"), n++;
	for (size_t i = 0; i < kind->n_fields; i++)
		if (kind->fields[i].type != FAB_FIELD_ID)
			fprintf(out, "%s%s", n++ ? ", " : "", kind->fields[i].name);
	fputs(") SELECT ?", out);
	for (size_t i = 1; i < n; i++)
		fputs(", ?", out);
	if (kind->is_last_needed)
		fprintf(out, " WHERE ?%zu IS NOT NULL", n);
	fclose(out);
	return sql;
}

static void bind_field(struct insert *in, const struct fab_field *field, const char *row)
{
	const void *at = row + field->offset;
	char hex[32];

	switch (field->type) {
	case FAB_FIELD_ID:
		return;
	case FAB_FIELD_UINT:
		bind_uint(in, *(const uint64_t *)at);
		return;
	case FAB_FIELD_HEX:
		snprintf(hex, sizeof(hex), "0x%016" PRIx64, *(const uint64_t *)at);
		bind_text(in, hex);
		return;
	case FAB_FIELD_REAL:
		bind_real(in, *(const double *)at);
		return;
	case FAB_FIELD_NUMBER:
		bind_number(in, *(const double *)at);
		return;
	default:
		bind_text(in, *(const char *const *)at);
	}
}

static void add_list(struct adding *a, int which, uint64_t owner_id, const char *owner);

/* A row and all that belongs to it; returns its id. */
static uint64_t add_row(struct adding *a, int which, uint64_t owner_id, size_t place,
			const char *row)
{
	const struct fab_rows_kind *kind = &fab_rows_kinds[which];
	struct insert *in = &a->inserts[which];
	uint64_t id;

	if (!in->statement && in->rc == SQLITE_OK) {
		char *sql = insert_of(kind);

		insert_init(in, a->store, sql);
		free(sql);
	}
	if (kind->owner_column)
		bind_uint(in, owner_id);
	if (kind->has_place)
		bind_uint(in, place);
	for (size_t i = 0; i < kind->n_fields; i++)
		bind_field(in, &kind->fields[i], row);
	run_insert(in);
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

static int add_rows(struct fab_store *store, const struct fab_store_run *run,
		    uint64_t *id, struct fab_err *err)
{
	struct adding a = {.store = store};
	int rc = 0;

	*id = add_row(&a, FAB_ROWS_RUN, 0, 0, (const char *)run);
	for (size_t i = 0; i < FAB_N_ROWS; i++) {
		int one = a.inserts[i].store ? insert_fini(&a.inserts[i], rc ? NULL : err)
					     : 0;

		rc = rc ? rc : one;
	}
	return rc;
}

/* Counts are added up, but for those of which the largest counts. */
static const char *merge_of(const struct fab_column *c)
{
	if (c->flags & FAB_COL_MAX)
		return "max";
	if (c->type == FAB_BOOL)
		return "all";
	return c->type == FAB_UINT || c->metric == FAB_METRIC_TIME ? "sum" : NULL;
}

static const char *better_of(enum fab_metric metric)
{
	return metric == FAB_METRIC_PLAIN  ? NULL
	       : metric == FAB_METRIC_MORE ? "more"
					   : "less";
}

/* What the tables of a run say of metrics; the first of a name counts. Nothing is written
 * that is there already. */
static int add_kinds(struct fab_store *store, const struct fab_store_run *run,
		     struct fab_err *err)
{
	uint64_t position = 0;
	struct insert in;

	insert_init(&in, store,
		    "INSERT INTO metric_kind (command, name, position, better, is_time, "
		    "unit, help, merge) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
		    "ON CONFLICT (command, name) DO UPDATE SET position = "
		    "excluded.position, better = excluded.better, "
		    "is_time = excluded.is_time, unit = excluded.unit, "
		    "help = excluded.help, merge = excluded.merge "
		    "WHERE (position, better, is_time, unit, help, merge) IS NOT "
		    "(excluded.position, excluded.better, excluded.is_time, "
		    "excluded.unit, excluded.help, excluded.merge)");
	/* backwards: the first of a name is written last */
	for (size_t t = 0; t < run->n_tables; t++)
		position += run->tables[t].n;
	for (size_t t = run->n_tables; t-- > 0;)
		for (size_t i = run->tables[t].n; i-- > 0; position--) {
			const struct fab_column *c = &run->tables[t].columns[i];

			if (c->metric == FAB_NO_METRIC)
				continue;
			bind_text(&in, run->command);
			bind_text(&in, c->name);
			bind_uint(&in, position);
			bind_text(&in, better_of(c->metric));
			bind_uint(&in, c->metric == FAB_METRIC_TIME);
			bind_text(&in, fab_unit_name(c->flags));
			bind_text(&in, c->help);
			bind_text(&in, merge_of(c));
			run_insert(&in);
		}
	return insert_fini(&in, err);
}

/* Who made the file and failed has taken it away again: what was written is in none. */
static int check_place(struct fab_store *store, struct fab_err *err)
{
	int has_moved = 0;

	if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) ==
		    SQLITE_OK &&
	    has_moved)
		return fab_fail(err, ENOENT,
				"%s: was removed or renamed while the run was written",
				store->path);
	return 0;
}

/* A file that we made and that holds nothing yet goes. */
static void give_up(struct fab_store *store)
{
	struct stat st;

	if (store->db)
		fab_store_rollback(store);
	if (store->is_new && stat(store->path, &st) == 0 && !st.st_size)
		unlink(store->path);
}

int fab_store_add(struct fab_store *store, const struct fab_store_run *run, uint64_t *id,
		  struct fab_err *err)
{
	return fab_store_replace(store, NULL, 0, run, id, err);
}

int fab_store_replace(struct fab_store *store, const uint64_t *ids, size_t n_ids,
		      const struct fab_store_run *run, uint64_t *id, struct fab_err *err)
{
	uint64_t run_id = 0;
	int rc = store->db ? 0 : fab_store_make(store, err);

	if (!rc)
		rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);
	if (!rc && store->lacks_schema)
		rc = fab_store_bring_up(store, err);
	if (!rc)
		rc = add_rows(store, run, &run_id, err);
	if (!rc)
		rc = add_kinds(store, run, err);
	if (!rc && n_ids)
		rc = fab_store_take_out(store, ids, n_ids, true, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	if (!rc)
		rc = check_place(store, err);
	if (rc) {
		give_up(store);
		return rc;
	}
	store->is_new = store->lacks_schema = false;
	if (id)
		*id = run_id;
	return 0;
}
