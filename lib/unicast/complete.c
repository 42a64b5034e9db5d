/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/complete.h"

#include "fabric/graph.h"
#include "unicast/walk.h"

#include <stdlib.h>
#include <string.h>

/* Give the switches that are not led to `root` the shortest path to one that is. */
static void attach(const struct fab_routes *r, uint16_t *next, uint32_t root)
{
	const struct fab_fabric *f = r->f;
	const struct fab_graph g = fab_graph_of_arcs(f);
	const bool *arc_is_dead = r->faults ? r->faults->arc_is_dead : NULL;
	uint32_t *dist = FAB_NEW((size_t)f->n_switches + 1, uint32_t), n = 0, n_led;
	uint32_t *order = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	uint32_t *by = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	struct fab_walk walk;

	fab_walk_init(&walk, f, r->faults);
	fab_walk_begin(&walk, next, root);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (fab_walk_hops(&walk, s) < FAB_HOPS_NEVER)
			order[n++] = s;
	n_led = n;
	n = fab_graph_search(&g, arc_is_dead, n, dist, order, by);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (dist[s])
			next[s] = FAB_ARC_NONE;
	for (uint32_t i = n_led; i < n; i++)
		next[order[i]] = f->arc_reverse[by[order[i]]];
	fab_walk_fini(&walk);
	free(by);
	free(order);
	free(dist);
}

/* The neighbour of a switch whose column has the most entries; *back: the arc from
 * there. */
static uint32_t best_column(const struct fab_routes *r, const uint32_t *column_of,
			    const uint32_t *entries, uint32_t root, uint32_t *back)
{
	const struct fab_fabric *f = r->f;
	uint32_t best = FAB_NONE;

	for (uint32_t a = f->arc_first[root]; a < f->arc_first[root + 1]; a++) {
		uint32_t c = column_of[f->arc_peer[a]];

		if (c == FAB_NONE || !fab_arc_is_live(r->faults, a) ||
		    (best != FAB_NONE && entries[c] <= entries[best]))
			continue;
		best = c;
		*back = f->arc_reverse[a];
	}
	return best;
}

static void fill_column(const struct fab_routes *r, const uint32_t *column_of,
			const uint32_t *entries, uint32_t root, uint16_t *next)
{
	const struct fab_fabric *f = r->f;
	uint32_t back = 0, column = best_column(r, column_of, entries, root, &back);

	for (uint32_t s = 0; s < f->n_switches; s++)
		next[s] = FAB_ARC_NONE;
	if (column != FAB_NONE) {
		uint32_t leaf = r->column_switch[column];

		memcpy(next, r->next + (size_t)column * f->n_switches,
		       f->n_switches * sizeof(*next));
		next[leaf] = (uint16_t)back;
	}
	attach(r, next, root);
	next[root] = FAB_ARC_HERE;
}

static uint32_t *count_entries(const struct fab_routes *r)
{
	uint32_t *entries = FAB_NEW0((size_t)r->n_columns + 1, uint32_t);

	for (uint32_t c = 0; c < r->n_columns; c++)
		for (uint32_t s = 0; s < r->f->n_switches; s++)
			entries[c] += r->next[(size_t)c * r->f->n_switches + s] <
				      FAB_ARC_BROKEN;
	return entries;
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

/* Service levels, 0 towards new columns. */
static void copy_levels(const struct fab_routes *r, struct fab_routes *to)
{
	to->n_sl_sources = r->n_sl_sources;
	to->sl_source = copy_of(r->sl_source, r->n_sl_sources, sizeof(*r->sl_source));
	if (!r->sl)
		return;
	to->sl = FAB_NEW0((size_t)r->n_sl_sources * to->n_columns + 1, uint8_t);
	for (uint32_t s = 0; s < r->n_sl_sources; s++)
		memcpy(to->sl + (size_t)s * to->n_columns,
		       r->sl + (size_t)s * r->n_columns, r->n_columns);
}

static void copy_rest(const struct fab_routes *r, struct fab_routes *to)
{
	uint32_t n_switches = r->f->n_switches;

	memcpy(to->column_switch, r->column_switch,
	       r->n_columns * sizeof(*r->column_switch));
	memcpy(to->next, r->next, (size_t)r->n_columns * n_switches * sizeof(*r->next));
	to->turn = copy_of(r->turn, r->f->n_ports, sizeof(*r->turn));
	to->n_alternatives =
		copy_of(r->n_alternatives, n_switches, sizeof(*r->n_alternatives));
	to->n_leaves = r->leaf ? r->n_leaves : r->n_columns;
	to->leaf = copy_of(r->leaf ? r->leaf : r->column_switch, to->n_leaves,
			   sizeof(*r->leaf));
	copy_levels(r, to);
	to->lanes = r->lanes;
	to->n_vls = r->n_vls;
	to->n_sls = r->n_sls;
	to->vl_first = copy_of(r->vl_first, (size_t)n_switches + 1, sizeof(*r->vl_first));
	to->sl2vl = copy_of(r->sl2vl, r->vl_first ? r->vl_first[n_switches] : 0, 1);
	to->note = r->note ? fab_strdup(r->note) : NULL;
}

struct fab_routes *fab_routes_complete(const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	uint32_t *column_of, *entries, n = r->n_columns;
	struct fab_routes *to;

	column_of = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	memset(column_of, 0xff, f->n_switches * sizeof(*column_of));
	for (uint32_t c = r->n_columns; c-- > 0;)
		column_of[r->column_switch[c]] = c;
	for (uint32_t s = 0; s < f->n_switches; s++)
		n += column_of[s] == FAB_NONE && fab_switch_is_live(r->faults, s);
	to = fab_routes_new(f, r->faults, n);
	copy_rest(r, to);
	entries = count_entries(r);
	n = r->n_columns;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (column_of[s] != FAB_NONE || !fab_switch_is_live(r->faults, s))
			continue;
		to->column_switch[n] = s;
		if (to->n_alternatives)
			to->n_alternatives[s] = 1;
		fill_column(r, column_of, entries, s,
			    to->next + (size_t)n++ * f->n_switches);
	}
	free(entries);
	free(column_of);
	return to;
}
