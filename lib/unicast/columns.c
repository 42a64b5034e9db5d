/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/columns.h"

#include <stdlib.h>
#include <string.h>

void fab_columns_init(struct fab_columns *c, const struct fab_routes *r)
{
	uint32_t n = r->column_port ? r->f->n_ports : r->f->n_switches;

	c->r = r;
	c->first = FAB_NEW((size_t)n + 1, uint32_t);
	memset(c->first, 0xff, n * sizeof(*c->first));
	for (uint32_t i = r->n_columns; i-- > 0;)
		c->first[r->column_port ? r->column_port[i] : r->column_switch[i]] = i;
}

void fab_columns_fini(struct fab_columns *c)
{
	free(c->first);
}

/* Tables by LID that were read may lack some. */
static uint32_t column_of_lid(const struct fab_routes *r, uint32_t first, uint32_t offset)
{
	uint32_t port = r->column_port[first], lid = r->f->port_lid[port];

	for (uint32_t c = first; c < r->n_columns && r->column_port[c] == port; c++)
		if (r->column_lid[c] ? r->column_lid[c] == lid + offset
				     : c - first == offset)
			return c;
	return FAB_NONE;
}

uint32_t fab_columns_of(const struct fab_columns *c, uint32_t port, uint32_t offset)
{
	const struct fab_routes *r = c->r;
	uint32_t sw, first;

	if (r->column_port) {
		first = c->first[port];
		return first == FAB_NONE || !offset ? first
						    : column_of_lid(r, first, offset);
	}
	sw = fab_port_switch(r->f, port);
	first = sw == FAB_NONE ? FAB_NONE : c->first[sw];
	if (first == FAB_NONE || !r->n_alternatives)
		return first;
	return first + (r->turn[port] + offset) % r->n_alternatives[sw];
}
