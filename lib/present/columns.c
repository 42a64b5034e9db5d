/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns as data: choosing, checking and listing them. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "present/columns.h"
#include "present/writer.h"

/* Do the first `len` bytes of `text` name the column? `_` serves for the dot, too. */
static bool is_named(const struct fab_column *column, const char *text, size_t len)
{
	if (strlen(column->name) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (column->name[i] != text[i] &&
		    !(column->name[i] == '.' && text[i] == '_'))
			return false;
	return true;
}

size_t fab_columns_find(const char *text, size_t len, const struct fab_column *columns,
			size_t n_columns)
{
	for (size_t i = 0; i < n_columns; i++)
		if (is_named(&columns[i], text, len))
			return i;
	return n_columns;
}

static int unknown_column(const char *name, size_t len, const struct fab_column *columns,
			  size_t n_columns, struct fab_err *err)
{
	char list[256], wanted[64], safe[128];
	size_t at = 0;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)(len < 63 ? len : 63), name);
	fab_text_safe(wanted, safe, sizeof(safe));
	list[0] = '\0';
	for (size_t i = 0; i < n_columns && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s",
				       i ? ", " : "", columns[i].name);
	if (!len)
		return fab_fail(err, EINVAL, "an empty column name; there are: %s%s",
				list, at < sizeof(list) ? "" : "...");
	return fab_fail(err, EINVAL, "no column '%s'; there are: %s%s", safe, list,
			at < sizeof(list) ? "" : "...");
}

int fab_columns_check(const char *list, const struct fab_column *columns,
		      size_t n_columns, struct fab_err *err)
{
	const char *name = list;

	if (!list)
		return 0;
	for (;;) {
		size_t len = strcspn(name, ",");

		if (fab_columns_find(name, len, columns, n_columns) == n_columns)
			return unknown_column(name, len, columns, n_columns, err);
		if (!name[len])
			return 0;
		name += len + 1;
	}
}

static union fab_cell cell_of_count(const struct fab_column *column, uint64_t value)
{
	if (column->type == FAB_REAL || column->type == FAB_NUMBER)
		return (union fab_cell){.real = (double)value};
	return (union fab_cell){.u = value};
}

union fab_cell fab_column_read(const struct fab_column *column, const void *record)
{
	const void *at = (const char *)record + column->at.offset;

	switch (column->at.held) {
	case FAB_HELD_TEXT:
		return (union fab_cell){.text = *(const char *const *)at};
	case FAB_HELD_U64:
		return cell_of_count(column, *(const uint64_t *)at);
	case FAB_HELD_U32:
		return cell_of_count(column, *(const uint32_t *)at);
	case FAB_HELD_BOOL:
		return cell_of_count(column, *(const bool *)at);
	case FAB_HELD_DOUBLE:
		return (union fab_cell){.real = *(const double *)at};
	case FAB_HELD_STRUCT: /* any of them: all are pointers */
		return (union fab_cell){.rows = at};
	case FAB_HELD_NOWHERE:
		break;
	}
	assert(!"a column without a place");
	return (union fab_cell){.u = 0};
}

double fab_column_number(const struct fab_column *column, const void *record)
{
	union fab_cell cell = fab_column_read(column, record);

	if (column->type == FAB_TEXT || fab_cell_is_null(column, cell))
		return NAN;
	return column->type == FAB_REAL || column->type == FAB_NUMBER ? cell.real
								      : (double)cell.u;
}

static const struct {
	const char *name;
	unsigned flags;
} units[] = {{"s", FAB_COL_SECONDS}, {"Mb/s", FAB_COL_MBPS}, {"B", FAB_COL_BYTES}};

const char *fab_unit_name(unsigned flags)
{
	for (size_t i = 0; i < FAB_COUNT(units); i++)
		if (flags & units[i].flags)
			return units[i].name;
	return NULL;
}

unsigned fab_unit_flags(const char *unit)
{
	for (size_t i = 0; unit && i < FAB_COUNT(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].flags;
	return 0;
}

void fab_columns_list(FILE *out, const struct fab_column *columns, size_t n_columns)
{
	size_t widest = 0;

	for (size_t i = 0; i < n_columns; i++)
		if (strlen(columns[i].name) > widest)
			widest = strlen(columns[i].name);
	for (size_t i = 0; i < n_columns; i++)
		fprintf(out, "%-*s  %s%s\n", (int)widest, columns[i].name,
			columns[i].help ? columns[i].help : "",
			columns[i].flags & FAB_COL_EXTRA
				? " (in a table only when asked for)"
				: "");
}
