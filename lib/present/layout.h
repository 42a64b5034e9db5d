/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/present: how a table is laid out so that it fits and nothing is cut. */
#pragma once

#include <stdio.h>

#include "present/grid.h"
#include "present/writer.h"

/*
 * Print the rows, `cells` row by row, and free their texts. As wide as the terminal
 * (options->width, 0: no limit): as they are if they fit; else with texts wrapped; else
 * turned on their side, a line for each column with as many rows side by side as fit.
 * Where all rows do not fit side by side, columns that are the same in all of them are
 * said once and left out first, unless columns were chosen. Only what cannot be broken is
 * wider.
 */
void fab_layout_print(FILE *out, const struct fab_report_options *options,
		      const struct fab_table *table, struct fab_grid_cell *cells,
		      size_t n_rows);
