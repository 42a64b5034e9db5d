/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: large numbers, runs without results, and what failed leaves nothing. */
#include "store/store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"

/* Every test works in a folder of its own. */
static struct folder folder;

static void enter(void)
{
	folder_init(&folder);
}

static void leave(void)
{
	folder_fini(&folder);
}

static struct fab_store *open_store(enum fab_store_mode mode)
{
	struct fab_store *store = NULL;
	struct fab_err err = {""};

	cr_assert_eq(fab_store_open("a.db", mode, &store, &err), 0, "%s", err.text);
	return store;
}

static struct fab_store_run plain_run(void)
{
	return (struct fab_store_run){.time = "2026-11-20T12:34:56Z",
				      .command = "fabric-mcroute",
				      .version = "1.2.3",
				      .arguments = "",
				      .host = "login1",
				      .fabric.source = "gen:torus:dims=3x3"};
}

/* The first value of the first row, as text. */
static void expect_sql(const char *text, const char *want)
{
	sqlite3_stmt *statement;
	sqlite3 *db;

	cr_assert_eq(sqlite3_open("a.db", &db), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK);
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
	cr_expect_str_eq((const char *)sqlite3_column_text(statement, 0), want, "%s",
			 text);
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

static const struct fab_store_number numbers[] = {
	{"a", 9007199254740992.0},
	{"b", 9007199254740994.0},
	{"c", 18446744073709551616.0},
	{"d", -9007199254740992.0},
	{"e", 1e300},
	{"f", 0.5},
	{"g", -3},
	{"h", INFINITY},
	{"i", -INFINITY},
	{"j", 0},
};

Test(store_limits, numbers_keep_their_values, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store(FAB_STORE_WRITE);
	struct fab_store_run run = plain_run();
	struct fab_store_runs runs;

	run.facts = numbers;
	run.n_facts = FAB_COUNT(numbers);
	cr_assert_eq(fab_store_add(store, &run, NULL, NULL), 0);
	fab_store_close(store);
	store = open_store(FAB_STORE_READ);
	cr_assert_eq(fab_store_read(store, &(struct fab_store_filter){0}, &runs, NULL),
		     0);
	fab_store_close(store);
	cr_assert_eq(runs.v[0].n_facts, FAB_COUNT(numbers) - 2);
	for (size_t i = 0; i < FAB_COUNT(numbers); i++) {
		double got = fab_store_number_get(runs.v[0].facts, runs.v[0].n_facts,
						  numbers[i].name);

		if (isfinite(numbers[i].value))
			cr_expect_eq(got, numbers[i].value, "%s: %.17g", numbers[i].name,
				     got);
		else
			cr_expect(isnan(got), "%s: %.17g", numbers[i].name, got);
	}
	fab_store_runs_fini(&runs);
}

/* Whole numbers as such up to 2^53, where doubles stop to tell neighbours apart. */
Test(store_limits, whole_numbers_end_at_2_to_the_53, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store(FAB_STORE_WRITE);
	struct fab_store_run run = plain_run();

	run.facts = numbers;
	run.n_facts = FAB_COUNT(numbers);
	cr_assert_eq(fab_store_add(store, &run, NULL, NULL), 0);
	fab_store_close(store);
	expect_sql("SELECT group_concat(name || ' ' || typeof(value)) FROM fact",
		   "a integer,b real,c real,d integer,e real,f real,g integer,j integer");
	expect_sql("SELECT value FROM fact WHERE name = 'a'", "9007199254740992");
	expect_sql("SELECT value FROM fact WHERE name = 'g'", "-3");
}

/* Numbers of one name twice: the second cannot be stored. */
static const struct fab_store_number twice[] = {{"x", 1}, {"x", 2}};

/* Adding fails, says so, and leaves nothing, not even a lock. */
static void expect_nothing(const struct fab_store_run *broken)
{
	struct fab_store *store = open_store(FAB_STORE_WRITE), *other;
	struct fab_store_run sound = plain_run();
	struct fab_err err = {""};
	uint64_t id = 77;

	cr_assert_eq(fab_store_add(store, &sound, &id, &err), 0, "%s", err.text);
	cr_assert_eq(id, 1);
	cr_assert_lt(fab_store_add(store, broken, &id, &err), 0);
	cr_assert(strstr(err.text, "a.db: cannot write: "), "%s", err.text);
	cr_assert_eq(id, 1);
	other = open_store(FAB_STORE_WRITE);
	cr_assert_eq(fab_store_add(other, &sound, &id, &err), 0, "%s", err.text);
	fab_store_close(other);
	cr_assert_eq(fab_store_add(store, &sound, &id, &err), 0, "%s", err.text);
	cr_assert_eq(id, 3);
	fab_store_close(store);
	expect_sql("SELECT count(*) FROM run", "3");
	expect_sql("SELECT (SELECT count(*) FROM fact) + (SELECT count(*) FROM metric) "
		   "+ (SELECT count(*) FROM result) + (SELECT count(*) FROM batch) + "
		   "(SELECT count(*) FROM histogram) + (SELECT count(*) FROM detail)",
		   "0");
	expect_sql("PRAGMA integrity_check", "ok");
	cr_assert_eq(unlink("a.db"), 0);
}

Test(store_limits, what_fails_is_rolled_back, .init = enter, .fini = leave)
{
	const struct fab_store_bin bins[] = {{1, 2}, {1, 3}};
	const struct fab_store_detail details[] = {{0, "p", "x", 1}, {0, "p", "x", 2}};
	const struct fab_store_segment segment = {"N1", "t", 1, NAN, 1};
	const struct fab_store_batch batches[] = {{.algorithm = "scda", .name = "all"},
						  {.algorithm = "scda",
						   .name = "all",
						   .segments = &segment,
						   .n_segments = 1}};
	struct fab_store_result results[] = {{.algorithm = "fulb"},
					     {.algorithm = "sssp"}};
	struct fab_store_run run = plain_run();

	run.facts = twice;
	run.n_facts = 2;
	expect_nothing(&run);
	run.n_facts = 1;
	run.results = results;
	run.n_results = 2;
	results[1].metrics = twice;
	results[1].n_metrics = 2;
	expect_nothing(&run);
	results[1] =
		(struct fab_store_result){.algorithm = "sssp", .bins = bins, .n_bins = 2};
	expect_nothing(&run);
	results[1] = (struct fab_store_result){
		.algorithm = "sssp", .details = details, .n_details = 2};
	expect_nothing(&run);
	run.n_results = 0;
	run.batches = batches;
	run.n_batches = 2;
	expect_nothing(&run);
}

/* Runs and results that an algorithm's filter lets pass. */
static void expect_passing(const char *algorithm, size_t n_runs, uint64_t first,
			   size_t n_results)
{
	const struct fab_store_filter filter = {.algorithm = algorithm};
	struct fab_store *store = open_store(FAB_STORE_READ);
	struct fab_store_runs runs;

	cr_assert_eq(fab_store_read(store, &filter, &runs, NULL), 0);
	cr_assert_eq(runs.n, n_runs, "%s: %zu runs", algorithm, runs.n);
	if (n_runs) {
		cr_assert_eq(runs.v[0].id, first);
		cr_assert_eq(runs.v[0].n_results, n_results);
	}
	fab_store_runs_fini(&runs);
	fab_store_close(store);
}

Test(store_limits, runs_without_results, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store(FAB_STORE_WRITE);
	const struct fab_store_result results[] = {{.algorithm = "fulb"},
						   {.algorithm = "sssp"}};
	struct fab_store_run run = plain_run();

	run.facts = numbers;
	run.n_facts = 1;
	cr_assert_eq(fab_store_add(store, &run, NULL, NULL), 0);
	run.results = results;
	run.n_results = 2;
	cr_assert_eq(fab_store_add(store, &run, NULL, NULL), 0);
	fab_store_close(store);
	expect_passing(NULL, 2, 1, 0);
	expect_passing("fulb", 1, 2, 1);
	expect_passing("sssp,fulb", 1, 2, 2);
	expect_passing("opensm", 0, 0, 0);
}

/* Who has read keeps nothing: others write, and it sees what they wrote. */
Test(store_limits, reading_leaves_no_lock, .init = enter, .fini = leave)
{
	struct fab_store *writer = open_store(FAB_STORE_WRITE), *reader;
	struct fab_store_run run = plain_run();
	struct fab_err err = {""};

	cr_assert_eq(fab_store_add(writer, &run, NULL, NULL), 0);
	reader = open_store(FAB_STORE_READ);
	for (size_t n = 1; n < 4; n++) {
		struct fab_store_runs runs;

		cr_assert_eq(fab_store_read(reader, &(struct fab_store_filter){0}, &runs,
					    &err),
			     0, "%s", err.text);
		cr_assert_eq(runs.n, n);
		fab_store_runs_fini(&runs);
		cr_assert_eq(fab_store_add(writer, &run, NULL, &err), 0, "%s", err.text);
	}
	fab_store_close(reader);
	fab_store_close(writer);
}

/* A command is the one that is asked for, whatever comes before or behind it. */
Test(store_limits, runs_of_one_command, .init = enter, .fini = leave)
{
	static const char *const commands[] = {"fabric-bootplan", "fabric-faults",
					       "fabric-mcroute"};
	struct fab_store *store = open_store(FAB_STORE_WRITE);
	struct fab_store_run run = plain_run();
	struct fab_store_runs runs;

	for (int i = 0; i < 3; i++) {
		run.command = commands[i];
		cr_assert_eq(fab_store_add(store, &run, NULL, NULL), 0);
	}
	for (int i = 0; i < 3; i++) {
		const struct fab_store_filter filter = {.command = commands[i]};

		cr_assert_eq(fab_store_read(store, &filter, &runs, NULL), 0);
		cr_assert_eq(runs.n, 1);
		cr_expect_str_eq(runs.v[0].command, commands[i]);
		fab_store_runs_fini(&runs);
	}
	fab_store_close(store);
}

/* What is not finite is no detail. */
Test(store_limits, details_are_finite, .init = enter, .fini = leave)
{
	static const struct fab_store_detail details[] = {{0, "p", "a", 1},
							  {0, "p", "b", INFINITY},
							  {0, "p", "c", -INFINITY},
							  {0, "p", "d", NAN},
							  {1, "q", "a", 2}};
	struct fab_store *store = open_store(FAB_STORE_WRITE);
	struct fab_store_run run = plain_run();
	struct fab_store_result result = {
		.algorithm = "x", .details = details, .n_details = FAB_COUNT(details)};

	run.results = &result;
	run.n_results = 1;
	cr_assert_eq(fab_store_add(store, &run, NULL, NULL), 0);
	fab_store_close(store);
	expect_sql(
		"SELECT group_concat(part || name) FROM (SELECT part, name FROM detail "
		"ORDER BY part, name)",
		"pa,qa");
}
