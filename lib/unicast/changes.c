/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/changes.h"

#include <stdlib.h>

/* Is it the same destination? A port with several LIDs has them side by side. */
static bool is_same_column(const struct fab_routes *a, uint32_t i,
			   const struct fab_routes *b, uint32_t k)
{
	if (a->column_port)
		return a->column_port[i] == b->column_port[k];
	return a->column_switch[i] == b->column_switch[k];
}

struct fab_changes fab_changes_count(const struct fab_routes *now,
				     const struct fab_routes *before)
{
	uint32_t n = now->f->n_switches, at = 0;
	bool *is_changed = FAB_NEW0(n + 1, bool);
	struct fab_changes changes = {0};

	for (uint32_t i = 0; i < now->n_columns; i++, at++) {
		const uint16_t *a = fab_routes_next(now, i), *b;

		while (!is_same_column(before, at, now, i))
			at++;
		b = fab_routes_next(before, at);
		for (uint32_t sw = 0; sw < n; sw++) {
			if (a[sw] == b[sw] ||
			    (now->faults && now->faults->switch_is_dead[sw]))
				continue;
			changes.entries++;
			is_changed[sw] = true;
		}
	}
	for (uint32_t sw = 0; sw < n; sw++)
		changes.switches += is_changed[sw];
	free(is_changed);
	return changes;
}
