/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures as SVG, or by rsvg-convert, a program of its own, as PNG. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/internal.h"

extern char **environ;

static int start(FILE *svg, int picture, FILE *messages, pid_t *pid, struct fab_err *err)
{
	char name[] = "rsvg-convert", format[] = "--format=png", zoom[] = "--zoom=2";
	char *const argv[] = {name, format, zoom, NULL};
	posix_spawn_file_actions_t actions;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(svg), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(messages), STDERR_FILENO);
	rc = posix_spawnp(pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		return fab_cli_no_converter(err);
	return rc ? fab_fail(err, rc, "--plot: cannot start rsvg-convert: %s",
			     strerror(rc))
		  : 0;
}

/* Copy the picture from the pipe, because a converter may not report a full file system.
 */
static int copy_picture(int from, FILE *out, const char *path, struct fab_err *err)
{
	char block[4096];
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0 &&
		    (fwrite(block, 1, (size_t)n, out) != (size_t)n || fflush(out) != 0))
			return fab_fail(err, errno, "%s: cannot write: %s", path,
					strerror(errno));
	return 0;
}

/* The last line that says something is the reason. */
static int fail_by_messages(FILE *messages, struct fab_err *err)
{
	char line[512], last[512] = "no reason given";

	rewind(messages);
	while (fgets(line, sizeof(line), messages)) {
		line[strcspn(line, "\n")] = 0;
		if (line[strspn(line, " \t^")])
			strcpy(last, line + strspn(line, " \t"));
	}
	return fab_fail(err, EIO, "--plot: rsvg-convert failed: %s", last);
}

/* Run rsvg-convert from `svg` to `out`. */
static int convert(FILE *svg, FILE *out, const char *path, FILE *messages,
		   struct fab_err *err)
{
	int fds[2], status, rc;
	bool has_ended;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return fab_fail(err, errno, "--plot: cannot make a pipe: %s",
				strerror(errno));
	rc = start(svg, fds[1], messages, &pid, err);
	close(fds[1]);
	if (rc) {
		close(fds[0]);
		return rc;
	}
	rc = copy_picture(fds[0], out, path, err);
	close(fds[0]); /* it ends when its pipe is closed */
	do
		has_ended = waitpid(pid, &status, 0) == pid;
	while (!has_ended && errno == EINTR);
	if (!rc && !has_ended)
		rc = fab_fail(err, errno, "--plot: lost rsvg-convert: %s",
			      strerror(errno));
	return rc || !status ? rc : fail_by_messages(messages, err);
}

struct fab_picture fab_cli_picture(const struct fab_work *w,
				   const struct fab_cli_plot *plot, const char *what,
				   const char *machine)
{
	const struct fab_fabric *f = w->f;
	const char *title =
		!f ? fab_arena_format(w->arena, "%s: %s", what, machine)
		   : fab_arena_format(w->arena, "%s: %s, %u switch%s, %u host%s", what,
				      strcmp(f->source, "-") ? f->source : "<stdin>",
				      f->n_switches, f->n_switches == 1 ? "" : "es",
				      f->n_hosts, f->n_hosts == 1 ? "" : "s");

	return (struct fab_picture){title, plot->is_in_page};
}

FILE *fab_cli_begin_plot(struct fab_cli_results *results)
{
	FILE *file = tmpfile();
	struct fab_err err;

	if (file)
		return file;
	fab_cli_fail_results(results,
			     fab_fail(&err, errno, "cannot make a temporary file: %s",
				      strerror(errno)),
			     &err);
	return fopen("/dev/null", "w+e");
}

void fab_cli_end_plot(FILE *svg, const char *path, struct fab_cli_results *results)
{
	FILE *messages = fab_cli_begin_plot(results);
	FILE *out = fab_cli_open_result(results, path);
	struct fab_err err;
	int rc = 0;

	if (fflush(svg) != 0 || ferror(svg))
		rc = fab_fail(&err, errno, "cannot write a temporary file: %s",
			      strerror(errno));
	else if (ftell(svg) == 0)
		rc = fab_fail(&err, ENODATA, "--plot: nothing to draw: no points");
	rewind(svg);
	if (!rc && !results->rc)
		rc = fab_cli_is_png(path) ? convert(svg, out, path, messages, &err)
					  : copy_picture(fileno(svg), out, path, &err);
	fab_cli_fail_results(results, rc, &err);
	fclose(svg);
	fclose(messages);
}
