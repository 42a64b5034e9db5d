/* SPDX-License-Identifier: BSD-2-Clause */
/* What SQLite reports, as one sentence. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_impl.h"

/* What the system said about the last call that failed. */
static int fail_system(const struct fab_store *store, const char *doing, int fallback,
		       struct fab_err *err)
{
	int errnum = sqlite3_system_errno(store->db);

	if (!errnum)
		errnum = fallback;
	return fab_fail(err, errnum, "%s: cannot %s: %s", store->path, doing,
			strerror(errnum));
}

int fab_store_fail(const struct fab_store *store, int rc, const char *doing,
		   struct fab_err *err)
{
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
		return fab_fail(err, EBUSY,
				"%s: cannot %s: another program keeps the database "
				"locked",
				store->path, doing);
	case SQLITE_INTERRUPT:
		return fab_fail(err, ETIMEDOUT,
				"%s: cannot %s: a statement has not ended within %g s",
				store->path, doing, store->step_s);
	case SQLITE_FULL:
		return fab_fail(err, ENOSPC, "%s: cannot %s: %s", store->path, doing,
				strerror(ENOSPC));
	case SQLITE_READONLY:
		return fab_fail(err, EROFS,
				"%s: cannot %s: the file or its folder is read-only",
				store->path, doing);
	case SQLITE_CANTOPEN:
		return fail_system(store, "open", ENOENT, err);
	case SQLITE_IOERR:
		return fail_system(store, doing, EIO, err);
	default:
		return fab_fail(err, EINVAL, "%s: cannot %s: %s", store->path, doing,
				sqlite3_errmsg(store->db));
	}
}

int fab_store_exec(struct fab_store *store, const char *sql, const char *doing,
		   struct fab_err *err)
{
	int rc;

	fab_store_step(store);
	rc = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : fab_store_fail(store, rc, doing, err);
}

void fab_store_rollback(struct fab_store *store)
{
	/* after a full disk SQLite may have rolled back already */
	if (!sqlite3_get_autocommit(store->db)) {
		fab_store_step(store);
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	}
}
