/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures by gnuplot, a program of its own. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

const char *fab_cli_parse_plot(const char *arg, enum fab_plot_terminal *terminal,
			       struct argp_state *state)
{
	const char *dot = strrchr(arg, '.');

	if (dot && dot > arg && !strcmp(dot, ".svg"))
		*terminal = FAB_PLOT_SVG;
	else if (dot && dot > arg && !strcmp(dot, ".png"))
		*terminal = FAB_PLOT_PNG;
	else
		argp_error(state, "--plot: '%s' does not end in .svg or .png", arg);
	return fab_cli_output_name("--plot", arg, state);
}

static FILE *open_temporary(void)
{
	FILE *file = tmpfile();

	if (!file)
		fab_cli_exit(FAB_EXIT_ERROR, "cannot make a temporary file: %s",
			     strerror(errno));
	return file;
}

static pid_t start_gnuplot(FILE *script, int picture, FILE *messages)
{
	char name[] = "gnuplot", defaults[] = "-d";
	char *const argv[] = {name, defaults, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO);
	rc = posix_spawnp(&pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		fab_cli_exit(FAB_EXIT_ERROR,
			     "--plot: gnuplot is not installed (package gnuplot-nox)");
	if (rc)
		fab_cli_exit(FAB_EXIT_ERROR, "--plot: cannot start gnuplot: %s",
			     strerror(rc));
	return pid;
}

/*
 * Run gnuplot from `script` to `out`; its wait status. The picture comes through a
 * pipe, because gnuplot does not tell when a file system is full.
 */
static int run_gnuplot(FILE *script, FILE *out, const char *path, FILE *messages)
{
	char block[4096];
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		fab_cli_exit(FAB_EXIT_ERROR, "--plot: cannot make a pipe: %s",
			     strerror(errno));
	pid = start_gnuplot(script, fds[1], messages);
	close(fds[1]);
	while ((n = read(fds[0], block, sizeof(block))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 &&
		    (fwrite(block, 1, (size_t)n, out) != (size_t)n || fflush(out) != 0))
			fab_cli_exit(FAB_EXIT_ERROR, "%s: cannot write: %s", path,
				     strerror(errno));
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fab_cli_exit(FAB_EXIT_ERROR, "--plot: lost gnuplot: %s",
				     strerror(errno));
	return status;
}

/* The last line that says something is the reason. */
static _Noreturn void die_of_messages(FILE *messages)
{
	char line[512], last[512] = "no reason given";

	rewind(messages);
	while (fgets(line, sizeof(line), messages)) {
		line[strcspn(line, "\n")] = 0;
		if (line[strspn(line, " \t^")])
			strcpy(last, line + strspn(line, " \t"));
	}
	fab_cli_exit(FAB_EXIT_ERROR, "--plot: gnuplot failed: %s", last);
}

FILE *fab_cli_begin_plot(void)
{
	return open_temporary();
}

void fab_cli_end_plot(FILE *script, const char *path, struct fab_cli_results *results)
{
	FILE *messages = open_temporary();

	if (fflush(script) != 0 || ferror(script))
		fab_cli_exit(FAB_EXIT_ERROR, "cannot write a temporary file: %s",
			     strerror(errno));
	rewind(script);
	if (run_gnuplot(script, fab_cli_open_result(results, path), path, messages) != 0)
		die_of_messages(messages);
	fclose(script);
	fclose(messages);
}
