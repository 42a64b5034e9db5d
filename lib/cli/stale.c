/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Temporary files and folders of runs that were killed. Those in use are locked; the
 * kernel drops the lock with the process.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/internal.h"

/* The files of a folder, which has no folders in it, then the folder itself. */
static void remove_folder(int parent, int fd, const char *name)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_if_stale(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && (st.st_uid == geteuid() || !geteuid()) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (S_ISREG(st.st_mode))
			unlinkat(parent, name, 0);
		else if (S_ISDIR(st.st_mode))
			remove_folder(parent, fd, name);
	}
	close(fd);
}

void fab_cli_remove_stale(const char *path)
{
	char *name = fab_cli_temporary_name(path), *slash = strrchr(name, '/');
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
	free(name);
}
