/* SPDX-License-Identifier: BSD-2-Clause */
/* The document for people: aligned fields, then each table as a grid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "present/grid.h"
#include "present/writer.h"

/*
 * A short table that is too wide for the terminal is turned: a line for each column, with
 * the rows side by side. So many rows are kept back to find out.
 */
enum { MAX_TURNED = 12, MIN_TEXT = 12 };

struct field {
	char *name, *value;
};

struct table {
	FILE *out;
	const struct fab_report_options *options;
	FAB_VEC(struct field) fields; /* not yet printed */
	bool has_printed;	      /* something stands above: leave a blank line */
	FAB_VEC(char *) cells;	      /* row by row, not yet in the grid */
	struct fab_grid *grid;	      /* NULL: all rows are still in `cells` */
};

static void *table_begin(FILE *out, const struct fab_report_options *options)
{
	struct table *t = FAB_NEW0(1, struct table);

	t->out = out;
	t->options = options;
	return t;
}

/* Four digits are enough for people; a large number is not written with an exponent. */
static char *human_real(double value)
{
	return fab_format(fabs(value) >= 1000 && fabs(value) < 1e15 ? "%.0f" : "%.4g",
			  value);
}

/* On the heap; what has no value is a dash. */
static char *cell_text(const struct fab_column *column, union fab_cell cell)
{
	char number[FAB_CELL_BYTES];

	if (fab_cell_is_null(column, cell))
		return fab_strdup("-");
	if (column->type == FAB_BOOL)
		return fab_strdup(cell.u ? "yes" : "no");
	if (column->type == FAB_TEXT)
		return fab_cell_safe_text(cell.text);
	if (column->type == FAB_REAL ||
	    (column->type == FAB_NUMBER && !fab_is_whole(cell.real)))
		return human_real(cell.real);
	return fab_strdup(fab_cell_number(column, cell, number));
}

/* "fabric.switch_links" is "switch links" to people. */
static char *human_name(const char *name)
{
	char *text, *c;

	if (strncmp(name, "fabric.", 7) == 0)
		name += 7;
	text = fab_strdup(name);
	for (c = text; *c; c++)
		if (*c == '_' || *c == '.')
			*c = ' ';
	return text;
}

static void table_field(void *state, const struct fab_column *column, union fab_cell cell)
{
	struct table *t = state;
	struct field field = {human_name(column->name), cell_text(column, cell)};

	FAB_PUSH(&t->fields, field);
}

static void leave_line(struct table *t)
{
	if (t->has_printed)
		putc('\n', t->out);
	t->has_printed = true;
}

static void print_fields(struct table *t)
{
	size_t widest = 0;

	if (!t->fields.n)
		return;
	leave_line(t);
	for (size_t i = 0; i < t->fields.n; i++)
		if (strlen(t->fields.v[i].name) > widest)
			widest = strlen(t->fields.v[i].name);
	for (size_t i = 0; i < t->fields.n; i++) {
		struct field *f = &t->fields.v[i];

		fprintf(t->out, "%-*s  %s\n", (int)widest, f->name, f->value);
		free(f->name);
		free(f->value);
	}
	t->fields.n = 0;
}

static void table_table_begin(void *state, const struct fab_table *table)
{
	struct table *t = state;

	(void)table;
	print_fields(t);
}

/* Put the rows kept back into a grid. */
static void flush(struct table *t, const struct fab_table *table)
{
	if (!t->grid) {
		t->grid = fab_grid_new(t->out, t->options);
		for (size_t i = 0; i < table->n; i++)
			fab_grid_add_column(t->grid, table->columns[i]->name,
					    table->columns[i]->type == FAB_TEXT);
	}
	for (size_t i = 0; i < t->cells.n; i += table->n)
		fab_grid_add_row(t->grid, t->cells.v + i, table->n);
	t->cells.n = 0;
}

static void table_row(void *state, const struct fab_table *table,
		      const union fab_cell *cells)
{
	struct table *t = state;

	for (size_t i = 0; i < table->n; i++)
		FAB_PUSH(&t->cells, cell_text(table->columns[i], cells[i]));
	if (t->grid || t->cells.n > MAX_TURNED * table->n)
		flush(t, table);
}

/* Characters, as good as columns for names in the alphabets of machine rooms. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Width of a column with its heading and a blank; text can be cut to MIN_TEXT. */
static size_t column_width(const struct table *t, const struct fab_table *table, size_t i)
{
	size_t widest = width_of(table->columns[i]->name), heading = widest;

	for (size_t at = i; at < t->cells.n; at += table->n)
		if (width_of(t->cells.v[at]) > widest)
			widest = width_of(t->cells.v[at]);
	if (table->columns[i]->type == FAB_TEXT && widest > MIN_TEXT)
		widest = heading > MIN_TEXT ? heading : MIN_TEXT;
	return widest + 1;
}

/* The same for a row that becomes a column. */
static size_t row_width(const struct table *t, const struct fab_table *table, size_t row)
{
	size_t widest = 0;

	for (size_t i = 0; i < table->n; i++)
		if (width_of(t->cells.v[row * table->n + i]) > widest)
			widest = width_of(t->cells.v[row * table->n + i]);
	return widest + 1;
}

static bool should_turn(const struct table *t, const struct fab_table *table)
{
	size_t n_rows, wide = 0, turned = 0;

	if (t->grid || !t->options->width || t->options->no_header || table->n < 2)
		return false;
	n_rows = t->cells.n / table->n;
	for (size_t i = 0; i < table->n; i++) {
		wide += column_width(t, table, i);
		if (width_of(table->columns[i]->name) + 1 > turned)
			turned = width_of(table->columns[i]->name) + 1;
	}
	for (size_t row = 0; row < n_rows; row++)
		turned += row_width(t, table, row);
	return wide > t->options->width + 1 && turned < wide;
}

/* The rows side by side; the first column gives the headings. */
static void flush_turned(struct table *t, const struct fab_table *table)
{
	size_t n_rows = t->cells.n / table->n;
	char **line = FAB_NEW(n_rows + 1, char *);

	t->grid = fab_grid_new(t->out, t->options);
	fab_grid_add_column(t->grid, table->columns[0]->name, true);
	for (size_t row = 0; row < n_rows; row++)
		fab_grid_add_column(t->grid, t->cells.v[row * table->n], false);
	for (size_t i = 1; i < table->n; i++) {
		line[0] = fab_strdup(table->columns[i]->name);
		for (size_t row = 0; row < n_rows; row++)
			line[row + 1] = t->cells.v[row * table->n + i];
		fab_grid_add_row(t->grid, line, n_rows + 1);
	}
	for (size_t row = 0; row < n_rows; row++)
		free(t->cells.v[row * table->n]);
	t->cells.n = 0;
	free(line);
}

static void table_table_end(void *state, const struct fab_table *table)
{
	struct table *t = state;
	bool is_empty = !t->grid && !t->cells.n;

	if (!is_empty || !t->options->no_header)
		leave_line(t);
	if (table->title && !t->options->no_header)
		fprintf(t->out, t->options->color ? "\033[1m%s\033[0m\n" : "%s\n",
			table->title);
	if (is_empty) {
		if (!t->options->no_header)
			fputs("(none)\n", t->out);
		return;
	}
	if (should_turn(t, table))
		flush_turned(t, table);
	else
		flush(t, table);
	fab_grid_finish(t->grid);
	t->grid = NULL;
}

static void table_finish(void *state)
{
	struct table *t = state;

	print_fields(t);
	free(t->fields.v);
	free(t->cells.v);
	free(t);
}

const struct fab_writer fab_table_writer = {
	.begin = table_begin,
	.field = table_field,
	.table_begin = table_table_begin,
	.row = table_row,
	.table_end = table_table_end,
	.finish = table_finish,
};
