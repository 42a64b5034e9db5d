/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/stored.h"

#include "support/test.h"

#include <sqlite3.h>

struct fab_store_run plain_run(void)
{
	return (struct fab_store_run){.time = "2026-11-20T12:34:56Z",
				      .command = "fabric-mcroute",
				      .version = "1.2.3",
				      .arguments = "--pattern=grid:3x3 'a b'",
				      .host = "login1",
				      .fabric.source = "gen:torus:dims=3x3"};
}

void fill_sample(struct sample *s, uint64_t mark, const char *label)
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
	s->run = plain_run();
	s->run.label = label;
	s->run.fabric.fingerprint = 0xf000000000000001;
	s->run.fabric.switches = 9;
	s->run.fabric.host_links = 18;
	s->run.facts = s->facts;
	s->run.n_facts = 2;
	s->run.results = s->results;
	s->run.n_results = N_RESULTS;
}

uint64_t add(struct fab_store *store, uint64_t mark, const char *label)
{
	struct sample s;
	uint64_t id = 0;

	fill_sample(&s, mark, label);
	MUST(fab_store_add(store, &s.run, &id, ERR));
	return id;
}

struct fab_store *open_store(const char *path, enum fab_store_mode mode)
{
	struct fab_store *store = NULL;

	MUST(fab_store_open(path, mode, &store, ERR));
	return store;
}

static int append_row(void *text, int n, char **values, char **names)
{
	(void)names;
	for (int i = 0; i < n; i++)
		fab_append(text, i ? "|" : "\n", "%s", values[i] ? values[i] : "NULL");
	return 0;
}

char *sql(const char *path, const char *text)
{
	sqlite3 *db;
	char *message = NULL, *rows = NULL;

	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, text, append_row, &rows, &message);
	cr_assert_null(message, "%s: %s", text, message);
	sqlite3_close(db);
	return rows;
}

void expect_sql(const char *path, const char *text, const char *want)
{
	OWN_HEAP char *got = sql(path, text);

	cr_assert_not_null(got, "%s", text);
	cr_assert_str_eq(got, want, "%s: %s", text, got);
}

struct fab_store_runs read_all(struct fab_store *store)
{
	struct fab_store_runs runs;

	MUST(fab_store_read(store, &(struct fab_store_filter){0}, &runs, ERR));
	return runs;
}

void make(void)
{
	OWN(fab_store) *store = open_store("a.db", FAB_STORE_WRITE);

	add(store, 1, NULL);
}
