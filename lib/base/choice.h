/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be chosen by name: the rows of a table of algorithms or patterns, for parsers,
 * sentences, help, manual pages and completions, so that a name is written once.
 */
#pragma once

#include "base/err.h"

/* A row, as people write it: NAME, or NAME:ARGUMENT ("block:N", "file:PATH"). */
struct fab_choice {
	const char *form;    /* static text */
	const char *summary; /* one line; static text */
};

struct fab_choices {
	const char *what; /* "algorithm" */
	size_t n;
	struct fab_choice (*at)(size_t i);
};

/* Length of the name in a form. */
size_t fab_choice_name_len(const char *form);

/* The row of this name, FAB_NONE: none has it. O(rows). */
uint32_t fab_choices_find(const struct fab_choices *c, const char *name, size_t len);

/* All forms: "a, b, c or d" with `last` "or"; with "" commas only. On the heap. */
char *fab_choices_text(const struct fab_choices *c, const char *last);

/*
 * EINVAL, and the one sentence on a name that no row has: the nearest name if one is
 * near, then all there are, `more` ("all", or NULL) first.
 */
int fab_choices_refuse(const struct fab_choices *c, const char *name, size_t len,
		       const char *more, struct fab_err *err);
