/* SPDX-License-Identifier: BSD-2-Clause */
/* The document for people: aligned fields, then each table drawn by libsmartcols. */
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "present/writer.h"

struct field {
	char *name, *value;
};

struct table {
	FILE *out;
	const struct fab_report_options *options;
	FAB_VEC(struct field) fields; /* not yet printed */
	bool has_printed;	      /* something stands above: leave a blank line */
	struct libscols_table *grid;
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
	if (column->type == FAB_REAL)
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

static void set_width(struct table *t)
{
	/* never ask the terminal here: the caller knows the width */
	if (t->options->width) {
		scols_table_set_termforce(t->grid, SCOLS_TERMFORCE_ALWAYS);
		scols_table_set_termwidth(t->grid, t->options->width);
	} else {
		scols_table_set_termforce(t->grid, SCOLS_TERMFORCE_NEVER);
	}
}

static void add_column(struct table *t, const struct fab_column *column)
{
	int flags = column->type == FAB_TEXT ? (t->options->width ? SCOLS_FL_TRUNC : 0)
					     : SCOLS_FL_RIGHT;
	/* a heading counts for the width even when it is not printed */
	struct libscols_column *c = scols_table_new_column(
		t->grid, t->options->no_header ? "" : column->name, 0, flags);

	if (!c)
		fab_oom(sizeof(void *));
	if (t->options->color)
		scols_cell_set_color(scols_column_get_header(c), "bold");
}

static void table_table_begin(void *state, const struct fab_table *table)
{
	struct table *t = state;

	print_fields(t);
	t->grid = scols_new_table();
	if (!t->grid)
		fab_oom(sizeof(void *));
	scols_table_set_stream(t->grid, t->out);
	scols_table_enable_noencoding(t->grid, 1); /* cells are safe already */
	scols_table_enable_noheadings(t->grid, t->options->no_header);
	scols_table_enable_colors(t->grid, t->options->color);
	set_width(t);
	for (size_t i = 0; i < table->n; i++)
		add_column(t, table->columns[i]);
}

static void table_row(void *state, const struct fab_table *table,
		      const union fab_cell *cells)
{
	struct table *t = state;
	struct libscols_line *line = scols_table_new_line(t->grid, NULL);

	if (!line)
		fab_oom(sizeof(void *));
	for (size_t i = 0; i < table->n; i++)
		if (scols_line_refer_data(line, i,
					  cell_text(table->columns[i], cells[i])) != 0)
			fab_oom(sizeof(void *));
}

static void table_table_end(void *state, const struct fab_table *table)
{
	struct table *t = state;
	bool is_empty = scols_table_is_empty(t->grid);

	if (!is_empty || !t->options->no_header)
		leave_line(t);
	if (table->title && !t->options->no_header)
		fprintf(t->out, t->options->color ? "\033[1m%s\033[0m\n" : "%s\n",
			table->title);
	if (!is_empty)
		scols_print_table(t->grid);
	else if (!t->options->no_header)
		fputs("(none)\n", t->out);
	scols_unref_table(t->grid);
	t->grid = NULL;
}

static void table_finish(void *state)
{
	struct table *t = state;

	print_fields(t);
	free(t->fields.v);
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
