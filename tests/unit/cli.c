/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"
#include "support/process.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct params, input),
	FAB_PART(fab_cli_output_rows, struct params, output),
	FAB_PART(fab_cli_run_rows, struct params, run),
	{0},
};

static int fail(struct fab_work *w, struct fab_err *err)
{
	(void)w;
	return fab_fail(err, EINVAL, "x.topo:3: '%s' is no port", "\xff");
}

static const struct fab_task task = {.solve = fail};

static const struct fab_command command = {
	.name = "fabric-test", .args = "[FABRIC]", .parts = parts, .task = &task};

static void die(void)
{
	char *argv[] = {(char[]){"fabric-test"}, NULL};
	struct params p = {0};

	exit(fab_cli_main(&command, 1, argv, &p));
}

static void warn_twice(void)
{
	fab_cli_warn(&(struct fab_cli_run){0}, "%d \xff", 5);
	fab_cli_warn(&(struct fab_cli_run){.quiet = true}, "never");
}

Test(cli, messages_are_safe_and_have_the_program_in_front)
{
	FAB_AUTO(folder_fini) struct folder f;
	int status;

	folder_init(&f);
	status = run(die, "out", "err");
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	cr_assert_str_eq(slurp("err"), "fabric-test: x.topo:3: '\\xff' is no port\n");
	cr_assert_eq(run(warn_twice, "out", "err"), 0);
	cr_assert_str_eq(slurp("err"), "fabric-test: warning: 5 \\xff\n");
}

static void print_to_closed_stdout(void)
{
	close(STDOUT_FILENO);
}

static void print_into_closed_pipe(void)
{
	int ends[2];

	if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0)
		_exit(99);
	close(ends[0]);
	puts("nobody reads this");
}

Test(cli, standard_output_that_is_closed)
{
	FAB_AUTO(folder_fini) struct folder f;
	int status;

	folder_init(&f);
	cr_assert_eq(run(print_to_closed_stdout, "out", "err"), 0);
	cr_assert_str_empty(slurp("err"));
	status = run(print_into_closed_pipe, "out", "err");
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	cr_assert_str_empty(slurp("err"));
}

/* ---- the terminal ---- */

/* A terminal of our own; the test is skipped where there are none (a bare chroot). */
static int open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    access(ptsname(master), R_OK | W_OK))
		cr_skip_test("no pseudo-terminal can be opened: %s", strerror(errno));
	return master;
}

Test(cli, report_options_follow_the_terminal)
{
	struct fab_cli_output output = {.format = FAB_FORMAT_CSV, .columns = "a"};
	struct fab_report_options options;
	struct winsize size = {.ws_col = 77};
	int master = open_terminal();
	struct fab_cli_sink sink = {0};

	sink.file = fopen(ptsname(master), "w");
	cr_assert(sink.file);
	cr_assert_eq(ioctl(fileno(sink.file), TIOCSWINSZ, &size), 0);
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	unsetenv("CLICOLOR_FORCE");
	setenv("TERM", "xterm", 1);
	options = fab_cli_report_options(&output, &sink);
	cr_assert_eq(options.format, FAB_FORMAT_CSV);
	cr_assert_str_eq(options.columns, "a");
	cr_assert(options.width == 77 && options.color, "%u", options.width);
	setenv("TERM", "dumb", 1);
	cr_assert_not(fab_cli_report_options(&output, &sink).color);
	setenv("CLICOLOR_FORCE", "1", 1);
	cr_assert(fab_cli_report_options(&output, &sink).color);
	setenv("COLUMNS", "50", 1);
	setenv("NO_COLOR", "1", 1);
	options = fab_cli_report_options(&output, &sink);
	cr_assert(options.width == 50 && !options.color);
	fclose(sink.file);
	sink.file = fopen("/dev/null", "w");
	cr_assert(sink.file);
	setenv("NO_COLOR", "", 1);
	options = fab_cli_report_options(&output, &sink);
	cr_assert(options.width == 0 && options.color);
	setenv("CLICOLOR_FORCE", "", 1);
	cr_assert_not(fab_cli_report_options(&output, &sink).color);
	setenv("CLICOLOR_FORCE", "1", 1);
	sink.path = (char[]){"file"};
	cr_assert_not(fab_cli_report_options(&output, &sink).color);
	fclose(sink.file);
	close(master);
}
