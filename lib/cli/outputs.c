/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results that appear whole or not at all: files and folders are written under a
 * temporary name next to the target, synced, and renamed when all of them are complete.
 * The temporary name is locked while it is in use; the kernel drops the lock with the
 * process, so that the next run with the same target recognises what a killed run has
 * left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/internal.h"

/* List of the files of a folder that this program wrote; those of others are never
 * removed. */
#define LIST_NAME ".fabkit-files"

/*
 * A temporary file or folder. When its results are committed it takes the place of what
 * has that path, which gets the temporary name, so that it can be put back when a later
 * one fails.
 */
struct target {
	char *volatile temporary; /* NULL: no entry */
	const char *path;
	volatile sig_atomic_t is_new; /* there was nothing before, and now it is there */
	volatile sig_atomic_t is_swapped; /* the previous file has the temporary name */
};

/*
 * Files to remove when the command ends before the results are committed: exit
 * handlers and signal handlers can only know it from globals. An entry is complete before
 * `temporary` is set.
 */
enum { MAX_SINKS = 16 };
static struct target pending[MAX_SINKS];
struct made {
	struct made *next;
	char path[];
};
static struct made *volatile made_files; /* of the folder */
static struct target made_folder;

static int exchange(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

/* As before take(); async-signal-safe. */
static void put_back(struct target *t)
{
	if (t->is_new)
		(void)!rename(t->path, t->temporary);
	if (t->is_swapped)
		(void)!exchange(t->temporary, t->path);
	t->is_new = t->is_swapped = 0;
}

static void discard_folder(void)
{
	if (!made_folder.temporary)
		return;
	put_back(&made_folder);
	for (const struct made *m = made_files; m; m = m->next)
		unlink(m->path);
	rmdir(made_folder.temporary);
}

static void discard(void)
{
	for (size_t i = 0; i < MAX_SINKS; i++)
		if (pending[i].temporary) {
			put_back(&pending[i]);
			unlink(pending[i].temporary);
		}
	discard_folder();
}

/* The entry of a temporary file; with NULL a free one, or NULL. */
static struct target *find_pending(const char *temporary)
{
	for (size_t i = 0; i < MAX_SINKS; i++)
		if (pending[i].temporary == temporary)
			return &pending[i];
	return NULL;
}

/* No signal comes in between; *before is for sigprocmask(). */
static void hold_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, before);
}

/*
 * To the path, until it is put back. Where names cannot be exchanged, as on NFS, a file
 * that was there is lost. Allocates nothing.
 */
static int take(struct target *t, bool is_folder)
{
	sigset_t before;
	int rc;

	hold_signals(&before);
	rc = exchange(t->temporary, t->path);
	t->is_swapped = !rc;
	if (rc &&
	    (errno == ENOENT || (!is_folder && (errno == EINVAL || errno == ENOSYS)))) {
		bool is_new = errno == ENOENT;

		rc = rename(t->temporary, t->path);
		t->is_new = !rc && is_new;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int cannot_write(const char *path, struct fab_err *err)
{
	return fab_fail(err, errno ? errno : EIO, "%s: cannot write: %s", path,
			strerror(errno));
}

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

/* For mkostemp() or mkdtemp(); on the heap. */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int dir_len = slash ? (int)(slash + 1 - path) : 0;

	return fab_format("%.*s.%.200s.fabkit-XXXXXX", dir_len, path, path + dir_len);
}

/* A temporary file or folder of this user that no process has locked; a folder has no
 * folders in it. */
static void remove_if_stale(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int own;
	struct stat st;
	const struct dirent *entry;
	DIR *dir;

	if (fd < 0)
		return;
	if (fstat(fd, &st) != 0 || (st.st_uid != geteuid() && geteuid()) ||
	    flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return;
	}
	if (S_ISREG(st.st_mode))
		unlinkat(parent, name, 0);
	if (S_ISDIR(st.st_mode)) {
		own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		dir = own < 0 ? NULL : fdopendir(own);
		while (dir && (entry = readdir(dir)) != NULL)
			unlinkat(fd, entry->d_name, 0);
		if (dir)
			closedir(dir);
		unlinkat(parent, name, AT_REMOVEDIR);
	}
	close(fd);
}

/* Remove what killed runs (SIGKILL) with this target have left. O(entries of its folder).
 */
static void remove_stale(const char *path)
{
	FAB_AUTOFREE char *name = temporary_name(path);
	char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name, *folder = ".";
	size_t n = strlen(base), n_fixed = n - strlen("XXXXXX");
	const struct dirent *entry;
	DIR *dir;

	if (slash) {
		*slash = '\0';
		folder = slash == name ? "/" : name;
	}
	dir = opendir(folder);
	while (dir && (entry = readdir(dir)) != NULL)
		if (strlen(entry->d_name) == n &&
		    memcmp(entry->d_name, base, n_fixed) == 0)
			remove_if_stale(dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
}

/* A temporary file or folder next to the path, open and locked; -1: errno. Until it is
 * locked, a run with the same target may take it for stale and remove it: then another.
 */
static int make_locked(const char *path, bool is_folder, char **temporary)
{
	struct stat st = {.st_nlink = 1};
	int fd;

	fab_cli_on_end(discard);
	do {
		free(*temporary);
		*temporary = temporary_name(path);
		if (is_folder)
			fd = !mkdtemp(*temporary)
				     ? -1
				     : open(*temporary,
					    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		else
			fd = mkostemp(*temporary, O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &st) != 0 ||
		    st.st_nlink)
			return fd;
		close(fd);
	} while (true);
}

static int open_temporary(struct fab_cli_sink *sink, const struct stat *old,
			  struct fab_err *err)
{
	struct target *t = find_pending(NULL);
	sigset_t before;
	struct stat own;
	int fd;

	remove_stale(sink->path);
	/* no signal between making the file and noting it */
	hold_signals(&before);
	fd = make_locked(sink->path, false, &sink->temporary);
	if (fd >= 0 && t) {
		*t = (struct target){.path = sink->path};
		t->temporary = sink->temporary;
	} else if (fd >= 0) {
		unlink(sink->temporary);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd >= 0 && !t) {
		close(fd);
		return fab_fail(err, EMFILE, "%s: more than %d output files at once",
				sink->path, MAX_SINKS);
	}
	if (fd < 0 || fstat(fd, &own) != 0)
		return cannot_write(sink->path, err);
	/* a new file is ours: it gets the owner and group of the old one, if it can */
	if (old && (own.st_uid != old->st_uid || own.st_gid != old->st_gid))
		sink->copies_to_old = fchown(fd, old->st_uid, old->st_gid) != 0;
	if (fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~current_umask()) != 0 ||
	    !(sink->file = fdopen(fd, "w+")))
		return cannot_write(sink->path, err);
	return 0;
}

static int open_sink(struct fab_cli_sink *sink, const char *path, struct fab_err *err)
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
	if (exists && (!S_ISREG(old.st_mode) || fab_cli_is_open_file(path))) {
		struct stat out;
		bool is_stdout = fstat(STDOUT_FILENO, &out) == 0 &&
				 out.st_dev == old.st_dev && out.st_ino == old.st_ino;

		/* /dev/stdout, a FIFO: nothing that could be renamed. */
		sink->path = fab_strdup(path);
		/* opening it again would truncate it */
		if (is_stdout && fflush(stdout) == 0) {
			int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

			sink->file = fd < 0 ? NULL : fdopen(fd, "w");
		} else {
			sink->file = fopen(path, "we");
		}
		return sink->file ? 0 : cannot_write(path, err);
	}
	/* write through a symbolic link, do not replace it */
	sink->path = exists ? realpath(path, NULL) : fab_cli_link_end(path);
	if (!sink->path || (exists && access(path, W_OK) != 0))
		return cannot_write(path, err);
	return open_temporary(sink, exists ? &old : NULL, err);
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

/* The settled file is at its path, and can be put back. Allocates nothing. */
static int take_sink(struct fab_cli_sink *sink, struct fab_err *err)
{
	struct target *t = sink->temporary ? find_pending(sink->temporary) : NULL;
	int rc = 0;

	if (sink->copies_to_old)
		rc = copy_to_old(sink, err);
	if (!rc && sink->path && fclose(sink->file) != 0)
		rc = cannot_write(sink->path, err);
	if (!rc && t && !sink->copies_to_old && take(t, false) != 0)
		rc = cannot_write(sink->path, err);
	return rc;
}

/* The file stays where it is. The new name must survive a crash as well: the folder is
 * synced, as far as it can be. */
static void finish_sink(struct fab_cli_sink *sink)
{
	struct target *t = sink->temporary ? find_pending(sink->temporary) : NULL;
	char *slash;
	int fd;

	if (t) {
		if (t->is_swapped || sink->copies_to_old)
			unlink(sink->temporary);
		t->temporary = NULL;
		slash = strrchr(sink->path, '/');
		if (slash)
			slash[1] = '\0';
		fd = open(slash ? sink->path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0) {
			(void)!fsync(fd);
			close(fd);
		}
	}
	free(sink->temporary);
	free(sink->path);
	*sink = (struct fab_cli_sink){0};
}

/* Is the file in the list of the folder's own files? */
static bool is_ours(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, LIST_NAME))
		return true;
	for (const char *at = list; at && *at; at = strchr(at, '\n') + 1) {
		if (!strncmp(at, name, n) && at[n] == '\n')
			return true;
		if (!strchr(at, '\n'))
			break;
	}
	return false;
}

/* The list of a folder written before, NULL: no list. The caller frees. */
static char *read_list(const char *folder)
{
	char *text = NULL;
	FAB_AUTOFREE char *path = fab_format("%s/" LIST_NAME, folder);
	FILE *file = fopen(path, "re");
	size_t room = 0;

	/* no name has a NUL: up to there is all of it */
	if (file && getdelim(&text, &room, 0, file) < 0) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

static char *without_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return fab_strndup(path, n);
}

/* The temporary folder, next to the one that it replaces. */
static int make_temporary(struct fab_cli_folder *folder, const struct stat *old,
			  struct fab_err *err)
{
	remove_stale(folder->path);
	folder->lock = make_locked(folder->path, true, &folder->temporary);
	if (folder->lock < 0)
		return cannot_write(folder->path, err);
	made_folder = (struct target){.path = folder->path};
	made_folder.temporary = folder->temporary;
	if (chmod(folder->temporary,
		  old ? old->st_mode & 0777 : 0777 & ~current_umask()) != 0 ||
	    (old && (old->st_uid != geteuid() || old->st_gid != getegid()) &&
	     chown(folder->temporary, old->st_uid, old->st_gid) != 0 && errno != EPERM))
		return cannot_write(folder->path, err);
	return 0;
}

int fab_cli_open_folder(struct fab_cli_folder *folder, const char *path,
			struct fab_err *err)
{
	struct stat old;
	int rc = 0;

	*folder = (struct fab_cli_folder){.exists = stat(path, &old) == 0};
	if (!folder->exists && errno != ENOENT)
		return cannot_write(path, err);
	folder->path = folder->exists ? realpath(path, NULL) : without_slashes(path);
	if (folder->exists && !S_ISDIR(old.st_mode)) {
		errno = ENOTDIR;
		return cannot_write(path, err);
	}
	if (!folder->path)
		return cannot_write(path, err);
	if (folder->exists) {
		FAB_AUTOFREE char *list = read_list(folder->path);
		DIR *dir = opendir(folder->path);
		const struct dirent *entry;

		/* Nothing of others may be lost when the new folder takes the place of
		 * this one. */
		rc = dir ? 0 : cannot_write(folder->path, err);
		while (!rc && (entry = readdir(dir)) != NULL)
			if (!is_ours(list, entry->d_name))
				rc = fab_fail(
					err, EEXIST,
					"%s: the folder holds '%.200s', which was not written as one of its files: name an empty or a new folder",
					path, entry->d_name);
		if (dir)
			closedir(dir);
	}
	return rc ? rc : make_temporary(folder, folder->exists ? &old : NULL, err);
}

/* Note a file that could not be written, if it is the first one. */
static void note_failure(struct fab_cli_folder *folder, const char *path)
{
	if (!folder->rc)
		folder->rc = cannot_write(path, &folder->err);
}

/* The file written last is complete. */
static void close_file(struct fab_cli_folder *folder)
{
	bool is_bad;

	if (!folder->file)
		return;
	is_bad = fflush(folder->file) != 0 || ferror(folder->file) ||
		 (fsync(fileno(folder->file)) != 0 && errno != EINVAL);
	is_bad |= fclose(folder->file) != 0;
	folder->file = NULL;
	if (is_bad)
		note_failure(folder, folder->path);
}

static FILE *add_file(struct fab_cli_folder *folder, const char *name)
{
	FAB_AUTOFREE char *path = fab_format("%s/%s", folder->temporary, name);
	size_t n;
	struct made *m;

	close_file(folder);
	n = strlen(path) + 1;
	m = fab_alloc(sizeof(*m) + n, 1);
	m->next = made_files;
	memcpy(m->path, path, n);
	made_files = m;
	folder->file = fopen(path, "wxe");
	if (!folder->file) {
		note_failure(folder, path);
		folder->file = fopen("/dev/null", "we");
	}
	if (!folder->file)
		fab_oom(0);
	return folder->file;
}

FILE *fab_cli_folder_file(void *context, const char *name)
{
	struct fab_cli_folder *folder = context;

	FAB_PUSH(&folder->names, fab_strdup(name));
	return add_file(folder, name);
}

static enum fab_cli_change compare_file(const struct fab_cli_folder *folder,
					const char *name)
{
	FAB_AUTOFREE char *new_path = fab_format("%s/%s", folder->temporary, name);
	FAB_AUTOFREE char *old_path = fab_format("%s/%s", folder->path, name);
	FILE *new_file = fopen(new_path, "re"), *old_file = fopen(old_path, "re");
	enum fab_cli_change change = old_file ? FAB_CLI_SAME : FAB_CLI_NEW;
	int c = 0;

	while (new_file && old_file && c != EOF && change == FAB_CLI_SAME) {
		c = getc(new_file);
		if (c != getc(old_file))
			change = FAB_CLI_CHANGED;
	}
	if (new_file)
		fclose(new_file);
	if (old_file)
		fclose(old_file);
	return change;
}

void fab_cli_compare_folder(struct fab_cli_folder *folder,
			    void (*use)(void *context, const char *name,
					enum fab_cli_change change),
			    void *context)
{
	FAB_AUTOFREE char *list = folder->exists ? read_list(folder->path) : NULL;
	char *rest = list, *name;

	close_file(folder);
	for (size_t i = 0; i < folder->names.n; i++)
		use(context, folder->names.v[i],
		    compare_file(folder, folder->names.v[i]));
	while ((name = strsep(&rest, "\n")) != NULL) {
		bool is_gone = *name;

		for (size_t i = 0; i < folder->names.n; i++)
			is_gone = is_gone && strcmp(folder->names.v[i], name) != 0;
		if (is_gone)
			use(context, name, FAB_CLI_GONE);
	}
}

static int settle_folder(struct fab_cli_folder *folder, struct fab_err *err)
{
	FILE *list = add_file(folder, LIST_NAME);

	for (size_t i = 0; i < folder->names.n; i++)
		fprintf(list, "%s\n", folder->names.v[i]);
	close_file(folder);
	if (folder->rc)
		*err = folder->err;
	return folder->rc;
}

/* The folder has been renamed, or removed. */
static void forget_made(void)
{
	struct made *m = made_files, *next;

	made_files = NULL;
	made_folder.temporary = NULL;
	for (; m; m = next) {
		next = m->next;
		free(m);
	}
}

void fab_cli_folder_fini(struct fab_cli_folder *folder)
{
	close_file(folder);
	if (made_folder.temporary && made_folder.temporary == folder->temporary) {
		discard_folder();
		forget_made();
	}
	if (folder->temporary)
		close(folder->lock);
	for (size_t i = 0; i < folder->names.n; i++)
		free(folder->names.v[i]);
	FAB_FREE_ALL(folder->names.v, folder->path, folder->temporary);
	*folder = (struct fab_cli_folder){0};
}

static int take_folder(struct fab_cli_folder *folder, struct fab_err *err)
{
	int rc = take(&made_folder, true);

	if (rc && folder->exists && (errno == EINVAL || errno == ENOSYS)) {
		FAB_AUTOFREE char *aside = fab_format("%s.old", folder->temporary);

		/* Where two names cannot be exchanged in one step, as on NFS. */
		rc = rename(folder->path, aside);
		if (!rc) {
			rc = rename(folder->temporary, folder->path);
			if (rc)
				(void)!rename(aside, folder->path);
			else
				(void)!rename(aside, folder->temporary);
		}
	}
	return rc ? cannot_write(folder->path, err) : 0;
}

/* The list of the previous folder, which has the temporary name now, is read before. */
static void finish_folder(struct fab_cli_folder *folder)
{
	forget_made();
	if (folder->exists) {
		FAB_AUTOFREE char *list = read_list(folder->temporary);
		char *rest = list, *name;

		while ((name = strsep(&rest, "\n")) != NULL) {
			FAB_AUTOFREE char *path =
				fab_format("%s/%s", folder->temporary, name);

			if (*name && !strchr(name, '/'))
				unlink(path);
		}
		rest = fab_format("%s/" LIST_NAME, folder->temporary);
		unlink(rest);
		free(rest);
		rmdir(folder->temporary);
	}
	fab_cli_folder_fini(folder);
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
	for (size_t i = 0; i < results->n && !results->rc; i++)
		results->rc = settle(&results->sinks[i], &results->err);
	if (results->folder && !results->rc)
		results->rc = settle_folder(results->folder, &results->err);
}

/*
 * All of them, and the run in the database, or none: what has got its place is put back
 * when something fails. Only a file that is another user's is written where it is, which
 * comes last.
 */
static void commit_files(struct fab_cli_results *results, bool is_last)
{
	struct fab_err *err = &results->err;

	if (results->folder && !results->rc)
		results->rc = take_folder(results->folder, err);
	for (int copies = 0; copies < 2; copies++)
		for (size_t i = 0; i < results->n && !results->rc; i++)
			if (results->sinks[i].copies_to_old == copies)
				results->rc = take_sink(&results->sinks[i], err);
	if (is_last && results->keep && !results->rc)
		results->rc = results->keep(results->context, err);
	for (size_t i = 0; i < results->n; i++)
		if (!results->rc)
			finish_sink(&results->sinks[i]);
	if (results->rc)
		discard();
	if (results->folder && !results->rc)
		finish_folder(results->folder);
	results->folder = NULL;
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

	if (!results->rc)
		results->rc = open_sink(&sink, path, &results->err);
	/* the reader of standard output may close it, which ends the command */
	if (!results->rc && !sink.path) {
		settle_files(results);
		commit_files(results, false);
	}
	if (!results->rc && results->n == FAB_COUNT(results->sinks))
		results->rc = fab_fail(&results->err, EMFILE,
				       "%s: more than %zu results at once", path,
				       FAB_COUNT(results->sinks));
	if (results->rc)
		return nowhere(results);
	results->sinks[results->n++] = sink;
	return sink.file;
}

/* Is a variable of the environment set and not empty? */
static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

struct fab_report_options fab_cli_report_options(const struct fab_cli_output *output,
						 const struct fab_cli_sink *sink)
{
	struct fab_report_options options = {
		.format = output->format,
		.columns = output->columns,
		.no_header = output->no_header,
	};
	const char *columns = getenv("COLUMNS"), *term = getenv("TERM");
	bool is_terminal;
	struct winsize size;
	uint64_t n;

	if (sink->path)
		return options;
	is_terminal = isatty(fileno(sink->file));
	options.color = !is_set("NO_COLOR") &&
			(is_set("CLICOLOR_FORCE") ||
			 (is_terminal && term && strcmp(term, "dumb") != 0));
	if (!is_terminal)
		return options;
	/* COLUMNS if it is set, else the width of the terminal, else no limit */
	if (columns && fab_parse_u64(columns, strlen(columns), 1, 10000, &n))
		options.width = (unsigned)n;
	else if (ioctl(fileno(sink->file), TIOCGWINSZ, &size) == 0)
		options.width = size.ws_col;
	return options;
}

struct fab_report *fab_cli_begin_report(FILE *out,
					const struct fab_report_options *options,
					const char *command, const char *primary,
					const struct fab_fabric *fabric)
{
	fab_cli_progress_hide();
	return fab_report_new(out, options, command, primary, fabric);
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
	settle_files(results);
	commit_files(results, true);
	results->keep = NULL;
	if (results->nowhere)
		fclose(results->nowhere);
	results->nowhere = NULL;
	if (results->rc && err)
		*err = results->err;
	return results->rc;
}
