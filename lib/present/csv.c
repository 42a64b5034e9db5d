/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 4180: the primary table, a heading row first, lines end in CR LF. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "present/writer.h"

struct csv {
	FILE *out;
	bool no_header;
};

static void *csv_begin(FILE *out, const struct fab_report_options *options)
{
	struct csv *csv = FAB_NEW0(1, struct csv);

	csv->out = out;
	csv->no_header = options->no_header;
	return csv;
}

static void put_heading(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == '.' ? '_' : *name, out);
}

static void csv_table_begin(void *state, const struct fab_table *table)
{
	struct csv *csv = state;

	if (csv->no_header)
		return;
	for (size_t i = 0; i < table->n; i++) {
		if (i)
			putc(',', csv->out);
		put_heading(csv->out, table->columns[i]->name);
	}
	fputs("\r\n", csv->out);
}

static void put_cell(FILE *out, const struct fab_column *column, union fab_cell cell)
{
	char number[FAB_CELL_BYTES], *safe;

	if (fab_cell_is_null(column, cell))
		return;
	if (column->type == FAB_BOOL) {
		fputs(cell.u ? "true" : "false", out);
	} else if (column->type == FAB_TEXT) {
		safe = fab_cell_safe_text(cell.text);
		fab_text_put_csv(out, safe, false);
		free(safe);
	} else if (column->flags & FAB_COL_EXACT) {
		fprintf(out, "%.15g", cell.real);
	} else {
		fputs(fab_cell_number(column, cell, number), out);
	}
}

static void csv_row(void *state, const struct fab_table *table,
		    const union fab_cell *cells)
{
	struct csv *csv = state;

	for (size_t i = 0; i < table->n; i++) {
		if (i)
			putc(',', csv->out);
		put_cell(csv->out, table->columns[i], cells[i]);
	}
	fputs("\r\n", csv->out);
}

const struct fab_writer fab_csv_writer = {
	.wants_extra = true,
	.only_primary = true,
	.begin = csv_begin,
	.table_begin = csv_table_begin,
	.row = csv_row,
	.finish = free,
};
