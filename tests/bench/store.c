/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds to find and read runs in a database of 10 000 of them, each with 6 results of
 * 14 metrics and 30 loads, by each filter; and to remove half of them.
 */
#include "store/store.h"
#include "base/clock.h"
#include "base/mem.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int make(const char *path)
{
	const struct fab_store_run run = {.time = "2026-01-01T00:00:00Z",
					  .command = "fabric-mcroute",
					  .version = "0.1.0",
					  .arguments = "",
					  .host = "login1",
					  .fabric.source = "dumps/1.txt"};
	struct fab_store *store;
	struct fab_err err;
	sqlite3 *db;
	int rc = fab_store_open(path, FAB_STORE_WRITE, &store, &err);

	if (!rc) {
		rc = fab_store_add(store, &run, NULL, &err);
		fab_store_close(store);
	}
	if (rc) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	rc = sqlite3_open(path, &db);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, fill, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	sqlite3_close(db);
	return rc != SQLITE_OK;
}

static int measure(const char *path, const char *what, struct fab_store_filter filter)
{
	double start = fab_now();
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	struct fab_store *store;
	struct fab_err err;

	if (fab_store_open(path, FAB_STORE_READ, &store, &err) ||
	    fab_store_read(store, &filter, &runs, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%-34s %7zu %8.3f\n", what, runs.n, fab_now() - start);
	fab_store_close(store);
	return 0;
}

static int remove_half(const char *path)
{
	FAB_AUTOFREE uint64_t *ids = FAB_NEW(5000, uint64_t);
	struct fab_store *store;
	struct fab_err err;
	double start;
	int rc;

	for (uint64_t i = 0; i < 5000; i++)
		ids[i] = 2 * i + 1;
	rc = fab_store_open(path, FAB_STORE_WRITE, &store, &err);
	start = fab_now();
	if (!rc) {
		rc = fab_store_remove(store, ids, 5000, &err);
		fab_store_close(store);
	}
	printf("%-34s %7d %8.3f\n", "remove every second", 5000, fab_now() - start);
	return rc;
}

int main(void)
{
	static const uint64_t id = 7777;
	const char *parent = getenv("TMPDIR");
	FAB_AUTOFREE char *path =
		fab_format("%s/fab-bench-XXXXXX", parent && *parent ? parent : "/tmp");
	int file = mkstemp(path), failed;

	if (file < 0)
		return 1;
	close(file);
	failed = make(path);
	printf("%-34s %7s %8s\n", "read", "runs", "seconds");
	failed |= measure(path, "list of all",
			  (struct fab_store_filter){.names_only = true});
	failed |= measure(
		path, "list by label",
		(struct fab_store_filter){.names_only = true, .label = "nightly 7"});
	failed |= measure(
		path, "list by pattern of label",
		(struct fab_store_filter){.names_only = true, .label = "night*7"});
	failed |= measure(path, "list by fingerprint",
			  (struct fab_store_filter){.names_only = true,
						    .fabric = "0x0000000000000007"});
	failed |= measure(path, "list by algorithm",
			  (struct fab_store_filter){.names_only = true,
						    .algorithm = "algorithm-3"});
	failed |= measure(path, "all of one run",
			  (struct fab_store_filter){.ids = &id, .n_ids = 1});
	failed |= measure(path, "all of the last run",
			  (struct fab_store_filter){.last = true});
	failed |= measure(path, "all of 100 runs by label",
			  (struct fab_store_filter){.label = "nightly 7"});
	failed |= measure(path, "all but the last 2 of each label",
			  (struct fab_store_filter){.names_only = true, .keep = 2});
	failed |= measure(path, "all of everything", (struct fab_store_filter){0});
	failed |= remove_half(path);
	unlink(path);
	return failed;
}
