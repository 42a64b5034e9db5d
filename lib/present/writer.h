/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/present: what a format has to offer, and the report it works for. */
#pragma once

#include <stdbool.h>

#include "base/mem.h"
#include "present/report.h"

/* The table that is open: its columns as chosen for this format. */
struct fab_table {
	const char *name, *title;
	bool is_primary;
	const struct fab_column *const *columns; /* [n], chosen, in order */
	size_t n;
	enum fab_tone tone; /* of the row that is being written */
};

/*
 * One format. `begin` makes the private state; the others get it. `row` gets the cells of
 * the chosen columns only. `finish` writes whatever is still buffered and frees the
 * state.
 */
struct fab_writer {
	bool wants_extra; /* columns marked FAB_COL_EXTRA, too */
	bool only_primary;
	void *(*begin)(FILE *out, const struct fab_report_options *options);
	/* a sentence, before all else; NULL: this format has no place for it */
	void (*answer)(void *state, enum fab_tone tone, const char *text);
	void (*field)(void *state, const struct fab_column *column, union fab_cell cell);
	void (*table_begin)(void *state, const struct fab_table *table);
	void (*row)(void *state, const struct fab_table *table,
		    const union fab_cell *cells);
	void (*table_end)(void *state, const struct fab_table *table);
	void (*finish)(void *state);
};

extern const struct fab_writer fab_table_writer;
extern const struct fab_writer fab_json_writer;
extern const struct fab_writer fab_csv_writer;
extern const struct fab_writer fab_html_writer;

/* Has the cell no value? NULL text, NaN, an infinite number, 0 where 0 means none. */
bool fab_cell_is_null(const struct fab_column *column, union fab_cell cell);
/* Is it an integer from 0 to 2^53? */
bool fab_is_whole(double value);
/* A number or GUID as text; `out` holds at least FAB_CELL_BYTES. Not for FAB_TEXT. */
enum { FAB_CELL_BYTES = 32 };
const char *fab_cell_number(const struct fab_column *column, union fab_cell cell,
			    char *out);
/* How bad a value is by the flags of its column. */
enum fab_tone fab_cell_tone(const struct fab_column *column, union fab_cell cell);
/* The name of a column for people, on the heap: "switch links" for switch_links. */
char *fab_column_human(const char *name);
/* The text made safe for a terminal, on the heap. */
char *fab_cell_safe_text(const char *text);
