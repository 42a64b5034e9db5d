/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/store: the handle, what versions of the schema there are, errors. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"

struct fab_store {
	sqlite3 *db;
	char *path; /* as given, for messages */
};

/*
 * All versions of a schema: `create` makes the newest one in an empty database,
 * migrations [i] leads from version i + 1 to i + 2. The newest has number n_migrations
 * + 1.
 */
struct fab_store_schema {
	const char *create;
	const char *const *migrations; /* ends with NULL */
};

/* As fab_store_open(), with a schema of the caller's. */
int fab_store_open_schema(const char *path, enum fab_store_mode mode,
			  const struct fab_store_schema *schema, struct fab_store **out,
			  struct fab_err *err) FAB_MUST_CHECK;

/* `PATH: sentence` for what SQLite has just returned. `doing`: "read" or "write". */
int fab_store_fail(const struct fab_store *store, int rc, const char *doing,
		   struct fab_err *err);
/* SQL without results; fails as fab_store_fail() says. */
int fab_store_exec(struct fab_store *store, const char *sql, const char *doing,
		   struct fab_err *err) FAB_MUST_CHECK;
/* Give up the transaction, if there is one. */
void fab_store_rollback(struct fab_store *store);
