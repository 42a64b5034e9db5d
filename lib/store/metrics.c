/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of a record by the columns that are metrics. */
#include <math.h>

#include "store/store.h"

size_t fab_store_metrics(const struct fab_column *columns, size_t n, const void *record,
			 struct fab_store_number *out)
{
	size_t n_out = 0;

	for (size_t i = 0; i < n; i++) {
		double value;

		if (columns[i].metric == FAB_NO_METRIC)
			continue;
		value = fab_column_number(&columns[i], record);
		if (isfinite(value))
			out[n_out++] = (struct fab_store_number){columns[i].name, value};
	}
	return n_out;
}

size_t fab_store_details(const struct fab_column *columns, size_t n, const void *record,
			 uint64_t position, const char *part,
			 struct fab_store_detail *out)
{
	size_t n_out = 0;

	for (size_t i = 0; i < n; i++) {
		double value;

		if (columns[i].metric == FAB_NO_METRIC)
			continue;
		value = fab_column_number(&columns[i], record);
		if (isfinite(value))
			out[n_out++] = (struct fab_store_detail){position, part,
								 columns[i].name, value};
	}
	return n_out;
}
