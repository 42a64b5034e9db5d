/* SPDX-License-Identifier: BSD-2-Clause */
/* Columns for numbers of which the database says the unit. */
#include <string.h>

#include "compare.h"

struct fab_column compare_number_column(const char *name, const char *unit,
					const char *help)
{
	unsigned flags = !unit			 ? 0
			 : !strcmp(unit, "s")	 ? FAB_COL_SECONDS
			 : !strcmp(unit, "Mb/s") ? FAB_COL_MBPS
			 : !strcmp(unit, "B")	 ? FAB_COL_BYTES
						 : 0;

	return (struct fab_column){name, FAB_NUMBER, help, flags};
}

struct fab_column compare_fact_column(const char *name)
{
	const char *end = strrchr(name, '_');

	return compare_number_column(name, end && !strcmp(end, "_bytes") ? "B" : NULL,
				     NULL);
}
