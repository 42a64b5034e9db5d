/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/present: a grid of cells for people, drawn by libsmartcols. */
#pragma once

#include "present/report.h"

struct fab_grid;

/* A cell: its text on the heap, and the colour that it has on a terminal. */
struct fab_grid_cell {
	char *text;
	enum fab_tone tone;
};

/* `out` and `options` are borrowed until the grid is freed. */
struct fab_grid *fab_grid_new(FILE *out, const struct fab_report_options *options);
/* Cells of the column are wrapped to `limit` columns of the terminal; 0: never. */
void fab_grid_add_column(struct fab_grid *grid, const char *heading, bool is_left,
			 size_t limit);
/* One row: a cell for each column; the grid takes the texts. */
void fab_grid_add_row(struct fab_grid *grid, const struct fab_grid_cell *cells);
/* Print and free. */
void fab_grid_finish(struct fab_grid *grid);

/* Escape sequence of a tone, "" for FAB_TONE_PLAIN, and what ends it. */
const char *fab_tone_begin(enum fab_tone tone);
const char *fab_tone_end(enum fab_tone tone);
