/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/path.h"

#include "unicast/columns.h"

#include <stdlib.h>

/* Is the column that of the LID? Of any, when none is asked for or known. */
static bool is_lid(const struct fab_routes *r, uint32_t column, uint16_t lid)
{
	return !lid || !r->column_lid || !r->column_lid[column] ||
	       r->column_lid[column] == lid;
}

/* From the first column to the switch of an end to the one that its LID takes. */
static uint32_t turn_of(const struct fab_routes *r, const struct fab_endpoint *to)
{
	uint32_t offset;

	if (!r->n_alternatives || to->port == FAB_NONE)
		return 0;
	offset = to->lid ? to->lid - (uint32_t)r->f->port_lid[to->port] : 0;
	return (r->turn[to->port] + offset) % r->n_alternatives[to->sw];
}

uint32_t fab_path_column(const struct fab_routes *r, const struct fab_endpoint *to)
{
	for (uint32_t i = 0; i < r->n_columns; i++) {
		if (r->column_port && to->port != FAB_NONE) {
			if (r->column_port[i] == to->port && is_lid(r, i, to->lid))
				return i;
		} else if (r->column_switch[i] == to->sw &&
			   (!r->column_port ||
			    fab_node_is_switch(r->f, r->f->port_node[r->column_port[i]])))
			return i + turn_of(r, to);
	}
	return FAB_NONE;
}

uint32_t *fab_path_columns(const struct fab_routes *r, uint32_t n, const uint32_t *sw,
			   const uint32_t *port)
{
	uint32_t *column = FAB_NEW((size_t)n + 1, uint32_t);
	struct fab_columns columns;

	fab_columns_init(&columns, r);
	for (uint32_t i = 0; i < n; i++)
		column[i] = fab_columns_of(
			&columns,
			port[i] != FAB_NONE ? port[i] : r->f->node_first_port[sw[i]], 0);
	fab_columns_fini(&columns);
	return column;
}

uint32_t fab_path_hops(const struct fab_routes *r, uint32_t sw, uint32_t column,
		       struct fab_hop *hops)
{
	struct fab_path p = fab_path_from(r, sw, column);

	while (p.n_hops < FAB_PATH_MAX && fab_path_hop(&p, &hops[p.n_hops]))
		;
	return fab_path_end(&p) == FAB_PATH_ARRIVES ? p.n_hops : 0;
}
