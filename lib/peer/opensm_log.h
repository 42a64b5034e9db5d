/* SPDX-License-Identifier: BSD-2-Clause */
/* What OpenSM says in its log: version, engine that routed, reasons, errors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: nothing is said yet. Texts are on the heap, NULL: not said. */
struct fab_opensm_log {
	char *version;	   /* "3.3.23" */
	char *used;	   /* the engine whose tables the switches have: "minhop" */
	char *why;	   /* of the first engine that could not route: its reason */
	char *error;	   /* the last one */
	char *reason;	   /* the last thing said that may be a reason */
	unsigned n_failed; /* sweeps that ended with errors */
	bool is_up;	   /* SUBNET UP */
	bool has_plugin;   /* fabkit-path-sl was loaded */
	size_t n_read;	   /* bytes, by fab_opensm_log_read() */
};

/* Take the whole lines of a text. O(bytes). */
void fab_opensm_log_take(struct fab_opensm_log *log, const char *text, size_t n);
/* Take the lines that the file has got since the last time; none where there is no file.
 * O(new bytes). */
void fab_opensm_log_read(struct fab_opensm_log *log, const char *path);
void fab_opensm_log_fini(struct fab_opensm_log *log);
