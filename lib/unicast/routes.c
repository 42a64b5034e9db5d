/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/routes.h"

#include <stdlib.h>
#include <string.h>

/* Entries from which on huge pages pay. */
enum { HUGE_AT_LEAST = 1 << 20 };

struct fab_routes *fab_routes_new(const struct fab_fabric *f,
				  const struct fab_faults *faults, uint32_t n_columns)
{
	struct fab_routes *r = FAB_NEW0(1, struct fab_routes);
	size_t entries = (size_t)n_columns * f->n_switches;

	r->f = f;
	r->faults = faults;
	r->n_columns = r->n_rows = r->row_cap = n_columns;
	r->column_switch = FAB_NEW(n_columns ? n_columns : 1, uint32_t);
	r->next = entries < HUGE_AT_LEAST ? fab_alloc(entries + 1, sizeof(*r->next))
					  : fab_alloc_huge(entries * sizeof(*r->next));
	r->n_vls = 1;
	r->n_sls = 1;
	return r;
}

struct fab_routes *fab_routes_new_by_lid(const struct fab_fabric *f,
					 const struct fab_faults *faults,
					 uint32_t n_columns)
{
	struct fab_routes *r = fab_routes_new(f, faults, 0);
	size_t n = n_columns ? n_columns : 1;

	r->n_columns = n_columns;
	r->column_switch = fab_realloc(r->column_switch, n, sizeof(*r->column_switch));
	r->column_port = FAB_NEW(n, uint32_t);
	r->column_lid = FAB_NEW(n, uint16_t);
	r->column_row = FAB_NEW(n, uint32_t);
	return r;
}

/* Room for more rows: in huge pages where there are many. */
static void grow(struct fab_routes *r)
{
	uint32_t cap = (uint32_t)fab_grow(r->row_cap, (size_t)r->n_rows + 1);
	size_t has = (size_t)r->n_rows * r->f->n_switches;
	size_t entries = (size_t)cap * r->f->n_switches;
	uint16_t *next;

	if (entries < HUGE_AT_LEAST) {
		r->next = fab_realloc(r->next, entries + 1, sizeof(*next));
	} else {
		next = fab_alloc_huge(entries * sizeof(*next));
		memcpy(next, r->next, has * sizeof(*next));
		free(r->next);
		r->next = next;
	}
	r->row_cap = cap;
}

uint32_t fab_routes_add_row(struct fab_routes *r)
{
	if (r->n_rows == r->row_cap)
		grow(r);
	return r->n_rows++;
}

uint32_t fab_routes_leaf_columns(const struct fab_routes *r, uint32_t **out)
{
	const struct fab_fabric *f = r->f;
	uint32_t *of = FAB_NEW((size_t)f->n_switches + 1, uint32_t), n = 0;

	*out = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	for (uint32_t s = 0; s < f->n_switches; s++)
		of[s] = FAB_NONE;
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
	free(of);
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
	uint32_t *row = FAB_NEW((size_t)r->f->n_nodes + 1, uint32_t);

	memset(row, 0xff, r->f->n_nodes * sizeof(*row));
	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	return row;
}

static void told_free(struct fab_told *told)
{
	if (!told)
		return;
	free(told->has_table);
	free(told->strange_lids.v);
	free(told->strange_switches.v);
	free(told->is_lane_told);
	free(told->lane_first);
	free(told);
}

void fab_routes_free(struct fab_routes *r)
{
	if (!r)
		return;
	told_free(r->told);
	free(r->column_switch);
	free(r->column_port);
	free(r->column_lid);
	free(r->column_row);
	free(r->n_alternatives);
	free(r->turn);
	free(r->leaf);
	free(r->next);
	free(r->sl_source);
	free(r->sl);
	free(r->vl_first);
	free(r->sl2vl);
	free(r->note);
	free(r);
}
