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

/* A word NAME=VALUE. */
struct word {
	const char *text, *value;
	size_t name_len, value_len;
};

static bool is(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(text, name, len);
}

static int take(const struct word *w, struct fab_opensm_options *o, struct fab_err *err)
{
	const struct {
		const char *name;
		uint32_t min, *to;
	} numbers[] = {{"max_moved", 0, &o->max_moved},
		       {"rebalance_changes", 0, &o->rebalance_changes},
		       {"rebalance_seconds", 0, &o->rebalance_seconds},
		       {"time_limit_ms", 1, &o->time_limit_ms}};
	int len = (int)w->value_len;
	uint64_t n;

	for (size_t i = 0; i < FAB_COUNT(numbers); i++) {
		if (!is(w->text, w->name_len, numbers[i].name))
			continue;
		if (!i && is(w->value, w->value_len, "all"))
			n = UINT32_MAX;
		else if (!fab_parse_u64(w->value, w->value_len, numbers[i].min,
					UINT32_MAX - 1, &n))
			return fab_fail(err, EINVAL,
					"%s=%.*s: expected a number from %u on",
					numbers[i].name, len, w->value, numbers[i].min);
		*numbers[i].to = (uint32_t)n;
		return 0;
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
	if (is(w->text, w->name_len, "file") && w->value_len &&
	    w->value_len < sizeof(o->file)) {
		snprintf(o->file, sizeof(o->file), "%.*s", len, w->value);
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
	char *text = FAB_NEW(MAX_FILE_BYTES + 1, char);
	FILE *file = fopen(given->file, "re");
	size_t n = file ? fread(text, 1, MAX_FILE_BYTES, file) : 0;
	int rc = 0;

	if (!file || ferror(file))
		rc = fab_fail(err, errno ? errno : EIO, "%s: %s", given->file,
			      strerror(errno));
	else if (n == MAX_FILE_BYTES)
		rc = fab_fail(err, EFBIG, "%s: expected options, less than 64 KiB",
			      given->file);
	if (file)
		fclose(file);
	text[n] = '\0';
	if (!rc)
		rc = parse_lines(text, given->file, &taken, err);
	free(text);
	if (!rc)
		*o = taken;
	return rc;
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
