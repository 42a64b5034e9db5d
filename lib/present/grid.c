/* SPDX-License-Identifier: BSD-2-Clause */
#include "present/grid.h"

#include <libsmartcols.h>
#include <stdlib.h>

#include "base/mem.h"

struct fab_grid {
	const struct fab_report_options *options;
	struct libscols_table *table;
};

struct fab_grid *fab_grid_new(FILE *out, const struct fab_report_options *options)
{
	struct fab_grid *grid = FAB_NEW(1, struct fab_grid);

	grid->options = options;
	grid->table = scols_new_table();
	if (!grid->table)
		fab_oom(sizeof(void *));
	scols_table_set_stream(grid->table, out);
	scols_table_enable_noencoding(grid->table, 1); /* cells are safe already */
	scols_table_enable_noheadings(grid->table, options->no_header);
	scols_table_enable_colors(grid->table, options->color);
	/* never ask the terminal here: the caller knows the width */
	scols_table_set_termforce(grid->table, options->width ? SCOLS_TERMFORCE_ALWAYS
							      : SCOLS_TERMFORCE_NEVER);
	if (options->width)
		scols_table_set_termwidth(grid->table, options->width);
	return grid;
}

void fab_grid_add_column(struct fab_grid *grid, const char *heading, bool is_text)
{
	int flags = !is_text ? SCOLS_FL_RIGHT : grid->options->width ? SCOLS_FL_TRUNC : 0;
	/* a heading counts for the width even when it is not printed */
	struct libscols_column *column = scols_table_new_column(
		grid->table, grid->options->no_header ? "" : heading, 0, flags);

	if (!column)
		fab_oom(sizeof(void *));
	if (grid->options->color)
		scols_cell_set_color(scols_column_get_header(column), "bold");
}

void fab_grid_add_row(struct fab_grid *grid, char *const *cells, size_t n)
{
	struct libscols_line *line = scols_table_new_line(grid->table, NULL);

	if (!line)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < n; i++)
		if (scols_line_refer_data(line, i, cells[i]) != 0)
			fab_oom(sizeof(void *));
}

void fab_grid_finish(struct fab_grid *grid)
{
	scols_print_table(grid->table);
	scols_unref_table(grid->table);
	free(grid);
}
