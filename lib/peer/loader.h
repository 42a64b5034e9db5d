/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that the dynamic loader of this system opens for a program, and those that it
 * looks for in vain, as it lists them itself (`ld.so --list` with LD_DEBUG=libs of
 * glibc). The program is not run.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"

struct fab_loader_files {
	/* Files in the order of loading, the program first; absolute paths. */
	FAB_VEC(const char *) found;
	FAB_VEC(const char *) missing; /* paths that were tried in vain */
};
/*
 * Of `program`, in `memory`, with the environment of this process (LD_LIBRARY_PATH). A
 * static program has itself alone. ENOENT: no such program, or this system's loader is
 * not known; EINVAL: no program that the loader can list; ETIMEDOUT: it takes more than
 * 30 s. O(files).
 */
int fab_loader_files(struct fab_arena *memory, const char *program,
		     struct fab_loader_files *out, struct fab_err *err) FAB_MUST_CHECK;

/* Add the files of such a log, lines `PID: trying file=PATH`; what else it has, relative
 * paths and files beyond 2^20 are left out. Texts are in `memory`, the lists of *out are
 * the caller's. O(len). */
void fab_loader_read_log(struct fab_arena *memory, const char *log, size_t len,
			 struct fab_loader_files *out);
