/* SPDX-License-Identifier: BSD-2-Clause */
/* Results that appear whole or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

static int cannot_write(const char *path, struct fab_err *err)
{
	return fab_fail(err, errno ? errno : EIO, "%s: cannot write: %s", path,
			strerror(errno));
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
static int keep_owner(struct fab_cli_sink *sink, int fd, const struct stat *old)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -1;
	if (st.st_uid != old->st_uid || st.st_gid != old->st_gid)
		sink->copies_to_old = fchown(fd, old->st_uid, old->st_gid) != 0;
	return 0;
}

char *fab_cli_temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash + 1 - path) : 0;

	return fab_format("%.*s.%.200s.fabkit-XXXXXX", dir_len, path, path + dir_len);
}

/* A temporary file, locked. One of the same target may take it for stale, and remove it,
 * until it is locked: then another. */
static int make_temporary(struct fab_cli_sink *sink)
{
	struct stat st = {.st_nlink = 1};
	int fd;

	do {
		free(sink->temporary);
		sink->temporary = fab_cli_temporary_name(sink->path);
		fd = mkostemp(sink->temporary, O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0 ||
		    st.st_nlink)
			return fd;
		close(fd);
	} while (true);
}

static int open_temporary(struct fab_cli_sink *sink, const struct stat *old,
			  struct fab_err *err)
{
	sigset_t all, before;
	bool is_noted;
	int fd;

	fab_cli_remove_stale(sink->path);
	/* no signal between making the file and noting it */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = make_temporary(sink);
	is_noted = fd >= 0 && set_pending(NULL, sink->temporary);
	if (fd >= 0 && !is_noted)
		unlink(sink->temporary);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd >= 0 && !is_noted) {
		close(fd);
		return fab_fail(err, EMFILE, "%s: more than %d output files at once",
				sink->path, MAX_SINKS);
	}
	if (fd < 0 || (old && keep_owner(sink, fd, old)) ||
	    fchmod(fd, mode_for(old)) != 0 || !(sink->file = fdopen(fd, "w+")))
		return cannot_write(sink->path, err);
	return 0;
}

/* /dev/stdout, a FIFO: nothing that could be renamed. */
static int open_directly(struct fab_cli_sink *sink, const char *path,
			 const struct stat *old, struct fab_err *err)
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
	return sink->file ? 0 : cannot_write(path, err);
}

bool fab_cli_is_open_file(const char *path)
{
	return !strncmp(path, "/dev/std", 8) || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/", 6);
}

int fab_cli_open_sink(struct fab_cli_sink *sink, const char *path, struct fab_err *err)
{
	struct stat old;
	bool exists;

	*sink = (struct fab_cli_sink){.file = stdout};
	if (!path || strcmp(path, "-") == 0)
		return 0;
	exists = stat(path, &old) == 0;
	if (!exists && errno != ENOENT)
		return cannot_write(path, err);
	if (exists && S_ISDIR(old.st_mode)) {
		errno = EISDIR;
		return cannot_write(path, err);
	}
	if (exists && (!S_ISREG(old.st_mode) || fab_cli_is_open_file(path)))
		return open_directly(sink, path, &old, err);
	/* write through a symbolic link, do not replace it */
	sink->path = exists ? realpath(path, NULL) : fab_cli_link_end(path);
	if (!sink->path || (exists && access(path, W_OK) != 0))
		return cannot_write(path, err);
	return open_temporary(sink, exists ? &old : NULL, err);
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
static int copy_to_old(struct fab_cli_sink *sink, struct fab_err *err)
{
	int to = open(sink->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	char block[65536];
	size_t n;

	rewind(sink->file);
	while (to >= 0 && (n = fread(block, 1, sizeof(block), sink->file)) > 0)
		for (size_t at = 0; at < n;) {
			ssize_t done = write(to, block + at, n - at);

			if (done < 0 && errno != EINTR)
				return cannot_write(sink->path, err);
			at += done < 0 ? 0 : (size_t)done;
		}
	if (to < 0 || ferror(sink->file) || fsync(to) != 0 || close(to) != 0)
		return cannot_write(sink->path, err);
	return 0;
}

/* Everything that can fail before the target changes. */
static int settle(struct fab_cli_sink *sink, struct fab_err *err)
{
	if (!is_written(sink->file) ||
	    (sink->temporary && fsync(fileno(sink->file)) != 0 && errno != EINVAL))
		return cannot_write(sink->path ? sink->path : "standard output", err);
	return 0;
}

int fab_cli_commit_sink(struct fab_cli_sink *sink, struct fab_err *err)
{
	int rc = settle(sink, err);

	if (rc || !sink->path)
		return rc;
	if (sink->copies_to_old)
		rc = copy_to_old(sink, err);
	if (!rc && fclose(sink->file) != 0)
		rc = cannot_write(sink->path, err);
	if (rc)
		return rc;
	if (sink->temporary) {
		if (sink->copies_to_old)
			unlink(sink->temporary);
		else if (rename(sink->temporary, sink->path) != 0)
			return cannot_write(sink->path, err);
		set_pending(sink->temporary, NULL);
		sync_directory(sink->path);
	}
	free(sink->temporary);
	free(sink->path);
	*sink = (struct fab_cli_sink){0};
	return 0;
}

void fab_cli_fail_results(struct fab_cli_results *results, int rc,
			  const struct fab_err *err)
{
	if (results->rc || !rc)
		return;
	results->rc = rc;
	results->err = *err;
}

static void settle_files(struct fab_cli_results *results)
{
	struct fab_err err;

	for (size_t i = 0; i < results->n && !results->rc; i++)
		fab_cli_fail_results(results, settle(&results->sinks[i], &err), &err);
	if (results->folder && !results->rc)
		fab_cli_fail_results(results,
				     fab_cli_settle_folder(results->folder, &err), &err);
}

static void commit_files(struct fab_cli_results *results)
{
	struct fab_err err;

	if (results->folder && !results->rc)
		fab_cli_fail_results(results,
				     fab_cli_commit_folder(results->folder, &err), &err);
	results->folder = NULL;
	for (size_t i = 0; i < results->n && !results->rc; i++)
		fab_cli_fail_results(results,
				     fab_cli_commit_sink(&results->sinks[i], &err), &err);
	results->n = 0;
}

/* Where all goes that is written after a failure. */
static FILE *nowhere(struct fab_cli_results *results)
{
	if (!results->nowhere)
		results->nowhere = fopen("/dev/null", "we");
	if (!results->nowhere)
		fab_oom(0);
	return results->nowhere;
}

FILE *fab_cli_open_result(struct fab_cli_results *results, const char *path)
{
	struct fab_cli_sink sink = {0};
	struct fab_err err;

	if (!results->rc)
		fab_cli_fail_results(results, fab_cli_open_sink(&sink, path, &err), &err);
	/* whoever reads standard output may close it, which ends the command */
	if (!results->rc && !sink.path) {
		settle_files(results);
		commit_files(results);
	}
	if (!results->rc && results->n == FAB_COUNT(results->sinks))
		fab_cli_fail_results(results,
				     fab_fail(&err, EMFILE,
					      "%s: more than %zu results at once", path,
					      FAB_COUNT(results->sinks)),
				     &err);
	if (results->rc)
		return nowhere(results);
	results->sinks[results->n++] = sink;
	return sink.file;
}

FILE *fab_cli_open_report(struct fab_cli_results *results,
			  const struct fab_cli_output *output,
			  struct fab_report_options *options)
{
	FILE *file = fab_cli_open_result(results, output->path);
	const struct fab_cli_sink none = {.file = file};

	*options = fab_cli_report_options(
		output, results->n ? &results->sinks[results->n - 1] : &none);
	return file;
}

int fab_cli_commit_results(struct fab_cli_results *results, struct fab_err *err)
{
	struct fab_err own;

	settle_files(results);
	if (results->keep && !results->rc)
		fab_cli_fail_results(results, results->keep(results->context, &own),
				     &own);
	results->keep = NULL;
	commit_files(results);
	if (results->nowhere)
		fclose(results->nowhere);
	results->nowhere = NULL;
	if (results->rc && err)
		*err = results->err;
	return results->rc;
}

int fab_cli_finish_results(struct fab_cli_results *results, int rc,
			   int (*keep)(void *context, struct fab_err *err), void *context,
			   struct fab_err *err)
{
	results->keep = keep;
	results->context = context;
	return rc ? rc : fab_cli_commit_results(results, err);
}
