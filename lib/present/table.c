/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The document for people: the answer, the primary table, the fields of the document,
 * then the other tables. Fields with a dot in their name (`fabric.switches`) share one
 * line below a table. A document without a primary table begins with its fields, one a
 * line.
 *
 * From the bottom up: text in columns of a terminal, a grid drawn by libsmartcols, the
 * layout that makes a table fit and cuts nothing, cells and fields for people.
 */
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "fabric/label.h"
#include "present/writer.h"

/* Bytes of the character at `text` (which is UTF-8, else 1) and the columns it takes. */
static size_t step(const char *text, size_t *columns)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : *s >= 0xc0 ? 2 : 1;
	wchar_t code = n == 1 ? *s : (wchar_t)(*s & (0x7fu >> n));
	int width;

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			*columns = 1;
			return 1;
		}
		code = code << 6 | (s[i] & 0x3f);
	}
	width = n == 1 ? 1 : wcwidth(code);
	*columns = width < 0 ? 1 : (size_t)width;
	return n;
}

size_t fab_display_width(const char *text)
{
	size_t width = 0, columns;

	while (*text) {
		text += step(text, &columns);
		width += columns;
	}
	return width;
}

/* Columns of its longest word, words ending at blanks. */
static size_t longest_word(const char *text)
{
	size_t longest = 0, width = 0, columns;

	while (*text) {
		bool is_blank = *text == ' ';

		text += step(text, &columns);
		width = is_blank ? 0 : width + columns;
		if (width > longest)
			longest = width;
	}
	return longest;
}

size_t fab_wrap_line(const char **text, size_t width)
{
	const char *start = *text, *at = start, *blank = NULL, *mark = NULL, *end;
	size_t used = 0, columns;

	while (*at) {
		size_t n = step(at, &columns);

		if (*at == ' ' && at > start && at[-1] != ' ')
			blank = at;
		if (at > start && strchr("/_.,;:", at[-1]))
			mark = at;
		if (used + columns > width && at > start)
			break;
		used += columns;
		at += n;
	}
	end = !*at ? at : blank ? blank : mark ? mark : at;
	*text = end + strspn(end, *end == ' ' ? " " : "");
	return (size_t)(end - start);
}

/* A grid of cells for people, drawn by libsmartcols. */
/* A cell: its text on the heap, and the colour that it has on a terminal. */
struct cell {
	char *text;
	enum fab_tone tone;
};

struct grid {
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

static struct grid grid_new(FILE *out, const struct fab_report_options *options)
{
	struct grid grid = {.options = options, .table = scols_new_table()};

	if (!grid.table)
		fab_oom(sizeof(void *));
	scols_table_set_stream(grid.table, out);
	scols_table_enable_noencoding(grid.table, 1); /* cells are safe already */
	scols_table_enable_noheadings(grid.table, options->no_header);
	scols_table_enable_colors(grid.table, options->color);
	/* widths are settled here: libsmartcols does not ask the terminal and cuts
	 * nothing */
	scols_table_set_termforce(grid.table, SCOLS_TERMFORCE_NEVER);
	return grid;
}

/* Cells of the column are wrapped to `limit` columns of the terminal; 0: never. */
static void grid_add_column(struct grid *grid, const char *heading, bool is_left,
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

/* One row: a cell for each column; the grid takes the texts. */
static void grid_add_row(struct grid *grid, const struct cell *cells)
{
	size_t n = grid->limits.n;
	FAB_AUTOFREE const char **rest = FAB_NEW(n, const char *);
	bool has_more = true;

	for (size_t i = 0; i < n; i++)
		rest[i] = cells[i].text;
	while (has_more) {
		struct libscols_line *line = scols_table_new_line(grid->table, NULL);

		if (!line)
			fab_oom(sizeof(void *));
		has_more = false;
		for (size_t i = 0; i < n; i++) {
			const char *start = rest[i];
			size_t limit = grid->limits.v[i];
			char *piece = !limit ? fab_strdup(start)
					     : fab_strndup(start, fab_wrap_line(&rest[i],
										limit));

			if (!limit)
				rest[i] += strlen(start);
			if (scols_line_refer_data(line, i, piece) != 0)
				fab_oom(sizeof(void *));
			if (cells[i].tone != FAB_TONE_PLAIN && *piece)
				scols_cell_set_color(scols_line_get_cell(line, i),
						     tone_names[cells[i].tone]);
			has_more |= *rest[i] != '\0';
		}
	}
	for (size_t i = 0; i < n; i++)
		free(cells[i].text);
}

/* Print and free. */
static void grid_finish(struct grid *grid)
{
	if (scols_print_table(grid->table) != 0 &&
	    !ferror(scols_table_get_stream(grid->table)))
		fab_oom(0);
	scols_unref_table(grid->table);
	free(grid->limits.v);
}

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
	struct cell *cells;
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
	struct grid grid = grid_new(l->out, l->options);

	for (size_t i = 0; i < l->table->n; i++)
		grid_add_column(
			&grid, l->table->columns[i]->name,
			is_text(l, i) && !(l->table->columns[i]->flags & FAB_COL_RIGHT),
			is_wrapped && l->limit[i] < l->natural[i] ? l->limit[i] : 0);
	for (size_t row = 0; row < l->n_rows; row++)
		grid_add_row(&grid, l->cells + row * l->table->n);
	grid_finish(&grid);
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

/* Is there room for the names of the columns and a row? */
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

static void print_layout(FILE *out, const struct fab_report_options *options,
			 const struct fab_table *table, struct cell *cells,
			 size_t n_rows);

/*
 * A table of many rows without the columns that are the same in all of them, which are
 * said before it; false: no such column, nothing is printed.
 */
static bool print_without_same(const struct layout *l)
{
	size_t n = l->table->n, n_left = 0, n_cells = 0;
	FAB_AUTOFREE const struct fab_column **columns =
		FAB_NEW(n, const struct fab_column *);
	FAB_AUTOFREE bool *is_same = FAB_NEW0(n, bool);
	struct fab_table left = *l->table;

	for (size_t i = 0; i < n; i++) {
		is_same[i] = i && is_same_in_all(l, i);
		if (!is_same[i])
			columns[n_left++] = l->table->columns[i];
	}
	if (n_left < n) {
		char *text = fab_strdup("the same in all rows:");
		const char *comma = "";

		/* "the same in all rows: model equal-share, within_target -", and a line
		 * that is free */
		for (size_t i = 0; i < l->table->n; i++)
			if (is_same[i]) {
				fab_append(&text, comma, " %s %s",
					   l->table->columns[i]->name, text_at(l, 0, i));
				comma = ",";
			}
		for (const char *at = text; *at;) {
			const char *line = at;

			fprintf(l->out, "%.*s\n",
				(int)fab_wrap_line(&at, l->options->width), line);
		}
		free(text);
		putc('\n', l->out);
		for (size_t k = 0; k < l->n_rows * n; k++)
			if (is_same[k % n])
				free(l->cells[k].text);
			else
				l->cells[n_cells++] = l->cells[k];
		left.columns = columns;
		left.n = n_left;
		print_layout(l->out, l->options, &left, l->cells, l->n_rows);
	}
	return n_left < n;
}

/*
 * Print the rows, `cells` row by row, and free their texts. As wide as the terminal
 * (options->width, 0: no limit): unchanged if they fit; else with texts wrapped; else
 * turned on their side, a line for each column with as many rows side by side as fit.
 * Where all rows do not fit side by side, columns that are the same in all of them are
 * said once and left out first, unless columns were chosen. Only what cannot be broken is
 * wider.
 */
static void print_layout(FILE *out, const struct fab_report_options *options,
			 const struct fab_table *table, struct cell *cells, size_t n_rows)
{
	FAB_AUTOFREE size_t *widths = FAB_NEW(3 * table->n, size_t);
	struct layout l = {out,
			   options,
			   table,
			   cells,
			   n_rows,
			   widths,
			   widths + table->n,
			   widths + 2 * table->n};

	if (options->width) {
		for (size_t i = 0; i < l.table->n; i++) {
			size_t word = 0;

			l.natural[i] = heading_width(&l, i);
			for (size_t row = 0; row < l.n_rows; row++) {
				const char *text = text_at(&l, row, i);

				l.natural[i] =
					larger(l.natural[i], fab_display_width(text));
				word = larger(word, longest_word(text));
			}
			l.least[i] = is_text(&l, i) ? larger(word, heading_width(&l, i))
						    : l.natural[i];
		}
	}
	if (!options->width || natural_width(&l) <= options->width)
		print_rows(&l, false);
	else if (can_wrap(&l, WORD))
		print_rows(&l, true);
	else if (!options->columns && can_turn(&l) && needs_parts(&l) &&
		 print_without_same(&l))
		; /* the rest was laid out by itself */
	else if ((n_rows > MAX_TURNED || !can_turn(&l)) && can_wrap(&l, SHORT_WORD))
		print_rows(&l, true);
	else if (can_turn(&l)) {
		size_t names = name_width(&l), most = l.options->width - names - 1;

		for (size_t row = 0; row < l.n_rows;) {
			size_t first = row, width = names;
			size_t n;
			struct grid grid;
			FAB_AUTOFREE struct cell *line = NULL;

			do
				width += 1 + row_width(&l, row++, most);
			while (row < l.n_rows &&
			       width + 1 + row_width(&l, row, most) <= l.options->width);
			if (first)
				putc('\n', l.out);
			/* Some rows side by side; the first column gives the headings. */
			n = row - first;
			grid = grid_new(l.out, l.options);
			line = FAB_NEW(n + 1, struct cell);
			grid_add_column(&grid, l.table->columns[0]->name, true, 0);
			for (size_t k = 0; k < n; k++) {
				bool is_long = row_width(&l, first + k, SIZE_MAX) > most;

				grid_add_column(&grid, text_at(&l, first + k, 0), is_long,
						is_long ? most : 0);
			}
			for (size_t i = 1; i < l.table->n; i++) {
				line[0] = (struct cell){
					.text = fab_strdup(l.table->columns[i]->name)};
				for (size_t k = 0; k < n; k++)
					line[k + 1] =
						l.cells[(first + k) * l.table->n + i];
				grid_add_row(&grid, line);
			}
			grid_finish(&grid);
			for (size_t k = 0; k < n; k++)
				free(l.cells[(first + k) * l.table->n].text);
		}
	} else
		print_rows(&l, false);
}

struct field {
	char *group, *name, *value; /* group: NULL without a dot in the name */
	enum fab_tone tone;
};

struct table {
	FILE *out;
	const struct fab_report_options *options;
	FAB_VEC(struct field) fields; /* not yet printed */
	bool has_printed;	      /* text above: leave a blank line */
	bool has_table;		      /* a table was printed */
	FAB_VEC(struct cell) cells;   /* of the open table, row by row */
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
	FAB_AUTOFREE char *shortened = fab_label_shorten(text);
	char *shown = fab_text_local(fab_cell_safe_text(shortened));

	return shown;
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
	if (column->flags & FAB_COL_SECONDS) /* savings may be below 0 */
		return fab_format("%s%s", cell.real < 0 ? "-" : "",
				  fab_human_seconds(fabs(cell.real), number));
	if (column->flags & FAB_COL_MBPS)
		return fab_strdup(fab_human_mbps(cell.real, number));
	if (column->flags & FAB_COL_BYTES)
		return fab_strdup(fab_human_bytes(
			column->type == FAB_UINT ? cell.u : (uint64_t)fmax(cell.real, 0),
			number));
	/* four digits are enough for people, and no exponent in a large number */
	if (column->type == FAB_REAL ||
	    (column->type == FAB_NUMBER && !fab_is_whole(cell.real)))
		return fab_format(fabs(cell.real) >= 1000 && fabs(cell.real) < 1e15
					  ? "%.0f"
					  : "%.4g",
				  cell.real);
	return fab_strdup(fab_cell_number(column, cell, number));
}

enum fab_tone fab_cell_tone(const struct fab_column *column, union fab_cell cell)
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

char *fab_column_human(const char *name)
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
		.name = fab_column_human(dot ? dot + 1 : column->name),
		.value = fab_cell_human(column, cell),
		.tone = fab_cell_tone(column, cell),
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
	static const char *const codes[] = {
		[FAB_TONE_PLAIN] = "",
		[FAB_TONE_GOOD] = "\033[32m",
		[FAB_TONE_WARN] = "\033[33m",
		[FAB_TONE_BAD] = "\033[31m",
	};

	print_wrapped(t, text, indent, codes[tone],
		      tone == FAB_TONE_PLAIN ? "" : "\033[0m");
}

static void table_answer(void *state, enum fab_tone tone, const char *text)
{
	struct table *t = state;
	FAB_AUTOFREE char *safe = NULL;

	if (t->options->no_header)
		return;
	safe = human_text(text);
	t->has_printed = true;
	print_toned(t, safe, 0, tone);
}

static void print_fields(struct table *t)
{
	size_t widest = 0;

	if (!t->fields.n)
		return;
	leave_line(t);
	if (t->has_table) {
		size_t n = 0;

		/* Fields of one group that follow each other become one field: `name
		 * value, name value`.
		 */
		for (size_t i = 0; i < t->fields.n; i++) {
			struct field f = t->fields.v[i],
				     *last = n ? &t->fields.v[n - 1] : NULL;

			if (!f.group) {
				t->fields.v[n++] = f;
				continue;
			}
			if (!last || !last->group || strcmp(last->group, f.group) != 0) {
				last = &t->fields.v[n++];
				*last = (struct field){.group = f.group,
						       .name = fab_column_human(f.group)};
				f.group = NULL;
			}
			fab_append(&last->value, ", ", "%s %s", f.name, f.value);
			if (f.tone > last->tone)
				last->tone = f.tone;
			FAB_FREE_ALL(f.group, f.name, f.value);
		}
		t->fields.n = n;
	}
	for (size_t i = 0; i < t->fields.n; i++) {
		struct field *f = &t->fields.v[i];

		if (!t->has_table && f->group && strcmp(f->group, "fabric") != 0) {
			char *full = fab_format("%s %s", f->group, f->name);

			free(f->name);
			f->name = full;
		}
		if (strlen(f->name) > widest)
			widest = strlen(f->name);
	}
	for (size_t i = 0; i < t->fields.n; i++) {
		struct field *f = &t->fields.v[i];

		fprintf(t->out, "%-*s  ", (int)widest, f->name);
		print_toned(t, f->value, widest + 2, f->tone);
		FAB_FREE_ALL(f->group, f->name, f->value);
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
		enum fab_tone tone = fab_cell_tone(table->columns[i], cells[i]);
		struct cell cell = {fab_cell_human(table->columns[i], cells[i]),
				    i || tone > table->tone ? tone : table->tone};

		FAB_PUSH(&t->cells, cell);
	}
}

static void table_table_end(void *state, const struct fab_table *table)
{
	struct table *t = state;

	if (t->cells.n || !t->options->no_header)
		leave_line(t);
	if (table->title && !t->options->no_header) {
		FAB_AUTOFREE char *safe = human_text(table->title);

		print_wrapped(t, safe, 0, "\033[1m", "\033[0m");
	}
	if (t->cells.n)
		print_layout(t->out, t->options, table, t->cells.v,
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
	FAB_FREE_ALL(t->fields.v, t->cells.v, t);
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
