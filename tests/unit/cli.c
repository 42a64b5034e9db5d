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

/* ---- options ---- */

struct params {
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct params, input),
	FAB_PART(fab_cli_output_rows, struct params, output),
	FAB_PART(fab_cli_run_rows, struct params, run),
	FAB_PART(fab_cli_chance_rows, struct params, run),
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

static const char *arguments[16]; /* of the next parsed(), NULL-ended */

static struct params parsed(void)
{
	static char words[FAB_COUNT(arguments)][64];
	struct params p = {0};
	struct fab_given g;
	char *argv[FAB_COUNT(arguments) + 1] = {(char[]){"fabric-test"}};
	int argc = 1;

	for (; arguments[argc - 1]; argc++) {
		argv[argc] = words[argc];
		snprintf(words[argc], sizeof(words[argc]), "%s", arguments[argc - 1]);
	}
	fab_given_init(&g, &command, &p);
	fab_given_read(&g, argc, argv);
	FAB_FREE_ALL(g.of.v, g.arguments);
	return p;
}

Test(cli, options)
{
	static const char *const given[] = {"x.topo",
					    "--node-name-map=m",
					    "--hca=mlx5_[0-3]",
					    "--format=csv",
					    "-ofile",
					    "--columns=a,b",
					    "--threads=2",
					    "--seed=18446744073709551615",
					    "-qvv",
					    "--verify",
					    "--no-header",
					    "--color=never",
					    NULL};
	struct params p;

	memcpy(arguments, given, sizeof(given));
	p = parsed();
	cr_assert_str_eq(p.input.fabric, "x.topo");
	cr_assert_str_eq(p.input.node_name_map, "m");
	cr_assert_str_eq(p.input.hca, "mlx5_[0-3]");
	cr_assert_eq(p.output.format, FAB_FORMAT_CSV);
	cr_assert(p.output.no_header && !p.output.list_columns);
	cr_assert_eq(p.output.color, FAB_COLOR_NEVER);
	cr_assert_str_eq(p.output.path, "file");
	cr_assert_str_eq(p.output.columns, "a,b");
	cr_assert_eq(p.run.threads, 2);
	cr_assert_eq(p.run.seed, UINT64_MAX);
	cr_assert(p.run.quiet && p.run.verify);
	cr_assert_eq(p.run.verbose, 2);
}

/* ---- messages ---- */

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
	setenv("TERM", "xterm", 1);
	options = fab_cli_report_options(&output, &sink);
	cr_assert_eq(options.format, FAB_FORMAT_CSV);
	cr_assert_str_eq(options.columns, "a");
	cr_assert(options.width == 77 && options.color, "%u", options.width);
	output.color = FAB_COLOR_NEVER;
	cr_assert_not(fab_cli_report_options(&output, &sink).color);
	output.color = FAB_COLOR_ALWAYS;
	setenv("COLUMNS", "50", 1);
	setenv("NO_COLOR", "1", 1);
	cr_assert(fab_cli_report_options(&output, &sink).color);
	output.color = FAB_COLOR_AUTO;
	options = fab_cli_report_options(&output, &sink);
	cr_assert(options.width == 50 && !options.color);
	fclose(sink.file);
	sink.file = fopen("/dev/null", "w");
	cr_assert(sink.file);
	setenv("NO_COLOR", "", 1);
	options = fab_cli_report_options(&output, &sink);
	cr_assert(options.width == 0 && !options.color);
	output.color = FAB_COLOR_ALWAYS;
	cr_assert(fab_cli_report_options(&output, &sink).color);
	fclose(sink.file);
	close(master);
}
