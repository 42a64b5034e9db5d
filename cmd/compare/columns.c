/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns for numbers of which the database says the unit. */
#include <string.h>

#include "compare.h"

struct fab_column compare_metric_column(const char *name,
					const struct fab_store_kind *kind)
{
	struct fab_column column = {name, FAB_NUMBER};

	if (kind) {
		column.help = kind->help;
		column.flags = fab_unit_flags(kind->unit);
		if (kind->merge == FAB_MERGE_ALL)
			column.flags |= FAB_COL_TRUTH;
	}
	return column;
}

struct fab_column compare_fact_column(const char *name)
{
	const char *end = strrchr(name, '_');

	return (struct fab_column){
		name, FAB_NUMBER, NULL,
		fab_unit_flags(end && !strcmp(end, "_bytes") ? "B" : NULL)};
}
