/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The database: its errors as sentences, statements, opening and making the file. The
 * file may come from anywhere: what could run in it is switched off or refused, no
 * statement takes longer than a limit, and no value is trusted.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/progress.h"
#include "schema_sql.h"
#include "store/internal.h"

/* SCHEMA: the user_version in data/schema.sql */
enum {
	APPLICATION_ID = 0x6661626b,
	SCHEMA = 1,
	BUSY_MS = 60000,
	MAX_BYTES = 1 << 26,
	MAX_EXPRESSION_DEPTH = 100,
	STEPS_BETWEEN_LOOKS = 10000, /* some 0.1 ms */
	STEP_SECONDS = 120,	     /* longer than others are waited for */
};

/* `PATH: sentence` for what SQLite has just returned. `doing`: "read" or "write". */
static int store_fail(const struct fab_store *store, int rc, const char *doing,
		      struct fab_err *err)
{
	int errnum = EIO;

	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		fab_oom(0);
	case SQLITE_NOTADB:
		return fab_fail(err, EINVAL,
				"%s: is no database of results: not written by SQLite",
				store->path);
	case SQLITE_CORRUPT:
		return fab_fail(err, EINVAL, "%s: the database is damaged: %s",
				store->path, sqlite3_errmsg(store->db));
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return fab_fail(
			err, EBUSY,
			"%s: cannot %s: another program keeps the database locked",
			store->path, doing);
	case SQLITE_INTERRUPT:
		return fab_fail(err, ETIMEDOUT,
				"%s: cannot %s: a statement has not ended within %g s",
				store->path, doing, store->step_s);
	case SQLITE_READONLY:
		return fab_fail(err, EROFS,
				"%s: cannot %s: the file or its folder is read-only",
				store->path, doing);
	case SQLITE_FULL:
		errnum = ENOSPC;
		break;
	case SQLITE_CANTOPEN:
		doing = "open";
		errnum = ENOENT;
		/* fall through */
	case SQLITE_IOERR: /* of the last call that failed */
		if (sqlite3_system_errno(store->db))
			errnum = sqlite3_system_errno(store->db);
		break;
	default:
		return fab_fail(err, EINVAL, "%s: cannot %s: %s", store->path, doing,
				sqlite3_errmsg(store->db));
	}
	return fab_fail(err, errnum, "%s: cannot %s: %s", store->path, doing,
			strerror(errnum));
}

/* A statement begins: from now on it has step_s seconds. */
static void begin_step(struct fab_store *store)
{
	store->deadline = fab_now() + store->step_s;
}

int fab_store_exec(struct fab_store *store, const char *sql, const char *doing,
		   struct fab_err *err)
{
	int rc;

	begin_step(store);
	rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : store_fail(store, rc, doing, err);
}

void fab_store_rollback(struct fab_store *store)
{
	/* after a full disk SQLite may have rolled back already */
	if (!sqlite3_get_autocommit(store->db)) {
		begin_step(store);
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	}
}

void fab_statement_init(struct fab_statement *s, struct fab_store *store,
			const char *doing, const char *sql)
{
	*s = (struct fab_statement){.store = store, .doing = doing};
	s->rc = sqlite3_prepare_v2(store->db, sql, -1, &s->of, NULL);
}

void fab_statement_bind_text(struct fab_statement *s, const char *text)
{
	if (s->rc == SQLITE_OK)
		s->rc = sqlite3_bind_text(s->of, ++s->n_bound, text, -1,
					  SQLITE_TRANSIENT);
}

void fab_statement_bind_uint(struct fab_statement *s, uint64_t value)
{
	if (s->rc == SQLITE_OK)
		s->rc = sqlite3_bind_int64(s->of, ++s->n_bound, (sqlite3_int64)value);
}

void fab_statement_bind_real(struct fab_statement *s, double value)
{
	if (s->rc != SQLITE_OK)
		return;
	s->n_bound++;
	s->rc = isfinite(value) ? sqlite3_bind_double(s->of, s->n_bound, value)
				: sqlite3_bind_null(s->of, s->n_bound);
}

bool fab_statement_next(struct fab_statement *s)
{
	if (s->rc != SQLITE_OK && s->rc != SQLITE_ROW)
		return false;
	begin_step(s->store);
	s->rc = sqlite3_step(s->of);
	if (s->rc == SQLITE_DONE)
		s->rc = sqlite3_reset(s->of);
	s->n_bound = 0;
	return s->rc == SQLITE_ROW;
}

int fab_statement_fini(struct fab_statement *s, struct fab_err *err)
{
	int rc = s->rc == SQLITE_OK || s->rc == SQLITE_ROW
			 ? 0
			 : store_fail(s->store, s->rc, s->doing, err);

	sqlite3_finalize(s->of);
	return rc;
}

const char *fab_statement_text(struct fab_statement *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s->of, column);

	if (!text && sqlite3_column_type(s->of, column) != SQLITE_NULL)
		fab_oom(0);
	return text ? fab_arena_strdup(s->arena, (const char *)text) : NULL;
}

const char *fab_statement_name(struct fab_statement *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s->of, column);

	for (size_t i = 0; text && i < s->n_names; i++)
		if (!strcmp(s->names[i], text))
			return s->names[i];
	text = fab_statement_text(s, column);
	if (text && s->n_names < FAB_STATEMENT_NAMES)
		s->names[s->n_names++] = text;
	return text ? text : "";
}

uint64_t fab_statement_uint(struct fab_statement *s, int column)
{
	sqlite3_int64 value = sqlite3_column_int64(s->of, column);

	return value < 0 ? 0 : (uint64_t)value;
}

/* A view or a virtual table in place of one of our tables runs what its maker wrote. */
static int check_tables(struct fab_store *store, struct fab_err *err)
{
	struct fab_statement s;
	int rc = 0, second;

	fab_statement_init(
		&s, store, "read",
		"SELECT lower(name), type = 'table' FROM sqlite_master WHERE type = 'view' OR (type = 'table' AND rootpage <= 0)");
	while (!rc && fab_statement_next(&s)) {
		const char *name = (const char *)sqlite3_column_text(s.of, 0);
		bool is_ours = name && !strcmp(name, "metric_kind");

		for (int i = 0; name && i < FAB_N_ROWS; i++)
			is_ours |= !strcmp(name, fab_rows_kinds[i].table);
		if (is_ours)
			rc = fab_fail(
				err, EINVAL,
				"%s: %s is %s, expected a table: the file was not made by this program",
				store->path, name,
				sqlite3_column_int(s.of, 1) ? "a virtual table"
							    : "a view");
	}
	second = fab_statement_fini(&s, rc ? NULL : err);
	return rc ? rc : second;
}

/* Is it ours, and of our schema? *is_empty: nothing is in it. */
static int check_content(struct fab_store *store, bool *is_empty, struct fab_err *err)
{
	static const char *const queries[] = {"PRAGMA application_id",
					      "PRAGMA user_version",
					      "SELECT count(*) FROM sqlite_master"};
	int64_t found[FAB_COUNT(queries)];
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(queries) && !rc; i++) {
		struct fab_statement s;

		fab_statement_init(&s, store, "read", queries[i]);
		found[i] = fab_statement_next(&s) ? sqlite3_column_int64(s.of, 0) : 0;
		rc = fab_statement_fini(&s, err);
	}
	if (rc)
		return rc;
	*is_empty = !found[0] && !found[1] && !found[2];
	if (*is_empty)
		return 0;
	if (found[0] != APPLICATION_ID)
		return fab_fail(
			err, EINVAL,
			"%s: is no database of results, but one of another program",
			store->path);
	if (found[1] != SCHEMA)
		return fab_fail(
			err, EINVAL,
			"%s: has schema %" PRId64
			", and this program has %d: it is of another version of fabkit",
			store->path, found[1], SCHEMA);
	return check_tables(store, err);
}

/* Make it under the lock of a writer, if no other writer has. */
int fab_store_bring_up(struct fab_store *store, struct fab_err *err)
{
	bool is_empty;
	int rc = check_content(store, &is_empty, err);

	return !rc && is_empty ? fab_store_exec(store, schema_sql, "write", err) : rc;
}

static int is_late(void *context)
{
	const struct fab_store *store = context;

	return fab_now() > store->deadline;
}

/* Nothing in the schema of the file may do more than hold data: switch off what could,
 * and bound what a statement takes. */
static int configure(struct fab_store *store, enum fab_store_mode mode,
		     struct fab_err *err)
{
	sqlite3 *db = store->db;

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_BYTES);
	sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, MAX_EXPRESSION_DEPTH);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	begin_step(store);
	sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, is_late, store);
	if (mode == FAB_STORE_WRITE && sqlite3_db_readonly(db, "main") == 1)
		return store_fail(store, SQLITE_READONLY, "write", err);
	return fab_store_exec(
		store,
		mode == FAB_STORE_WRITE
			? "PRAGMA synchronous = EXTRA;PRAGMA foreign_keys = ON;PRAGMA cell_size_check = ON"
			: "PRAGMA cell_size_check = ON;",
		"read", err);
}

static int check_schema(struct fab_store *store, enum fab_store_mode mode,
			struct fab_err *err)
{
	bool is_empty;
	int rc = check_content(store, &is_empty, err);

	if (rc || !is_empty)
		return rc;
	if (mode == FAB_STORE_READ)
		return fab_fail(err, EINVAL, "%s: is empty: no run was stored in it",
				store->path);
	rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);
	if (!rc)
		rc = fab_store_bring_up(store, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	if (rc)
		fab_store_rollback(store);
	return rc;
}

/* Files for which the message of SQLite would not help. */
static int check_file(const char *path, enum fab_store_mode mode, struct fab_err *err)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	char *folder;
	int errnum = 0;

	if (!*path)
		return fab_fail(err, EINVAL, "the name of the database is empty");
	if (stat(path, &st) != 0) {
		if (errno != ENOENT || mode == FAB_STORE_READ)
			return fab_fail(err, errno, "%s: cannot open: %s", path,
					strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		return fab_fail(err, EINVAL, "%s: is no database: not a regular file",
				path);
	} else if (access(path, mode == FAB_STORE_READ ? R_OK : R_OK | W_OK) != 0) {
		return fab_fail(err, errno, "%s: cannot %s: %s", path,
				mode == FAB_STORE_READ ? "read" : "write",
				strerror(errno));
	}
	if (mode == FAB_STORE_READ)
		return 0;
	/* the journal needs a place */
	folder = slash ? fab_strndup(path, (size_t)(slash + 1 - path)) : fab_strdup(".");
	if (access(folder, W_OK | X_OK) != 0)
		errnum = errno;
	free(folder);
	if (errnum)
		return fab_fail(err, errnum, "%s: cannot write in its folder: %s", path,
				strerror(errnum));
	return 0;
}

static int connect_to(struct fab_store *store, enum fab_store_mode mode,
		      struct fab_err *err)
{
	/* reading needs to write as well: the journal of a writer that was killed */
	int flags = SQLITE_OPEN_READWRITE |
		    (mode == FAB_STORE_WRITE ? SQLITE_OPEN_CREATE : 0);
	/* ":memory:" is a name like any other */
	FAB_AUTOFREE char *name =
		fab_format("%s%s", *store->path == '/' ? "" : "./", store->path);
	int rc = sqlite3_open_v2(name, &store->db, flags, NULL);

	if (!store->db)
		fab_oom(0);
	return rc == SQLITE_OK ? configure(store, mode, err)
			       : store_fail(store, rc, "open", err);
}

int fab_store_make(struct fab_store *store, struct fab_err *err)
{
	struct stat st;

	store->is_new = stat(store->path, &st) != 0;
	return connect_to(store, FAB_STORE_WRITE, err);
}

int fab_store_open(const char *path, enum fab_store_mode mode, struct fab_store **out,
		   struct fab_err *err)
{
	struct fab_store *store;
	struct stat st;
	int rc = check_file(path, mode, err);

	if (rc)
		return rc;
	store = FAB_NEW0(1, struct fab_store);
	store->path = fab_strdup(path);
	store->step_s = STEP_SECONDS;
	/* what fails before it has a result leaves no file */
	store->lacks_schema = mode == FAB_STORE_WRITE && stat(path, &st) != 0;
	if (!store->lacks_schema)
		rc = connect_to(store, mode, err);
	if (!rc && store->db)
		rc = check_schema(store, mode, err);
	if (rc)
		fab_store_close(store);
	else
		*out = store;
	return rc;
}

void fab_store_limit(struct fab_store *store, double seconds)
{
	store->step_s = seconds;
}

void fab_store_close(struct fab_store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}
