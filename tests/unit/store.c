/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: what comes back, who writes at once, limits, what a hostile file, a full
 * disk or a killed command may not do. */
#include "store/store.h"

#include "base/progress.h"
#include "store/internal.h"
#include "support/process.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_METRICS = 3, N_BINS = 200, N_RESULTS = 4 };

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

/* A run of N_RESULTS results; what its numbers are depends on `mark`. */
struct sample {
	struct fab_store_run run;
	struct fab_store_number facts[2];
	struct fab_store_result results[N_RESULTS];
	struct fab_store_number metrics[N_RESULTS][N_METRICS];
	struct fab_store_bin bins[N_RESULTS][N_BINS];
};

static void fill_sample(struct sample *s, uint64_t mark, const char *label)
{
	static const char *const names[N_RESULTS] = {"fulb", "sssp", "minihop", "opensm"};

	s->facts[0] = (struct fab_store_number){"groups", (double)mark};
	s->facts[1] = (struct fab_store_number){"members", 9007199254740992.0};
	for (uint64_t i = 0; i < N_RESULTS; i++) {
		s->metrics[i][0] =
			(struct fab_store_number){"max_efi", (double)(mark + i)};
		s->metrics[i][1] = (struct fab_store_number){"mean_efi", 1.0 / 3};
		s->metrics[i][2] = (struct fab_store_number){"seconds.total", 0.0 / 0.0};
		for (uint64_t e = 0; e < N_BINS; e++)
			s->bins[i][e] = (struct fab_store_bin){e, mark + e};
		s->results[i] = (struct fab_store_result){names[i], s->metrics[i],
							  N_METRICS, s->bins[i], N_BINS};
	}
	s->run = (struct fab_store_run){
		.time = "2026-11-20T12:34:56Z",
		.command = "fabric-mcroute",
		.version = "1.2.3",
		.arguments = "--pattern=grid:3x3 'a b'",
		.host = "login1",
		.label = label,
		.fabric.source = "gen:torus:dims=3x3",
		.fabric.fingerprint = 0xf000000000000001,
		.fabric.switches = 9,
		.fabric.host_links = 18,
		.facts = s->facts,
		.n_facts = 2,
		.results = s->results,
		.n_results = N_RESULTS,
	};
}

static uint64_t add(struct fab_store *store, uint64_t mark, const char *label)
{
	struct sample s;
	uint64_t id = 0;

	fill_sample(&s, mark, label);
	MUST(fab_store_add(store, &s.run, &id, ERR));
	return id;
}

static struct fab_store *open_store(const char *path, enum fab_store_mode mode)
{
	struct fab_store *store = NULL;

	MUST(fab_store_open(path, mode, &store, ERR));
	return store;
}

/* Opening fails with this errno and a text that begins and ends like this. */
static void check_refused(const char *path, enum fab_store_mode mode, int errnum,
			  const char *part)
{
	struct fab_store *store = (void *)&folder;
	int rc = fab_store_open(path, mode, &store, ERR);

	cr_assert_eq(rc, -errnum, "%s: %d, %s", path, rc, test_err.text);
	HAS(test_err.text, part);
	cr_assert_eq(strncmp(test_err.text, path, strlen(path)), 0, "%s", test_err.text);
	cr_assert_eq((void *)store, (void *)&folder);
}

static void sql(const char *path, const char *text)
{
	sqlite3 *db;
	char *message = NULL;

	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, text, NULL, NULL, &message);
	cr_assert_null(message, "%s: %s", text, message);
	sqlite3_close(db);
}

/* Is this the first value of the first row, as text? */
static bool sql_is(const char *path, const char *text, const char *want)
{
	sqlite3_stmt *statement;
	sqlite3 *db;
	bool same;

	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK,
		     "%s: %s", text, sqlite3_errmsg(db));
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s", text);
	same = !strcmp((const char *)sqlite3_column_text(statement, 0), want);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return same;
}

static void expect_sql(const char *path, const char *text, const char *want)
{
	cr_assert(sql_is(path, text, want), "%s: not %s", text, want);
}

static struct fab_store_runs read_all(struct fab_store *store)
{
	struct fab_store_runs runs;
	int rc = fab_store_read(store, &(struct fab_store_filter){0}, &runs, ERR);

	cr_assert_eq(rc, 0, "%s", test_err.text);
	return runs;
}

/* A database of one sample. */
static void make(void)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);

	add(store, 1, NULL);
	fab_store_close(store);
}

Test(store, round_trip, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	struct fab_store_runs runs;
	const struct fab_store_run *r;

	cr_assert_eq(add(store, 7, NULL), 1);
	cr_assert_eq(add(store, 8, "it's \"so\""), 2);
	fab_store_close(store);
	store = open_store("a.db", FAB_STORE_READ);
	runs = read_all(store);
	fab_store_close(store);
	cr_assert_eq(runs.n, 2);
	cr_assert_null(runs.v[0].label);
	r = &runs.v[1];
	cr_assert_eq(r->id, 2);
	cr_assert_str_eq(r->label, "it's \"so\"");
	cr_assert_str_eq(r->arguments, "--pattern=grid:3x3 'a b'");
	cr_assert_str_eq(r->time, "2026-11-20T12:34:56Z");
	cr_assert_eq(r->fabric.fingerprint, 0xf000000000000001);
	cr_assert_eq(r->fabric.host_links, 18);
	cr_assert_eq(r->n_facts, 2);
	cr_assert_str_eq(r->facts[1].name, "members");
	cr_assert_eq(r->facts[1].value, 9007199254740992.0);
	cr_assert_eq(r->n_results, N_RESULTS);
	cr_assert_str_eq(r->results[3].algorithm, "opensm");
	/* what is not finite is left out */
	cr_assert_eq(r->results[3].n_metrics, N_METRICS - 1);
	cr_assert_eq(r->results[3].metrics[0].value, 11);
	cr_assert_eq(r->results[3].metrics[1].value, 1.0 / 3);
	cr_assert_eq(r->results[3].n_bins, N_BINS);
	cr_assert_eq(r->results[3].bins[5].load, 5);
	cr_assert_eq(r->results[3].bins[5].links, 13);
	fab_store_runs_fini(&runs);
	/* a whole number stays one, for those who query by hand */
	expect_sql("a.db",
		   "SELECT max_efi FROM mcroute WHERE run = 2 AND algorithm = 'sssp'",
		   "9");
	expect_sql("a.db", "SELECT algorithms FROM runs LIMIT 1",
		   "fulb sssp minihop opensm");
	expect_sql("a.db", "SELECT share FROM load WHERE load = 199 AND run = 1", "1.0");
}

/* A run brings what its columns say of metrics. */
struct record {
	double load;
	uint64_t pairs;
	double took;
};

static const struct fab_column record_columns[] = {
	{"name", FAB_TEXT, "no metric", 0},
	{"load", FAB_REAL, "of a cable", FAB_COL_MBPS, FAB_AT(struct record, load),
	 FAB_METRIC_LESS},
	{"pairs", FAB_UINT, "of hosts", 0, FAB_AT(struct record, pairs), FAB_METRIC_MORE},
	{"seconds", FAB_REAL, "it took", FAB_COL_SECONDS, FAB_AT(struct record, took),
	 FAB_METRIC_TIME},
	{"pairs", FAB_UINT, "said twice", 0, FAB_AT(struct record, pairs),
	 FAB_METRIC_PLAIN},
};

static void add_with_columns(struct fab_store *store, const char *command,
			     const struct fab_column *columns, size_t n)
{
	FAB_AUTO(fab_draft_fini) struct fab_draft d = {0};
	struct sample s;

	fill_sample(&s, 1, NULL);
	fab_draft_table(&d, columns, n);
	s.run.command = command;
	s.run.kinds = fab_draft_run(&d)->kinds;
	s.run.n_kinds = fab_draft_run(&d)->n_kinds;
	MUST(fab_store_add(store, &s.run, NULL, ERR));
}

Test(store, kinds_come_from_the_columns_of_a_run, .init = enter, .fini = leave)
{
	static const struct fab_column newer[] = {{"load", FAB_REAL, "said better", 0,
						   FAB_AT(struct record, load),
						   FAB_METRIC_LESS}};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	const struct fab_store_kind *kind;
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs;

	add_with_columns(store, "one", record_columns, FAB_COUNT(record_columns));
	add_with_columns(store, "one", record_columns, FAB_COUNT(record_columns));
	add_with_columns(store, "two", newer, 1);
	runs = read_all(store);
	cr_assert_eq(runs.n_kinds, 4);
	cr_assert_str_eq(runs.kinds[0].name, "load");
	cr_assert_str_eq(runs.kinds[0].unit, "Mb/s");
	cr_assert_eq(runs.kinds[0].better, -1);
	cr_assert_str_eq(runs.kinds[1].name, "pairs");
	cr_assert_str_eq(runs.kinds[1].help, "of hosts");
	cr_assert_eq(runs.kinds[1].better, 1);
	cr_assert_null(runs.kinds[1].unit);
	kind = fab_store_kind_get(&runs, "one", "seconds");
	cr_assert(kind && kind->is_time && kind->better == -1);
	cr_assert_str_eq(kind->unit, "s");
	/* another command has its own */
	cr_assert_str_eq(fab_store_kind_get(&runs, "two", "load")->help, "said better");
	cr_assert_null(fab_store_kind_get(&runs, "two", "pairs"));
	fab_store_runs_fini(&runs);
	/* what a newer program says replaces, and what it does not say stays */
	add_with_columns(store, "one", newer, 1);
	runs = read_all(store);
	cr_assert_eq(runs.n_kinds, 4);
	cr_assert_str_eq(fab_store_kind_get(&runs, "one", "load")->help, "said better");
	fab_store_close(store);
}

/* A store from elsewhere: what is said of a metric is one line of plain text or nothing.
 */
Test(store, help_from_elsewhere, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};

	add_with_columns(store, "one", record_columns, FAB_COUNT(record_columns));
	fab_store_close(store);
	sql("a.db", "UPDATE metric_kind SET help = 'a' || char(10) || 'b' WHERE name = "
		    "'load'");
	sql("a.db", "UPDATE metric_kind SET help = char(27) || '[2J' WHERE name = "
		    "'seconds'");
	store = open_store("a.db", FAB_STORE_READ);
	runs = read_all(store);
	cr_expect_str_eq(fab_store_kind_get(&runs, "one", "load")->help, "");
	cr_expect_str_eq(fab_store_kind_get(&runs, "one", "seconds")->help, "");
	cr_expect_str_eq(fab_store_kind_get(&runs, "one", "pairs")->help, "of hosts");
	fab_store_close(store);
}

Test(store, draft_of_a_run)
{
	const struct record record = {0.0 / 0.0, 7, 0.25};
	FAB_AUTO(fab_draft_fini) struct fab_draft d = {0};
	const struct fab_store_run *run;

	for (uint64_t i = 0; i < 20; i++) {
		fab_draft_result(&d, i ? "b" : "a", record_columns, 4, &record);
		for (uint64_t k = 0; k < i; k++) {
			fab_draft_part(&d, k, "part", record_columns, 4, &record);
			fab_draft_bin(&d, i, k);
		}
	}
	run = fab_draft_run(&d);
	cr_assert_eq(run->n_kinds, 3);
	cr_assert_eq(run->n_results, 20);
	for (size_t i = 0; i < run->n_results; i++) {
		const struct fab_store_result *r = &run->results[i];

		cr_assert_str_eq(r->algorithm, i ? "b" : "a");
		cr_assert_eq(r->n_metrics, 2);
		cr_assert_str_eq(r->metrics[0].name, "pairs");
		cr_assert_eq(r->metrics[0].value, 7);
		cr_assert_eq(r->metrics[1].value, 0.25);
		cr_assert_eq(r->n_bins, i);
		cr_assert_eq(r->n_details, 2 * i);
		for (size_t k = 0; k < i; k++) {
			cr_assert_eq(r->bins[k].load, i);
			cr_assert_eq(r->bins[k].links, k);
			cr_assert_eq(r->details[2 * k].position, k);
			cr_assert_eq(r->details[2 * k].value, 7);
		}
	}
}

/* Runs and results that pass; a database of two runs, "old" and none as labels. */
static void expect_passing(const struct fab_store_filter *filter, size_t n_runs,
			   size_t n_results)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_READ);
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	size_t n = 0;

	MUST(fab_store_read(store, filter, &runs, ERR));
	for (size_t i = 0; i < runs.n; i++)
		n += runs.v[i].n_results;
	cr_expect_eq(runs.n, n_runs, "%zu runs", runs.n);
	cr_expect_eq(n, n_results, "%zu results", n);
	fab_store_close(store);
}

Test(store, filters, .init = enter, .fini = leave)
{
	static const uint64_t ids[] = {2, 99};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);

	add(store, 1, "old");
	add(store, 2, NULL);
	fab_store_close(store);
	expect_passing(&(struct fab_store_filter){.ids = ids, .n_ids = 2}, 1, N_RESULTS);
	expect_passing(&(struct fab_store_filter){.label = "o*"}, 1, N_RESULTS);
	expect_passing(&(struct fab_store_filter){.label = "new"}, 0, 0);
	expect_passing(&(struct fab_store_filter){.label = "*"}, 1, N_RESULTS);
	expect_passing(&(struct fab_store_filter){.fabric = "gen:torus*"}, 2,
		       2 * N_RESULTS);
	expect_passing(&(struct fab_store_filter){.fabric = "gen:torus"}, 0, 0);
	expect_passing(&(struct fab_store_filter){.fabric = "0xf000000000000001"}, 2,
		       2 * N_RESULTS);
	expect_passing(&(struct fab_store_filter){.fabric = "0xf000000000000002"}, 0, 0);
	expect_passing(&(struct fab_store_filter){.algorithm = "opensm,fulb"}, 2, 4);
	expect_passing(&(struct fab_store_filter){.algorithm = "full"}, 0, 0);
	expect_passing(&(struct fab_store_filter){.command = "fabric-mcroute"}, 2,
		       2 * N_RESULTS);
	expect_passing(&(struct fab_store_filter){.command = "fabric-mcrout"}, 0, 0);
	expect_passing(&(struct fab_store_filter){.command = "fabric-mcroutes"}, 0, 0);
	expect_passing(&(struct fab_store_filter){.label = "OLD"}, 1, N_RESULTS);
	expect_passing(&(struct fab_store_filter){.last = true}, 1, N_RESULTS);
	expect_passing(&(struct fab_store_filter){.ids = ids, .n_ids = 1, .last = true},
		       1, N_RESULTS);
	expect_passing(
		&(struct fab_store_filter){
			.ids = ids + 1, .n_ids = 1, .last = true, .label = "old"},
		1, N_RESULTS);
	expect_passing(&(struct fab_store_filter){.before = "2026-11-20T12:34:57Z"}, 2,
		       2 * N_RESULTS);
	expect_passing(&(struct fab_store_filter){.before = "2026-11-20T12:34:56Z"}, 0,
		       0);
	expect_passing(&(struct fab_store_filter){.keep = 1}, 0, 0);
	expect_passing(&(struct fab_store_filter){.label = "o'; DROP TABLE run; --"}, 0,
		       0);
}

/* The newest of each label stay, those without a label being one. */
Test(store, the_last_of_a_label_are_kept, .init = enter, .fini = leave)
{
	static const char *const labels[] = {"a", "b", "a", NULL, "a", NULL, "b"};
	struct fab_store_filter filter = {.keep = 1};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	struct fab_store_runs runs;

	for (size_t i = 0; i < FAB_COUNT(labels); i++)
		add(store, i, labels[i]);
	MUST(fab_store_read(store, &filter, &runs, ERR));
	cr_assert_eq(runs.n, 4);
	cr_assert_eq(runs.v[0].id, 1);
	cr_assert_eq(runs.v[1].id, 2);
	cr_assert_eq(runs.v[2].id, 3);
	cr_assert_eq(runs.v[3].id, 4);
	fab_store_runs_fini(&runs);
	filter.keep = 2;
	filter.label = "a";
	MUST(fab_store_read(store, &filter, &runs, ERR));
	cr_assert_eq(runs.n, 1);
	cr_assert_eq(runs.v[0].id, 1);
	MUST(fab_store_remove(store, &runs.v[0].id, 1, ERR));
	fab_store_runs_fini(&runs);
	expect_sql("a.db", "SELECT count(*) FROM run", "6");
	expect_sql("a.db", "SELECT count(*) FROM metric", "48");
	expect_sql("a.db", "SELECT count(*) FROM histogram", "4800");
	expect_sql("a.db", "PRAGMA freelist_count", "0");
	expect_sql("a.db", "PRAGMA integrity_check", "ok");
	fab_store_close(store);
}

static void count_report(void *context, const char *phase, const char *unit,
			 uint64_t done, uint64_t total)
{
	uint64_t *n = context;

	cr_assert_str_eq(phase, "removing");
	cr_assert_str_eq(unit, "runs");
	cr_assert_eq(done, (*n)++);
	cr_assert_eq(total, 3);
}

Test(store, removing_reports_progress, .init = enter, .fini = leave)
{
	static const uint64_t ids[] = {1, 2, 3};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	uint64_t n = 0;

	for (size_t i = 0; i < 3; i++)
		add(store, i, NULL);
	fab_progress_listen(count_report, &n);
	MUST(fab_store_remove(store, ids, 3, ERR));
	fab_progress_listen(NULL, NULL);
	cr_assert_eq(n, 3);
	fab_store_close(store);
}

/* Parts, batches with segments and what was asked for come back as they were. */
Test(store, parts_come_back, .init = enter, .fini = leave)
{
	static const struct fab_store_detail details[] = {
		{0, "x", "load", 1},	 {0, "x", "pairs", 2.5},   {1, "y", "load", 3},
		{1, "y", "a", INFINITY}, {1, "y", "b", -INFINITY}, {1, "y", "c", NAN}};
	static const struct fab_store_segment segments[] = {
		{"node", "n0", 0.0 / 0.0, 5, 3}, {"rack", "r1", 10, 2.5, 4}};
	const struct fab_store_batch batches[] = {
		{0, "fulb", "first:1", 1, 1, 8, 0.5, NULL, segments, 0},
		{1, "sssp", "first:2", 2, 1, 4, 0.0 / 0.0, "rack", segments, 2},
		{2, "fulb", "first:2", 2, 1, 4, 1, NULL, segments, 1}};
	static const struct fab_store_text asked[] = {{"pattern", "grid"},
						      {"seed", NULL}};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs;
	struct sample s;

	for (int i = 0; i < 2; i++) {
		fill_sample(&s, 1, NULL);
		s.results[1].details = details;
		s.results[1].n_details = FAB_COUNT(details);
		s.run.batches = batches;
		s.run.n_batches = 3;
		s.run.asked = asked;
		s.run.n_asked = 2;
		MUST(fab_store_add(store, &s.run, NULL, ERR));
	}
	runs = read_all(store);
	for (size_t i = 0; i < 2; i++) {
		const struct fab_store_run *r = &runs.v[i];

		cr_assert_eq(r->n_asked, 1);
		cr_assert_str_eq(r->asked[0].value, "grid");
		cr_assert_eq(r->results[0].n_details, 0);
		cr_assert_eq(r->results[1].n_details, 3);
		cr_assert_str_eq(r->results[1].details[1].name, "pairs");
		cr_assert_eq(r->results[1].details[1].value, 2.5);
		cr_assert_str_eq(r->results[1].details[2].part, "y");
		cr_assert_eq(r->n_batches, 3);
		cr_assert_eq(r->batches[0].n_segments, 0);
		cr_assert_null(r->batches[0].bottleneck);
		cr_assert_eq(r->batches[1].n_segments, 2);
		cr_assert(!(r->batches[1].boot_seconds >= 0));
		cr_assert(!(r->batches[1].segments[0].capacity_mbps >= 0));
		cr_assert_str_eq(r->batches[1].segments[1].tightest, "r1");
		cr_assert_eq(r->batches[1].segments[1].max_sharers, 4);
		cr_assert_str_eq(r->batches[2].segments[0].name, "node");
		cr_assert_eq(r->results[3].n_bins, N_BINS);
	}
	fab_store_runs_fini(&runs);
	/* batches of other algorithms are left out with them */
	MUST(fab_store_read(store, &(struct fab_store_filter){.algorithm = "sssp"}, &runs,
			    ERR));
	cr_assert_eq(runs.v[1].n_batches, 1);
	cr_assert_eq(runs.v[1].batches[0].n_segments, 2);
	fab_store_runs_fini(&runs);
	/* a list needs no more than names */
	MUST(fab_store_read(store, &(struct fab_store_filter){.names_only = true}, &runs,
			    ERR));
	cr_assert_eq(runs.v[0].n_results, N_RESULTS);
	cr_assert_eq(runs.v[0].n_facts, 2);
	cr_assert_eq(runs.v[0].results[0].n_metrics, 0);
	fab_store_close(store);
}

Test(store, refuses_what_is_not_its_own, .init = enter, .fini = leave)
{
	char text[4097];

	memset(text, 'x', 4096);
	text[4096] = 0;
	put("text", text);
	put("short", "no database\n");
	put("empty", "");
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	sql("other.db", "CREATE TABLE t (a)");
	sql("other-id.db", "PRAGMA application_id = 5");
	for (int mode = FAB_STORE_READ; mode <= FAB_STORE_WRITE; mode++) {
		check_refused("text", (enum fab_store_mode)mode, EINVAL,
			      "not written by");
		check_refused("short", (enum fab_store_mode)mode, EINVAL,
			      "not written by");
		check_refused("fifo", (enum fab_store_mode)mode, EINVAL,
			      "not a regular file");
		check_refused(".", (enum fab_store_mode)mode, EINVAL, "not a regular");
		check_refused("other.db", (enum fab_store_mode)mode, EINVAL,
			      "another program");
		check_refused("other-id.db", (enum fab_store_mode)mode, EINVAL,
			      "another program");
		check_refused("no/where", (enum fab_store_mode)mode, ENOENT, "No such");
	}
	check_refused("empty", FAB_STORE_READ, EINVAL, "is empty");
	check_refused("absent", FAB_STORE_READ, ENOENT, "No such file");
	/* nothing was made or changed on the way */
	cr_assert_neq(access("absent", F_OK), 0);
	expect_sql("other.db", "SELECT count(*) FROM sqlite_master", "1");
	/* an empty file and odd names are good places for a new database */
	fab_store_close(open_store("empty", FAB_STORE_WRITE));
	for (int i = 0; i < 2; i++) {
		const char *path = i ? ":memory:" : "file:x?mode=memory";
		struct fab_store *store = open_store(path, FAB_STORE_WRITE);

		add(store, 1, NULL);
		fab_store_close(store);
		cr_assert_eq(access(path, F_OK), 0);
	}
}

Test(store, refuses_other_schemas, .init = enter, .fini = leave)
{
	make();
	sql("a.db", "PRAGMA user_version = 99");
	check_refused("a.db", FAB_STORE_READ, EINVAL,
		      "has schema 99, and this program has 1");
	check_refused("a.db", FAB_STORE_WRITE, EINVAL, "has schema 99");
	sql("a.db", "PRAGMA user_version = 0");
	check_refused("a.db", FAB_STORE_WRITE, EINVAL, "has schema 0");
	expect_sql("a.db", "SELECT count(*) FROM run", "1");
	/* the version that the schema gives itself; an empty file gets it at once */
	put("empty.db", "");
	fab_store_close(open_store("empty.db", FAB_STORE_WRITE));
	fab_store_close(open_store("empty.db", FAB_STORE_READ));
	expect_sql("empty.db", "PRAGMA application_id", "1717658219");
}

static void expect_status(pid_t pid, int want)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), want);
}

static void expect_sound(const char *path)
{
	expect_sql(path, "PRAGMA integrity_check", "ok");
	expect_sql(path, "SELECT count(*) FROM pragma_foreign_key_check", "0");
}

/* A child that adds runs; says each number on `fd` once it is stored. */
static void keep_adding(const char *path, unsigned n, int fd)
{
	struct fab_store *store;
	struct sample s;

	if (fab_store_open(path, FAB_STORE_WRITE, &store, NULL))
		_exit(90);
	for (unsigned i = 0; i < n; i++) {
		uint64_t id;

		fill_sample(&s, i, "writer");
		if (fab_store_add(store, &s.run, &id, NULL))
			_exit(91);
		if (fd >= 0 && write(fd, &id, sizeof(id)) != sizeof(id))
			_exit(92);
	}
	fab_store_close(store);
	_exit(0);
}

Test(store, several_writers_at_once, .init = enter, .fini = leave)
{
	enum { N_WRITERS = 4, N_RUNS = 25 };
	pid_t pid[N_WRITERS];

	/* the database does not exist yet: they race for making it as well */
	for (int i = 0; i < N_WRITERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			keep_adding("a.db", N_RUNS, -1);
	}
	for (int i = 0; i < N_WRITERS; i++)
		expect_status(pid[i], 0);
	expect_sound("a.db");
	expect_sql("a.db", "SELECT count(*) = 100 AND max(id) = 100 FROM run", "1");
	expect_sql("a.db", "SELECT count(*) FROM histogram", "80000");
}

/* All of the schema or nothing. */
static bool has_tables(const char *path)
{
	if (access(path, F_OK) != 0)
		return false;
	expect_sql(path,
		   "SELECT count(*) IN (0, 24) FROM sqlite_master "
		   "WHERE name NOT LIKE 'sqlite%'",
		   "1");
	return !sql_is(path, "SELECT count(*) FROM sqlite_master", "0");
}

/* Complete runs only, and among them all that were reported. */
static void expect_complete(const char *path, const uint64_t *reported, size_t n)
{
	char text[128];

	if (!has_tables(path)) {
		cr_assert_eq(n, 0);
		return;
	}
	expect_sound(path);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "SELECT count(*) FROM run WHERE id = %llu",
			 (unsigned long long)reported[i]);
		expect_sql(path, text, "1");
	}
	expect_sql(path,
		   "SELECT (SELECT count(*) FROM result) = 4 * count(*) "
		   "AND (SELECT count(*) FROM metric) = 8 * count(*) "
		   "AND (SELECT count(*) FROM histogram) = 800 * count(*) FROM run",
		   "1");
}

/* Kill a writer after up to 80 ms; the numbers that it reported. */
static size_t kill_writer(const char *path, struct fab_rng *rng, uint64_t *reported,
			  size_t max)
{
	struct timespec wait = {.tv_nsec = (long)fab_rng_below(rng, 80000000)};
	size_t n = 0;
	int fds[2];
	pid_t pid;

	cr_assert_eq(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		keep_adding(path, 1000, fds[1]);
	}
	close(fds[1]);
	/* now and then one run at least, however slow the machine is */
	if (!fab_rng_below(rng, 4) && read(fds[0], reported, sizeof(*reported)) > 0)
		n++;
	nanosleep(&wait, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (n < max && read(fds[0], &reported[n], sizeof(*reported)) > 0)
		n++;
	close(fds[0]);
	return n;
}

/* 60 times, over 10 databases, so that making one is hit as well. */
Test(store, killed_writers, .init = enter, .fini = leave, .timeout = 300)
{
	enum { N_KILLS = 6, MAX_RUNS = 100000 };
	uint64_t *reported = malloc(MAX_RUNS * sizeof(*reported));
	struct fab_rng rng = test_rng(5);
	size_t n_all = 0;

	for (int k = 0; k < 10; k++) {
		size_t n = 0;
		char path[16];

		snprintf(path, sizeof(path), "%d.db", k);
		for (int i = 0; i < N_KILLS; i++) {
			n += kill_writer(path, &rng, reported + n, MAX_RUNS - n);
			expect_complete(path, reported, n);
		}
		n_all += n;
	}
	free(reported);
	cr_log_info("%zu runs were reported stored", n_all);
	cr_assert_gt(n_all, 10);
}

/* Permissions mean nothing to root: become somebody else. */
static void drop_root(void)
{
	if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
		_exit(95);
}

static void try_unwritable(void)
{
	struct fab_store *store = NULL;

	drop_root();
	if (fab_store_open("a.db", FAB_STORE_WRITE, &store, ERR) != -EACCES ||
	    strcmp(test_err.text, "a.db: cannot write: Permission denied") != 0)
		_exit(1);
	if (fab_store_open("sub/a.db", FAB_STORE_WRITE, &store, ERR) != -EACCES ||
	    strcmp(test_err.text,
		   "sub/a.db: cannot write in its folder: Permission denied") != 0)
		_exit(2);
	/* but it can be read */
	if (fab_store_open("a.db", FAB_STORE_READ, &store, ERR) != 0)
		_exit(3);
	fab_store_close(store);
	_exit(0);
}

Test(store, read_only, .init = enter, .fini = leave)
{
	pid_t pid;

	make();
	cr_assert_eq(chmod(".", 0555), 0);
	cr_assert_eq(chmod("a.db", 0444), 0);
	cr_assert_eq(mkdir("sub", 0555), geteuid() ? -1 : 0);
	if (!geteuid()) /* whatever the umask */
		cr_assert_eq(chmod("sub", 0555), 0);
	pid = fork();
	if (!pid)
		try_unwritable();
	expect_status(pid, 0);
	cr_assert_eq(chmod(".", 0755), 0);
}

/* A file that must not grow: the run fails, those before stay, and later ones go well. */
Test(store, no_room, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	struct rlimit before, limit;
	struct sample s;
	struct stat st;

	add(store, 1, NULL);
	cr_assert_eq(stat("a.db", &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = (rlim_t)st.st_size;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill_sample(&s, 2, NULL);
	FAILS(fab_store_add(store, &s.run, NULL, ERR), 0, "a.db: cannot write: ");
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	expect_sql("a.db", "SELECT count(*) FROM run", "1");
	cr_assert_eq(add(store, 3, NULL), 2);
	fab_store_close(store);
	expect_complete("a.db", (const uint64_t[]){1, 2}, 2);
}

/* Tables of other kinds, numbers of other signs: errors or harmless values, no more. */
Test(store, hostile_content, .init = enter, .fini = leave)
{
	struct fab_store *store;
	struct fab_store_runs runs;

	make();
	sql("a.db", "UPDATE run SET switches = -5, fingerprint = 'none', "
		    "source = 'a' || char(27) || x'ff'");
	store = open_store("a.db", FAB_STORE_READ);
	runs = read_all(store);
	cr_assert_eq(runs.v[0].fabric.switches, 0);
	cr_assert_eq(runs.v[0].fabric.fingerprint, 0);
	fab_store_runs_fini(&runs);
	fab_store_close(store);
	sql("a.db", "PRAGMA foreign_keys = OFF; DROP VIEW load; DROP TABLE histogram");
	store = open_store("a.db", FAB_STORE_READ);
	FAILS_AS(fab_store_read(store, &(struct fab_store_filter){0}, &runs, ERR),
		 -EINVAL, "a.db: cannot read: no such table: histogram");
	fab_store_close(store);
}

/* Half of a database: an error in one sentence wherever the file was cut. */
Test(store, cut_off, .init = enter, .fini = leave)
{
	struct fab_store *store;
	struct stat st;
	unsigned n_refused = 0;

	make();
	cr_assert_eq(stat("a.db", &st), 0);
	for (off_t size = st.st_size - 512; size > 0; size -= 3001) {
		FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
		int rc;

		cr_assert_eq(truncate("a.db", size), 0);
		rc = fab_store_open("a.db", FAB_STORE_READ, &store, ERR);
		if (!rc) {
			rc = fab_store_read(store, &(struct fab_store_filter){0}, &runs,
					    ERR);
			fab_store_close(store);
		}
		if (rc) {
			n_refused++;
			cr_assert_eq(strncmp(test_err.text, "a.db: ", 6), 0, "%s",
				     test_err.text);
		}
	}
	cr_assert_gt(n_refused, 5);
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

Test(store, numbers_keep_their_values, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	struct fab_store_run run = plain_run();
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};

	run.facts = numbers;
	run.n_facts = FAB_COUNT(numbers);
	MUST(fab_store_add(store, &run, NULL, ERR));
	fab_store_close(store);
	store = open_store("a.db", FAB_STORE_READ);
	runs = read_all(store);
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
	/* whole ones as such up to 2^53, where doubles stop to be exact */
	expect_sql("a.db", "SELECT group_concat(name || ' ' || typeof(value)) FROM fact",
		   "a integer,b real,c real,d integer,e real,f real,g integer,j integer");
	expect_sql("a.db", "SELECT value FROM fact WHERE name = 'a'", "9007199254740992");
	expect_sql("a.db", "SELECT value FROM fact WHERE name = 'g'", "-3");
}

/* Numbers of one name twice: the second cannot be stored. */
static const struct fab_store_number twice[] = {{"x", 1}, {"x", 2}};

/* Adding fails, says so, and leaves nothing, not even a lock. */
static void expect_nothing(const struct fab_store_run *broken)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE), *other;
	struct fab_store_run sound = plain_run();
	uint64_t id = 77;

	MUST(fab_store_add(store, &sound, &id, ERR));
	cr_assert_eq(id, 1);
	FAILS(fab_store_add(store, broken, &id, ERR), 0, "a.db: cannot write: ");
	cr_assert_eq(id, 1);
	other = open_store("a.db", FAB_STORE_WRITE);
	MUST(fab_store_add(other, &sound, &id, ERR));
	fab_store_close(other);
	MUST(fab_store_add(store, &sound, &id, ERR));
	cr_assert_eq(id, 3);
	fab_store_close(store);
	expect_sql("a.db", "SELECT count(*) FROM run", "3");
	expect_sql("a.db",
		   "SELECT (SELECT count(*) FROM fact) + (SELECT count(*) FROM metric) "
		   "+ (SELECT count(*) FROM result) + (SELECT count(*) FROM batch) + "
		   "(SELECT count(*) FROM histogram) + (SELECT count(*) FROM detail)",
		   "0");
	expect_sql("a.db", "PRAGMA integrity_check", "ok");
	cr_assert_eq(unlink("a.db"), 0);
}

Test(store, what_fails_is_rolled_back, .init = enter, .fini = leave)
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

Test(store, runs_without_results, .init = enter, .fini = leave)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	const struct fab_store_result results[] = {{.algorithm = "fulb"},
						   {.algorithm = "sssp"}};
	struct fab_store_run run = plain_run();

	run.facts = numbers;
	run.n_facts = 1;
	MUST(fab_store_add(store, &run, NULL, ERR));
	run.results = results;
	run.n_results = 2;
	MUST(fab_store_add(store, &run, NULL, ERR));
	fab_store_close(store);
	expect_passing(&(struct fab_store_filter){0}, 2, 2);
	expect_passing(&(struct fab_store_filter){.algorithm = "fulb"}, 1, 1);
	expect_passing(&(struct fab_store_filter){.algorithm = "sssp,fulb"}, 1, 2);
	expect_passing(&(struct fab_store_filter){.algorithm = "opensm"}, 0, 0);
}

/* A reader keeps no lock: others write, and it sees what they wrote. */
Test(store, reading_leaves_no_lock, .init = enter, .fini = leave)
{
	struct fab_store *writer = open_store("a.db", FAB_STORE_WRITE), *reader;

	add(writer, 1, NULL);
	reader = open_store("a.db", FAB_STORE_READ);
	for (size_t n = 1; n < 4; n++) {
		FAB_AUTO(fab_store_runs_fini)
		struct fab_store_runs runs = read_all(reader);

		cr_assert_eq(runs.n, n);
		add(writer, 1, NULL);
	}
	fab_store_close(reader);
	fab_store_close(writer);
}

Test(store, no_view_or_virtual_table_in_place_of_a_table, .init = enter, .fini = leave)
{
	make();
	sql("a.db",
	    "ALTER TABLE histogram RENAME TO real_one;"
	    "CREATE VIEW Histogram AS WITH RECURSIVE n(load) AS (SELECT 1 UNION ALL "
	    "SELECT load + 1 FROM n) SELECT 1 AS result, load, 1 AS links FROM n");
	check_refused("a.db", FAB_STORE_READ, EINVAL,
		      "histogram is a view, expected a table");
	check_refused("a.db", FAB_STORE_WRITE, EINVAL,
		      "histogram is a view, expected a table");
	sql("a.db",
	    "DROP VIEW histogram; CREATE VIRTUAL TABLE histogram USING rtree(result, "
	    "load, links)");
	check_refused("a.db", FAB_STORE_READ, EINVAL,
		      "histogram is a virtual table, expected a table");
	check_refused("a.db", FAB_STORE_WRITE, EINVAL,
		      "histogram is a virtual table, expected a table");
	/* what a site adds beside our tables is its own matter */
	sql("a.db", "DROP TABLE histogram; ALTER TABLE real_one RENAME TO histogram;"
		    "CREATE VIEW mine AS SELECT 1; CREATE TABLE notes (text)");
	fab_store_close(open_store("a.db", FAB_STORE_READ));
	make();
}

Test(store, no_trigger_runs, .init = enter, .fini = leave)
{
	make();
	sql("a.db", "CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM run; END");
	make();
	expect_sql("a.db", "SELECT count(*) FROM run", "2");
	expect_sql("a.db", "SELECT count(*) FROM metric", "16");
}

Test(store, statements_end_in_time, .init = enter, .fini = leave)
{
	struct fab_store_filter filter = {0};
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	struct fab_store *store;
	make();
	sql("a.db",
	    "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < "
	    "100000) INSERT INTO metric_kind (command, position, name, help) "
	    "SELECT '', -i, 'm' || i, '' FROM n");
	store = open_store("a.db", FAB_STORE_READ);
	store->step_s = 1e-9;
	FAILS_AS(fab_store_read(store, &filter, &runs, ERR), -ETIMEDOUT,
		 "a.db: cannot read: a statement has not ended within "
		 "1e-09 s");
	/* the limit is that of each step, and the store can be used on */
	store->step_s = 100;
	MUST(fab_store_read(store, &filter, &runs, ERR));
	cr_assert_eq(runs.n, 1);
	fab_store_close(store);
}

Test(store, what_fails_leaves_no_file, .init = enter, .fini = leave)
{
	struct sample s;
	struct fab_store *store;
	struct rlimit before, limit;
	fill_sample(&s, 1, NULL);
	/* a command that fails before it has a result */
	fab_store_close(open_store("a.db", FAB_STORE_WRITE));
	cr_assert_eq(n_files(), 0);
	/* a disk that is full from the beginning, or soon */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (rlim_t size = 0; size <= 20480; size += 4096) {
		limit = before;
		limit.rlim_cur = size;
		store = open_store("a.db", FAB_STORE_WRITE);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		cr_assert_lt(fab_store_add(store, &s.run, NULL, ERR), 0);
		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
		HAS(test_err.text, "a.db: cannot write: ");
		fab_store_close(store);
		cr_assert_eq(n_files(), 0, "a limit of %lu bytes", (unsigned long)size);
	}
	/* an empty file of the user's own stays */
	put("a.db", "");
	limit.rlim_cur = 0;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_lt(fab_store_open("a.db", FAB_STORE_WRITE, &store, ERR), 0);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	cr_assert_eq(access("a.db", F_OK), 0);
}

Test(store, a_file_that_was_taken_away_holds_nothing, .init = enter, .fini = leave)
{
	struct sample s;
	struct fab_store *store;
	make();
	fill_sample(&s, 1, NULL);
	store = open_store("a.db", FAB_STORE_WRITE);
	cr_assert_eq(unlink("a.db"), 0);
	cr_assert_lt(fab_store_add(store, &s.run, NULL, ERR), 0);
	cr_assert_eq(strncmp(test_err.text, "a.db: ", 6), 0, "%s", test_err.text);
	fab_store_close(store);
}

/* Two find no file; the second finds the first one's. */
Test(store, two_make_the_file, .init = enter, .fini = leave)
{
	struct fab_store *one = open_store("a.db", FAB_STORE_WRITE),
			 *two = open_store("a.db", FAB_STORE_WRITE);

	cr_assert_eq(add(one, 1, NULL), 1);
	cr_assert_eq(add(two, 1, NULL), 2);
	cr_assert_eq(add(one, 1, NULL), 3);
	fab_store_close(one);
	fab_store_close(two);
}
