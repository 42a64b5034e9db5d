/* SPDX-License-Identifier: BSD-2-Clause */
/* The store: several writers, limits, and what a hostile file, a full disk or a killed
 * command may not do. */
#include "store/store.h"
#include "support/process.h"
#include "support/stored.h"
#include "support/test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(store_safe, .init = enter_folder, .fini = leave_folder);

/* Opening fails with this errno and a text that begins with the path. */
static void check_refused(const char *path, enum fab_store_mode mode, int errnum,
			  const char *part)
{
	static char untouched;
	struct fab_store *store = (void *)&untouched;

	FAILS(fab_store_open(path, mode, &store, ERR), -errnum, part);
	cr_assert_eq(strncmp(test_err.text, path, strlen(path)), 0, "%s", test_err.text);
	cr_assert_eq((void *)store, (void *)&untouched);
}

static void check_refused_always(const char *path, int errnum, const char *part)
{
	check_refused(path, FAB_STORE_READ, errnum, part);
	check_refused(path, FAB_STORE_WRITE, errnum, part);
}

Test(store_safe, refuses_what_is_not_its_own)
{
	static const struct {
		const char *path;
		int errnum;
		const char *part;
	} rows[] = {
		{"text", EINVAL, "not written by"},
		{"short", EINVAL, "not written by"},
		{"fifo", EINVAL, "not a regular file"},
		{".", EINVAL, "not a regular"},
		{"other.db", EINVAL, "another program"},
		{"other-id.db", EINVAL, "another program"},
		{"no/where", ENOENT, "No such"},
	};
	static const char *const good[] = {"empty", ":memory:", "file:x?mode=memory"};
	char text[4097] = "";

	memset(text, 'x', 4096);
	put("text", text);
	put("short", "no database\n");
	put("empty", "");
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	sql("other.db", "CREATE TABLE t (a)");
	sql("other-id.db", "PRAGMA application_id = 5");
	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		check_refused_always(rows[i].path, rows[i].errnum, rows[i].part);
	check_refused("empty", FAB_STORE_READ, EINVAL, "is empty");
	check_refused("absent", FAB_STORE_READ, ENOENT, "No such file");
	/* nothing was made or changed on the way */
	cr_assert_neq(access("absent", F_OK), 0);
	expect_sql("other.db", "SELECT count(*) FROM sqlite_master", "1");
	/* an empty file and odd names are good places for a new database */
	for (size_t i = 0; i < FAB_COUNT(good); i++) {
		OWN(fab_store) *store = open_store(good[i], FAB_STORE_WRITE);

		add(store, 1, NULL);
		cr_assert_eq(access(good[i], F_OK), 0);
	}
	sql("empty", "PRAGMA user_version = 99");
	check_refused_always("empty", EINVAL, "has schema 99, and this program has 1");
	sql("empty", "PRAGMA user_version = 0");
	check_refused("empty", FAB_STORE_WRITE, EINVAL, "has schema 0");
	expect_sql("empty", "SELECT count(*) FROM run", "1");
	/* the version that the schema gives itself; an empty file gets it at once */
	put("empty.db", "");
	fab_store_close(open_store("empty.db", FAB_STORE_WRITE));
	fab_store_close(open_store("empty.db", FAB_STORE_READ));
	expect_sql("empty.db", "PRAGMA application_id", "1717658219");
}

/* A child that adds runs and says each number on `fd` once it is stored. */
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
		if (write(fd, &id, sizeof(id)) != sizeof(id))
			_exit(92);
	}
	fab_store_close(store);
	_exit(0);
}

/* A whole schema and whole runs, among them all that were reported. */
static void expect_complete(const char *path, const uint64_t *reported, size_t n)
{
	expect_sql(path,
		   "SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite%'",
		   "24");
	expect_sql(path, "PRAGMA integrity_check", "ok");
	expect_sql(path, "SELECT count(*) FROM pragma_foreign_key_check", "0");
	for (size_t i = 0; i < n; i++) {
		OWN_HEAP char *text = fab_format(
			"SELECT count(*) FROM run WHERE id = %lu", reported[i]);

		expect_sql(path, text, "1");
	}
	expect_sql(path,
		   "SELECT (SELECT count(*) FROM result) = 4 * count(*) "
		   "AND (SELECT count(*) FROM metric) = 8 * count(*) "
		   "AND (SELECT count(*) FROM histogram) = 800 * count(*) FROM run",
		   "1");
}

/* Four race for making each database as well; two of them are killed on the way. */
Test(store_safe, writers_some_of_which_are_killed, .timeout = 300)
{
	enum { N_WRITERS = 4, N_KILLED = 2, N_RUNS = 25, MOST = N_WRITERS * N_RUNS };
	struct fab_rng rng = test_rng(5);
	uint32_t n_killed = 0;

	for (uint32_t k = 0; k < test_some(20, 2, 4); k++) {
		uint64_t reported[MOST], n = 0;
		pid_t writers[N_WRITERS];
		int fds[2], status;
		char path[16];

		snprintf(path, sizeof(path), "%u.db", k);
		cr_assert_eq(pipe(fds), 0);
		for (int i = 0; i < N_WRITERS; i++)
			if (!(writers[i] = fork()))
				keep_adding(path, N_RUNS, fds[1]);
		close(fds[1]);
		for (int i = 0; i < N_KILLED; i++) {
			const struct timespec wait = {
				.tv_nsec = (long)fab_rng_below(&rng, 80000000)};

			nanosleep(&wait, NULL);
			kill(writers[i], SIGKILL);
		}
		for (int i = 0; i < N_WRITERS; i++) {
			cr_assert_eq(waitpid(writers[i], &status, 0), writers[i]);
			n_killed += status == SIGKILL;
			cr_assert(!status || (i < N_KILLED && status == SIGKILL), "%x",
				  status);
		}
		while (n < MOST && read(fds[0], &reported[n], sizeof(*reported)) > 0)
			n++;
		close(fds[0]);
		cr_assert_geq(n, (N_WRITERS - N_KILLED) * N_RUNS);
		expect_complete(path, reported, n);
		expect_sql(path, "SELECT count(*) = max(id) FROM run", "1");
	}
	cr_assert_gt(n_killed, 2);
}

/* Files may have up to so many bytes. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void fail_to_add(struct fab_store *store, rlim_t bytes)
{
	struct sample s;

	fill_sample(&s, 2, NULL);
	limit_files(bytes);
	FAILS(fab_store_add(store, &s.run, NULL, ERR), 0, "a.db: cannot write: ");
	limit_files(RLIM_INFINITY);
}

Test(store_safe, what_fails_leaves_no_file)
{
	struct sample s;
	struct fab_store *store;

	/* a command that fails before it has a result */
	fab_store_close(open_store("a.db", FAB_STORE_WRITE));
	cr_assert_eq(n_files(), 0);
	/* a disk that is full from the beginning, or soon */
	for (rlim_t size = 0; size <= 20480; size += 4096) {
		store = open_store("a.db", FAB_STORE_WRITE);
		fail_to_add(store, size);
		fab_store_close(store);
		cr_assert_eq(n_files(), 0, "a limit of %lu bytes", (unsigned long)size);
	}
	/* an empty file of the user's own stays */
	put("a.db", "");
	limit_files(0);
	FAILS(fab_store_open("a.db", FAB_STORE_WRITE, &store, ERR), 0, "");
	limit_files(RLIM_INFINITY);
	cr_assert_eq(access("a.db", F_OK), 0);
	/* a file that was taken away holds nothing */
	make();
	store = open_store("a.db", FAB_STORE_WRITE);
	cr_assert_eq(unlink("a.db"), 0);
	fill_sample(&s, 1, NULL);
	FAILS(fab_store_add(store, &s.run, NULL, ERR), 0, "a.db: ");
	fab_store_close(store);
}

/* Tables of other kinds, numbers of other signs: errors or harmless values, no more. */
Test(store_safe, hostile_content)
{
	OWN(fab_store) *store = NULL;
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs;

	make();
	/* no trigger runs */
	sql("a.db", "CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM run; END");
	make();
	expect_sql("a.db", "SELECT count(*) FROM run", "2");
	expect_sql("a.db", "SELECT count(*) FROM metric", "16");
	sql("a.db", "UPDATE run SET switches = -5, fingerprint = 'none', "
		    "source = 'a' || char(27) || x'ff'");
	store = open_store("a.db", FAB_STORE_READ);
	runs = read_all(store);
	cr_assert_eq(runs.v[0].fabric.switches, 0);
	cr_assert_eq(runs.v[0].fabric.fingerprint, 0);
	fab_store_runs_fini(&runs);
	/* what a site adds beside our tables is its own matter */
	sql("a.db", "CREATE VIEW mine AS SELECT 1; CREATE TABLE notes (text)");
	make();
	sql("a.db",
	    "ALTER TABLE histogram RENAME TO real_one;"
	    "CREATE VIEW Histogram AS WITH RECURSIVE n(load) AS (SELECT 1 UNION ALL "
	    "SELECT load + 1 FROM n) SELECT 1 AS result, load, 1 AS links FROM n");
	check_refused_always("a.db", EINVAL, "histogram is a view, expected a table");
	sql("a.db",
	    "DROP VIEW histogram; CREATE VIRTUAL TABLE histogram USING rtree(result, "
	    "load, links)");
	check_refused_always("a.db", EINVAL,
			     "histogram is a virtual table, expected a table");
	sql("a.db", "PRAGMA foreign_keys = OFF; DROP VIEW load; DROP TABLE histogram");
	FAILS_AS(fab_store_read(store, &(struct fab_store_filter){0}, &runs, ERR),
		 -EINVAL, "a.db: cannot read: no such table: histogram");
}

/* Half of a database: an error in one sentence wherever the file was cut. */
Test(store_safe, cut_off)
{
	struct stat st;
	unsigned n_refused = 0;

	make();
	cr_assert_eq(stat("a.db", &st), 0);
	for (off_t size = st.st_size - 512; size > 0; size -= 3001) {
		FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
		OWN(fab_store) *store = NULL;

		cr_assert_eq(truncate("a.db", size), 0);
		if (fab_store_open("a.db", FAB_STORE_READ, &store, ERR) ||
		    fab_store_read(store, &(struct fab_store_filter){0}, &runs, ERR)) {
			n_refused++;
			cr_assert_eq(strncmp(test_err.text, "a.db: ", 6), 0, "%s",
				     test_err.text);
		}
	}
	cr_assert_gt(n_refused, 5);
}

Test(store_safe, statements_end_in_time)
{
	const struct fab_store_filter filter = {0};
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	OWN(fab_store) *store = NULL;

	make();
	sql("a.db",
	    "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < "
	    "100000) INSERT INTO metric_kind (command, position, name, help) "
	    "SELECT '', -i, 'm' || i, '' FROM n");
	store = open_store("a.db", FAB_STORE_READ);
	fab_store_limit(store, 1e-9);
	FAILS_AS(fab_store_read(store, &filter, &runs, ERR), -ETIMEDOUT,
		 "a.db: cannot read: a statement has not ended within 1e-09 s");
	/* the limit is that of each step, and the store can be used on */
	fab_store_limit(store, 100);
	MUST(fab_store_read(store, &filter, &runs, ERR));
	cr_assert_eq(runs.n, 1);
}
