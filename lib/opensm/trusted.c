/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static const mode_t others = S_IWGRP | S_IWOTH;

static bool is_owner_trusted(const struct stat *s)
{
	return !s->st_uid || s->st_uid == geteuid();
}

/* Others could put another file into its place. */
static int check_folder(const char *path, mode_t unless, struct fab_err *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
	char folder[FAB_TRUSTED_PATH_BYTES];
	struct stat s;

	snprintf(folder, sizeof(folder), "%.*s", (int)len, slash ? path : ".");
	if (stat(folder, &s))
		return fab_fail(err, errno, "%s: %s", folder, strerror(errno));
	if (!is_owner_trusted(&s) || ((s.st_mode & others) && !(s.st_mode & unless)))
		return fab_fail(
			err, EPERM,
			"%s: others may write its folder, and so replace it: expected a folder of root, mode 0755 or less",
			path);
	return 0;
}

static int check(int fd, const char *path, struct fab_err *err)
{
	struct stat s;

	if (fstat(fd, &s))
		return fab_fail(err, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(s.st_mode))
		return fab_fail(err, EPERM, "%s: expected a regular file", path);
	if (!is_owner_trusted(&s) || (s.st_mode & others))
		return fab_fail(
			err, EPERM,
			"%s: others may write it: expected a file of root, mode 0644 or less",
			path);
	/* files of a folder like /tmp are replaced by their owners only */
	return check_folder(path, S_ISVTX, err);
}

int fab_trusted_read(const char *path, uint32_t max_bytes, char **text,
		     struct fab_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	size_t n = 0;
	ssize_t got;

	*text = NULL;
	if (fd < 0)
		return fab_fail(err, errno, "%s: %s", path, strerror(errno));
	rc = check(fd, path, err);
	if (!rc)
		*text = FAB_NEW((size_t)max_bytes + 1, char);
	while (!rc && (got = read(fd, *text + n, max_bytes - n)) != 0) {
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			rc = fab_fail(err, errno, "%s: %s", path, strerror(errno));
	}
	close(fd);
	if (!rc && n == max_bytes)
		rc = fab_fail(err, EFBIG, "%s: expected less than %u KiB", path,
			      max_bytes / 1024);
	if (!rc && memchr(*text, '\0', n))
		rc = fab_fail(err, ENODATA, "%s: expected text, found a NUL", path);
	if (!rc)
		(*text)[n] = '\0';
	return rc;
}

int fab_trusted_write(const char *path, const char *text, size_t len, struct fab_err *err)
{
	char new[FAB_TRUSTED_PATH_BYTES + 8];
	int rc = check_folder(path, 0, err), fd;
	ssize_t put;

	if (rc)
		return rc;
	snprintf(new, sizeof(new), "%s.new", path);
	unlink(new); /* of a process that ended while it wrote */
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return fab_fail(err, errno, "%s: %s", new, strerror(errno));
	while (!rc && len) {
		put = write(fd, text, len);
		if (put >= 0) {
			text += put;
			len -= (size_t)put;
		} else if (errno != EINTR) {
			rc = fab_fail(err, errno, "%s: %s", new, strerror(errno));
		}
	}
	if (close(fd) && !rc)
		rc = fab_fail(err, errno, "%s: %s", new, strerror(errno));
	if (!rc && rename(new, path))
		rc = fab_fail(err, errno, "%s: %s", path, strerror(errno));
	if (rc)
		unlink(new);
	return rc;
}

bool fab_trusted_changed(const char *path, struct fab_trusted_mark *mark)
{
	struct fab_trusted_mark now = {0};
	struct stat s;

	if (!stat(path, &s))
		now = (struct fab_trusted_mark){
			(uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size,
			(uint64_t)s.st_ctim.tv_sec, (uint64_t)s.st_ctim.tv_nsec};
	if (!memcmp(&now, mark, sizeof(now)))
		return false;
	*mark = now;
	return true;
}
