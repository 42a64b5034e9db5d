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

TestSuite(store_safe, .init = enter, .fini = leave);

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

static void check_refused_always(const char *path, int errnum, const char *part)
{
	check_refused(path, FAB_STORE_READ, errnum, part);
	check_refused(path, FAB_STORE_WRITE, errnum, part);
}

Test(store_safe, refuses_what_is_not_its_own)
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
	check_refused_always("text", EINVAL, "not written by");
	check_refused_always("short", EINVAL, "not written by");
	check_refused_always("fifo", EINVAL, "not a regular file");
	check_refused_always(".", EINVAL, "not a regular");
	check_refused_always("other.db", EINVAL, "another program");
	check_refused_always("other-id.db", EINVAL, "another program");
	check_refused_always("no/where", ENOENT, "No such");
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

Test(store_safe, refuses_other_schemas)
{
	make();
	sql("a.db", "PRAGMA user_version = 99");
	check_refused_always("a.db", EINVAL, "has schema 99, and this program has 1");
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

Test(store_safe, several_writers_at_once)
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

/* 30 times (in full 60), over 5 databases (10), so that making one is hit as well. */
Test(store_safe, killed_writers, .timeout = 300)
{
	enum { N_KILLS = 6, MAX_RUNS = 100000 };
	uint64_t *reported = malloc(MAX_RUNS * sizeof(*reported));
	struct fab_rng rng = test_rng(5);
	size_t n_all = 0;

	for (uint32_t k = 0; k < test_some(10, 2, 3); k++) {
		size_t n = 0;
		char path[16];

		snprintf(path, sizeof(path), "%u.db", k);
		for (int i = 0; i < N_KILLS; i++) {
			n += kill_writer(path, &rng, reported + n, MAX_RUNS - n);
			expect_complete(path, reported, n);
		}
		n_all += n;
	}
	free(reported);
	cr_log_info("%zu runs were reported stored", n_all);
	cr_assert_gt(n_all, TEST_SHARE > 1 ? 1 : 5);
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

Test(store_safe, read_only)
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
/* Files may have up to `bytes`; what was allowed before. */
static rlim_t limit_files(rlim_t bytes)
{
	struct rlimit limit;
	rlim_t before;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	before = limit.rlim_cur;
	limit.rlim_cur = bytes;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	return before;
}

Test(store_safe, no_room)
{
	struct fab_store *store = open_store("a.db", FAB_STORE_WRITE);
	struct sample s;
	struct stat st;
	rlim_t before;

	add(store, 1, NULL);
	cr_assert_eq(stat("a.db", &st), 0);
	before = limit_files((rlim_t)st.st_size);
	fill_sample(&s, 2, NULL);
	FAILS(fab_store_add(store, &s.run, NULL, ERR), 0, "a.db: cannot write: ");
	limit_files(before);
	expect_sql("a.db", "SELECT count(*) FROM run", "1");
	cr_assert_eq(add(store, 3, NULL), 2);
	fab_store_close(store);
	expect_complete("a.db", (const uint64_t[]){1, 2}, 2);
}

/* Tables of other kinds, numbers of other signs: errors or harmless values, no more. */
Test(store_safe, hostile_content)
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
Test(store_safe, cut_off)
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

Test(store_safe, no_view_or_virtual_table_in_place_of_a_table)
{
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
	/* what a site adds beside our tables is its own matter */
	sql("a.db", "DROP TABLE histogram; ALTER TABLE real_one RENAME TO histogram;"
		    "CREATE VIEW mine AS SELECT 1; CREATE TABLE notes (text)");
	fab_store_close(open_store("a.db", FAB_STORE_READ));
	make();
}

Test(store_safe, no_trigger_runs)
{
	make();
	sql("a.db", "CREATE TRIGGER evil AFTER INSERT ON run BEGIN DELETE FROM run; END");
	make();
	expect_sql("a.db", "SELECT count(*) FROM run", "2");
	expect_sql("a.db", "SELECT count(*) FROM metric", "16");
}

Test(store_safe, statements_end_in_time)
{
	const struct fab_store_filter filter = {0};
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	struct fab_store *store;

	make();
	sql("a.db",
	    "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < "
	    "100000) INSERT INTO metric_kind (command, position, name, help) "
	    "SELECT '', -i, 'm' || i, '' FROM n");
	store = open_store("a.db", FAB_STORE_READ);
	fab_store_limit(store, 1e-9);
	FAILS_AS(fab_store_read(store, &filter, &runs, ERR), -ETIMEDOUT,
		 "a.db: cannot read: a statement has not ended within "
		 "1e-09 s");
	/* the limit is that of each step, and the store can be used on */
	fab_store_limit(store, 100);
	MUST(fab_store_read(store, &filter, &runs, ERR));
	cr_assert_eq(runs.n, 1);
	fab_store_close(store);
}

Test(store_safe, what_fails_leaves_no_file)
{
	struct sample s;
	struct fab_store *store;
	rlim_t before;

	fill_sample(&s, 1, NULL);
	/* a command that fails before it has a result */
	fab_store_close(open_store("a.db", FAB_STORE_WRITE));
	cr_assert_eq(n_files(), 0);
	/* a disk that is full from the beginning, or soon */
	for (rlim_t size = 0; size <= 20480; size += 4096) {
		store = open_store("a.db", FAB_STORE_WRITE);
		before = limit_files(size);
		FAILS(fab_store_add(store, &s.run, NULL, ERR), 0, "a.db: cannot write: ");
		limit_files(before);
		fab_store_close(store);
		cr_assert_eq(n_files(), 0, "a limit of %lu bytes", (unsigned long)size);
	}
	/* an empty file of the user's own stays */
	put("a.db", "");
	before = limit_files(0);
	FAILS(fab_store_open("a.db", FAB_STORE_WRITE, &store, ERR), 0, "");
	limit_files(before);
	cr_assert_eq(access("a.db", F_OK), 0);
}

Test(store_safe, a_file_that_was_taken_away_holds_nothing)
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
