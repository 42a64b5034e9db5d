/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: what comes back, and what passes a filter. */
#include "store/store.h"

#include "base/progress.h"
#include "support/process.h"
#include "support/stored.h"
#include "support/test.h"

#include <unistd.h>

TestSuite(store, .init = enter_folder, .fini = leave_folder);

static const struct fab_store_number numbers[] = {{"a", 9007199254740992.0},
						  {"b", 9007199254740994.0},
						  {"c", 18446744073709551616.0},
						  {"d", -9007199254740992.0},
						  {"e", 1e300},
						  {"f", 0.5},
						  {"g", -3},
						  {"h", INFINITY},
						  {"i", -INFINITY},
						  {"j", 0}};

/* Everything that a run may have is stored as it is, but for what is not finite. */
static void store_all(struct fab_store *store)
{
	static const struct fab_store_detail details[] = {
		{0, "x", "load", 1},	 {0, "x", "pairs", 2.5},   {1, "y", "load", 3},
		{1, "y", "a", INFINITY}, {1, "y", "b", -INFINITY}, {1, "y", "c", NAN}};
	static const struct fab_store_segment segments[] = {{"node", "n0", NAN, 5, 3},
							    {"rack", "r1", 10, 2.5, 4}};
	static const struct fab_store_batch batches[] = {
		{0, "fulb", "first:1", 1, 1, 8, 0.5, NULL, segments, 0},
		{1, "sssp", "first:2", 2, 1, 4, NAN, "rack", segments, 2},
		{2, "fulb", "first:2", 2, 1, 4, 1, NULL, segments, 1}};
	static const struct fab_store_text asked[] = {{"pattern", "grid"},
						      {"seed", NULL}};
	struct sample s;

	fill_sample(&s, 8, "it's \"so\"");
	s.results[1].details = details;
	s.results[1].n_details = FAB_COUNT(details);
	s.run.batches = batches;
	s.run.n_batches = FAB_COUNT(batches);
	s.run.asked = asked;
	s.run.n_asked = 2;
	s.run.facts = numbers;
	s.run.n_facts = FAB_COUNT(numbers);
	MUST(fab_store_add(store, &s.run, NULL, ERR));
}

/* What was read, and written to another database, is there as it was. */
Test(store, round_trip)
{
	static const char *const tables[] = {"run",    "fact",	  "asked",
					     "result", "metric",  "histogram",
					     "batch",  "segment", "detail"};
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);
	OWN(fab_store) *other = open_store("b.db", FAB_STORE_WRITE);
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs;
	const struct fab_store_run *r;

	cr_assert_eq(add(store, 7, NULL), 1);
	store_all(store);
	runs = read_all(store);
	cr_assert_eq(runs.n, 2);
	for (size_t i = 0; i < 2; i++)
		MUST(fab_store_add(other, &runs.v[i], NULL, ERR));
	for (size_t i = 0; i < FAB_COUNT(tables); i++) {
		OWN_HEAP char *text = fab_format(
			"ATTACH 'b.db' AS b; "
			"SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM b.%s); "
			"SELECT count(*) FROM (SELECT * FROM b.%s EXCEPT SELECT * FROM main.%s)",
			tables[i], tables[i], tables[i], tables[i]);

		expect_sql("a.db", text, "0\n0");
	}
	r = &runs.v[1];
	cr_assert(r->id == 2 && !runs.v[0].label && !r->batches[0].bottleneck);
	for (size_t i = 0; i < FAB_COUNT(numbers); i++) {
		double got = fab_store_number_get(r->facts, r->n_facts, numbers[i].name);

		cr_assert(isfinite(numbers[i].value) ? got == numbers[i].value
						     : isnan(got));
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
	r = &runs.v[0];
	cr_assert(r->n_results == N_RESULTS && r->n_facts == 2);
	cr_assert_eq(r->results[0].n_metrics, 0);
}

/* For those who query by hand. */
Test(store, tables)
{
	static const char *const rows[][2] = {
		{"SELECT * FROM run",
		 "1|2026-11-20T12:34:56Z|fabric-mcroute|1.2.3|--pattern=grid:3x3 'a b'|"
		 "it's \"so\"|login1|gen:torus:dims=3x3|0xf000000000000001|9|0|0|0|0|18"},
		{"SELECT name, value FROM metric WHERE result = 4",
		 "max_efi|11\nmean_efi|0.333333333333333"},
		{"SELECT * FROM detail", "2|0|x|load|1\n2|0|x|pairs|2.5\n2|1|y|load|3"},
		{"SELECT * FROM batch", "1|1|0|fulb|first:1|1|1|8.0|0.5|NULL\n"
					"2|1|1|sssp|first:2|2|1|4.0|NULL|rack\n"
					"3|1|2|fulb|first:2|2|1|4.0|1.0|NULL"},
		{"SELECT * FROM segment",
		 "2|0|node|NULL|3|5.0|n0\n2|1|rack|10.0|4|2.5|r1\n"
		 "3|0|node|NULL|3|5.0|n0"},
		{"SELECT * FROM asked", "1|pattern|grid"},
		{"SELECT group_concat(name || ' ' || typeof(value)) FROM fact",
		 "a integer,b real,c real,d integer,e real,f real,g integer,j integer"},
		{"SELECT value FROM fact WHERE name IN ('a', 'g')",
		 "9007199254740992\n-3"},
		{"SELECT max_efi FROM mcroute WHERE algorithm = 'sssp'", "9"},
		{"SELECT algorithms FROM runs", "fulb sssp minihop opensm"},
		{"SELECT DISTINCT share FROM load WHERE load = 199", "1.0"},
	};
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);

	store_all(store);
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		expect_sql("a.db", rows[i][0], rows[i][1]);
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
	FAB_AUTO(fab_draft_fini) struct fab_draft d = {.run = plain_run()};

	d.run.command = command;
	fab_draft_table(&d, columns, n);
	MUST(fab_store_add(store, fab_draft_run(&d), NULL, ERR));
}

static void expect_kinds(struct fab_store *store, const char *want)
{
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = read_all(store);
	OWN_HEAP char *text = NULL;

	for (size_t i = 0; i < runs.n_kinds; i++) {
		const struct fab_store_kind *k = &runs.kinds[i];

		cr_assert_eq(fab_store_kind_get(&runs, k->command, k->name), k);
		fab_append(&text, "\n", "%s %s %d%s %s: %s", k->command, k->name,
			   k->better, k->is_time ? " time" : "", k->unit ? k->unit : "-",
			   k->help);
	}
	cr_assert_null(fab_store_kind_get(&runs, "two", "pairs"));
	cr_assert_str_eq(text, want);
}

/* Of the command alone. What a newer program says replaces, and what it does not say
 * stays; from elsewhere: one line of plain text or nothing. */
Test(store, kinds_come_from_the_columns_of_a_run)
{
	static const struct fab_column newer[] = {{"load", FAB_REAL, "said better", 0,
						   FAB_AT(struct record, load),
						   FAB_METRIC_LESS}};
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);

	add_with_columns(store, "one", record_columns, FAB_COUNT(record_columns));
	add_with_columns(store, "one", record_columns, FAB_COUNT(record_columns));
	add_with_columns(store, "two", newer, 1);
	expect_kinds(store, "one load -1 Mb/s: of a cable\none pairs 1 -: of hosts\n"
			    "one seconds -1 time s: it took\ntwo load -1 -: said better");
	add_with_columns(store, "one", newer, 1);
	sql("a.db", "UPDATE metric_kind SET help = 'a' || char(10) || 'b' "
		    "WHERE command = 'two'");
	sql("a.db", "UPDATE metric_kind SET help = char(27) || '[2J' "
		    "WHERE name = 'seconds'");
	expect_kinds(store, "one load -1 -: said better\none pairs 1 -: of hosts\n"
			    "one seconds -1 time s: \ntwo load -1 -: ");
}

Test(store, draft_of_a_run)
{
	const struct record record = {NAN, 7, 0.25};
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);
	FAB_AUTO(fab_draft_fini) struct fab_draft d = {.run = plain_run()};

	for (uint64_t i = 0; i < 20; i++) {
		fab_draft_result(&d, i ? "b" : "a", record_columns, 4, &record);
		for (uint64_t k = 0; k < i; k++) {
			fab_draft_part(&d, k, "part", record_columns, 4, &record);
			fab_draft_bin(&d, k, i);
		}
	}
	MUST(fab_store_add(store, fab_draft_run(&d), NULL, ERR));
	cr_assert_eq(fab_draft_run(&d)->n_kinds, 3);
	expect_sql("a.db", "SELECT group_concat(name) FROM metric_kind",
		   "load,pairs,seconds");
	expect_sql("a.db", "SELECT group_concat(algorithm, '') FROM result",
		   "abbbbbbbbbbbbbbbbbbb");
	expect_sql("a.db", "SELECT name, value, count(*) FROM metric GROUP BY name",
		   "pairs|7|20\nseconds|0.25|20");
	expect_sql(
		"a.db",
		"SELECT part, name, value, count(*), sum(position) FROM detail GROUP BY name",
		"part|pairs|7|190|1140\npart|seconds|0.25|190|1140");
	expect_sql("a.db",
		   "SELECT count(*), sum(position = links), sum(load) FROM histogram "
		   "JOIN result ON result.id = result",
		   "190|190|1140");
}

/* Of two samples, "old" and without a label, and two runs with no or empty results. */
Test(store, filters)
{
	static const uint64_t ids[] = {2, 99};
	static const struct {
		struct fab_store_filter filter;
		size_t n_runs, n_results;
	} rows[] = {
		{{.ids = ids, .n_ids = 2}, 1, 4},
		{{.label = "o*"}, 1, 4},
		{{.label = "OLD"}, 1, 4},
		{{.label = "o'; DROP TABLE run; --"}, 0, 0},
		{{.fabric = "gen:torus*"}, 2, 8},
		{{.fabric = "gen:torus"}, 0, 0},
		{{.fabric = "0xf000000000000001"}, 2, 8},
		{{.algorithm = ""}, 0, 0},
		{{.algorithm = "opensm,fulb"}, 3, 5},
		{{.command = "fabric-mcroute"}, 2, 8},
		{{.command = "other"}, 2, 2},
		{{.command = "other", .algorithm = "fulb"}, 1, 1},
		{{.command = "other", .algorithm = "sssp,fulb"}, 1, 2},
		{{.command = "other", .algorithm = "opensm"}, 0, 0},
		{{.last = true}, 1, 2},
		{{.ids = ids, .n_ids = 1, .last = true}, 2, 6},
		{{.ids = ids + 1, .n_ids = 1, .last = true, .label = "old"}, 1, 4},
		{{.before = "2026-11-20T12:34:57Z"}, 2, 8},
		{{.before = "2026-11-20T12:34:56Z"}, 0, 0},
		{{.keep = 1}, 2, 4},
		{{.keep = 3}, 0, 0},
	};
	static const struct fab_store_result empty[] = {{.algorithm = "fulb"},
							{.algorithm = "sssp"}};
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);
	struct fab_store_run run = plain_run();

	add(store, 1, "old");
	add(store, 2, NULL);
	run.command = "other";
	run.time = "2026-11-21T00:00:00Z";
	run.fabric.source = "x";
	for (run.n_results = 0; run.n_results <= 2; run.n_results += 2) {
		run.results = empty;
		MUST(fab_store_add(store, &run, NULL, ERR));
	}
	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
		size_t n = 0;

		MUST(fab_store_read(store, &rows[i].filter, &runs, ERR));
		for (size_t k = 0; k < runs.n; k++)
			n += runs.v[k].n_results;
		cr_expect_eq(runs.n, rows[i].n_runs, "row %zu: %zu runs", i, runs.n);
		cr_expect_eq(n, rows[i].n_results, "row %zu: %zu results", i, n);
	}
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

/* All that belongs to a run goes, and the file gets smaller. */
Test(store, removing)
{
	static const uint64_t ids[] = {1, 2, 3};
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);
	uint64_t n = 0;

	for (size_t i = 0; i < 4; i++)
		add(store, i, NULL);
	fab_progress_listen(count_report, &n);
	MUST(fab_store_remove(store, ids, 3, ERR));
	fab_progress_listen(NULL, NULL);
	cr_assert_eq(n, 3);
	expect_sql("a.db", "SELECT group_concat(id) FROM run", "4");
	expect_sql("a.db", "SELECT count(*) FROM metric", "8");
	expect_sql("a.db", "SELECT count(*) FROM histogram", "800");
	expect_sql("a.db", "PRAGMA freelist_count", "0");
	expect_sql("a.db", "PRAGMA integrity_check", "ok");
}

/* Adding fails, says so, and leaves nothing, not even a lock. */
static void expect_nothing(const struct fab_store_run *broken)
{
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);
	OWN(fab_store) *other = NULL;
	struct fab_store_run sound = plain_run();
	uint64_t id = 77;

	MUST(fab_store_add(store, &sound, &id, ERR));
	cr_assert_eq(id, 1);
	FAILS(fab_store_add(store, broken, &id, ERR), 0, "a.db: cannot write: ");
	cr_assert_eq(id, 1);
	other = open_store("a.db", FAB_STORE_WRITE);
	MUST(fab_store_add(other, &sound, &id, ERR));
	MUST(fab_store_add(store, &sound, &id, ERR));
	cr_assert_eq(id, 3);
	expect_sql("a.db", "SELECT count(*) FROM run", "3");
	expect_sql("a.db",
		   "SELECT (SELECT count(*) FROM fact) + (SELECT count(*) FROM metric) "
		   "+ (SELECT count(*) FROM result) + (SELECT count(*) FROM batch) + "
		   "(SELECT count(*) FROM histogram) + (SELECT count(*) FROM detail)",
		   "0");
	expect_sql("a.db", "PRAGMA integrity_check", "ok");
	cr_assert_eq(unlink("a.db"), 0);
}

/* Of every table a row that is there already. */
Test(store, what_fails_is_rolled_back)
{
	static const struct fab_store_number twice[] = {{"x", 1}, {"x", 2}};
	static const struct fab_store_detail details[] = {{0, "p", "x", 1},
							  {0, "p", "x", 2}};
	static const struct fab_store_segment segment = {"N1", "t", 1, NAN, 1};
	static const struct fab_store_batch batches[] = {
		{.algorithm = "scda", .name = "all"},
		{.algorithm = "scda",
		 .name = "all",
		 .segments = &segment,
		 .n_segments = 1}};
	static const struct fab_store_result results[] = {
		{.algorithm = "a"},
		{.algorithm = "b", .details = details, .n_details = 2}};
	struct fab_store_run run = plain_run();

	run.facts = twice;
	run.n_facts = 2;
	expect_nothing(&run);
	run.n_facts = 1;
	run.results = results;
	run.n_results = 2;
	expect_nothing(&run);
	run.n_results = 0;
	run.batches = batches;
	run.n_batches = 2;
	expect_nothing(&run);
}

/* Two find no file, and the second finds the first one's. A reader keeps no lock: others
 * write, and it sees what they wrote. */
Test(store, several_at_once)
{
	OWN(fab_store) *one = open_store("a.db", FAB_STORE_WRITE);
	OWN(fab_store) *two = open_store("a.db", FAB_STORE_WRITE);
	OWN(fab_store) *reader = NULL;

	cr_assert_eq(add(one, 1, NULL), 1);
	reader = open_store("a.db", FAB_STORE_READ);
	for (size_t n = 1; n < 4; n++) {
		FAB_AUTO(fab_store_runs_fini)
		struct fab_store_runs runs = read_all(reader);

		cr_assert_eq(runs.n, n);
		cr_assert_eq(add(n % 2 ? two : one, 1, NULL), n + 1);
	}
}
