/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/present: a grid of cells for people, drawn by libsmartcols. */
#pragma once

#include "present/report.h"

struct fab_grid;

/* `out` and `options` are borrowed until the grid is freed. */
struct fab_grid *fab_grid_new(FILE *out, const struct fab_report_options *options);
/* A text column is aligned to the left and may be cut to fit the terminal. */
void fab_grid_add_column(struct fab_grid *grid, const char *heading, bool is_text);
/* One row: a cell on the heap for each column, which the grid takes. */
void fab_grid_add_row(struct fab_grid *grid, char *const *cells, size_t n);
/* Print and free. */
void fab_grid_finish(struct fab_grid *grid);
