/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/loss.h"

#include "unicast/columns.h"
#include "unicast/faults.h"
#include "unicast/walk.h"

#include <stdlib.h>
#include <string.h>

enum { NO_PATH = 0xffff };

/* The switch on which a live port of a host adapter hangs, FAB_NONE: it is none. */
static uint32_t host_switch(const struct fab_loss_base *b, uint32_t port)
{
	const struct fab_fabric *f = b->r->f;
	const struct fab_faults *faults = b->r->faults;
	uint32_t sw = FAB_NONE;

	if (f->node_kind[f->port_node[port]] == FAB_ADAPTER)
		sw = fab_port_switch(f, port);
	if (sw == FAB_NONE || !fab_switch_is_live(faults, sw) ||
	    (faults && faults->cable_is_dead[f->port_cable[port]]))
		return FAB_NONE;
	return sw;
}

static void count_hosts(struct fab_loss_base *b)
{
	const struct fab_fabric *f = b->r->f;

	b->hosts = FAB_NEW0((size_t)b->n_switches + 1, uint32_t);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t sw = host_switch(b, p);

		if (sw == FAB_NONE)
			continue;
		b->hosts[sw]++;
		b->n_hosts++;
	}
}

/* Hosts and their LIDs by plane. */
static void count_planes(struct fab_loss_base *b)
{
	b->planes = fab_planes_new(b->r->f);
	b->plane_hosts = FAB_NEW0(b->planes->n_planes, uint64_t);
	b->plane_lids = FAB_NEW0(b->planes->n_planes, uint64_t);
	for (uint32_t s = 0; s < b->n_switches; s++)
		if (b->planes->of_switch[s] < b->planes->n_planes)
			b->plane_hosts[b->planes->of_switch[s]] += b->hosts[s];
	for (uint32_t t = 0; t < b->n_targets; t++) {
		uint32_t part = b->planes->of_switch[b->target[t]];

		for (uint32_t i = b->row_first[t]; i < b->row_first[t + 1]; i++)
			if (part < b->planes->n_planes)
				b->plane_lids[part] += b->row_lids[b->row[i]];
	}
}

static void find_leaves(struct fab_loss_base *b)
{
	const struct fab_routes *r = b->r;
	uint32_t *column, n = fab_routes_leaf_columns(r, &column);

	b->is_leaf = FAB_NEW0((size_t)b->n_switches + 1, bool);
	for (uint32_t i = 0; i < n; i++)
		b->is_leaf[r->column_switch[column[i]]] = true;
	for (uint32_t s = 0; !n && s < b->n_switches; s++)
		b->is_leaf[s] = b->hosts[s] > 0;
	free(column);
}

/* Hops to each target and how many ports have the fewest. */
static void measure(struct fab_loss_base *b)
{
	const struct fab_fabric *f = b->r->f;
	uint32_t n = b->n_switches;
	uint32_t *dist = FAB_NEW((size_t)n + 1, uint32_t);
	uint32_t *order = FAB_NEW((size_t)n + 1, uint32_t);

	b->dist = FAB_NEW((size_t)b->n_targets * n + 1, uint16_t);
	b->parents = FAB_NEW0((size_t)b->n_targets * n + 1, uint16_t);
	for (uint32_t t = 0; t < b->n_targets; t++) {
		uint16_t *hops = b->dist + (size_t)t * n;
		uint16_t *parents = b->parents + (size_t)t * n;

		fab_faults_search(f, b->r->faults, b->target[t], dist, order);
		for (uint32_t s = 0; s < n; s++)
			hops[s] = dist[s] < NO_PATH ? (uint16_t)dist[s] : NO_PATH;
		for (uint32_t s = 0; s < n; s++)
			for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
				parents[s] += fab_arc_is_live(b->r->faults, a) &&
					      hops[s] != NO_PATH &&
					      hops[f->arc_peer[a]] + 1 == hops[s];
	}
	free(order);
	free(dist);
}

/* LIDs of hosts by column; those of a switch are shared by all behind it. */
static uint32_t *count_by_column(const struct fab_loss_base *b)
{
	const struct fab_routes *r = b->r;
	const struct fab_fabric *f = r->f;
	uint32_t *n = FAB_NEW0((size_t)r->n_columns + 1, uint32_t);
	struct fab_columns columns;

	for (uint32_t c = 0; r->column_port && c < r->n_columns; c++)
		n[c] = f->node_kind[f->port_node[r->column_port[c]]] == FAB_ADAPTER;
	if (r->column_port)
		return n;
	fab_columns_init(&columns, r);
	for (uint32_t p = 0; p < f->n_ports; p++)
		for (uint32_t i = 0; i < fab_port_n_lids(f, p); i++) {
			uint32_t sw = host_switch(b, p);

			if (sw != FAB_NONE && columns.first[sw] != FAB_NONE)
				n[fab_columns_of(&columns, p, i)]++;
		}
	fab_columns_fini(&columns);
	return n;
}

/* LIDs of hosts by row. */
static void count_lids(struct fab_loss_base *b, uint32_t *root)
{
	const struct fab_routes *r = b->r;
	uint32_t *n = count_by_column(b);

	b->row_lids = FAB_NEW0((size_t)b->n_rows + 1, uint32_t);
	memset(root, 0xff, ((size_t)b->n_rows + 1) * sizeof(*root));
	for (uint32_t c = 0; c < r->n_columns; c++) {
		uint32_t row = r->column_row ? r->column_row[c] : c;

		root[row] = r->column_switch[c];
		b->row_lids[row] += n[c];
		b->n_lids += n[c];
	}
	free(n);
}

/* Rows by the target that they lead to; those of no host are left out. */
static void sort_rows(struct fab_loss_base *b, const uint32_t *root)
{
	uint32_t *number = FAB_NEW((size_t)b->n_switches + 1, uint32_t);

	b->row_first = FAB_NEW0((size_t)b->n_targets + 2, uint32_t);
	b->row = FAB_NEW((size_t)b->n_rows + 1, uint32_t);
	for (uint32_t t = 0; t < b->n_targets; t++)
		number[b->target[t]] = t;
	for (uint32_t row = 0; row < b->n_rows; row++)
		if (b->row_lids[row])
			b->row_first[number[root[row]] + 2]++;
	for (uint32_t t = 2; t < b->n_targets + 1; t++)
		b->row_first[t] += b->row_first[t - 1];
	for (uint32_t row = 0; row < b->n_rows; row++)
		if (b->row_lids[row])
			b->row[b->row_first[number[root[row]] + 1]++] = row;
	free(number);
}

/* Hosts that pass each switch on their path along a row: from far to near. Those that do
 * not arrive pass nobody. */
static void find_flow(const struct fab_loss_base *b, struct fab_walk *walk,
		      uint32_t *flow)
{
	const struct fab_fabric *f = b->r->f;

	memset(flow, 0, b->n_switches * sizeof(*flow));
	for (uint32_t i = 0; i < walk->n_order; i++)
		flow[walk->order[i]] = b->hosts[walk->order[i]];
	for (uint32_t i = walk->n_order; i > 1; i--) {
		uint32_t s = walk->order[i - 1];

		flow[f->arc_peer[f->arc_first[s] + walk->next[s]]] += flow[s];
	}
}

/* The tables by switch, a block at a time: both sides stay near. */
static void turn_tables(struct fab_loss_base *b)
{
	enum { BLOCK = 64 };
	uint32_t n = b->n_switches;

	b->n_trees = b->row_first[b->n_targets];
	b->port = FAB_NEW((size_t)n * b->n_trees + 1, uint16_t);
	for (uint32_t first = 0; first < n; first += BLOCK)
		for (uint32_t i = 0; i < b->n_trees; i++) {
			const uint16_t *next = b->r->next + (size_t)b->row[i] * n;

			for (uint32_t s = first; s < n && s < first + BLOCK; s++)
				b->port[(size_t)s * b->n_trees + i] = next[s];
		}
}

static void add_flows(struct fab_loss_base *b, const uint32_t *root)
{
	const struct fab_fabric *f = b->r->f;
	uint32_t n = b->n_switches, *flow = FAB_NEW((size_t)n + 1, uint32_t);
	struct fab_walk walk;

	fab_walk_init(&walk, f, b->r->faults);
	b->flow = FAB_NEW((size_t)b->n_trees * n + 1, uint32_t);
	b->load = FAB_NEW0(f->arc_first[n] + 1U, uint64_t);
	b->count = FAB_NEW0(f->arc_first[n] + 1U, uint32_t);
	for (uint32_t i = 0; i < b->n_trees; i++) {
		uint32_t row = b->row[i];
		const uint16_t *next = b->r->next + (size_t)row * n;

		fab_walk_all(&walk, next, root[row]);
		find_flow(b, &walk, flow);
		for (uint32_t s = 0; s < n; s++) {
			b->flow[(size_t)s * b->n_trees + i] = flow[s];
			if (next[s] >= FAB_ARC_BROKEN)
				continue;
			b->load[f->arc_first[s] + next[s]] +=
				(uint64_t)flow[s] * b->row_lids[row];
			b->count[f->arc_first[s] + next[s]] += b->row_lids[row];
		}
	}
	free(flow);
	fab_walk_fini(&walk);
}

void fab_loss_base_init(struct fab_loss_base *b, const struct fab_routes *r)
{
	uint32_t *root = FAB_NEW((size_t)r->n_rows + 1, uint32_t);

	*b = (struct fab_loss_base){
		.r = r, .n_switches = r->f->n_switches, .n_rows = r->n_rows};
	count_hosts(b);
	find_leaves(b);
	b->target = FAB_NEW((size_t)b->n_switches + 1, uint32_t);
	for (uint32_t s = 0; s < b->n_switches; s++)
		if (fab_switch_is_live(r->faults, s) && (b->is_leaf[s] || b->hosts[s]))
			b->target[b->n_targets++] = s;
	measure(b);
	count_lids(b, root);
	sort_rows(b, root);
	count_planes(b);
	turn_tables(b);
	add_flows(b, root);
	free(root);
}

void fab_loss_base_fini(struct fab_loss_base *b)
{
	free(b->is_leaf);
	free(b->hosts);
	free(b->target);
	free(b->dist);
	free(b->parents);
	free(b->row_first);
	free(b->row);
	free(b->row_lids);
	free(b->port);
	free(b->flow);
	free(b->load);
	free(b->count);
	free(b->plane_hosts);
	free(b->plane_lids);
	fab_planes_free(b->planes);
}
