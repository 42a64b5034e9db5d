/* SPDX-License-Identifier: BSD-2-Clause */
/* Removing runs. */
#include <errno.h>

#include "base/progress.h"
#include "store/query.h"

int fab_store_take_out(struct fab_store *store, const uint64_t *ids, size_t n,
		       bool must_exist, struct fab_err *err)
{
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(store->db, "DELETE FROM run WHERE id = ?", -1,
				    &statement, NULL);

	for (size_t i = 0; i < n && rc == SQLITE_OK; i++) {
		fab_progress_report("removing", "runs", i, n);
		rc = sqlite3_bind_int64(statement, 1, (sqlite3_int64)ids[i]);
		fab_store_step(store);
		if (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_DONE)
			rc = sqlite3_reset(statement);
		if (rc == SQLITE_OK && must_exist && !sqlite3_changes(store->db)) {
			sqlite3_finalize(statement);
			return fab_fail(err, EBUSY,
					"%s: run %llu is not there any more: somebody "
					"else has taken it out",
					store->path, (unsigned long long)ids[i]);
		}
	}
	sqlite3_finalize(statement);
	return rc == SQLITE_OK ? 0 : fab_store_fail(store, rc, "write", err);
}

/* SQLite builds the smaller file in one that it attaches. */
static int give_back(struct fab_store *store, struct fab_err *err)
{
	int before = sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 1);
	int rc = fab_store_exec(store, "VACUUM", "shrink the file", err);

	sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, before);
	return rc;
}

int fab_store_remove(struct fab_store *store, const uint64_t *ids, size_t n,
		     struct fab_err *err)
{
	int rc = store->db && n ? fab_store_exec(store, "BEGIN IMMEDIATE", "write", err)
				: 0;

	if (!store->db || !n)
		return 0;
	if (!rc)
		rc = fab_store_take_out(store, ids, n, false, err);
	if (!rc)
		rc = fab_store_exec(store, "COMMIT", "write", err);
	if (rc) {
		fab_store_rollback(store);
		return rc;
	}
	return give_back(store, err);
}
