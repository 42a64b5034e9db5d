/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of the plug-in: words NAME=VALUE between commas or blanks,
 * in event_plugin_options of opensm.conf or a line each in a file, where # starts a
 * comment.
 */
#pragma once

#include <stdbool.h>

#include "mcast/route.h"

enum fab_opensm_mode {
	FAB_OPENSM_OFF,	    /* OpenSM's own trees */
	FAB_OPENSM_DRY_RUN, /* OpenSM's; the log says what ours would give */
	FAB_OPENSM_ON,
	FAB_OPENSM_OWN, /* OpenSM's own trees as the plug-in makes them when in doubt */
};

struct fab_opensm_options {
	enum fab_opensm_mode mode;
	const struct fab_mcast_engine *engine; /* of all groups at once */
	uint32_t max_moved;		       /* trees that one rebalancing may move */
	uint32_t rebalance_changes; /* rebalance after this many group changes (0: never)
				     */
	uint32_t rebalance_seconds; /* after a change; 0: never */
	uint32_t time_limit_ms;	    /* of one rebalancing, in the background */
	char file[4096];	    /* empty: none; read again at each heavy sweep */
};

/* mode dry-run, balanced, no limit of moves, after 100 changes or 60 s, 10 s. O(1). */
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
 * EINVAL names file and line; errors of
 * the file as they are; a file of more than 64 KiB is EFBIG; then *o is as before.
 * O(file).
 */
int fab_opensm_options_read(const struct fab_opensm_options *given,
			    struct fab_opensm_options *o,
			    struct fab_err *err) FAB_MUST_CHECK;
/* Do they ask for the same? O(1). */
bool fab_opensm_options_equal(const struct fab_opensm_options *a,
			      const struct fab_opensm_options *b);
/* "on" and so on. O(1). */
const char *fab_opensm_mode_name(enum fab_opensm_mode mode);
