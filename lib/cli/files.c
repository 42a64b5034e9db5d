/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that the command line names: no two results in one, none over an input. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/internal.h"

struct file {
	const char *option, *path;
	bool is_output;
	size_t position; /* as given */
};

/* As the options come; the parsers of all children add to it. */
static FAB_VEC(struct file) files;

/* What a file is on disk: two names of one file agree in it. */
struct identity {
	bool is_stream; /* standard input or output, whatever that is */
	bool exists;
	struct stat st;
	char *name; /* of a file that does not exist: where it would be made */
};

void fab_cli_note_input(const char *option, const char *path)
{
	FAB_PUSH(&files, ((struct file){option, path, false, files.n}));
}

void fab_cli_note_output(const char *option, const char *path)
{
	/* an output that is named twice goes to the last name */
	for (size_t i = 0; i < files.n; i++)
		if (!strcmp(files.v[i].option, option)) {
			files.v[i] = (struct file){option, path, true, i};
			return;
		}
	FAB_PUSH(&files, ((struct file){option, path, true, files.n}));
}

/* The end of a chain of symbolic links that leads to nothing; heap, NULL: no end. */
char *fab_cli_link_end(const char *path)
{
	char *at = fab_strdup(path), target[PATH_MAX];

	for (int i = 0; i < 40; i++) {
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		const char *slash = strrchr(at, '/');
		char *next;

		if (n < 0)
			return at;
		target[n] = 0;
		next = fab_format("%.*s%s",
				  *target == '/' || !slash ? 0 : (int)(slash + 1 - at),
				  at, target);
		free(at);
		at = next;
	}
	free(at);
	errno = ELOOP;
	return NULL;
}

/* Folder without links, and the name in it. */
static char *name_of_new(const char *path)
{
	char *end = fab_cli_link_end(path), *slash, *folder, *name;

	if (!end)
		return NULL;
	slash = strrchr(end, '/');
	if (slash)
		*slash = 0;
	folder = realpath(!slash ? "." : *end ? end : "/", NULL);
	name = folder ? fab_format("%s/%s", folder, slash ? slash + 1 : end) : NULL;
	free(folder);
	free(end);
	return name;
}

static struct identity identify(const struct file *file)
{
	struct identity id = {.is_stream = !strcmp(file->path, "-")};

	if (id.is_stream)
		id.exists = fstat(file->is_output ? STDOUT_FILENO : STDIN_FILENO,
				  &id.st) == 0;
	else
		id.exists = stat(file->path, &id.st) == 0;
	if (!id.exists && !id.is_stream)
		id.name = name_of_new(file->path);
	return id;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	if (a->exists && b->exists)
		return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
	return a->name && b->name && !strcmp(a->name, b->name);
}

/* A terminal and /dev/null take everything that comes. */
static bool takes_all(const struct identity *id)
{
	return id->exists && S_ISCHR(id->st.st_mode);
}

static _Noreturn void refuse(const struct file *a, const struct file *b,
			     struct argp_state *state)
{
	bool is_stdout = b->is_output && !strcmp(b->path, "-");
	const char *last = is_stdout ? "standard output" : b->option;

	if (!strcmp(a->path, b->path) || !strcmp(a->path, "-") || !strcmp(b->path, "-"))
		argp_error(state, "%s and %s are the same file: '%s'", a->option, last,
			   !strcmp(a->path, "-") ? b->path : a->path);
	else
		argp_error(state, "%s and %s are the same file: '%s' is '%s'", a->option,
			   last, a->path, b->path);
	abort(); /* argp_error exits */
}

static void check_pair(const struct file *a, const struct identity *ia,
		       const struct file *b, const struct identity *ib,
		       struct argp_state *state)
{
	if (a->is_output && b->is_output) {
		if (ia->is_stream && ib->is_stream && !strcmp(b->option, "--output"))
			argp_error(state, "%s=- needs --output=FILE for the report",
				   a->option);
		else if (ia->is_stream && ib->is_stream)
			argp_error(state, "%s and %s both go to standard output",
				   a->option, b->option);
		else if (is_same(ia, ib) && !takes_all(ia))
			refuse(a, b, state);
		return;
	}
	if (!a->is_output && !b->is_output) {
		if (ia->is_stream && ib->is_stream)
			argp_error(state,
				   "standard input can be read only once: %s and %s "
				   "both name it",
				   a->option, b->option);
		return;
	}
	if (is_same(ia, ib) && ia->exists && S_ISREG(ia->st.st_mode))
		refuse(a, b, state);
}

/* Arguments, inputs, outputs, the report: the order in which messages name them. */
static int role(const struct file *file)
{
	if (!file->is_output)
		return *file->option == '-';
	return 2 + !strcmp(file->option, "--output");
}

static int by_role(const void *x, const void *y)
{
	const struct file *a = x, *b = y;

	if (role(a) != role(b))
		return role(a) - role(b);
	return (a->position > b->position) - (a->position < b->position);
}

void fab_cli_check_files(const struct fab_cli_output *output, struct argp_state *state)
{
	struct identity *ids;

	if (output->list_columns)
		return;
	fab_cli_note_output("--output", output->path ? output->path : "-");
	qsort(files.v, files.n, sizeof(*files.v), by_role);
	ids = FAB_NEW(files.n, struct identity);
	for (size_t b = 0; b < files.n; b++) {
		ids[b] = identify(&files.v[b]);
		for (size_t a = 0; a < b; a++)
			check_pair(&files.v[a], &ids[a], &files.v[b], &ids[b], state);
	}
	for (size_t i = 0; i < files.n; i++)
		free(ids[i].name);
	free(ids);
}

void fab_cli_check_outputs(const struct fab_cli_output *output,
			   const struct fab_cli_file *more, size_t n,
			   struct argp_state *state)
{
	for (size_t i = 0; i < n; i++)
		if (more[i].path)
			fab_cli_note_output(more[i].option, more[i].path);
	fab_cli_check_files(output, state);
}

const char *fab_cli_file_name(const char *option, const char *arg,
			      struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s: the file name is empty", option);
	fab_cli_note_input(option, arg);
	return arg;
}

const char *fab_cli_output_name(const char *option, const char *arg,
				struct argp_state *state)
{
	if (!*arg)
		argp_error(state, "%s: the file name is empty", option);
	fab_cli_note_output(option, arg);
	return arg;
}
