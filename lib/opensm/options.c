/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/options.h"

#include "base/mem.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 65536 };

static const char prefix[] = "fabkit:";
static const char *const mode_names[] = {
	[FAB_OPENSM_OFF] = "off",
	[FAB_OPENSM_DRY_RUN] = "dry-run",
	[FAB_OPENSM_ON] = "on",
	[FAB_OPENSM_OWN] = "own",
};

const char *fab_opensm_mode_name(enum fab_opensm_mode mode)
{
	return mode_names[mode];
}

void fab_opensm_options_init(struct fab_opensm_options *o)
{
	*o = (struct fab_opensm_options){.mode = FAB_OPENSM_DRY_RUN,
					 .engine = fab_mcast_engine_find("balanced", 8),
					 .max_moved = 5,
					 .is_percent = true,
					 .pace = {.changes = 100,
						  .seconds = 60,
						  .min_interval_s = 60,
						  .port_changes = 100},
					 .time_limit_ms = 10000};
}

/* A word NAME=VALUE. */
struct word {
	const char *text, *value;
	size_t name_len, value_len;
};

static bool is(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(text, name, len);
}

/* all, N or N%. */
static bool take_max_moved(const struct word *w, struct fab_opensm_options *o)
{
	bool is_percent = w->value_len && w->value[w->value_len - 1] == '%';
	uint64_t n = UINT32_MAX;

	if (!is(w->value, w->value_len, "all") &&
	    !fab_parse_u64(w->value, w->value_len - is_percent, 0,
			   is_percent ? 100 : UINT32_MAX - 1, &n))
		return false;
	o->max_moved = (uint32_t)n;
	o->is_percent = is_percent;
	return true;
}

static int take(const struct word *w, struct fab_opensm_options *o, struct fab_err *err)
{
	const struct {
		const char *name;
		uint32_t min, *to;
	} numbers[] = {{"rebalance_changes", 0, &o->pace.changes},
		       {"rebalance_seconds", 0, &o->pace.seconds},
		       {"min_interval", 0, &o->pace.min_interval_s},
		       {"port_changes", 0, &o->pace.port_changes},
		       {"time_limit_ms", 1, &o->time_limit_ms}};
	const struct {
		const char *name;
		char *to;
	} paths[] = {{"file", o->file}, {"groups", o->groups}, {"states", o->states}};
	int len = (int)w->value_len;
	uint64_t n;

	for (size_t i = 0; i < FAB_COUNT(numbers); i++) {
		if (!is(w->text, w->name_len, numbers[i].name))
			continue;
		if (!fab_parse_u64(w->value, w->value_len, numbers[i].min, UINT32_MAX - 1,
				   &n))
			return fab_fail(err, EINVAL,
					"%s=%.*s: expected a number from %u on",
					numbers[i].name, len, w->value, numbers[i].min);
		*numbers[i].to = (uint32_t)n;
		return 0;
	}
	if (is(w->text, w->name_len, "max_moved")) {
		if (take_max_moved(w, o))
			return 0;
		return fab_fail(
			err, EINVAL,
			"max_moved=%.*s: expected a number of trees, percent as 5%%, or all",
			len, w->value);
	}
	if (is(w->text, w->name_len, "mode")) {
		for (size_t i = 0; i < FAB_COUNT(mode_names); i++) {
			if (!is(w->value, w->value_len, mode_names[i]))
				continue;
			o->mode = (enum fab_opensm_mode)i;
			return 0;
		}
		return fab_fail(err, EINVAL,
				"mode=%.*s: expected off, dry-run, on or own", len,
				w->value);
	}
	if (is(w->text, w->name_len, "algorithm")) {
		o->engine = fab_mcast_engine_find(w->value, w->value_len);
		if (o->engine && !o->engine->may_be_higher && o->engine->grow)
			return 0;
		return fab_fail(
			err, EINVAL,
			"algorithm=%.*s: expected a multicast algorithm with trees of minimal height, as balanced or fulb",
			len, w->value);
	}
	for (size_t i = 0; i < FAB_COUNT(paths); i++) {
		if (!is(w->text, w->name_len, paths[i].name) ||
		    (!w->value_len && paths[i].to == o->file) ||
		    w->value_len >= FAB_TRUSTED_PATH_BYTES)
			continue;
		snprintf(paths[i].to, FAB_TRUSTED_PATH_BYTES, "%.*s", len, w->value);
		return 0;
	}
	return fab_fail(
		err, EINVAL,
		"'%.*s': expected mode, algorithm, max_moved, min_interval, rebalance_changes, rebalance_seconds, port_changes, time_limit_ms, groups, states or file, each with =VALUE",
		(int)(w->name_len + 1 + w->value_len), w->text);
}

/* The next word from *at on, up to `end`; false: no more. */
static bool next_word(const char **at, const char *end, bool has_prefix, struct word *w)
{
	static const char between[] = ", \t\r\n";
	const size_t skipped = sizeof(prefix) - 1;

	for (;;) {
		const char *from = *at, *equals;
		size_t len;

		while (from < end && strchr(between, *from))
			from++;
		if (from == end)
			return false;
		for (len = 0; from + len < end && !strchr(between, from[len]);)
			len++;
		*at = from + len;
		if (has_prefix) {
			if (len < skipped || memcmp(from, prefix, skipped) != 0)
				continue;
			from += skipped;
			len -= skipped;
		}
		equals = memchr(from, '=', len);
		w->text = from;
		w->name_len = equals ? (size_t)(equals - from) : len;
		w->value = equals ? equals + 1 : from + len;
		w->value_len = equals ? len - w->name_len - 1 : 0;
		return true;
	}
}

static int parse(const char *text, const char *end, bool has_prefix,
		 struct fab_opensm_options *o, struct fab_err *err)
{
	struct word w;
	int rc = 0;

	while (!rc && next_word(&text, end, has_prefix, &w))
		rc = take(&w, o, err);
	return rc;
}

int fab_opensm_options_parse(const char *text, struct fab_opensm_options *o,
			     struct fab_err *err)
{
	struct fab_opensm_options taken = *o;
	int rc =
		text ? parse(text, text + strlen(text), strstr(text, prefix), &taken, err)
		     : 0;

	if (!rc)
		*o = taken;
	return rc;
}

static int parse_lines(const char *text, const char *name, struct fab_opensm_options *o,
		       struct fab_err *err)
{
	unsigned line = 1;

	for (const char *at = text; *at; line++) {
		size_t len = strcspn(at, "\n"), code = strcspn(at, "#\n");
		char where[sizeof(o->file) + 16];

		if (parse(at, at + (code < len ? code : len), false, o, err) ||
		    /* a file does not lead to another */
		    (strcmp(o->file, name) != 0 &&
		     fab_fail(err, EINVAL, "file=%s: not in a file, only in opensm.conf",
			      o->file))) {
			snprintf(where, sizeof(where), "%s:%u", name, line);
			fab_err_prefix(err, where);
			return -EINVAL;
		}
		at += len + (at[len] == '\n');
	}
	return 0;
}

int fab_opensm_options_read(const struct fab_opensm_options *given,
			    struct fab_opensm_options *o, struct fab_err *err)
{
	struct fab_opensm_options taken = *given;
	FAB_AUTOFREE char *text = NULL;
	int rc = fab_trusted_read(given->file, MAX_FILE_BYTES, &text, err);

	if (!rc && !text[strspn(text, " \t\r\n")])
		rc = fab_fail(err, ENODATA, "%s: expected options, it is empty",
			      given->file);
	if (!rc)
		rc = parse_lines(text, given->file, &taken, err);
	if (!rc)
		*o = taken;
	return rc;
}

uint32_t fab_opensm_max_moved(const struct fab_opensm_options *o, uint32_t n)
{
	uint64_t part = (uint64_t)n * o->max_moved / 100;

	if (!o->is_percent)
		return o->max_moved;
	return part || !o->max_moved ? (uint32_t)part : 1;
}

const char *fab_opensm_options_text(const struct fab_opensm_options *o,
				    char text[FAB_OPENSM_OPTIONS_BYTES])
{
	const struct {
		const char *name, *path;
	} paths[] = {{"groups", o->groups}, {"states", o->states}};
	char moved[16];
	int n;

	snprintf(moved, sizeof(moved), "%u%s", o->max_moved, o->is_percent ? "%" : "");
	n = snprintf(
		text, FAB_OPENSM_OPTIONS_BYTES,
		"mode=%s, algorithm=%s, max_moved=%s, min_interval=%u, rebalance_changes=%u, rebalance_seconds=%u, port_changes=%u, time_limit_ms=%u",
		fab_opensm_mode_name(o->mode), o->engine->name,
		!o->is_percent && o->max_moved == UINT32_MAX ? "all" : moved,
		o->pace.min_interval_s, o->pace.changes, o->pace.seconds,
		o->pace.port_changes, o->time_limit_ms);
	for (size_t i = 0; i < FAB_COUNT(paths); i++)
		if (paths[i].path[0])
			n += snprintf(text + n, (size_t)(FAB_OPENSM_OPTIONS_BYTES - n),
				      ", %s=%s", paths[i].name, paths[i].path);
	return text;
}

bool fab_opensm_options_equal(const struct fab_opensm_options *a,
			      const struct fab_opensm_options *b)
{
	char text_a[FAB_OPENSM_OPTIONS_BYTES], text_b[FAB_OPENSM_OPTIONS_BYTES];

	return !strcmp(fab_opensm_options_text(a, text_a),
		       fab_opensm_options_text(b, text_b));
}

/* Files. */

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
