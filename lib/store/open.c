/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening: whose file it is, which version of the schema it has, making it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "schema_sql.h"
#include "store/store_impl.h"

/* SCHEMA: the user_version in data/schema.sql */
enum { APPLICATION_ID = 0x6661626b, SCHEMA = 1, BUSY_MS = 60000 };

/* What there is in a file that SQLite can read. */
struct content {
	int64_t application_id, version, n_objects;
};

static int query_int(struct fab_store *store, const char *sql, int64_t *out,
		     struct fab_err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK) {
		fab_store_step(store);
		rc = sqlite3_step(statement);
	}
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return rc == SQLITE_ROW ? 0 : fab_store_fail(store, rc, "read", err);
}

static int look(struct fab_store *store, struct content *c, struct fab_err *err)
{
	int rc = query_int(store, "PRAGMA application_id", &c->application_id, err);

	if (!rc)
		rc = query_int(store, "PRAGMA user_version", &c->version, err);
	if (!rc)
		rc = query_int(store, "SELECT count(*) FROM sqlite_master", &c->n_objects,
			       err);
	return rc;
}

static bool is_empty(const struct content *c)
{
	return !c->application_id && !c->version && !c->n_objects;
}

/* Is it ours, and of our schema? */
static int check_content(struct fab_store *store, const struct content *c,
			 struct fab_err *err)
{
	if (c->application_id != APPLICATION_ID)
		return fab_fail(err, EINVAL,
				"%s: is no database of results, but one of another "
				"program",
				store->path);
	if (c->version != SCHEMA)
		return fab_fail(err, EINVAL,
				"%s: has schema %" PRId64
				", and this program has %d: it is of "
				"another version of fabkit",
				store->path, c->version, SCHEMA);
	return fab_store_check_tables(store, schema_sql, err);
}

/* Make it under the lock of a writer, if no other writer has. */
int fab_store_bring_up(struct fab_store *store, struct fab_err *err)
{
	struct content c = {0};
	int rc = look(store, &c, err);

	if (rc)
		return rc;
	return is_empty(&c) ? fab_store_exec(store, schema_sql, "write", err)
			    : check_content(store, &c, err);
}

static int bring_up(struct fab_store *store, struct fab_err *err)
{
	int rc = fab_store_exec(store, "BEGIN IMMEDIATE", "write", err);

	if (!rc)
		rc = fab_store_bring_up(store, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	if (rc)
		fab_store_rollback(store);
	return rc;
}

static int configure(struct fab_store *store, enum fab_store_mode mode,
		     struct fab_err *err)
{
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_timeout(store->db, BUSY_MS);
	fab_store_guard(store);
	if (mode == FAB_STORE_WRITE && sqlite3_db_readonly(store->db, "main") == 1)
		return fab_store_fail(store, SQLITE_READONLY, "write", err);
	return fab_store_exec(store,
			      mode == FAB_STORE_WRITE ? "PRAGMA synchronous = EXTRA;"
							"PRAGMA foreign_keys = ON;"
							"PRAGMA cell_size_check = ON"
						      : "PRAGMA cell_size_check = ON;",
			      "read", err);
}

static int check_schema(struct fab_store *store, enum fab_store_mode mode,
			struct fab_err *err)
{
	struct content c = {0};
	int rc = look(store, &c, err);

	if (rc)
		return rc;
	if (!is_empty(&c))
		return check_content(store, &c, err);
	if (mode == FAB_STORE_WRITE)
		return bring_up(store, err);
	return fab_fail(err, EINVAL, "%s: is empty: no run was stored in it",
			store->path);
}

/* What SQLite would say about these is no help. */
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
	char *name = fab_format("%s%s", *store->path == '/' ? "" : "./", store->path);
	int rc = sqlite3_open_v2(name, &store->db, flags, NULL);

	free(name);
	if (!store->db)
		fab_oom(0);
	return rc == SQLITE_OK ? configure(store, mode, err)
			       : fab_store_fail(store, rc, "open", err);
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

void fab_store_close(struct fab_store *store)
{
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}
