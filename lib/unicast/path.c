/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/path.h"

#include <stdlib.h>
#include <string.h>

/* Is the column that of the LID? Of any, when none is asked for or known. */
static bool is_lid(const struct fab_routes *r, uint32_t column, uint16_t lid)
{
	return !lid || !r->column_lid || !r->column_lid[column] ||
	       r->column_lid[column] == lid;
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
			return i;
	}
	return FAB_NONE;
}

uint32_t *fab_path_columns(const struct fab_routes *r, uint32_t n, const uint32_t *sw,
			   const uint32_t *port)
{
	uint32_t n_keys = r->column_port ? r->f->n_ports : r->f->n_switches;
	uint32_t *first = FAB_NEW((size_t)n_keys + 1, uint32_t);
	uint32_t *column = FAB_NEW((size_t)n + 1, uint32_t);

	memset(first, 0xff, n_keys * sizeof(*first));
	for (uint32_t i = r->n_columns; i-- > 0;)
		first[r->column_port ? r->column_port[i] : r->column_switch[i]] = i;
	for (uint32_t i = 0; i < n; i++)
		column[i] = first[!r->column_port	? sw[i]
				  : port[i] != FAB_NONE ? port[i]
							: r->f->node_first_port[sw[i]]];
	free(first);
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
