/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings of the check that were accepted: a file that people keep and edit.
 *
 *   # what follows a # is a comment
 *   slow-link 0x0002c90300080d59/1 0x0002c90200417670/36   # until the cable is replaced
 *   malformed-line "the text of the finding"
 *
 * A line is the code and the key of the finding: GUIDs of nodes, GUID/PORT of ports in
 * any order, or its text. It holds for a dump in another order and for renamed hosts.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "fabric/check.h"

struct fab_known;

/* Read a file ("-": standard input), packed or not. The caller frees *out. Errors: those
 * of fab_input_read(); EINVAL with FILE:LINE. The second: text in memory. O(n log n). */
int fab_known_read(const char *path, struct fab_known **out,
		   struct fab_err *err) FAB_MUST_CHECK;
int fab_known_parse(const char *name, const char *text, size_t len,
		    struct fab_known **out, struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. */
void fab_known_free(struct fab_known *known);

struct fab_known_counts {
	uint32_t n_left_out; /* findings that were accepted */
	uint32_t n_gone;     /* lines that no finding matches */
};

/* Take the accepted findings out of the check; each line that matches none becomes a note
 * `known-gone`. O(findings + lines). */
struct fab_known_counts fab_known_leave_out(const struct fab_known *known,
					    struct fab_check *check);

/* Write the problems of a check as such a file, by code and key, the message as comment.
 * Errors are left to ferror(out). O(n log n). */
void fab_known_write(FILE *out, const struct fab_check *check);
