/* SPDX-License-Identifier: BSD-2-Clause */
/* How the library reports failure: a negative errno and a sentence for people. */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/*
 * One sentence that names file, line, value and what was expected. Filled only when a
 * function fails; the caller owns it and prints it. Every function of the library that
 * takes a `struct fab_err *` accepts NULL.
 */
struct fab_err {
	char text[512];
};

/*
 * Write the sentence (cut to fit, control characters replaced by blanks) and return
 * -errnum, so that a function can end in `return fab_fail(err, EINVAL, ...)`. O(1).
 */
int fab_fail(struct fab_err *err, int errnum, const char *format, ...) FAB_PRINTF(3, 4);
/* Write `file:line: sentence` and return -EINVAL. O(1). */
int fab_fail_line(struct fab_err *err, const char *file, uint64_t line,
		  const char *format, ...) FAB_PRINTF(4, 5);

/* A rule for parameters, and the sentence on those that break it. */
struct fab_rule {
	bool is_broken;
	const char *text;
};
/* EINVAL with the sentence of the first of n rules that is broken; 0: none is. O(n). */
int fab_fail_first(struct fab_err *err, const struct fab_rule *rules, size_t n);

/* Put `prefix: ` in front of the sentence already there. O(len). */
void fab_err_prefix(struct fab_err *err, const char *prefix);
