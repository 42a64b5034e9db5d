/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder of results that appears whole or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/internal.h"

/* Which files of a folder are ours; those of others are never removed. */
#define LIST_NAME ".fabkit-files"

/*
 * What to remove when the command ends before the folder is committed: exit handlers and
 * signal handlers can only know it from globals. An entry is complete before it is put in
 * front of the list.
 */
struct made {
	struct made *next;
	char path[];
};
static struct made *volatile made_files;
static char *volatile made_folder;

void fab_cli_folder_discard(void)
{
	for (const struct made *m = made_files; m; m = m->next)
		unlink(m->path);
	if (made_folder)
		rmdir(made_folder);
}

static void note_made(const char *path)
{
	size_t n = strlen(path) + 1;
	struct made *m = fab_alloc(sizeof(*m) + n, 1);

	m->next = made_files;
	memcpy(m->path, path, n);
	made_files = m;
}

static void forget_made(void)
{
	struct made *m = made_files, *next;

	made_files = NULL;
	made_folder = NULL;
	for (; m; m = next) {
		next = m->next;
		free(m);
	}
}

static int cannot_write(const char *path, struct fab_err *err)
{
	return fab_fail(err, errno ? errno : EIO, "%s: cannot write: %s", path,
			strerror(errno));
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

/* The list of a folder written before, NULL: there is none. The caller frees. */
static char *read_list(const char *folder)
{
	char *path = fab_format("%s/" LIST_NAME, folder), *text = NULL;
	FILE *file = fopen(path, "re");
	size_t room = 0;

	/* a NUL cannot be in a name, nor in what we write: up to there is all of it */
	if (file && getdelim(&text, &room, 0, file) < 0) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	free(path);
	return text;
}

/* Nothing of others may be lost when the new folder takes the place of this one. */
static int check_old(const struct fab_cli_folder *folder, const char *name,
		     struct fab_err *err)
{
	char *list = read_list(folder->path);
	DIR *dir = opendir(folder->path);
	const struct dirent *entry;
	int rc = dir ? 0 : cannot_write(folder->path, err);

	while (!rc && (entry = readdir(dir)) != NULL)
		if (!is_ours(list, entry->d_name))
			rc = fab_fail(err, EEXIST,
				      "%s: the folder holds '%.200s', which was not "
				      "written as one of its files: name an empty or a "
				      "new folder",
				      name, entry->d_name);
	if (dir)
		closedir(dir);
	free(list);
	return rc;
}

static char *without_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return fab_strndup(path, n);
}

/* Until it is locked, a run with the same target may take it for stale, and remove it:
 * then another. */
static int make_locked(struct fab_cli_folder *folder)
{
	struct stat st = {.st_nlink = 1};

	do {
		free(folder->temporary);
		folder->temporary = fab_cli_temporary_name(folder->path);
		if (!mkdtemp(folder->temporary))
			return -1;
		folder->lock =
			open(folder->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder->lock < 0 || flock(folder->lock, LOCK_EX) != 0 ||
		    fstat(folder->lock, &st) != 0 || st.st_nlink)
			return 0;
		close(folder->lock);
	} while (true);
}

/* The folder that is written, beside the one that it takes the place of. */
static int make_temporary(struct fab_cli_folder *folder, const struct stat *old,
			  struct fab_err *err)
{
	mode_t mask = umask(0);
	char *temporary;

	umask(mask);
	fab_cli_remove_stale(folder->path);
	if (make_locked(folder))
		return cannot_write(folder->path, err);
	made_folder = temporary = folder->temporary;
	if (chmod(temporary, old ? old->st_mode & 0777 : 0777 & ~mask) != 0 ||
	    (old && (old->st_uid != geteuid() || old->st_gid != getegid()) &&
	     chown(temporary, old->st_uid, old->st_gid) != 0 && errno != EPERM))
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
	if (folder->exists)
		rc = check_old(folder, path, err);
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
	char *path = fab_format("%s/%s", folder->temporary, name);

	close_file(folder);
	note_made(path);
	folder->file = fopen(path, "wxe");
	if (!folder->file) {
		note_failure(folder, path);
		folder->file = fopen("/dev/null", "we");
	}
	if (!folder->file)
		fab_oom(0);
	free(path);
	return folder->file;
}

FILE *fab_cli_folder_file(void *context, const char *name)
{
	struct fab_cli_folder *folder = context;

	FAB_PUSH(&folder->names, fab_strdup(name));
	return add_file(folder, name);
}

int fab_cli_settle_folder(struct fab_cli_folder *folder, struct fab_err *err)
{
	FILE *list = add_file(folder, LIST_NAME);

	for (size_t i = 0; i < folder->names.n; i++)
		fprintf(list, "%s\n", folder->names.v[i]);
	close_file(folder);
	if (folder->rc)
		*err = folder->err;
	return folder->rc;
}

/* What the folder held before stands under the temporary name now. */
static void remove_old(const char *folder)
{
	char *list = read_list(folder), *rest = list, *name;

	while ((name = strsep(&rest, "\n")) != NULL) {
		char *path = fab_format("%s/%s", folder, name);

		if (*name && !strchr(name, '/'))
			unlink(path);
		free(path);
	}
	rest = fab_format("%s/" LIST_NAME, folder);
	unlink(rest);
	free(rest);
	rmdir(folder);
	free(list);
}

/* Where two names cannot be exchanged in one step, as on NFS. */
static int replace(const struct fab_cli_folder *folder)
{
	char *aside = fab_format("%s.old", folder->temporary);
	int rc = rename(folder->path, aside);

	if (!rc) {
		rc = rename(folder->temporary, folder->path);
		if (rc)
			(void)!rename(aside, folder->path);
		else
			(void)!rename(aside, folder->temporary);
	}
	free(aside);
	return rc;
}

int fab_cli_commit_folder(struct fab_cli_folder *folder, struct fab_err *err)
{
	int rc = !folder->exists ? rename(folder->temporary, folder->path)
				 : renameat2(AT_FDCWD, folder->temporary, AT_FDCWD,
					     folder->path, RENAME_EXCHANGE);

	if (rc && folder->exists && (errno == EINVAL || errno == ENOSYS))
		rc = replace(folder);
	if (rc)
		return cannot_write(folder->path, err);
	forget_made();
	if (folder->exists)
		remove_old(folder->temporary);
	close(folder->lock);
	for (size_t i = 0; i < folder->names.n; i++)
		free(folder->names.v[i]);
	free(folder->names.v);
	free(folder->path);
	free(folder->temporary);
	*folder = (struct fab_cli_folder){0};
	return 0;
}
