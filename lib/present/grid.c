/* SPDX-License-Identifier: BSD-2-Clause */
#include "present/grid.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "present/wrap.h"

struct fab_grid {
	const struct fab_report_options *options;
	struct libscols_table *table;
	FAB_VEC(size_t) limits; /* of the columns */
};

static const char *const tone_names[] = {
	[FAB_TONE_PLAIN] = NULL,
	[FAB_TONE_GOOD] = "green",
	[FAB_TONE_WARN] = "yellow",
	[FAB_TONE_BAD] = "red",
};

const char *fab_tone_begin(enum fab_tone tone)
{
	static const char *const codes[] = {
		[FAB_TONE_PLAIN] = "",
		[FAB_TONE_GOOD] = "\033[32m",
		[FAB_TONE_WARN] = "\033[33m",
		[FAB_TONE_BAD] = "\033[31m",
	};

	return codes[tone];
}

const char *fab_tone_end(enum fab_tone tone)
{
	return tone == FAB_TONE_PLAIN ? "" : "\033[0m";
}

struct fab_grid *fab_grid_new(FILE *out, const struct fab_report_options *options)
{
	struct fab_grid *grid = FAB_NEW0(1, struct fab_grid);

	grid->options = options;
	grid->table = scols_new_table();
	if (!grid->table)
		fab_oom(sizeof(void *));
	scols_table_set_stream(grid->table, out);
	scols_table_enable_noencoding(grid->table, 1); /* cells are safe already */
	scols_table_enable_noheadings(grid->table, options->no_header);
	scols_table_enable_colors(grid->table, options->color);
	/* widths are settled here: it shall neither ask the terminal nor cut anything */
	scols_table_set_termforce(grid->table, SCOLS_TERMFORCE_NEVER);
	return grid;
}

void fab_grid_add_column(struct fab_grid *grid, const char *heading, bool is_left,
			 size_t limit)
{
	/* a heading counts for the width even when it is not printed */
	struct libscols_column *column = scols_table_new_column(
		grid->table, grid->options->no_header ? "" : heading, 0,
		is_left ? 0 : SCOLS_FL_RIGHT);

	if (!column)
		fab_oom(sizeof(void *));
	if (grid->options->color)
		scols_cell_set_color(scols_column_get_header(column), "bold");
	FAB_PUSH(&grid->limits, limit);
}

static void set_cell(struct libscols_line *line, size_t i, char *text, enum fab_tone tone)
{
	if (scols_line_refer_data(line, i, text) != 0)
		fab_oom(sizeof(void *));
	if (tone != FAB_TONE_PLAIN && *text)
		scols_cell_set_color(scols_line_get_cell(line, i), tone_names[tone]);
}

/* What of *text fits into a column, on the heap; what is left stays in *text. */
static char *next_piece(const char **text, size_t limit)
{
	const char *start = *text;

	if (!limit) {
		*text += strlen(start);
		return fab_strdup(start);
	}
	return fab_strndup(start, fab_wrap_line(text, limit));
}

void fab_grid_add_row(struct fab_grid *grid, const struct fab_grid_cell *cells)
{
	size_t n = grid->limits.n;
	const char **rest = FAB_NEW(n, const char *);
	bool has_more = true;

	for (size_t i = 0; i < n; i++)
		rest[i] = cells[i].text;
	while (has_more) {
		struct libscols_line *line = scols_table_new_line(grid->table, NULL);

		if (!line)
			fab_oom(sizeof(void *));
		has_more = false;
		for (size_t i = 0; i < n; i++) {
			char *piece = next_piece(&rest[i], grid->limits.v[i]);

			set_cell(line, i, piece, cells[i].tone);
			has_more |= *rest[i] != '\0';
		}
	}
	for (size_t i = 0; i < n; i++)
		free(cells[i].text);
	free(rest);
}

void fab_grid_finish(struct fab_grid *grid)
{
	scols_print_table(grid->table);
	scols_unref_table(grid->table);
	free(grid->limits.v);
	free(grid);
}
