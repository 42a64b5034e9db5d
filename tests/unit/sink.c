/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"
#include "support/process.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *target;

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

static int deadly = SIGTERM;

static void write_and_be_killed(void)
{
	write_new();
	raise(deadly);
}

Test(sink, writes_whole_or_not_at_all)
{
	FAB_AUTO(folder_fini) struct folder f;
	int status;

	folder_init(&f);
	target = "result";
	put(target, "old\n");
	status = run(write_and_exit, "out", "err");
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	cr_assert_str_eq(slurp(target), "old\n");
	cr_assert_eq(n_files(), 1, "no temporary file is left");
	status = run(write_and_be_killed, "out", "err");
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "%x", status);
	cr_assert_str_eq(slurp(target), "old\n");
	cr_assert_eq(n_files(), 1, "no temporary file is left by a signal");
	cr_assert_eq(run(write_and_commit, "out", "err"), 0, "%s", slurp("err"));
	cr_assert_str_eq(slurp(target), "new\n");
	cr_assert_eq(n_files(), 1);
}

Test(sink, keeps_permissions_and_links)
{
	FAB_AUTO(folder_fini) struct folder f;
	struct stat st;

	folder_init(&f);
	target = "result";
	umask(027);
	cr_assert_eq(run(write_and_commit, "out", "err"), 0);
	cr_assert_eq(stat(target, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0640, "a new file obeys the umask: %o",
		     st.st_mode);
	put(target, "old\n");
	cr_assert_eq(chmod(target, 0604), 0);
	cr_assert_eq(symlink("result", "link"), 0);
	target = "link";
	cr_assert_eq(run(write_and_commit, "out", "err"), 0);
	cr_assert_eq(lstat("link", &st), 0);
	cr_assert(S_ISLNK(st.st_mode));
	cr_assert_eq(stat("result", &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0604);
	cr_assert_str_eq(slurp("result"), "new\n");
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
	static const struct {
		void (*killed)(void), (*commit)(void);
	} cases[] = {{write_and_be_killed, write_and_commit},
		     {fill_folder_and_be_killed, fill_and_commit_folder}};
	FAB_AUTO(folder_fini) struct folder f;

	folder_init(&f);
	deadly = SIGKILL;
	put(".result.backup", "of others");
	put(".result2.fabkit-abcdef", "of another target");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		target = i ? "folder" : "result";
		cr_assert(WIFSIGNALED(run(cases[i].killed, "out", "err")));
		cr_assert(WIFSIGNALED(run(cases[i].killed, "out", "err")));
		cr_assert_eq(n_files(), (int)(3 + i), "the second removed the first's");
		cr_assert_eq(run(cases[i].commit, "out", "err"), 0, "%s", slurp("err"));
		cr_assert_eq(n_files(), (int)(3 + i), "none is left");
	}
	cr_assert_str_eq(slurp("folder/a"), "new\n");
	cr_assert_str_eq(slurp("folder/b"), "");
	target = "result";
	cr_assert_eq(run(meet_another, "out", "err"), 0, "%s", slurp("err"));
	cr_assert_str_eq(slurp("result"), "later\n", "a file in use stays");
	cr_assert_str_eq(slurp(".result.backup"), "of others");
	cr_assert_str_eq(slurp(".result2.fabkit-abcdef"), "of another target");
}

/* Every signal that ends a process and can be caught; faults of our own, too. */
Test(sink, no_signal_leaves_a_temporary_file)
{
	static const int signals[] = {SIGHUP,	 SIGINT,    SIGQUIT, SIGPIPE, SIGALRM,
				      SIGTERM,	 SIGUSR1,   SIGUSR2, SIGPOLL, SIGPROF,
				      SIGXCPU,	 SIGXFSZ,   SIGPWR,  SIGTRAP, SIGSYS,
				      SIGVTALRM, SIGSTKFLT, SIGABRT, SIGSEGV, SIGBUS,
				      SIGFPE,	 SIGILL};
	FAB_AUTO(folder_fini) struct folder f;

	folder_init(&f);
	target = "result";
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
		cr_expect_eq(n_files(), 0, "signal %d", deadly);
	}
}

Test(sink, follows_a_link_to_nothing)
{
	FAB_AUTO(folder_fini) struct folder f;
	struct stat st;
	int status;

	folder_init(&f);
	cr_assert_eq(mkdir("there", 0700), 0);
	cr_assert_eq(symlink("there/second", "first"), 0);
	cr_assert_eq(symlink("third", "there/second"), 0);
	target = "first";
	cr_assert_eq(run(write_and_commit, "out", "err"), 0, "%s", slurp("err"));
	cr_assert(lstat("first", &st) == 0 && S_ISLNK(st.st_mode));
	cr_assert(lstat("there/second", &st) == 0 && S_ISLNK(st.st_mode));
	cr_assert_str_eq(slurp("there/third"), "new\n");
	target = "loop";
	cr_assert_eq(symlink("loop", "loop"), 0);
	status = run(write_and_commit, "out", "err");
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	cr_assert_str_eq(slurp("err"), "fabric-test: loop: cannot write: Too many levels "
				       "of symbolic links\n");
	target = "nowhere";
	cr_assert_eq(symlink("none/x", "nowhere"), 0);
	status = run(write_and_commit, "out", "err");
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	cr_assert(lstat("nowhere", &st) == 0 && S_ISLNK(st.st_mode));
}

enum { NOBODY = 65534 };

static void write_as_nobody(void)
{
	if (setgid(NOBODY) || setuid(NOBODY))
		_exit(98);
	write_and_commit();
}

Test(sink, keeps_the_owner)
{
	FAB_AUTO(folder_fini) struct folder f;
	struct stat st;

	if (geteuid() != 0)
		cr_skip("only root gives files away");
	folder_init(&f);
	target = "result";
	put(target, "old, and longer than what comes\n");
	cr_assert_eq(chown(target, 1234, 4321), 0);
	cr_assert_eq(chmod(target, 0666), 0);
	cr_assert_eq(run(write_and_commit, "out", "err"), 0, "%s", slurp("err"));
	cr_assert_eq(stat(target, &st), 0);
	cr_assert(st.st_uid == 1234 && st.st_gid == 4321 && (st.st_mode & 0777) == 0666);
	cr_assert_str_eq(slurp(target), "new\n");
	/* who may write it, but not give it away */
	put(target, "old, and longer than what comes\n");
	cr_assert_eq(chmod(".", 0777), 0);
	cr_assert_eq(run(write_as_nobody, "out", "err"), 0, "%s", slurp("err"));
	cr_assert_eq(stat(target, &st), 0);
	cr_assert(st.st_uid == 1234 && st.st_gid == 4321 && (st.st_mode & 0777) == 0666);
	cr_assert_str_eq(slurp(target), "new\n");
	cr_assert_eq(n_files(), 1);
}
