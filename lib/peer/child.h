/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of others that run for a while, and their private folders. None of them stays
 * behind: not when this process ends by exit() or by a signal (fab_child_end_all()), and
 * the programs not even when it is killed.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The file of a program: the first in $PATH, /usr/sbin and /sbin that may be run. The
 * caller frees; NULL: none. O(folders).
 */
char *fab_child_find(const char *program);

/*
 * A new folder `fabkit-XXXXXX` in `parent` that only this user may read. The caller ends
 * it with fab_child_dir_remove(), which takes all that is in it, too. Fails as
 * mkdtemp(3).
 */
int fab_child_dir_new(const char *parent, char **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_child_dir_remove(char *dir);

struct fab_child {
	pid_t pid;    /* 0: not running */
	char end[64]; /* "ended with status 1", "was ended by signal 11"; empty: it runs
		       */
};

/*
 * Run argv[0], a path, in the folder `dir`, with the variables env (NAME=VALUE, up to
 * NULL) besides others of this process; standard input is empty, what it prints goes to
 * the file `log` of the folder. It has a process group of its own, so that Ctrl-C does
 * not reach it. Everything is borrowed. Fails as fork(2); a program that cannot be run
 * ends with status 127.
 */
int fab_child_start(struct fab_child *child, char *const *argv, const char *const *env,
		    const char *dir, const char *log, struct fab_err *err) FAB_MUST_CHECK;
/* Has it ended? Then child->end says how. O(1). */
bool fab_child_has_ended(struct fab_child *child);
/* End it and its group at once, and wait for that; nothing where it does not run. */
void fab_child_stop(struct fab_child *child);

/* End all programs and remove all folders. Async-signal-safe. */
void fab_child_end_all(void);

/*
 * The files that the dynamic loader of this system opens for a program, and those that it
 * looks for in vain, as it lists them itself (`ld.so --list` with LD_DEBUG=libs of
 * glibc). The program is not run.
 */

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
