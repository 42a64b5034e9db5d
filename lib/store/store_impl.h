/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/store: the handle, its schema, errors. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"

struct fab_store {
	sqlite3 *db;		 /* NULL: there is no file yet, the first run makes it */
	char *path;		 /* as given, for messages */
	bool is_new;		 /* the file is made by us, and no run is in it */
	bool lacks_schema;	 /* it comes with the first run */
	double deadline, step_s; /* on the clock: end of the statement; its length */
};

/* Make the file that there is not yet; its schema comes with the first transaction. */
int fab_store_make(struct fab_store *store, struct fab_err *err) FAB_MUST_CHECK;
/* In a transaction for writing: make the schema, or check the one there is. */
int fab_store_bring_up(struct fab_store *store, struct fab_err *err) FAB_MUST_CHECK;

/* A step of a statement begins: from now on it has step_s seconds. */
void fab_store_step(struct fab_store *store);
/* Nothing in the schema of a file may do more than hold data: switch off what could, and
 * bound what a statement takes. */
void fab_store_guard(struct fab_store *store);
/*
 * Are our tables plain tables, as far as they are there? EINVAL names one that is a view
 * or a virtual table, whose reading runs what its maker wrote.
 */
int fab_store_check_tables(struct fab_store *store, const char *create,
			   struct fab_err *err) FAB_MUST_CHECK;

/* In a transaction: remove runs; EBUSY when one that must exist does not. */
int fab_store_take_out(struct fab_store *store, const uint64_t *ids, size_t n,
		       bool must_exist, struct fab_err *err) FAB_MUST_CHECK;

/* `PATH: sentence` for what SQLite has just returned. `doing`: "read" or "write". */
int fab_store_fail(const struct fab_store *store, int rc, const char *doing,
		   struct fab_err *err);
/* SQL without results; fails as fab_store_fail() says. */
int fab_store_exec(struct fab_store *store, const char *sql, const char *doing,
		   struct fab_err *err) FAB_MUST_CHECK;
/* Give up the transaction, if there is one. */
void fab_store_rollback(struct fab_store *store);
