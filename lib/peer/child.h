/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of others that run for a while, and their private folders. None of them stays
 * behind: not when this process ends by exit() or by a signal (fab_child_end_all()), and
 * the programs not even when it is killed.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

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
