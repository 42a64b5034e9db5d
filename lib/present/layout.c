/* SPDX-License-Identifier: BSD-2-Clause */
#include "present/layout.h"

#include <stdlib.h>
#include <string.h>

#include "present/wrap.h"

enum {
	WORD = 24,	 /* a longer word is broken where columns are narrow */
	SHORT_WORD = 12, /* the same when nothing else helps */
	MAX_TURNED = 12, /* rows of a table that is rather turned than broken so */
	MIN_TURNED = 10, /* columns for a row that becomes a column */
};

struct layout {
	FILE *out;
	const struct fab_report_options *options;
	const struct fab_table *table;
	struct fab_grid_cell *cells;
	size_t n_rows;
	size_t *natural, *least, *limit; /* widths of the columns */
};

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static const char *text_at(const struct layout *l, size_t row, size_t column)
{
	return l->cells[row * l->table->n + column].text;
}

static size_t heading_width(const struct layout *l, size_t column)
{
	return l->options->no_header ? 0 : strlen(l->table->columns[column]->name);
}

static bool is_text(const struct layout *l, size_t column)
{
	return l->table->columns[column]->type == FAB_TEXT;
}

static void measure(struct layout *l)
{
	for (size_t i = 0; i < l->table->n; i++) {
		size_t word = 0;

		l->natural[i] = heading_width(l, i);
		for (size_t row = 0; row < l->n_rows; row++) {
			const char *text = text_at(l, row, i);

			l->natural[i] = larger(l->natural[i], fab_display_width(text));
			word = larger(word, fab_longest_word(text));
		}
		l->least[i] =
			is_text(l, i) ? larger(word, heading_width(l, i)) : l->natural[i];
	}
}

static size_t natural_width(const struct layout *l)
{
	size_t width = l->table->n - 1;

	for (size_t i = 0; i < l->table->n; i++)
		width += l->natural[i];
	return width;
}

/* Give columns that want more what is left, evenly. */
static void share_out(const struct layout *l, size_t spare)
{
	while (spare) {
		size_t n_wanting = 0, share;

		for (size_t i = 0; i < l->table->n; i++)
			n_wanting += l->limit[i] < l->natural[i];
		if (!n_wanting)
			return;
		share = larger(spare / n_wanting, 1);
		for (size_t i = 0; i < l->table->n && spare; i++) {
			size_t more = smaller(l->natural[i] - l->limit[i], share);

			more = smaller(more, spare);
			l->limit[i] += more;
			spare -= more;
		}
	}
}

/* Can the columns be made to fit when words longer than `word` are broken? */
static bool can_wrap(const struct layout *l, size_t word)
{
	size_t width = l->table->n - 1;

	for (size_t i = 0; i < l->table->n; i++) {
		l->limit[i] = l->least[i];
		if (is_text(l, i) && l->limit[i] > word)
			l->limit[i] = larger(word, heading_width(l, i));
		width += l->limit[i];
	}
	if (width > l->options->width)
		return false;
	share_out(l, l->options->width - width);
	return true;
}

static void print_rows(const struct layout *l, bool is_wrapped)
{
	struct fab_grid *grid = fab_grid_new(l->out, l->options);

	for (size_t i = 0; i < l->table->n; i++)
		fab_grid_add_column(
			grid, l->table->columns[i]->name,
			is_text(l, i) && !(l->table->columns[i]->flags & FAB_COL_RIGHT),
			is_wrapped && l->limit[i] < l->natural[i] ? l->limit[i] : 0);
	for (size_t row = 0; row < l->n_rows; row++)
		fab_grid_add_row(grid, l->cells + row * l->table->n);
	fab_grid_finish(grid);
}

static size_t name_width(const struct layout *l)
{
	size_t width = 0;

	for (size_t i = 0; i < l->table->n; i++)
		width = larger(width, strlen(l->table->columns[i]->name));
	return width;
}

/* Width of a row that becomes a column, at most `most`. */
static size_t row_width(const struct layout *l, size_t row, size_t most)
{
	size_t width = 0;

	for (size_t i = 0; i < l->table->n; i++)
		width = larger(width, fab_display_width(text_at(l, row, i)));
	return smaller(width, most);
}

/* Some rows side by side; the first column gives the headings. */
static void print_turned_part(const struct layout *l, size_t first, size_t n, size_t most)
{
	struct fab_grid *grid = fab_grid_new(l->out, l->options);
	struct fab_grid_cell *line = FAB_NEW(n + 1, struct fab_grid_cell);

	fab_grid_add_column(grid, l->table->columns[0]->name, true, 0);
	for (size_t k = 0; k < n; k++) {
		bool is_long = row_width(l, first + k, SIZE_MAX) > most;

		fab_grid_add_column(grid, text_at(l, first + k, 0), is_long,
				    is_long ? most : 0);
	}
	for (size_t i = 1; i < l->table->n; i++) {
		line[0] = (struct fab_grid_cell){
			.text = fab_strdup(l->table->columns[i]->name)};
		for (size_t k = 0; k < n; k++)
			line[k + 1] = l->cells[(first + k) * l->table->n + i];
		fab_grid_add_row(grid, line);
	}
	fab_grid_finish(grid);
	for (size_t k = 0; k < n; k++)
		free(l->cells[(first + k) * l->table->n].text);
	free(line);
}

static void print_turned(const struct layout *l)
{
	size_t names = name_width(l), most = l->options->width - names - 1;

	for (size_t row = 0; row < l->n_rows;) {
		size_t first = row, width = names;

		do
			width += 1 + row_width(l, row++, most);
		while (row < l->n_rows &&
		       width + 1 + row_width(l, row, most) <= l->options->width);
		if (first)
			putc('\n', l->out);
		print_turned_part(l, first, row - first, most);
	}
}

/* Is there room for the names of the columns and a row beside them? */
static bool can_turn(const struct layout *l)
{
	return !l->options->no_header && l->table->n >= 2 &&
	       name_width(l) + 1 + MIN_TURNED <= l->options->width;
}

/* Do the rows side by side need more than one part? */
static bool needs_parts(const struct layout *l)
{
	size_t names = name_width(l), width = names;

	for (size_t row = 0; row < l->n_rows; row++)
		width += 1 + row_width(l, row, l->options->width - names - 1);
	return width > l->options->width;
}

static bool is_same_in_all(const struct layout *l, size_t column)
{
	for (size_t row = 1; row < l->n_rows; row++)
		if (strcmp(text_at(l, row, column), text_at(l, 0, column)) != 0)
			return false;
	return true;
}

/* "the same in all rows: model equal-share, within_target -", and a line that is free */
static void say_same(const struct layout *l, const bool *is_same)
{
	char *text = fab_strdup("the same in all rows:");
	const char *comma = "";

	for (size_t i = 0; i < l->table->n; i++)
		if (is_same[i]) {
			fab_append(&text, comma, " %s %s", l->table->columns[i]->name,
				   text_at(l, 0, i));
			comma = ",";
		}
	for (const char *at = text; *at;) {
		const char *line = at;

		fprintf(l->out, "%.*s\n", (int)fab_wrap_line(&at, l->options->width),
			line);
	}
	free(text);
	putc('\n', l->out);
}

/*
 * A table of many rows without the columns that are the same in all of them, which are
 * said before it; false: there are none, nothing is printed.
 */
static bool print_without_same(const struct layout *l)
{
	size_t n = l->table->n, n_left = 0, n_cells = 0;
	const struct fab_column **columns = FAB_NEW(n, const struct fab_column *);
	bool *is_same = FAB_NEW0(n, bool);
	struct fab_table left = *l->table;

	for (size_t i = 0; i < n; i++) {
		is_same[i] = i && is_same_in_all(l, i);
		if (!is_same[i])
			columns[n_left++] = l->table->columns[i];
	}
	if (n_left < n) {
		say_same(l, is_same);
		for (size_t k = 0; k < l->n_rows * n; k++)
			if (is_same[k % n])
				free(l->cells[k].text);
			else
				l->cells[n_cells++] = l->cells[k];
		left.columns = columns;
		left.n = n_left;
		fab_layout_print(l->out, l->options, &left, l->cells, l->n_rows);
	}
	free(columns);
	free(is_same);
	return n_left < n;
}

void fab_layout_print(FILE *out, const struct fab_report_options *options,
		      const struct fab_table *table, struct fab_grid_cell *cells,
		      size_t n_rows)
{
	size_t *widths = FAB_NEW(3 * table->n, size_t);
	struct layout l = {out,
			   options,
			   table,
			   cells,
			   n_rows,
			   widths,
			   widths + table->n,
			   widths + 2 * table->n};

	if (options->width)
		measure(&l);
	if (!options->width || natural_width(&l) <= options->width)
		print_rows(&l, false);
	else if (can_wrap(&l, WORD))
		print_rows(&l, true);
	else if (!options->columns && can_turn(&l) && needs_parts(&l) &&
		 print_without_same(&l))
		; /* the rest was laid out by itself */
	else if ((n_rows > MAX_TURNED || !can_turn(&l)) && can_wrap(&l, SHORT_WORD))
		print_rows(&l, true);
	else if (can_turn(&l))
		print_turned(&l);
	else
		print_rows(&l, false);
	free(widths);
}
