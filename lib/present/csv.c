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

static void csv_table_begin(void *state, const struct fab_table *table)
{
	struct csv *csv = state;

	if (csv->no_header)
		return;
	for (size_t i = 0; i < table->n; i++) {
		if (i)
			putc(',', csv->out);
		for (const char *c = table->columns[i]->name; *c; c++)
			putc(*c == '.' ? '_' : *c, csv->out);
	}
	fputs("\r\n", csv->out);
}

static void csv_row(void *state, const struct fab_table *table,
		    const union fab_cell *cells)
{
	struct csv *csv = state;

	for (size_t i = 0; i < table->n; i++) {
		const struct fab_column *column = table->columns[i];
		union fab_cell cell = cells[i];
		char number[FAB_CELL_BYTES], *safe;

		if (i)
			putc(',', csv->out);
		if (fab_cell_is_null(column, cell))
			continue;
		if (column->type == FAB_BOOL) {
			fputs(cell.u ? "true" : "false", csv->out);
		} else if (column->type == FAB_TEXT) {
			safe = fab_cell_safe_text(cell.text);
			fab_text_put_csv(csv->out, safe, false);
			free(safe);
		} else if (column->flags & FAB_COL_EXACT) {
			fprintf(csv->out, "%.15g", cell.real);
		} else {
			fputs(fab_cell_number(column, cell, number), csv->out);
		}
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
