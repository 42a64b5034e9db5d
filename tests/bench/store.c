/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds to find and read runs in a database of 10 000 of them, each with 6 results of
 * 14 metrics and 30 loads, by each filter; and to remove half of them.
 */
#include "bench.h"

#include "store/store.h"

#include <sqlite3.h>

/* What a program would have written in 10 000 transactions. */
static const char fill[] =
	"PRAGMA synchronous = OFF; BEGIN;"
	"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
	"INSERT INTO run SELECT i, printf('2026-%02d-%02dT%02d:00:00Z', 1 + i / 900, "
	"1 + i % 28, i % 24), 'fabric-mcroute', '0.1.0', '--pattern=grid:4x8 "
	"--algorithm=all', "
	"'nightly ' || (i % 100), 'login1', 'dumps/' || (i % 10) || '.txt', "
	"printf('0x%016x', i % 10), 800, 3000, 0, 3000, 9000, 3000 FROM n;"
	"INSERT INTO fact SELECT id, 'groups', id % 50 FROM run WHERE id > 1;"
	"INSERT INTO fact SELECT id, 'members', id % 5000 FROM run WHERE id > 1;"
	"INSERT INTO asked SELECT id, 'pattern', 'grid:4x8' FROM run WHERE id > 1;"
	"INSERT INTO result (run, position, algorithm) SELECT run.id, k.value, "
	"'algorithm-' || k.value FROM run, json_each('[0,1,2,3,4,5]') AS k WHERE run.id "
	"> 1;"
	"INSERT INTO metric SELECT result.id, 'metric_' || k.value, result.id + k.value "
	"FROM result, "
	"json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13]') AS k;"
	"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29) "
	"INSERT INTO histogram SELECT id, i, i + 1 FROM result, n;"
	"COMMIT; ANALYZE";

static void make(const char *path)
{
	const struct fab_store_run run = {.time = "2026-01-01T00:00:00Z",
					  .command = "fabric-mcroute",
					  .version = "0.1.0",
					  .arguments = "",
					  .host = "login1",
					  .fabric.source = "dumps/1.txt"};
	struct fab_store *store;
	sqlite3 *db;

	MUST(fab_store_open, path, FAB_STORE_WRITE, &store);
	MUST(fab_store_add, store, &run, NULL);
	fab_store_close(store);
	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(db, fill, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
		exit(1);
	}
	sqlite3_close(db);
}

static void measure(const char *path, const char *what, struct fab_store_filter filter)
{
	double start = fab_now();
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	struct fab_store *store;

	MUST(fab_store_open, path, FAB_STORE_READ, &store);
	MUST(fab_store_read, store, &filter, &runs);
	printf("%-34s %7zu %8.3f\n", what, runs.n, fab_now() - start);
	fab_store_close(store);
}

static void remove_half(const char *path)
{
	FAB_AUTOFREE uint64_t *ids = FAB_NEW(5000, uint64_t);
	struct fab_store *store;
	double start;

	for (uint64_t i = 0; i < 5000; i++)
		ids[i] = 2 * i + 1;
	MUST(fab_store_open, path, FAB_STORE_WRITE, &store);
	start = fab_now();
	MUST(fab_store_remove, store, ids, 5000);
	fab_store_close(store);
	printf("%-34s %7d %8.3f\n", "remove every second", 5000, fab_now() - start);
}

int main(void)
{
	static const uint64_t id = 7777;
	const struct {
		const char *what;
		struct fab_store_filter filter;
	} rows[] = {
		{"list of all", {.names_only = true}},
		{"list by label", {.names_only = true, .label = "nightly 7"}},
		{"list by pattern of label", {.names_only = true, .label = "night*7"}},
		{"list by fingerprint",
		 {.names_only = true, .fabric = "0x0000000000000007"}},
		{"list by algorithm", {.names_only = true, .algorithm = "algorithm-3"}},
		{"all of one run", {.ids = &id, .n_ids = 1}},
		{"all of the last run", {.last = true}},
		{"all of 100 runs by label", {.label = "nightly 7"}},
		{"all but the last 2 of each label", {.names_only = true, .keep = 2}},
		{"all of everything", {0}},
	};
	const char *parent = getenv("TMPDIR");
	FAB_AUTOFREE char *path =
		fab_format("%s/fab-bench-XXXXXX", parent && *parent ? parent : "/tmp");
	int file = mkstemp(path);

	if (file < 0)
		return 1;
	close(file);
	make(path);
	printf("%-34s %7s %8s\n", "read", "runs", "seconds");
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		measure(path, rows[i].what, rows[i].filter);
	remove_half(path);
	unlink(path);
	return 0;
}
