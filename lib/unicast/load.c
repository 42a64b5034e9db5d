/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/load.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unicast/path.h"

/* Add one flow; false when it does not arrive. */
static bool add_flow(const struct fab_routes *r, uint32_t sw, uint32_t column,
		     uint64_t *load)
{
	struct fab_path path = fab_path_from(r, sw, column);

	if (fab_path_length(r, sw, column) == FAB_NONE)
		return false;
	while (fab_path_step(&path))
		load[path.arc]++;
	return true;
}

static void sum_up(const struct fab_routes *r, const uint64_t *load,
		   struct fab_flow_load *out)
{
	const struct fab_fabric *f = r->f;
	uint64_t n = 0, sum = 0;

	for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++) {
		if (r->faults && r->faults->cable_is_dead[f->arc_cable[a]])
			continue;
		n++;
		sum += load[a];
		if (load[a] > out->max)
			out->max = load[a];
	}
	out->mean = n ? (double)sum / (double)n : 0;
}

/* Does the pair have a service level at all? */
static bool has_level(const struct fab_routes *r, const uint32_t *row, uint32_t sw,
		      uint32_t column)
{
	return !r->sl || row[sw] == FAB_NONE ||
	       r->sl[(size_t)row[sw] * r->n_columns + column] != FAB_SL_NONE;
}

void fab_permutation_load(const struct fab_routes *r, const struct fab_flow_ends *ends,
			  const uint32_t *to, struct fab_flow_load *out)
{
	const struct fab_fabric *f = r->f;
	uint64_t *load = FAB_NEW0(f->arc_first[f->n_switches] + 1, uint64_t);
	uint32_t *column = fab_path_columns(r, ends->n, ends->sw, ends->port);
	uint32_t *row = FAB_NEW(f->n_nodes + 1, uint32_t);

	*out = (struct fab_flow_load){0};
	memset(row, 0xff, f->n_nodes * sizeof(*row));
	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	for (uint32_t i = 0; i < ends->n; i++) {
		if (to[i] == FAB_NONE || to[i] == i)
			continue;
		out->flows++;
		if (column[to[i]] == FAB_NONE ||
		    !has_level(r, row, ends->sw[i], column[to[i]]) ||
		    !add_flow(r, ends->sw[i], column[to[i]], load))
			out->lost++;
	}
	sum_up(r, load, out);
	free(load);
	free(column);
	free(row);
}
