/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

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
					 .max_moved = UINT32_MAX,
					 .rebalance_changes = 100,
					 .rebalance_seconds = 60,
					 .time_limit_ms = 10000};
}

void fab_opensm_options_fini(struct fab_opensm_options *o)
{
	free(o->file);
	o->file = NULL;
}

/* A word NAME=VALUE. */
struct word {
	const char *text, *value;
	size_t name_len, value_len;
};

static bool is_name(const struct word *w, const char *name)
{
	return strlen(name) == w->name_len && !memcmp(w->text, name, w->name_len);
}

static int take_number(const struct word *w, uint32_t min, uint32_t *out,
		       struct fab_err *err)
{
	uint64_t n;

	if (!fab_parse_u64(w->value, w->value_len, min, UINT32_MAX - 1, &n))
		return fab_fail(err, EINVAL, "%.*s=%.*s: expected a number from %u on",
				(int)w->name_len, w->text, (int)w->value_len, w->value,
				min);
	*out = (uint32_t)n;
	return 0;
}

static int take(const struct word *w, struct fab_opensm_options *o, struct fab_err *err)
{
	if (is_name(w, "mode")) {
		for (size_t i = 0; i < FAB_COUNT(mode_names); i++) {
			if (strlen(mode_names[i]) != w->value_len ||
			    memcmp(mode_names[i], w->value, w->value_len) != 0)
				continue;
			o->mode = (enum fab_opensm_mode)i;
			return 0;
		}
		return fab_fail(err, EINVAL,
				"mode=%.*s: expected off, dry-run, on or own",
				(int)w->value_len, w->value);
	}
	if (is_name(w, "algorithm")) {
		const struct fab_mcast_engine *e =
			fab_mcast_engine_find(w->value, w->value_len);

		if (!e || e->may_be_higher || !e->grow)
			return fab_fail(
				err, EINVAL,
				"algorithm=%.*s: expected a multicast algorithm with trees of minimal height, as balanced or fulb",
				(int)w->value_len, w->value);
		o->engine = e;
		return 0;
	}
	if (is_name(w, "max_moved") && w->value_len == 3 && !memcmp(w->value, "all", 3)) {
		o->max_moved = UINT32_MAX;
		return 0;
	}
	if (is_name(w, "max_moved"))
		return take_number(w, 0, &o->max_moved, err);
	if (is_name(w, "rebalance_changes"))
		return take_number(w, 0, &o->rebalance_changes, err);
	if (is_name(w, "rebalance_seconds"))
		return take_number(w, 0, &o->rebalance_seconds, err);
	if (is_name(w, "time_limit_ms"))
		return take_number(w, 1, &o->time_limit_ms, err);
	if (is_name(w, "file") && w->value_len) {
		free(o->file);
		o->file = fab_strndup(w->value, w->value_len);
		return 0;
	}
	return fab_fail(
		err, EINVAL,
		"'%.*s': expected mode, algorithm, max_moved, rebalance_changes, rebalance_seconds, time_limit_ms or file, each with =VALUE",
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

static struct fab_opensm_options copy_of(const struct fab_opensm_options *o)
{
	struct fab_opensm_options copy = *o;

	copy.file = o->file ? fab_strdup(o->file) : NULL;
	return copy;
}

/* The parsed options become *o, or, after a failure, none of them. */
static int settle(int rc, struct fab_opensm_options *taken, struct fab_opensm_options *o)
{
	struct fab_opensm_options old = *o;

	if (!rc)
		*o = *taken;
	fab_opensm_options_fini(rc ? taken : &old);
	return rc;
}

int fab_opensm_options_parse(const char *text, struct fab_opensm_options *o,
			     struct fab_err *err)
{
	struct fab_opensm_options taken = copy_of(o);
	bool has_prefix = text && strstr(text, prefix);

	return settle(text ? parse(text, text + strlen(text), has_prefix, &taken, err)
			   : 0,
		      &taken, o);
}

static int parse_lines(const char *text, const char *name, struct fab_opensm_options *o,
		       struct fab_err *err)
{
	unsigned line = 1;

	for (const char *at = text; *at; line++) {
		size_t len = strcspn(at, "\n"), code = strcspn(at, "#\n");
		char where[256];

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
	char *name = fab_strdup(given->file), *text = FAB_NEW(MAX_FILE_BYTES + 1, char);
	struct fab_opensm_options taken = copy_of(given);
	FILE *file = fopen(name, "re");
	size_t n = 0;
	int rc = 0;

	if (file)
		n = fread(text, 1, MAX_FILE_BYTES, file);
	if (!file || ferror(file))
		rc = fab_fail(err, errno ? errno : EIO, "%s: %s", name, strerror(errno));
	else if (n == MAX_FILE_BYTES)
		rc = fab_fail(err, EFBIG, "%s: expected options, less than 64 KiB", name);
	if (file)
		fclose(file);
	text[n] = '\0';
	if (!rc)
		rc = parse_lines(text, name, &taken, err);
	free(text);
	free(name);
	return settle(rc, &taken, o);
}

bool fab_opensm_options_equal(const struct fab_opensm_options *a,
			      const struct fab_opensm_options *b)
{
	return a->mode == b->mode && a->engine == b->engine &&
	       a->max_moved == b->max_moved &&
	       a->rebalance_changes == b->rebalance_changes &&
	       a->rebalance_seconds == b->rebalance_seconds &&
	       a->time_limit_ms == b->time_limit_ms;
}

void fab_opensm_options_copy(const struct fab_opensm_options *from,
			     struct fab_opensm_options *o)
{
	struct fab_opensm_options copy = copy_of(from);

	fab_opensm_options_fini(o);
	*o = copy;
}
