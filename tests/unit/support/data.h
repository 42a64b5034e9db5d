/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder of real dumps, which is not part of the project. */
#pragma once

#include "fabric/fabric.h"

/*
 * Path of a file below the folder of real dumps. Skips the running test when the folder
 * is not there. The caller frees.
 */
char *data_path(const char *file);

/* The dumps there that ibnetdiscover wrote and that are whole, to the NULL behind them.
 */
enum { DATA_N_DUMPS = 8 };
extern const char *const data_dumps[DATA_N_DUMPS + 1];

/* Open a dump of that folder; fails the test when it cannot be read. The caller frees. */
struct fab_fabric *data_open(const char *file);

/* Read text as a file called `t`; fails the test with the message when it is refused. */
struct fab_fabric *text_open(const char *text);

/* Read text that must be refused: the message, valid until the next call. */
const char *text_error(const char *text);

/* The warning number `nth` of a code, NULL when there are fewer. */
const struct fab_warning *find_warning(const struct fab_fabric *f, const char *code,
				       unsigned nth);

/* How often the text has the part. */
size_t count_of(const char *text, const char *part);
