/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/present: finding a column by its name. */
#pragma once

#include "present/report.h"

/*
 * Index of the column that the first `len` bytes of `text` name, n_columns for none.
 * Where a name has a dot, `_` is taken as well: the CSV form of the name. O(columns).
 */
size_t fab_columns_find(const char *text, size_t len, const struct fab_column *columns,
			size_t n_columns);
