/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that the command line names: no two results in one, none over an input. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "cli/cli.h"
#include "cli/internal.h"

struct file {
	char option[40]; /* "--plot" */
	const char *path;
	bool is_output;
	size_t position; /* as given */
};

/* As the options come; the parsers of all children add to it. */
static FAB_VEC(struct file) files;

/* Identity of a file on disk: two names of one file agree in it. */
struct identity {
	bool is_stream; /* standard input or output, whatever that is */
	bool exists;
	struct stat st;
	char *name; /* of a file that is still missing: its future path */
};

static void note(size_t position, const char *option, const char *path, bool is_output)
{
	struct file file = {.path = path, .is_output = is_output, .position = position};

	snprintf(file.option, sizeof(file.option), "%s", option);
	if (position < files.n)
		files.v[position] = file;
	else
		FAB_PUSH(&files, file);
}

void fab_cli_note_input(const char *option, const char *path)
{
	note(files.n, option, path, false);
}

bool fab_cli_note_spec(const char *option, const char *spec)
{
	static const char *const forms[] = {"file:", "trace:"};
	bool names_file = false;

	if (!strncmp(spec, "permutation:", strlen("permutation:")))
		spec += strlen("permutation:");
	for (size_t i = 0; i < FAB_COUNT(forms); i++) {
		size_t len = strlen(forms[i]);

		if (!strncmp(spec, forms[i], len) && spec[len]) {
			fab_cli_note_input(option, spec + len);
			names_file = true;
		}
	}
	return names_file;
}

void fab_cli_note_output(const char *option, const char *path)
{
	size_t i = 0;

	/* an output that is named twice goes to the last name */
	while (i < files.n && strcmp(files.v[i].option, option) != 0)
		i++;
	note(i, option, path, true);
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
	char *slash;
	FAB_AUTOFREE char *end = fab_cli_link_end(path), *folder = NULL;

	if (!end)
		return NULL;
	slash = strrchr(end, '/');
	if (slash)
		*slash = 0;
	folder = realpath(!slash ? "." : *end ? end : "/", NULL);
	return folder ? fab_format("%s/%s", folder, slash ? slash + 1 : end) : NULL;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	if (a->exists && b->exists)
		return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino;
	return a->name && b->name && !strcmp(a->name, b->name);
}

uint64_t fab_cli_hash_inputs(void)
{
	uint64_t hash = 0;
	char block[65536];

	for (size_t i = 0; i < files.n; i++) {
		const struct file *f = &files.v[i];
		bool is_option = !f->is_output && !strncmp(f->option, "--", 2);
		struct stat st;
		FILE *file = NULL;
		size_t n;

		/* a pipe that was opened here would have lost who writes to it; a file
		 * that cannot be read is reported by its reader */
		if (is_option && stat(f->path, &st) == 0 && S_ISREG(st.st_mode))
			file = fopen(f->path, "re");
		while (file && (n = fread(block, 1, sizeof(block), file)) > 0)
			hash = fab_hash_bytes(block, n, hash);
		if (file)
			fclose(file);
	}
	return hash;
}

bool fab_cli_is_open_file(const char *path)
{
	return !strncmp(path, "/dev/std", 8) || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6);
}

bool fab_cli_is_png(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && dot > path && !strcmp(dot, ".png");
}

int fab_cli_no_converter(struct fab_err *err)
{
	return fab_fail(
		err, ENOENT,
		"--plot: rsvg-convert, which makes PNG of SVG, is not installed (package librsvg2-bin)");
}

/* Is there rsvg-convert? ENOENT. O(PATH). */
static int find_converter(struct fab_err *err)
{
	const char *at = getenv("PATH");
	bool is_there = !at; /* the system's own search */

	while (at && !is_there) {
		size_t n = strcspn(at, ":");
		FAB_AUTOFREE char *path =
			fab_format("%.*s%srsvg-convert", (int)n, at, n ? "/" : "");

		is_there = access(path, X_OK) == 0;
		at = at[n] ? at + n + 1 : NULL;
	}
	return is_there ? 0 : fab_cli_no_converter(err);
}

/* May a new file be made in the folder where this one would be? An errno. */
static int check_folder(const char *path)
{
	FAB_AUTOFREE char *end = fab_cli_link_end(path);
	char *slash = end ? strrchr(end, '/') : NULL;
	const char *folder = !slash ? "." : slash == end ? "/" : end;
	struct stat st;
	int rc = 0;

	if (!end)
		return errno;
	if (slash && slash > end)
		*slash = 0;
	if (stat(folder, &st) != 0)
		rc = errno;
	else if (!S_ISDIR(st.st_mode))
		rc = ENOTDIR;
	else if (access(folder, W_OK | X_OK) != 0)
		rc = errno;
	return rc;
}

static int check_output(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-") || fab_cli_is_open_file(path))
		return 0;
	if (stat(path, &st) != 0)
		return errno == ENOENT ? check_folder(path) : errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (access(path, W_OK) != 0)
		return errno;
	return S_ISREG(st.st_mode) ? check_folder(path) : 0;
}

int fab_cli_check_outputs(struct fab_err *err)
{
	for (size_t i = 0; i < files.n; i++) {
		const struct file *file = &files.v[i];
		int rc = 0;

		if (!file->is_output || !strcmp(file->option, "--store"))
			continue;
		rc = check_output(file->path);
		if (rc)
			return fab_fail(err, rc, "%s: cannot write: %s", file->path,
					strerror(rc));
		if (!strcmp(file->option, "--plot") && fab_cli_is_png(file->path) &&
		    find_converter(err))
			return -ENOENT;
	}
	return 0;
}

static int refuse(const struct file *a, const struct file *b, struct fab_err *err)
{
	bool is_stdout = b->is_output && !strcmp(b->path, "-");
	const char *last = is_stdout ? "standard output" : b->option;

	if (!strcmp(a->path, b->path) || !strcmp(a->path, "-") || !strcmp(b->path, "-"))
		return fab_fail(err, EINVAL, "%s and %s are the same file: '%s'",
				a->option, last,
				!strcmp(a->path, "-") ? b->path : a->path);
	return fab_fail(err, EINVAL, "%s and %s are the same file: '%s' is '%s'",
			a->option, last, a->path, b->path);
}

static int check_pair(const struct file *a, const struct identity *ia,
		      const struct file *b, const struct identity *ib,
		      struct fab_err *err)
{
	bool are_streams = ia->is_stream && ib->is_stream;

	if (a->is_output && b->is_output) {
		if (are_streams && !strcmp(b->option, "--output"))
			return fab_fail(err, EINVAL,
					"%s=- needs --output=FILE for the report",
					a->option);
		if (are_streams)
			return fab_fail(err, EINVAL,
					"%s and %s both go to standard output", a->option,
					b->option);
		/* a terminal and /dev/null take everything that comes */
		return is_same(ia, ib) && !(ia->exists && S_ISCHR(ia->st.st_mode))
			       ? refuse(a, b, err)
			       : 0;
	}
	if (!a->is_output && !b->is_output)
		return !are_streams
			       ? 0
			       : fab_fail(
					 err, EINVAL,
					 "standard input can be read only once: %s and %s both name it",
					 a->option, b->option);
	if (is_same(ia, ib) && ia->exists && S_ISREG(ia->st.st_mode))
		return refuse(a, b, err);
	return 0;
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

int fab_cli_find_clash(const struct fab_cli_output *output, struct fab_err *err)
{
	FAB_AUTOFREE struct identity *ids = NULL;
	int rc = 0;

	fab_cli_note_output("--output", output->path ? output->path : "-");
	qsort(files.v, files.n, sizeof(*files.v), by_role);
	ids = FAB_NEW0(files.n, struct identity);
	for (size_t b = 0; b < files.n && !rc; b++) {
		const struct file *file = &files.v[b];
		struct identity id = {.is_stream = !strcmp(file->path, "-")};

		if (id.is_stream)
			id.exists = fstat(file->is_output ? STDOUT_FILENO : STDIN_FILENO,
					  &id.st) == 0;
		else
			id.exists = stat(file->path, &id.st) == 0;
		if (!id.exists && !id.is_stream)
			id.name = name_of_new(file->path);
		ids[b] = id;
		for (size_t a = 0; a < b && !rc; a++)
			rc = check_pair(&files.v[a], &ids[a], &files.v[b], &ids[b], err);
	}
	for (size_t i = 0; i < files.n; i++)
		free(ids[i].name);
	return rc;
}
