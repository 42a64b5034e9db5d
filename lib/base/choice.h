/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choices by name: the rows of a table of algorithms or patterns, for parsers,
 * sentences, help, manual pages and completions, so that a name is written once.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

/* A row, as people write it: NAME, or NAME:ARGUMENT ("block:N", "file:PATH"). */
struct fab_choice {
	const char *form;    /* static texts, all of them */
	const char *summary; /* one line */
	const char *manual;  /* sentences for the manual page, `names` quoted so; NULL:
				the summary */
	bool is_in_all;	     /* chosen by "all" */
	bool is_whole;	     /* a colon is of the name: "opensm:ftree" */
};

struct fab_choices {
	const char *what; /* "algorithm" */
	size_t n;
	struct fab_choice (*at)(size_t i);
	const char *const *names; /* [n] instead of `at`: names and nothing else */
	/* A clause on a name that no row has but people may expect, NULL: none. Static;
	 * NULL instead of the function: no hints. */
	const char *(*hint)(const char *name, size_t len);
};

/* Define the choices `symbol` of the array `rows` of struct fab_choice. */
#define FAB_CHOICES(symbol, kind, rows)                                                  \
	static struct fab_choice symbol##_at(size_t i)                                   \
	{                                                                                \
		return (rows)[i];                                                        \
	}                                                                                \
	const struct fab_choices symbol = {                                              \
		.what = (kind), .n = FAB_COUNT(rows), .at = symbol##_at}

/* The same of an array of rows with members `form` (any name of it), summary and manual:
 * `row` is the one of number i. All of them are in "all". */
#define FAB_CHOICES_OF(symbol, kind, count, row, form)                                   \
	static struct fab_choice symbol##_at(size_t i)                                   \
	{                                                                                \
		return (struct fab_choice){(row).form, (row).summary, (row).manual,      \
					   true};                                        \
	}                                                                                \
	const struct fab_choices symbol = {                                              \
		.what = (kind), .n = (count), .at = symbol##_at}

/* A constant list of names, by number of an enum: FAB_NAME_LIST([A] = "a", [B] = "b"). */
#define FAB_NAME_LIST(...)                                                               \
	(&(const struct fab_choices){                                                    \
		.what = "name",                                                          \
		.n = FAB_COUNT(((const char *const[]){__VA_ARGS__})),                    \
		.names = (const char *const[]){__VA_ARGS__}})

/* Length of the name in a form, and in that of a row. O(len). */
size_t fab_choice_name_len(const char *form);
size_t fab_choice_row_len(const struct fab_choice *row);

/* The row of this name, FAB_NONE: none has it. O(rows). */
uint32_t fab_choices_find(const struct fab_choices *c, const char *name, size_t len);

/* All forms: "a, b, c or d" with `last` "or"; with "" commas only. On the heap.
 * O(choices). */
char *fab_choices_text(const struct fab_choices *c, const char *last);

/* One that was chosen. */
struct fab_chosen {
	uint32_t row;
	bool by_all;	  /* not named itself */
	const char *text; /* NAME or NAME:ARGUMENT as given; borrowed */
	size_t len;
};

struct fab_chosen_list {
	FAB_VEC(struct fab_chosen) of;
};

/*
 * Names between commas; "all": those of the table that are in it. Each text once, in the
 * order in which it came first. EINVAL with one sentence: a name that is no row's, an
 * argument that is missing or too much. The caller frees out->of.v, also after an error;
 * `list` is borrowed. O(names * rows).
 */
int fab_choices_parse(const struct fab_choices *c, const char *list,
		      struct fab_chosen_list *out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * EINVAL, and the one sentence on a name that no row has: the hint of the table, else
 * the nearest name if one is near, then all there are, `more` ("all", or NULL) first.
 * O(choices * len).
 */
int fab_choices_refuse(const struct fab_choices *c, const char *name, size_t len,
		       const char *more, struct fab_err *err);
