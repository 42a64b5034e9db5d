/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast forwarding tables: memory, columns, differences. */
#include "unicast/routes.h"

#include <stdlib.h>
#include <string.h>

/* Of tables by LID: rows that are never added take addresses, no memory. */
enum { RESERVED_ENTRIES = 1 << 29 };

struct fab_routes *fab_routes_new(const struct fab_fabric *f,
				  const struct fab_faults *faults, uint32_t n_columns)
{
	struct fab_routes *r = FAB_NEW0(1, struct fab_routes);
	size_t entries = (size_t)n_columns * f->n_switches;

	r->f = f;
	r->faults = faults;
	r->n_columns = r->n_rows = r->row_cap = n_columns;
	r->column_switch = FAB_NEW(n_columns ? n_columns : 1, uint32_t);
	r->next = fab_alloc_huge((entries + 1) * sizeof(*r->next));
	r->n_vls = 1;
	r->n_sls = 1;
	return r;
}

struct fab_routes *fab_routes_new_by_lid(const struct fab_fabric *f,
					 const struct fab_faults *faults,
					 uint32_t n_columns)
{
	size_t n = n_columns ? n_columns : 1;
	size_t rows = RESERVED_ENTRIES / ((size_t)f->n_switches + 1);
	struct fab_routes *r = fab_routes_new(f, faults, (uint32_t)(rows < n ? rows : n));

	r->n_columns = n_columns;
	r->n_rows = 0;
	r->column_switch = fab_realloc(r->column_switch, n, sizeof(*r->column_switch));
	r->column_port = FAB_NEW(n, uint32_t);
	r->column_lid = FAB_NEW(n, uint16_t);
	r->column_row = FAB_NEW(n, uint32_t);
	return r;
}

uint32_t fab_routes_add_row(struct fab_routes *r)
{
	if (r->n_rows == r->row_cap) {
		uint32_t cap = (uint32_t)fab_grow(r->row_cap, (size_t)r->n_rows + 1);
		size_t entries = (size_t)cap * r->f->n_switches;

		r->next = fab_realloc(r->next, entries + 1, sizeof(*r->next));
		r->row_cap = cap;
	}
	return r->n_rows++;
}

uint32_t fab_routes_leaf_columns(const struct fab_routes *r, uint32_t **out)
{
	const struct fab_fabric *f = r->f;
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *of = fab_none_new((size_t)f->n_switches + 1);

	*out = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	for (uint32_t c = 0; c < r->n_columns; c++) {
		uint32_t sw = r->column_switch[c], was = of[sw];

		if (was == FAB_NONE ||
		    (r->column_port &&
		     fab_node_is_switch(f, f->port_node[r->column_port[was]]) &&
		     !fab_node_is_switch(f, f->port_node[r->column_port[c]])))
			of[sw] = c;
	}
	if (r->leaf)
		for (uint32_t i = 0; i < r->n_leaves; i++)
			(*out)[n++] = of[r->leaf[i]];
	for (uint32_t s = 0; !r->leaf && !r->column_lid && s < f->n_switches; s++)
		if (of[s] != FAB_NONE)
			(*out)[n++] = of[s];
	return n;
}

void fab_routes_new_levels(struct fab_routes *r)
{
	free(r->sl);
	free(r->sl_source);
	r->sl = FAB_NEW0((size_t)r->n_leaves * r->n_columns + 1, uint8_t);
	r->n_sl_sources = r->n_leaves;
	r->sl_source = FAB_NEW((size_t)r->n_leaves + 1, uint32_t);
	memcpy(r->sl_source, r->leaf, r->n_leaves * sizeof(*r->sl_source));
}

uint32_t *fab_routes_sl_rows(const struct fab_routes *r)
{
	uint32_t *row = fab_none_new((size_t)r->f->n_nodes + 1);

	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	return row;
}

void fab_routes_free(struct fab_routes *r)
{
	if (!r)
		return;
	if (r->files) {
		FAB_FREE_ALL(r->files->has_table, r->files->strange_lids.v,
			     r->files->strange_switches.v, r->files->has_lane,
			     r->files->lane_first, r->files);
	}
	FAB_FREE_ALL(r->column_switch, r->column_port, r->column_lid, r->column_row,
		     r->n_alternatives, r->turn, r->leaf, r->next, r->sl_source, r->sl,
		     r->vl_first, r->sl2vl, r->note, r->instead, r);
}

void fab_columns_init(struct fab_columns *c, const struct fab_routes *r)
{
	uint32_t n = r->column_port ? r->f->n_ports : r->f->n_switches;

	c->r = r;
	c->first = fab_none_new((size_t)n + 1);
	for (uint32_t i = r->n_columns; i-- > 0;)
		c->first[r->column_port ? r->column_port[i] : r->column_switch[i]] = i;
}

void fab_columns_fini(struct fab_columns *c)
{
	free(c->first);
}

uint32_t fab_columns_of(const struct fab_columns *c, uint32_t port, uint32_t offset)
{
	const struct fab_routes *r = c->r;
	uint32_t sw, first;

	if (r->column_port) {
		uint32_t at = first = c->first[port];

		if (first == FAB_NONE || !offset)
			return first;
		/* tables that were read may lack some LIDs */
		for (; at < r->n_columns && r->column_port[at] == port; at++)
			if (r->column_lid[at]
				    ? r->column_lid[at] == r->f->port_lid[port] + offset
				    : at - first == offset)
				return at;
		return FAB_NONE;
	}
	sw = fab_port_switch(r->f, port);
	first = sw == FAB_NONE ? FAB_NONE : c->first[sw];
	if (first == FAB_NONE || !r->n_alternatives)
		return first;
	return first + (r->turn[port] + offset) % r->n_alternatives[sw];
}

struct fab_changes fab_changes_count(const struct fab_routes *now,
				     const struct fab_routes *before,
				     const uint32_t *copies)
{
	uint32_t n = now->f->n_switches, at = 0;
	FAB_AUTOFREE bool *is_changed = FAB_NEW0(n + 1, bool);
	struct fab_changes changes = {0};

	for (uint32_t i = 0; i < now->n_columns; i++, at++) {
		const uint16_t *a = fab_routes_next(now, i), *b;

		/* the same destination: a port with several LIDs has them side by side */
		while (before->column_port
			       ? before->column_port[at] != now->column_port[i]
			       : before->column_switch[at] != now->column_switch[i])
			at++;
		b = fab_routes_next(before, at);
		for (uint32_t sw = 0; sw < n; sw++) {
			if (a[sw] == b[sw] ||
			    (now->faults && now->faults->switch_is_dead[sw]))
				continue;
			changes.entries += copies ? copies[sw] : 1;
			is_changed[sw] = true;
		}
	}
	for (uint32_t sw = 0; sw < n; sw++)
		changes.switches += is_changed[sw] ? copies ? copies[sw] : 1 : 0;
	return changes;
}
