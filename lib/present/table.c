/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The document for people: the answer, the primary table, the fields of the document,
 * then the other tables. Fields with a dot in their name (`fabric.switches`) share one
 * line below a table. A document without a primary table begins with its fields, one a
 * line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/text.h"
#include "fabric/label.h"
#include "present/layout.h"
#include "present/wrap.h"

struct field {
	char *group, *name, *value; /* group: NULL without a dot in the name */
	enum fab_tone tone;
};

struct table {
	FILE *out;
	const struct fab_report_options *options;
	FAB_VEC(struct field) fields;	     /* not yet printed */
	bool has_printed;		     /* text above: leave a blank line */
	bool has_table;			     /* a table was printed */
	FAB_VEC(struct fab_grid_cell) cells; /* of the open table, row by row */
};

static void *table_begin(FILE *out, const struct fab_report_options *options)
{
	struct table *t = FAB_NEW0(1, struct table);

	t->out = out;
	t->options = options;
	return t;
}

/* A text for people: safe in the locale, switches by their short names. */
static char *human_text(const char *text)
{
	char *shortened = fab_label_shorten(text);
	char *shown = fab_text_local(fab_cell_safe_text(shortened));

	free(shortened);
	return shown;
}

/* Four digits are enough for people; a large number is not written with an exponent. */
static char *human_real(double value)
{
	return fab_format(fabs(value) >= 1000 && fabs(value) < 1e15 ? "%.0f" : "%.4g",
			  value);
}

static uint64_t bytes_of(const struct fab_column *column, union fab_cell cell)
{
	return column->type == FAB_UINT ? cell.u : (uint64_t)fmax(cell.real, 0);
}

/* What is saved may be less than nothing. */
static char *human_seconds(double seconds)
{
	char number[FAB_HUMAN_BYTES];

	return seconds < 0 ? fab_format("-%s", fab_human_seconds(-seconds, number))
			   : fab_strdup(fab_human_seconds(seconds, number));
}

char *fab_cell_human(const struct fab_column *column, union fab_cell cell)
{
	char number[FAB_HUMAN_BYTES];

	if (fab_cell_is_null(column, cell))
		return fab_strdup(column->flags & FAB_COL_UNKNOWN ? "unknown" : "-");
	if (column->type == FAB_BOOL)
		return fab_strdup(cell.u ? "yes" : "no");
	if (column->flags & FAB_COL_TRUTH)
		return fab_strdup(cell.real > 0 ? "yes" : "no");
	if (column->type == FAB_TEXT)
		return human_text(cell.text);
	if (column->flags & FAB_COL_SECONDS)
		return human_seconds(cell.real);
	if (column->flags & FAB_COL_MBPS)
		return fab_strdup(fab_human_mbps(cell.real, number));
	if (column->flags & FAB_COL_BYTES)
		return fab_strdup(fab_human_bytes(bytes_of(column, cell), number));
	if (column->type == FAB_REAL ||
	    (column->type == FAB_NUMBER && !fab_is_whole(cell.real)))
		return human_real(cell.real);
	return fab_strdup(fab_cell_number(column, cell, number));
}

static enum fab_tone cell_tone(const struct fab_column *column, union fab_cell cell)
{
	if (fab_cell_is_null(column, cell))
		return FAB_TONE_PLAIN;
	if ((column->flags & FAB_COL_BAD_IF_ANY && cell.u) ||
	    (column->flags & FAB_COL_BAD_IF_NO && !cell.u))
		return FAB_TONE_BAD;
	if (column->flags & FAB_COL_VERDICT)
		return !strcmp(cell.text, "worse") || !strcmp(cell.text, "gone")
			       ? FAB_TONE_BAD
		       : !strcmp(cell.text, "better") ? FAB_TONE_GOOD
						      : FAB_TONE_PLAIN;
	return FAB_TONE_PLAIN;
}

/* "switch_links" is "switch links" to people. */
static char *human_name(const char *name)
{
	char *text = fab_strdup(name);

	for (char *c = text; *c; c++)
		if (*c == '_' || *c == '.')
			*c = ' ';
	return text;
}

static void table_field(void *state, const struct fab_column *column, union fab_cell cell)
{
	struct table *t = state;
	const char *dot = strchr(column->name, '.');
	struct field field = {
		.group = dot ? fab_strndup(column->name, (size_t)(dot - column->name))
			     : NULL,
		.name = human_name(dot ? dot + 1 : column->name),
		.value = fab_cell_human(column, cell),
		.tone = cell_tone(column, cell),
	};

	FAB_PUSH(&t->fields, field);
}

static void leave_line(struct table *t)
{
	if (t->has_printed)
		putc('\n', t->out);
	t->has_printed = true;
}

/*
 * A text within the width of the terminal, every line between `begin` and `end`, which
 * take no room; all lines but the first, which begins behind `indent` columns, are
 * indented so.
 */
static void print_wrapped(const struct table *t, const char *text, size_t indent,
			  const char *begin, const char *end)
{
	size_t width = t->options->width, room = width > indent ? width - indent : 1;
	const char *line = text;

	if (!t->options->color)
		begin = end = "";
	if (!width)
		room = SIZE_MAX;
	do {
		const char *start = line;
		size_t n = fab_wrap_line(&line, room);

		fprintf(t->out, "%*s%s%.*s%s\n", start == text ? 0 : (int)indent, "",
			begin, (int)n, start, end);
	} while (*line);
}

static void print_toned(const struct table *t, const char *text, size_t indent,
			enum fab_tone tone)
{
	print_wrapped(t, text, indent, fab_tone_begin(tone), fab_tone_end(tone));
}

static void table_answer(void *state, enum fab_tone tone, const char *text)
{
	struct table *t = state;
	char *safe;

	if (t->options->no_header)
		return;
	safe = human_text(text);
	t->has_printed = true;
	print_toned(t, safe, 0, tone);
	free(safe);
}

/* Fields of one group that follow each other become one field: `name value, name value`.
 */
static void join_groups(struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->fields.n; i++) {
		struct field f = t->fields.v[i], *last = n ? &t->fields.v[n - 1] : NULL;

		if (!f.group) {
			t->fields.v[n++] = f;
			continue;
		}
		if (!last || !last->group || strcmp(last->group, f.group) != 0) {
			last = &t->fields.v[n++];
			*last = (struct field){.group = f.group,
					       .name = human_name(f.group)};
			f.group = NULL;
		}
		fab_append(&last->value, ", ", "%s %s", f.name, f.value);
		if (f.tone > last->tone)
			last->tone = f.tone;
		free(f.group);
		free(f.name);
		free(f.value);
	}
	t->fields.n = n;
}

/* "other switches": fields of a group but that of the fabric name it. */
static void name_by_group(struct field *f)
{
	char *full;

	if (!f->group || !strcmp(f->group, "fabric"))
		return;
	full = fab_format("%s %s", f->group, f->name);
	free(f->name);
	f->name = full;
}

static void print_fields(struct table *t)
{
	size_t widest = 0;

	if (!t->fields.n)
		return;
	leave_line(t);
	if (t->has_table)
		join_groups(t);
	for (size_t i = 0; i < t->fields.n; i++) {
		struct field *f = &t->fields.v[i];

		if (!t->has_table)
			name_by_group(f);
		if (strlen(f->name) > widest)
			widest = strlen(f->name);
	}
	for (size_t i = 0; i < t->fields.n; i++) {
		struct field *f = &t->fields.v[i];

		fprintf(t->out, "%-*s  ", (int)widest, f->name);
		print_toned(t, f->value, widest + 2, f->tone);
		free(f->group);
		free(f->name);
		free(f->value);
	}
	t->fields.n = 0;
}

static void table_table_begin(void *state, const struct fab_table *table)
{
	struct table *t = state;

	if (!table->is_primary)
		print_fields(t);
}

static void table_row(void *state, const struct fab_table *table,
		      const union fab_cell *cells)
{
	struct table *t = state;

	for (size_t i = 0; i < table->n; i++) {
		enum fab_tone tone = cell_tone(table->columns[i], cells[i]);
		struct fab_grid_cell cell = {fab_cell_human(table->columns[i], cells[i]),
					     i || tone > table->tone ? tone
								     : table->tone};

		FAB_PUSH(&t->cells, cell);
	}
}

static void print_title(const struct table *t, const char *title)
{
	char *safe;

	if (!title || t->options->no_header)
		return;
	safe = human_text(title);
	print_wrapped(t, safe, 0, "\033[1m", "\033[0m");
	free(safe);
}

static void table_table_end(void *state, const struct fab_table *table)
{
	struct table *t = state;

	if (t->cells.n || !t->options->no_header)
		leave_line(t);
	print_title(t, table->title);
	if (t->cells.n)
		fab_layout_print(t->out, t->options, table, t->cells.v,
				 t->cells.n / table->n);
	else if (!t->options->no_header)
		fputs("(none)\n", t->out);
	t->cells.n = 0;
	t->has_table = true;
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
	.answer = table_answer,
	.field = table_field,
	.table_begin = table_table_begin,
	.row = table_row,
	.table_end = table_table_end,
	.finish = table_finish,
};
