/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"
#include "support/process.h"
#include "support/test.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(sink, .init = enter_folder, .fini = leave_folder);

static const char *target = "result";
static int deadly = SIGKILL;

static void check(int rc)
{
	if (!rc)
		return;
	fab_cli_note(&(struct fab_cli_run){0}, "%s", test_err.text);
	exit(FAB_EXIT_ERROR);
}

static void write_and_commit(void)
{
	struct fab_cli_results results = {0};

	fputs("new\n", fab_cli_open_result(&results, target));
	check(fab_cli_commit_results(&results, ERR));
}

static void write_new(void)
{
	static struct fab_cli_results results;
	FILE *file = fab_cli_open_result(&results, target);

	fputs("new\n", file);
	fflush(file);
	check(results.rc);
}

static void write_and_exit(void)
{
	write_new();
	exit(5);
}

static void write_and_be_killed(void)
{
	write_new();
	raise(deadly);
}

/* It ends with this wait status. */
static void expect_run(void (*body)(void), int status)
{
	cr_assert_eq(run(body, "out", "err"), status, "%s", slurp("err"));
}

static void expect_file(const char *path, mode_t mode, const char *text)
{
	struct stat st;

	cr_assert_eq(lstat(path, &st), 0);
	cr_assert_eq(st.st_mode, S_IFREG | mode, "%s: %o", path, st.st_mode);
	cr_assert_str_eq(slurp(path), text);
}

static void expect_link(const char *path)
{
	struct stat st;

	cr_assert(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
}

Test(sink, writes_whole_or_not_at_all)
{
	umask(027);
	put(target, "old\n");
	expect_run(write_and_exit, W_EXITCODE(5, 0));
	cr_assert_str_eq(slurp(target), "old\n");
	cr_assert_eq(n_files(), 1, "no temporary file is left");
	cr_assert_eq(unlink(target), 0);
	expect_run(write_and_commit, 0);
	expect_file(target, 0640, "new\n"); /* a new file obeys the umask */
	cr_assert_eq(n_files(), 1);
}

/* Every signal that ends a process and can be caught; faults of our own, too. */
Test(sink, no_signal_leaves_a_temporary_file)
{
	static const int signals[] = {SIGHUP,	 SIGINT,    SIGQUIT, SIGPIPE, SIGALRM,
				      SIGTERM,	 SIGUSR1,   SIGUSR2, SIGPOLL, SIGPROF,
				      SIGXCPU,	 SIGXFSZ,   SIGPWR,  SIGTRAP, SIGSYS,
				      SIGVTALRM, SIGSTKFLT, SIGABRT, SIGSEGV, SIGBUS,
				      SIGFPE,	 SIGILL};

	put(target, "old\n");
	for (size_t i = 0; i < FAB_COUNT(signals); i++) {
		struct sigaction handler;
		int status;

		deadly = signals[i];
		/* that of a sanitizer */
		sigaction(deadly, NULL, &handler);
		if (handler.sa_handler != SIG_DFL && deadly != SIGPIPE)
			continue;
		status = run(write_and_be_killed, "out", "err");
		cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == deadly,
			  "signal %d: %x", deadly, status);
		cr_expect_eq(n_files(), 1, "signal %d", deadly);
		cr_expect_str_eq(slurp(target), "old\n");
	}
}

static void fill_folder_and_be_killed(void)
{
	struct fab_cli_folder folder;

	check(fab_cli_open_folder(&folder, target, ERR));
	fputs("new\n", fab_cli_folder_file(&folder, "a"));
	fputs("new\n", fab_cli_folder_file(&folder, "b"));
	raise(deadly);
}

static void fill_and_commit_folder(void)
{
	struct fab_cli_folder folder;
	struct fab_cli_results results = {.folder = &folder};

	check(fab_cli_open_folder(&folder, target, ERR));
	fputs("new\n", fab_cli_folder_file(&folder, "a"));
	check(fab_cli_commit_results(&results, ERR));
}

/* Without the handlers at exit, which would remove files noted before the fork. */
static void write_and_leave(void)
{
	write_and_commit();
	_exit(0);
}

/* A run that another one with the same target meets. */
static void meet_another(void)
{
	struct fab_cli_results results = {0};
	FILE *file = fab_cli_open_result(&results, target);

	if (run(write_and_leave, "out", "err") || strcmp(slurp(target), "new\n") != 0)
		exit(6);
	fputs("later\n", file);
	check(fab_cli_commit_results(&results, ERR));
}

/* What SIGKILL leaves is removed by the next run with the target, and nothing else. */
Test(sink, what_sigkill_leaves)
{
	static void (*const killed[])(void) = {write_and_be_killed,
					       fill_folder_and_be_killed};
	static void (*const commit[])(void) = {write_and_commit, fill_and_commit_folder};

	put(".result.backup", "of others");
	put(".result2.fabkit-abcdef", "of another target");
	for (int i = 0; i < 2; i++) {
		target = i ? "folder" : "result";
		expect_run(killed[i], SIGKILL);
		expect_run(killed[i], SIGKILL);
		cr_assert_eq(n_files(), 3 + i, "the second removed the first's");
		expect_run(commit[i], 0);
		cr_assert_eq(n_files(), 3 + i, "none is left");
	}
	cr_assert_str_eq(slurp("folder/a"), "new\n");
	cr_assert_str_eq(slurp("folder/b"), "");
	target = "result";
	expect_run(meet_another, 0);
	cr_assert_str_eq(slurp("result"), "later\n", "a file in use stays");
	cr_assert_str_eq(slurp(".result.backup"), "of others");
	cr_assert_str_eq(slurp(".result2.fabkit-abcdef"), "of another target");
}

Test(sink, follows_links)
{
	put("there", "old\n");
	cr_assert_eq(chmod("there", 0604), 0);
	cr_assert_eq(mkdir("folder", 0700), 0);
	cr_assert_eq(symlink("there", target), 0);
	expect_run(write_and_commit, 0);
	expect_link(target);
	expect_file("there", 0604, "new\n");
	/* also to nothing */
	target = "first";
	cr_assert_eq(symlink("folder/second", "first"), 0);
	cr_assert_eq(symlink("third", "folder/second"), 0);
	expect_run(write_and_commit, 0);
	expect_link("first");
	expect_link("folder/second");
	cr_assert_str_eq(slurp("folder/third"), "new\n");
	target = "loop";
	cr_assert_eq(symlink("loop", "loop"), 0);
	expect_run(write_and_commit, W_EXITCODE(3, 0));
	cr_assert_str_eq(slurp("err"), "fabric-test: loop: cannot write: Too many levels "
				       "of symbolic links\n");
	target = "nowhere";
	cr_assert_eq(symlink("none/x", "nowhere"), 0);
	expect_run(write_and_commit, W_EXITCODE(3, 0));
	expect_link("nowhere");
}

static void write_as_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		_exit(98);
	write_and_commit();
}

/* By root, and by who may write the file, but not give it away. */
Test(sink, keeps_the_owner)
{
	struct stat st;

	if (geteuid() != 0)
		cr_skip("only root gives files away");
	cr_assert_eq(chmod(".", 0777), 0);
	for (int i = 0; i < 2; i++) {
		put(target, "old, and longer than what comes\n");
		cr_assert_eq(chown(target, 1234, 4321), 0);
		cr_assert_eq(chmod(target, 0666), 0);
		expect_run(i ? write_as_nobody : write_and_commit, 0);
		expect_file(target, 0666, "new\n");
		cr_assert_eq(stat(target, &st), 0);
		cr_assert(st.st_uid == 1234 && st.st_gid == 4321);
		cr_assert_eq(n_files(), 1);
	}
}
