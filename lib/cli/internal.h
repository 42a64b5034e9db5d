/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/cli: what the files of this room need of each other. */
#pragma once

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"

/* The row of an option that the command has. O(options). */
const struct fab_given_option *fab_given_option(const struct fab_given *g,
						const char *name);
/* The target of an option that draws; NULL: the option does not draw. O(options). */
struct fab_cli_plot *fab_given_plot(const struct fab_given *g, const char *option);
/* Write the page of --report: what `task` reports, with the picture of its fabric. */
int fab_cli_write_page(FILE *out, const struct fab_given *g, const struct fab_task *task,
		       struct fab_work *w, struct fab_err *err) FAB_MUST_CHECK;
/* The task of the command line, and its columns; none: not known yet. */
const struct fab_task *fab_given_task(const struct fab_given *g);
struct fab_cli_columns fab_given_columns(const struct fab_given *g);
/* What can replace the last of n words behind the command, on standard output.
 * O(options + fabric). */
void fab_given_complete(struct fab_given *g, int n, char **words);
/* --list-settings. O(settings). */
int fab_settings_list(const struct fab_given *g, struct fab_err *err);
/* "run, sweep or trace"; on the heap. */
char *fab_verb_names(const struct fab_verb *verbs);
/* Member of the parameters that these rows fill; NULL: not in this command. */
void *fab_given_part(const struct fab_given *g, const struct fab_option *rows);
/* Verb, FABRIC and the relations of the command; `lists`: where it only lists columns or
 * settings. EINVAL. O(relations * rows). */
int fab_given_check(const struct fab_given *g, bool lists, struct fab_err *err);
/* Put a value where it belongs, `at` that of its part. EINVAL: what is wrong with it. */
int fab_option_take(const struct fab_option *o, void *at, const char *arg,
		    struct fab_err *err) FAB_MUST_CHECK;
void fab_option_free(const struct fab_option *o, void *at);

int fab_cli_take_shard(struct fab_cli_shard *shard, const char *arg,
		       struct fab_err *err) FAB_MUST_CHECK;
/*
 * A file holds one result, and none goes over an input: EINVAL when two outputs, or an
 * output and an input, are the same file by name, through a link or by inode, or when two
 * go to standard output (`-`), where the report goes if no other file is named for it.
 * O(files^2).
 */
int fab_cli_find_clash(const struct fab_cli_output *output,
		       struct fab_err *err) FAB_MUST_CHECK;
/* Digest of the files that options name, without FABRIC, as far as they can be read twice
 * (no pipes). O(bytes). */
uint64_t fab_cli_hash_inputs(void);
/* Does the path name a file that is open already, as /dev/stdout: nothing that could be
 * renamed, wherever it lies? O(1). */
bool fab_cli_is_open_file(const char *path);
/* Can the files be written, as far as that is seen before the work? Whatever can change
 * until they are is said then, in the same words. O(files). */
int fab_cli_check_outputs(struct fab_err *err) FAB_MUST_CHECK;
/* Is a picture PNG, which another program draws? */
bool fab_cli_is_png(const char *path);
/* ENOENT and the sentence. */
int fab_cli_no_converter(struct fab_err *err);

/* From here on the command ends by itself: status 1 is its own. Before, a library that
 * gave up has chosen it (libgomp without a thread), and it becomes FAB_EXIT_ERROR. */
void fab_cli_expect_end(void);

/* Take the progress line off the terminal, so that a message can be printed. */
void fab_cli_progress_hide(void);

/* Call `remove` (async-signal-safe) when the process ends, by exit() or by a signal. */
void fab_cli_on_end(void (*remove)(void));

/* Where a chain of symbolic links ends, whether or not there is such a file; NULL and
 * ELOOP when it does not end. The caller frees. */
char *fab_cli_link_end(const char *path);

/* Hold back standard error, where the parser prints, and release it as one line that is
 * safe for a terminal; messages go past. */
void fab_cli_hold(void);
void fab_cli_release(void);

/* `program: LABELtext` and a line end on standard error, made safe for a terminal. */
void fab_cli_message(const char *label, const char *text);
