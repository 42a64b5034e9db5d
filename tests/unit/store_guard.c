/* SPDX-License-Identifier: BSD-2-Clause */
/* What a hostile file, a full disk and a failed command may not do to a store. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/internal.h"
#include "support/process.h"

static const struct fab_store_number facts[] = {{"groups", 3}};
static const struct fab_store_number metrics[] = {{"max_efi", 2}, {"mean_efi", 0.5}};
static const struct fab_store_bin bins[] = {{1, 4}, {2, 1}};
static const struct fab_store_result results[] = {{.algorithm = "fulb",
						   .metrics = metrics,
						   .n_metrics = 2,
						   .bins = bins,
						   .n_bins = 2}};
static const struct fab_store_run sample = {.time = "2026-01-01T00:00:00Z",
					    .command = "fabric-mcroute",
					    .version = "0",
					    .arguments = "",
					    .host = "h",
					    .fabric.source = "x",
					    .facts = facts,
					    .n_facts = 1,
					    .results = results,
					    .n_results = 1};

static void sql(const char *text)
{
	sqlite3 *db;
	char *message = NULL;

	cr_assert_eq(sqlite3_open("a.db", &db), SQLITE_OK);
	sqlite3_exec(db, text, NULL, NULL, &message);
	cr_assert_null(message, "%s: %s", text, message);
	sqlite3_close(db);
}

static int number(const char *text)
{
	sqlite3_stmt *statement;
	sqlite3 *db;
	int value;

	cr_assert_eq(sqlite3_open("a.db", &db), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
	value = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

static struct fab_store *open_store(enum fab_store_mode mode)
{
	struct fab_store *store = NULL;
	struct fab_err err = {""};

	cr_assert_eq(fab_store_open("a.db", mode, &store, &err), 0, "%s", err.text);
	return store;
}

static void make(void)
{
	struct fab_store *store = open_store(FAB_STORE_WRITE);
	struct fab_err err = {""};

	cr_assert_eq(fab_store_add(store, &sample, NULL, &err), 0, "%s", err.text);
	fab_store_close(store);
}

static void expect_refused(const char *part)
{
	for (int mode = FAB_STORE_READ; mode <= FAB_STORE_WRITE; mode++) {
		struct fab_store *store = NULL;
		struct fab_err err = {""};

		cr_assert_eq(
			fab_store_open("a.db", (enum fab_store_mode)mode, &store, &err),
			-EINVAL, "%s", part);
		cr_assert(strstr(err.text, part), "%s", err.text);
		cr_assert_null(store);
	}
}

Test(store_guard, no_view_or_virtual_table_in_place_of_a_table)
{
	struct folder f;

	folder_init(&f);
	make();
	sql("ALTER TABLE histogram RENAME TO real_one;"
	    "CREATE VIEW Histogram AS WITH RECURSIVE n(load) AS (SELECT 1 UNION ALL "
	    "SELECT load + 1 FROM n) SELECT 1 AS result, load, 1 AS links FROM n");
	expect_refused("a.db: histogram is a view, expected a table");
	sql("DROP VIEW histogram; CREATE VIRTUAL TABLE histogram USING rtree(result, "
	    "load, links)");
	expect_refused("a.db: histogram is a virtual table, expected a table");
	/* what a site adds beside our tables is its own matter */
	sql("DROP TABLE histogram; ALTER TABLE real_one RENAME TO histogram;"
	    "CREATE VIEW mine AS SELECT 1; CREATE TABLE notes (text)");
	fab_store_close(open_store(FAB_STORE_READ));
	make();
	folder_fini(&f);
}

Test(store_guard, no_trigger_runs)
{
	struct folder f;

	folder_init(&f);
	make();
	sql("CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM run; END");
	make();
	cr_assert_eq(number("SELECT count(*) FROM run"), 2);
	cr_assert_eq(number("SELECT count(*) FROM metric"), 4);
	folder_fini(&f);
}

Test(store_guard, statements_end_in_time)
{
	struct fab_store_filter filter = {0};
	struct fab_store_runs runs = {0};
	struct fab_store *store;
	struct fab_err err = {""};
	struct folder f;

	folder_init(&f);
	make();
	sql("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < "
	    "100000) INSERT INTO metric_kind (command, position, name, help) "
	    "SELECT '', -i, 'm' || i, '' FROM n");
	store = open_store(FAB_STORE_READ);
	store->step_s = 1e-9;
	cr_assert_eq(fab_store_read(store, &filter, &runs, &err), -ETIMEDOUT, "%s",
		     err.text);
	cr_assert_str_eq(err.text, "a.db: cannot read: a statement has not ended within "
				   "1e-09 s");
	/* the limit is that of each step, and the store can be used on */
	store->step_s = 100;
	cr_assert_eq(fab_store_read(store, &filter, &runs, &err), 0, "%s", err.text);
	cr_assert_eq(runs.n, 1);
	fab_store_runs_fini(&runs);
	fab_store_close(store);
	folder_fini(&f);
}

Test(store_guard, what_fails_leaves_no_file)
{
	struct fab_store *store;
	struct fab_err err = {""};
	struct rlimit before, limit;
	struct folder f;

	folder_init(&f);
	/* a command that fails before it has a result */
	fab_store_close(open_store(FAB_STORE_WRITE));
	cr_assert_eq(n_files(), 0);
	/* a disk that is full from the beginning, or soon */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (rlim_t size = 0; size <= 20480; size += 4096) {
		limit = before;
		limit.rlim_cur = size;
		store = open_store(FAB_STORE_WRITE);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		cr_assert_lt(fab_store_add(store, &sample, NULL, &err), 0);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
		cr_assert(strstr(err.text, "a.db: cannot write: "), "%s", err.text);
		fab_store_close(store);
		cr_assert_eq(n_files(), 0, "a limit of %lu bytes", (unsigned long)size);
	}
	/* an empty file of the user's own stays */
	put("a.db", "");
	limit.rlim_cur = 0;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_lt(fab_store_open("a.db", FAB_STORE_WRITE, &store, &err), 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_assert_eq(access("a.db", F_OK), 0);
	folder_fini(&f);
}

Test(store_guard, a_file_that_was_taken_away_holds_nothing)
{
	struct fab_store *store;
	struct fab_err err = {""};
	struct folder f;

	folder_init(&f);
	make();
	store = open_store(FAB_STORE_WRITE);
	cr_assert_eq(unlink("a.db"), 0);
	cr_assert_lt(fab_store_add(store, &sample, NULL, &err), 0);
	cr_assert_eq(strncmp(err.text, "a.db: ", 6), 0, "%s", err.text);
	fab_store_close(store);
	folder_fini(&f);
}

/* Two find no file; the second finds the first one's. */
Test(store_guard, two_make_the_file)
{
	struct fab_store *one, *two;
	struct fab_err err = {""};
	struct folder f;
	uint64_t id = 0;

	folder_init(&f);
	one = open_store(FAB_STORE_WRITE);
	two = open_store(FAB_STORE_WRITE);
	cr_assert_eq(fab_store_add(one, &sample, NULL, &err), 0, "%s", err.text);
	cr_assert_eq(fab_store_add(two, &sample, &id, &err), 0, "%s", err.text);
	cr_assert_eq(id, 2);
	cr_assert_eq(fab_store_add(one, &sample, &id, &err), 0, "%s", err.text);
	cr_assert_eq(id, 3);
	fab_store_close(one);
	fab_store_close(two);
	folder_fini(&f);
}
