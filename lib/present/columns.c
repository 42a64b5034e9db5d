/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns as data: choosing, checking and listing them. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "present/columns.h"

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
