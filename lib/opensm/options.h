/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of the plug-in: words NAME=VALUE between commas or blanks,
 * in event_plugin_options of opensm.conf or a line each in a file, where # starts a
 * comment.
 */
#pragma once

#include <stdbool.h>

#include "mcast/route.h"
#include "opensm/pace.h"
#include "opensm/trusted.h"

enum fab_opensm_mode {
	FAB_OPENSM_OFF,	    /* OpenSM's own trees */
	FAB_OPENSM_DRY_RUN, /* OpenSM's; the log says what ours would give */
	FAB_OPENSM_ON,
	FAB_OPENSM_OWN, /* OpenSM's own trees as the plug-in makes them when in doubt */
};

struct fab_opensm_options {
	enum fab_opensm_mode mode;
	const struct fab_mcast_engine *engine; /* of all groups, where none has a tree */
	uint32_t max_moved; /* trees that a step may move, or percent of all */
	bool is_percent;
	struct fab_pace_limits pace; /* of steps */
	uint32_t time_limit_ms;	     /* of one step, in the background */
	/* empty: none */
	char file[FAB_TRUSTED_PATH_BYTES];   /* read again at each heavy sweep */
	char groups[FAB_TRUSTED_PATH_BYTES]; /* announced (opensm/announced.h) */
	char states[FAB_TRUSTED_PATH_BYTES]; /* of these, written when they change */
};

/* mode dry-run, balanced, 5 % of the trees, after 100 changes or 60 s, 60 s apart, 100
 * changes of a port, 10 s. O(1). */
void fab_opensm_options_init(struct fab_opensm_options *o);

/*
 * Take the words of `text` (NULL: none) into *o. Where any word begins with "fabkit:",
 * as several plug-ins share the line, only those count. EINVAL with a sentence that names
 * the word and what was expected; then *o is as before. O(text).
 */
int fab_opensm_options_parse(const char *text, struct fab_opensm_options *o,
			     struct fab_err *err) FAB_MUST_CHECK;
/*
 * *o becomes what `given` says (event_plugin_options), and then the file given->file.
 * EINVAL names file and line; errors of the file as fab_trusted_read() for less than
 * 64 KiB; ENODATA, too, where it has no option. Then *o is as before. O(file).
 */
int fab_opensm_options_read(const struct fab_opensm_options *given,
			    struct fab_opensm_options *o,
			    struct fab_err *err) FAB_MUST_CHECK;
/* Trees of n that a step may move: at least one of percent, and a whole number. O(1). */
uint32_t fab_opensm_max_moved(const struct fab_opensm_options *o, uint32_t n);
/* The options as words, as parse() takes them, but for the file; `text` is filled. O(1).
 */
enum { FAB_OPENSM_OPTIONS_BYTES = 256 + 2 * FAB_TRUSTED_PATH_BYTES };
const char *fab_opensm_options_text(const struct fab_opensm_options *o,
				    char text[FAB_OPENSM_OPTIONS_BYTES]);
/* Do they ask for the same? O(1). */
bool fab_opensm_options_equal(const struct fab_opensm_options *a,
			      const struct fab_opensm_options *b);
/* "on" and so on. O(1). */
const char *fab_opensm_mode_name(enum fab_opensm_mode mode);
