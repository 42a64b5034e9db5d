/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/cli: what the files of this room need of each other. */
#pragma once

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"

/* Option keys of the children, one block each. */
enum { KEY_INPUT = 0x200, KEY_OUTPUT = 0x220, KEY_RUN = 0x240, KEY_STORE = 0x260 };

/* Arguments as a shell would read them; the caller frees. */
char *fab_cli_quote(int n, char **args);
/* Those that shards of one sweep have in common, options by their long names; the caller
 * frees. What the parser will refuse is left out. */
char *fab_cli_job_text(const struct argp *argp, int argc, char **argv);

/* Take the progress line off the terminal, so that a message can be printed. */
void fab_cli_progress_hide(void);

/* Unlink the temporary files of sinks that were not committed. Async-signal-safe. */
void fab_cli_sinks_discard(void);

/* Where a chain of symbolic links ends, whether or not there is such a file; NULL and
 * ELOOP when it does not end. The caller frees. */
char *fab_cli_link_end(const char *path);

/* Standard error, also while fab_cli_parse() holds back what is printed there. */
FILE *fab_cli_terminal(void);

/* `program: LABELtext` and a line end on standard error, made safe for a terminal. */
void fab_cli_message(const char *label, const char *text);
