/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of the plug-in: words NAME=VALUE between commas or blanks, in
 * event_plugin_options of opensm.conf or a line each in a file, where # starts a comment;
 * and the files of the plug-in.
 */
#pragma once

#include "base/err.h"
#include "mcast/route.h"
#include "opensm/pace.h"

#include <stdbool.h>
#include <stdint.h>

/* Files of the plug-in that only root and the user of the process may change. */

enum { FAB_TRUSTED_PATH_BYTES = 4096 };

/*
 * The text of the file into *text, which the caller frees. EPERM: others may write it (it
 * is not a regular file of root or of the process, or the group, others or everybody in
 * its folder may write it); EFBIG: not less than max_bytes; ENODATA: it has a NUL, as
 * while it is being written; other errors of the file unchanged. A FIFO does not block.
 * O(file).
 */
int fab_trusted_read(const char *path, uint32_t max_bytes, char **text,
		     struct fab_err *err) FAB_MUST_CHECK;
/*
 * Write the file to PATH.new, then put it there: a reader finds
 * the old text or the new one. EPERM: others may write its folder. O(len).
 */
int fab_trusted_write(const char *path, const char *text, size_t len,
		      struct fab_err *err) FAB_MUST_CHECK;

/* Which file was at a path; all zero: none. */
struct fab_trusted_mark {
	uint64_t device, number, size, seconds, nanoseconds;
};

/* Is another file there than that of the mark, or has it changed, or the users that may
 * write it? The mark becomes that of the file. O(1). */
bool fab_trusted_changed(const char *path, struct fab_trusted_mark *mark);

/* Options. */

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
