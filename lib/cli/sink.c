/* SPDX-License-Identifier: BSD-2-Clause */
/* Results that appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/internal.h"

/*
 * Temporary files to remove when the command ends before it commits them: the one thing
 * that exit handlers and signal handlers can only know from a global. An entry is set
 * before the file is used and cleared after it was renamed.
 */
enum { MAX_SINKS = 16 };
static char *volatile pending[MAX_SINKS];

void fab_cli_sinks_discard(void)
{
	for (size_t i = 0; i < MAX_SINKS; i++)
		if (pending[i])
			unlink(pending[i]);
}

/* Write `to` where `from` stands; false when it stands nowhere. */
static bool set_pending(const char *from, char *to)
{
	for (size_t i = 0; i < MAX_SINKS; i++)
		if (pending[i] == from) {
			pending[i] = to;
			return true;
		}
	return false;
}

static _Noreturn void cannot_write(const char *path)
{
	fab_cli_exit(FAB_EXIT_ERROR, "%s: cannot write: %s", path, strerror(errno));
}

/* Permissions of the file there is, else those that a new file gets. */
static mode_t mode_for(const struct stat *old)
{
	mode_t mask;

	if (old)
		return old->st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* A new file is ours: can it be given the owner and group of the old one? */
static void keep_owner(struct fab_cli_sink *sink, int fd, const struct stat *old)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		cannot_write(sink->path);
	if (st.st_uid == old->st_uid && st.st_gid == old->st_gid)
		return;
	sink->copies_to_old = fchown(fd, old->st_uid, old->st_gid) != 0;
}

static void open_temporary(struct fab_cli_sink *sink, const struct stat *old)
{
	const char *slash = strrchr(sink->path, '/');
	int dir_len = slash ? (int)(slash + 1 - sink->path) : 0;
	sigset_t all, before;
	int fd;

	sink->temporary = fab_format("%.*s.%.200s.XXXXXX", dir_len, sink->path,
				     sink->path + dir_len);
	/* no signal between making the file and noting it */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(sink->temporary, O_CLOEXEC);
	if (fd >= 0 && !set_pending(NULL, sink->temporary)) {
		unlink(sink->temporary);
		fab_cli_exit(FAB_EXIT_ERROR, "%s: more than %d output files at once",
			     sink->path, MAX_SINKS);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd < 0)
		cannot_write(sink->path);
	if (old)
		keep_owner(sink, fd, old);
	if (fchmod(fd, mode_for(old)) != 0)
		cannot_write(sink->path);
	sink->file = fdopen(fd, "w+");
	if (!sink->file)
		cannot_write(sink->path);
}

/* /dev/stdout, a FIFO: nothing that could be renamed. */
static void open_directly(struct fab_cli_sink *sink, const char *path,
			  const struct stat *old)
{
	struct stat out;
	bool is_stdout = fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == old->st_dev &&
			 out.st_ino == old->st_ino;

	sink->path = fab_strdup(path);
	/* opening it anew would cut off what stands in it, and begin at its beginning */
	if (is_stdout && fflush(stdout) == 0) {
		int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

		sink->file = fd < 0 ? NULL : fdopen(fd, "w");
	} else {
		sink->file = fopen(path, "we");
	}
	if (!sink->file)
		cannot_write(path);
}

static bool is_special(const char *path, const struct stat *old)
{
	return !S_ISREG(old->st_mode) || !strncmp(path, "/dev/std", 8) ||
	       !strncmp(path, "/dev/fd/", 8) || !strncmp(path, "/proc/", 6);
}

void fab_cli_open_sink(struct fab_cli_sink *sink, const char *path)
{
	struct stat old;
	bool exists;

	*sink = (struct fab_cli_sink){.file = stdout};
	if (!path || strcmp(path, "-") == 0)
		return;
	exists = stat(path, &old) == 0;
	if (!exists && errno != ENOENT)
		cannot_write(path);
	if (exists && S_ISDIR(old.st_mode)) {
		errno = EISDIR;
		cannot_write(path);
	}
	if (exists && is_special(path, &old)) {
		open_directly(sink, path, &old);
		return;
	}
	/* write through a symbolic link, do not replace it */
	sink->path = exists ? realpath(path, NULL) : fab_cli_link_end(path);
	if (!sink->path)
		cannot_write(path);
	if (exists && access(path, W_OK) != 0)
		cannot_write(path);
	open_temporary(sink, exists ? &old : NULL);
}

/* The new name must survive a crash as well: sync the directory. Best effort. */
static void sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir =
		slash ? fab_strndup(path, (size_t)(slash + 1 - path)) : fab_strdup(".");
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!fsync(fd);
		close(fd);
	}
	free(dir);
}

static bool is_written(FILE *file)
{
	errno = 0;
	if (fflush(file) == 0 && !ferror(file))
		return true;
	if (!errno)
		errno = EIO;
	return false;
}

/* All of the temporary file into the target, which stays the file it is. */
static void copy_to_old(struct fab_cli_sink *sink)
{
	int to = open(sink->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	char block[65536];
	size_t n;

	rewind(sink->file);
	while (to >= 0 && (n = fread(block, 1, sizeof(block), sink->file)) > 0)
		for (size_t at = 0; at < n;) {
			ssize_t done = write(to, block + at, n - at);

			if (done < 0 && errno != EINTR)
				cannot_write(sink->path);
			at += done < 0 ? 0 : (size_t)done;
		}
	if (to < 0 || ferror(sink->file) || fsync(to) != 0 || close(to) != 0)
		cannot_write(sink->path);
}

/* Everything that can fail before the target changes. */
static void settle(struct fab_cli_sink *sink)
{
	if (!is_written(sink->file))
		cannot_write(sink->path ? sink->path : "standard output");
	if (sink->temporary && fsync(fileno(sink->file)) != 0 && errno != EINVAL)
		cannot_write(sink->path);
}

void fab_cli_commit_sink(struct fab_cli_sink *sink)
{
	settle(sink);
	if (!sink->path)
		return;
	if (sink->copies_to_old)
		copy_to_old(sink);
	if (fclose(sink->file) != 0)
		cannot_write(sink->path);
	if (sink->temporary) {
		if (sink->copies_to_old)
			unlink(sink->temporary);
		else if (rename(sink->temporary, sink->path) != 0)
			cannot_write(sink->path);
		set_pending(sink->temporary, NULL);
		sync_directory(sink->path);
	}
	free(sink->temporary);
	free(sink->path);
	*sink = (struct fab_cli_sink){0};
}

static void commit_files(struct fab_cli_results *results)
{
	struct fab_cli_results files = *results;

	files.keep = NULL;
	results->n = 0;
	results->folder = NULL;
	fab_cli_commit_results(&files);
}

FILE *fab_cli_open_result(struct fab_cli_results *results, const char *path)
{
	struct fab_cli_sink sink;

	fab_cli_open_sink(&sink, path);
	/* whoever reads standard output may close it, which ends the command */
	if (!sink.path)
		commit_files(results);
	if (results->n == FAB_COUNT(results->sinks))
		fab_cli_exit(FAB_EXIT_ERROR, "%s: more than %zu results at once", path,
			     FAB_COUNT(results->sinks));
	results->sinks[results->n++] = sink;
	return sink.file;
}

void fab_cli_commit_results(struct fab_cli_results *results)
{
	for (size_t i = 0; i < results->n; i++)
		settle(&results->sinks[i]);
	if (results->folder)
		fab_cli_settle_folder(results->folder);
	if (results->keep)
		results->keep(results->context);
	results->keep = NULL;
	if (results->folder)
		fab_cli_commit_folder(results->folder);
	results->folder = NULL;
	for (size_t i = 0; i < results->n; i++)
		fab_cli_commit_sink(&results->sinks[i]);
	results->n = 0;
}
