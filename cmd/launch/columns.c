/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fabric-launch reports of each verb: all that is known of a column and of the
 * metric that it is. The store, fabric-compare, the manual and the completions take it
 * from here.
 */
#include "launch.h"

#define AT(member) FAB_AT(struct launch_size_row, member)
const struct fab_column launch_size_columns[] = {
	{"layout", FAB_TEXT, "2.1 or 4.2", 0, AT(layout)},
	{"opt", FAB_TEXT, "optimisations that are on, or none", 0, AT(opt)},
	{"ppn", FAB_UINT, "processes a node", FAB_COL_EXTRA, AT(ppn), FAB_METRIC_PLAIN},
	{"keys", FAB_UINT, "keys a process", FAB_COL_EXTRA, AT(keys), FAB_METRIC_PLAIN},
	{"value_bytes", FAB_UINT, "values of a node, as they are put, B", FAB_COL_EXTRA,
	 AT(value_bytes), FAB_METRIC_PLAIN},
	{"bytes", FAB_UINT, "what a node contributes, of size the first one, B", 0,
	 AT(bytes), FAB_METRIC_PLAIN},
	{"overhead", FAB_REAL, "that by the bytes of the values", 0, AT(overhead),
	 FAB_METRIC_LESS},
	{"factor", FAB_REAL, "the same in layout 2.1 without optimisations, by bytes", 0,
	 AT(factor), FAB_METRIC_MORE},
	{"key_table", FAB_BOOL, "names of keys stand in a table", FAB_COL_EXTRA,
	 AT(table)},
	{"job_bytes", FAB_NUMBER, "all nodes together, B; null: without --nodes",
	 FAB_COL_EXTRA, AT(job_bytes), FAB_METRIC_LESS},
	{"verified", FAB_BOOL, "the bytes were written and counted (--verify)",
	 FAB_COL_EXTRA, AT(verified)},
};
#undef AT
const size_t launch_size_n_columns = FAB_COUNT(launch_size_columns);
