/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast forwarding tables: memory, columns, completion, differences. */
#include "unicast/routes.h"

#include "base/arena.h"
#include "fabric/graph.h"
#include "unicast/path.h"

#include <stdlib.h>
#include <string.h>

struct fab_routes *fab_routes_new(const struct fab_fabric *f,
				  const struct fab_faults *faults, uint32_t n_columns)
{
	struct fab_routes *r = FAB_NEW0(1, struct fab_routes);
	size_t entries = (size_t)n_columns * f->n_switches;

	r->f = f;
	r->faults = faults;
	r->n_columns = r->n_rows = r->row_cap = n_columns;
	r->column_switch = FAB_NEW(n_columns ? n_columns : 1, uint32_t);
	r->next = fab_alloc(entries + 1, sizeof(*r->next));
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

static void fill_column(const struct fab_routes *r, const uint32_t *column_of,
			const uint32_t *entries, uint32_t root, uint16_t *next)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	const struct fab_fabric *f = r->f;
	const struct fab_graph g = fab_graph_of_arcs(f);
	size_t n_switches = (size_t)f->n_switches + 1;
	uint32_t *dist = FAB_ARENA_NEW(&arena, n_switches, uint32_t);
	uint32_t *order = FAB_ARENA_NEW(&arena, n_switches, uint32_t);
	uint32_t *by = FAB_ARENA_NEW(&arena, n_switches, uint32_t);
	uint32_t back = 0, column = FAB_NONE, n = 0, n_led;
	struct fab_walk walk;

	for (uint32_t s = 0; s < f->n_switches; s++)
		next[s] = FAB_ARC_NONE;
	/* The neighbour whose column has the most entries; back: the arc from there. */
	FAB_EACH_ARC(f, root, a) {
		uint32_t c = column_of[f->arc_peer[a]];

		if (c == FAB_NONE || !fab_arc_is_live(r->faults, a) ||
		    (column != FAB_NONE && entries[c] <= entries[column]))
			continue;
		column = c;
		back = f->arc_reverse[a];
	}
	if (column != FAB_NONE) {
		uint32_t leaf = r->column_switch[column];

		memcpy(next, r->next + (size_t)column * f->n_switches,
		       f->n_switches * sizeof(*next));
		next[leaf] = (uint16_t)back;
	}
	/* Give the switches that are not led to `root` the shortest path to one that is.
	 */
	next[root] = FAB_ARC_HERE;
	fab_walk_init(&walk, f, r->faults);
	fab_walk_all(&walk, next, root);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (walk.hops[s] < FAB_HOPS_NEVER)
			order[n++] = s;
	n_led = n;
	n = fab_graph_search(&g, r->faults ? r->faults->arc_is_dead : NULL, n, dist,
			     order, by);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (dist[s])
			next[s] = FAB_ARC_NONE;
	for (uint32_t i = n_led; i < n; i++)
		next[order[i]] = f->arc_reverse[by[order[i]]];
	fab_walk_fini(&walk);
}

static void *copy_of(const void *from, size_t n, size_t size)
{
	void *to;

	if (!from)
		return NULL;
	to = fab_alloc(n + 1, size);
	memcpy(to, from, n * size);
	return to;
}

struct fab_routes *fab_routes_complete(const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	uint32_t n = r->n_columns;
	uint32_t n_switches = f->n_switches;
	FAB_AUTOFREE uint32_t *column_of = fab_none_new((size_t)n_switches + 1);
	FAB_AUTOFREE uint32_t *entries = FAB_NEW0((size_t)n + 1, uint32_t);
	struct fab_routes *to;

	for (uint32_t c = r->n_columns; c-- > 0;)
		column_of[r->column_switch[c]] = c;
	for (uint32_t s = 0; s < f->n_switches; s++)
		n += column_of[s] == FAB_NONE && fab_switch_is_live(r->faults, s);
	to = fab_routes_new(f, r->faults, n);
	memcpy(to->column_switch, r->column_switch,
	       r->n_columns * sizeof(*r->column_switch));
	memcpy(to->next, r->next, (size_t)r->n_columns * n_switches * sizeof(*r->next));
	to->turn = copy_of(r->turn, r->f->n_ports, sizeof(*r->turn));
	to->n_alternatives =
		copy_of(r->n_alternatives, n_switches, sizeof(*r->n_alternatives));
	to->n_leaves = r->leaf ? r->n_leaves : r->n_columns;
	to->leaf = copy_of(r->leaf ? r->leaf : r->column_switch, to->n_leaves,
			   sizeof(*r->leaf));
	to->n_sl_sources = r->n_sl_sources;
	to->sl_source = copy_of(r->sl_source, r->n_sl_sources, sizeof(*r->sl_source));
	/* service level 0 towards new columns */
	to->sl = r->sl ? FAB_NEW0((size_t)r->n_sl_sources * n + 1, uint8_t) : NULL;
	for (uint32_t s = 0; r->sl && s < r->n_sl_sources; s++)
		memcpy(to->sl + (size_t)s * n, r->sl + (size_t)s * r->n_columns,
		       r->n_columns);
	to->lanes = r->lanes;
	to->n_vls = r->n_vls;
	to->n_sls = r->n_sls;
	to->vl_first = copy_of(r->vl_first, (size_t)n_switches + 1, sizeof(*r->vl_first));
	to->sl2vl = copy_of(r->sl2vl, r->vl_first ? r->vl_first[n_switches] : 0, 1);
	to->note = r->note ? fab_strdup(r->note) : NULL;
	to->instead = r->instead ? fab_strdup(r->instead) : NULL;
	n = r->n_columns;
	for (uint32_t c = 0; c < n; c++)
		for (uint32_t s = 0; s < n_switches; s++)
			entries[c] += fab_routes_next(r, c)[s] < FAB_ARC_BROKEN;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (column_of[s] != FAB_NONE || !fab_switch_is_live(r->faults, s))
			continue;
		to->column_switch[n] = s;
		if (to->n_alternatives)
			to->n_alternatives[s] = 1;
		fill_column(r, column_of, entries, s,
			    to->next + (size_t)n++ * f->n_switches);
	}
	return to;
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
