/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of the plug-in that nobody but root and the user of the process may change. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { FAB_TRUSTED_PATH_BYTES = 4096 };

/*
 * The text of the file into *text, which the caller frees. EPERM: others may write it (it
 * is not a regular file of root or of the process, or the group, others or everybody in
 * its folder may write it); EFBIG: not less than max_bytes; ENODATA: it has a NUL, as
 * while it is being written; other errors of the file as they are. A FIFO does not block.
 * O(file).
 */
int fab_trusted_read(const char *path, uint32_t max_bytes, char **text,
		     struct fab_err *err) FAB_MUST_CHECK;
/*
 * Write the file beside its place as PATH.new, then put it there: who reads it finds
 * the old text or the new one. EPERM: others may write its folder. O(len).
 */
int fab_trusted_write(const char *path, const char *text, size_t len,
		      struct fab_err *err) FAB_MUST_CHECK;

/* Which file was at a path; all zero: none. */
struct fab_trusted_mark {
	uint64_t device, number, size, seconds, nanoseconds;
};

/* Is another file there than that of the mark, or has it changed, or who may write it?
 * The mark becomes that of the file. O(1). */
bool fab_trusted_changed(const char *path, struct fab_trusted_mark *mark);
