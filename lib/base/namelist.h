/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of names as people write them: commas, quotes, host lists as Slurm writes them
 * (`n[1-3,07]`, `r[1-2]n[01-16]`) and patterns of a shell. Text only: what a name stands
 * for is base/lookup.h.
 *
 * A bracket that holds digits, `-` and `,` only belongs to a host list; `*`, `?` and any
 * other bracket make a pattern. What is in "" is a name, whatever it looks like.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* One item of a list; the text is borrowed. */
struct fab_item {
	const char *text;
	size_t len;
	bool is_quoted; /* a name, to the letter */
};

/*
 * The next item of a list *at .. end; commas in a host list's brackets do not count,
 * blanks around an item neither. 1: an item, 0: the list is over, -EINVAL: a quote is not
 * closed, or an item is empty. *at is NULL after the last one. O(item).
 */
int fab_list_next(const char **at, const char *end, struct fab_item *item,
		  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Give every line that is not empty to `use`, until one fails: without blanks at its ends
 * and without a comment, which a # begins at the start or behind a blank, outside of
 * quotes. EINVAL: a zero byte; sentences begin with FILE:LINE. O(len) beside `use`.
 */
typedef int fab_use_line(void *context, struct fab_item line, struct fab_err *err);
int fab_list_lines(const char *file, const char *text, size_t len, fab_use_line *use,
		   void *context, struct fab_err *err) FAB_MUST_CHECK;

/* Has the text a bracket of a host list? A `*` or `?`, or another closed bracket? O(len).
 */
bool fab_is_hostlist(const char *text, size_t len);
bool fab_is_pattern(const char *text, size_t len);

/*
 * What a host list stands for, name by name, the last bracket fastest. Numbers are as
 * wide as the first of their range: [08-10] is 08 09 10, [8-10] is 8 9 10.
 */
struct fab_hostlist;
/*
 * EINVAL: a range that is none or runs backwards, more than 16 brackets, more than `max`
 * names. `text` is borrowed. The caller frees *out with fab_hostlist_free(). O(len).
 */
int fab_hostlist_new(const char *text, size_t len, uint64_t max,
		     struct fab_hostlist **out, struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. fab_hostlist_free: O(size), fab_hostlist_count: O(1). */
void fab_hostlist_free(struct fab_hostlist *list);
uint64_t fab_hostlist_count(const struct fab_hostlist *list);
/* The next name, valid until the next call; NULL at the end. O(name). */
const char *fab_hostlist_next(struct fab_hostlist *list);
