/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"
#include "support/process.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(cli, .init = enter_folder, .fini = leave_folder);

static void warn_twice(void)
{
	fab_cli_warn(&(struct fab_cli_run){0}, "%d \xff", 5);
	fab_cli_warn(&(struct fab_cli_run){.quiet = true}, "never");
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

/* Messages are safe and have the program in front; nobody is told that nobody reads. */
Test(cli, ends)
{
	static const struct {
		void (*body)(void);
		int status;
		const char *err;
	} rows[] = {
		{warn_twice, 0, "fabric-test: warning: 5 \\xff\n"},
		{print_to_closed_stdout, 0, ""},
		{print_into_closed_pipe, SIGPIPE, ""},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		cr_expect_eq(run(rows[i].body, "out", "err"), rows[i].status);
		cr_expect_str_eq(slurp("err"), rows[i].err);
	}
}

Test(cli, report_options_follow_the_terminal)
{
	struct fab_cli_output output = {.format = FAB_FORMAT_CSV, .columns = "a"};
	struct fab_report_options options;
	struct winsize size = {.ws_col = 77};
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	struct fab_cli_sink sink = {0};

	if (master < 0 || grantpt(master) || unlockpt(master) ||
	    access(ptsname(master), R_OK | W_OK)) /* as in a bare chroot */
		cr_skip_test("no pseudo-terminal can be opened: %s", strerror(errno));
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
