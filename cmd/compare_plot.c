/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures by gnuplot, a program of its own. */
#include "compare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAX_CURVES = 64 };

extern char **environ;

struct curves {
	FAB_VEC(struct fab_plot_curve) list;
};

static bool can_be_drawn(const struct fab_store_result *r, enum fab_plot_kind kind)
{
	if (kind == FAB_PLOT_DISTRIBUTION)
		return r->n_bins > 0;
	return fab_store_number_get(r->metrics, r->n_metrics, "seconds.total") > 0 &&
	       fab_store_number_get(r->metrics, r->n_metrics, "max_efi") >= 0;
}

static void collect(struct curves *c, enum fab_plot_kind kind,
		    const struct compare_item *items, size_t n_items)
{
	for (size_t i = 0; i < n_items; i++) {
		const struct fab_store_run *run = items[i].run;

		for (size_t k = 0; k < run->n_results; k++) {
			const struct fab_store_result *r = &run->results[k];

			if (items[i].algorithm &&
			    strcmp(items[i].algorithm, r->algorithm) != 0)
				continue;
			if (can_be_drawn(r, kind))
				FAB_PUSH(&c->list, ((struct fab_plot_curve){run, r}));
		}
	}
	if (!c->list.n)
		fab_cli_exit(FAB_EXIT_ERROR,
			     "--plot: nothing to draw in the runs chosen");
	if (c->list.n > MAX_CURVES)
		fab_cli_exit(FAB_EXIT_ERROR,
			     "--plot: %zu results are too many for one picture (at most "
			     "%d): choose runs or use --algorithm",
			     c->list.n, MAX_CURVES);
}

static FILE *open_temporary(void)
{
	FILE *file = tmpfile();

	if (!file)
		fab_cli_exit(FAB_EXIT_ERROR, "cannot make a temporary file: %s",
			     strerror(errno));
	return file;
}

static FILE *write_script(enum fab_plot_kind kind, enum fab_plot_terminal terminal,
			  const struct curves *c)
{
	FILE *script = open_temporary();

	fab_export_gnuplot(script, kind, terminal, c->list.v, c->list.n);
	if (fflush(script) != 0 || ferror(script))
		fab_cli_exit(FAB_EXIT_ERROR, "cannot write a temporary file: %s",
			     strerror(errno));
	rewind(script);
	return script;
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
 * Run gnuplot from `script` to `sink`; its wait status. The picture comes through a
 * pipe, because gnuplot does not tell when a file system is full.
 */
static int run_gnuplot(FILE *script, const struct fab_cli_sink *sink, FILE *messages)
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
		if (n > 0 && (fwrite(block, 1, (size_t)n, sink->file) != (size_t)n ||
			      fflush(sink->file) != 0))
			fab_cli_exit(FAB_EXIT_ERROR, "%s: cannot write: %s", sink->path,
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

void compare_plot(const char *path, enum fab_plot_kind kind,
		  enum fab_plot_terminal terminal, const struct compare_item *items,
		  size_t n_items)
{
	FILE *script, *messages = open_temporary();
	struct fab_cli_sink sink;
	struct curves c = {0};

	collect(&c, kind, items, n_items);
	script = write_script(kind, terminal, &c);
	fab_cli_open_sink(&sink, path);
	if (run_gnuplot(script, &sink, messages) != 0)
		die_of_messages(messages);
	fab_cli_commit_sink(&sink);
	fclose(script);
	fclose(messages);
	free(c.list.v);
}
