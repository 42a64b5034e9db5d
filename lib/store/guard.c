/* SPDX-License-Identifier: BSD-2-Clause */
/* The file comes from anywhere: what could run in it is switched off or refused. */
#include <errno.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/store_impl.h"

enum {
	MAX_BYTES = 1 << 26,
	MAX_EXPRESSION_DEPTH = 100,
	STEPS_BETWEEN_LOOKS = 10000, /* some 0.1 ms */
	STEP_SECONDS = 120,	     /* longer than others are waited for */
};

static int is_late(void *context)
{
	const struct fab_store *store = context;

	return fab_now() > store->deadline;
}

void fab_store_step(struct fab_store *store)
{
	store->deadline = fab_now() + store->step_s;
}

void fab_store_guard(struct fab_store *store)
{
	sqlite3 *db = store->db;

	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_BYTES);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, MAX_EXPRESSION_DEPTH);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	if (!store->step_s)
		store->step_s = STEP_SECONDS;
	fab_store_step(store);
	sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, is_late, store);
}

/* What stands in the file under the name: 0 when it is a plain table or nothing. */
static int check_table(struct fab_store *store, sqlite3_stmt *find, const char *name,
		       struct fab_err *err)
{
	int rc;

	sqlite3_reset(find);
	sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
	fab_store_step(store);
	while ((rc = sqlite3_step(find)) == SQLITE_ROW) {
		bool is_table = sqlite3_column_int(find, 0), has_pages;

		has_pages = sqlite3_column_int64(find, 1) > 0;
		if (!is_table || !has_pages)
			return fab_fail(err, EINVAL,
					"%s: %s is %s, expected a table: the file was "
					"not made by this program",
					store->path, name,
					is_table ? "a virtual table" : "a view");
	}
	return rc == SQLITE_DONE ? 0 : fab_store_fail(store, rc, "read", err);
}

static int check_all(struct fab_store *store, sqlite3 *model, struct fab_err *err)
{
	sqlite3_stmt *names = NULL, *find = NULL;
	int rc = sqlite3_prepare_v2(store->db,
				    "SELECT type = 'table', rootpage FROM sqlite_master "
				    "WHERE lower(name) = ? AND type IN ('table', 'view')",
				    -1, &find, NULL);

	if (rc == SQLITE_OK && sqlite3_prepare_v2(model,
						  "SELECT lower(name) FROM sqlite_master "
						  "WHERE type = 'table'",
						  -1, &names, NULL) != SQLITE_OK)
		fab_oom(0);
	rc = rc == SQLITE_OK ? 0 : fab_store_fail(store, rc, "read", err);
	while (!rc && sqlite3_step(names) == SQLITE_ROW)
		rc = check_table(store, find, (const char *)sqlite3_column_text(names, 0),
				 err);
	sqlite3_finalize(find);
	sqlite3_finalize(names);
	return rc;
}

int fab_store_check_tables(struct fab_store *store, const char *create,
			   struct fab_err *err)
{
	sqlite3 *model = NULL;
	int rc;

	/* the names are those of the schema itself */
	if (sqlite3_open(":memory:", &model) != SQLITE_OK ||
	    sqlite3_exec(model, create, NULL, NULL, NULL) != SQLITE_OK)
		fab_oom(0);
	rc = check_all(store, model, err);
	sqlite3_close(model);
	return rc;
}
