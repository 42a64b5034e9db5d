/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists that people write: a line each, # begins a comment line. */
#pragma once

#include "base/err.h"

/* A line without blanks at its ends, not empty. Not closed by NUL. */
typedef int (*fab_list_line_fn)(void *context, const char *line, size_t len,
				struct fab_err *err);

/*
 * Call `take` for each line of a file (`-`: standard input) until it fails. EINVAL: that,
 * a line of more than 4096 bytes, or a zero byte; errors of lines begin with file and
 * line. O(bytes).
 */
int fab_list_file_read(const char *path, fab_list_line_fn take, void *context,
		       struct fab_err *err) FAB_MUST_CHECK;
