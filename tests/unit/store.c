/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: what comes back, and what passes a filter. */
#include "store/store.h"

#include "base/progress.h"
#include "support/process.h"
#include "support/stored.h"
#include "support/test.h"

#include <unistd.h>

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

TestSuite(store, .init = enter, .fini = leave);

Test(store, round_trip)
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

Test(store, kinds_come_from_the_columns_of_a_run)
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
Test(store, help_from_elsewhere)
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

Test(store, filters)
{
	static const uint64_t ids[] = {2, 99};
	static const struct {
		struct fab_store_filter filter;
		size_t n_runs;
	} rows[] = {
		{{.ids = ids, .n_ids = 2}, 1},
		{{.label = "o*"}, 1},
		{{.label = "new"}, 0},
		{{.label = "*"}, 1},
		{{.label = "OLD"}, 1},
		{{.label = "o'; DROP TABLE run; --"}, 0},
		{{.fabric = "gen:torus*"}, 2},
		{{.fabric = "gen:torus"}, 0},
		{{.fabric = "0xf000000000000001"}, 2},
		{{.fabric = "0xf000000000000002"}, 0},
		{{.algorithm = "full"}, 0},
		{{.algorithm = ""}, 0},
		{{.command = "fabric-mcroute"}, 2},
		{{.command = "fabric-mcrout"}, 0},
		{{.command = "fabric-mcroutes"}, 0},
		{{.last = true}, 1},
		{{.ids = ids, .n_ids = 1, .last = true}, 1},
		{{.ids = ids + 1, .n_ids = 1, .last = true, .label = "old"}, 1},
		{{.before = "2026-11-20T12:34:57Z"}, 2},
		{{.before = "2026-11-20T12:34:56Z"}, 0},
		{{.keep = 1}, 0},
	};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);

	add(store, 1, "old");
	add(store, 2, NULL);
	fab_store_close(store);
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		expect_passing(&rows[i].filter, rows[i].n_runs,
			       rows[i].n_runs * N_RESULTS);
	expect_passing(&(struct fab_store_filter){.algorithm = "opensm,fulb"}, 2, 4);
}

/* The newest of each label stay, those without a label being one. */
Test(store, the_last_of_a_label_are_kept)
{
	static const char *const labels[] = {"a", "b", "a", NULL, "a", NULL, "b"};
	struct fab_store_filter filter = {.keep = 1};
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	struct fab_store_runs runs;

	for (size_t i = 0; i < FAB_COUNT(labels); i++)
		add(store, i, labels[i]);
	MUST(fab_store_read(store, &filter, &runs, ERR));
	cr_assert_eq(runs.n, 4);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(runs.v[i].id, i + 1);
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

Test(store, removing_reports_progress)
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
Test(store, parts_come_back)
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

Test(store, numbers_keep_their_values)
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

Test(store, what_fails_is_rolled_back)
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

Test(store, runs_without_results)
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
Test(store, reading_leaves_no_lock)
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

/* Two find no file; the second finds the first one's. */
Test(store, two_make_the_file)
{
	struct fab_store *one = open_store("a.db", FAB_STORE_WRITE),
			 *two = open_store("a.db", FAB_STORE_WRITE);

	cr_assert_eq(add(one, 1, NULL), 1);
	cr_assert_eq(add(two, 1, NULL), 2);
	cr_assert_eq(add(one, 1, NULL), 3);
	fab_store_close(one);
	fab_store_close(two);
}
