/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/alternatives.h"

#include <stdlib.h>
#include <string.h>

#include "unicast/destinations.h"
#include "unicast/faults.h"

bool *fab_kfat_low_switches(const struct fab_kfat *k, struct fab_arena *arena)
{
	const struct fab_fabric *f = k->f;
	bool *is_low = FAB_ARENA_NEW0(arena, f->n_switches + 1U, bool);

	for (uint32_t i = 0; i < k->n_leaves; i++)
		for (uint32_t p = f->peer_first[k->leaf[i]];
		     p < f->peer_first[k->leaf[i] + 1]; p++)
			is_low[f->peer[p]] = true;
	return is_low;
}

/* LIDs of the adapter at a port of a switch, 0: none. */
static uint32_t lids_at(const struct fab_fabric *f, uint32_t port)
{
	uint32_t peer = fab_port_peer(f, port);

	if (peer == FAB_NONE || fab_node_is_switch(f, f->port_node[peer]))
		return 0;
	return fab_port_n_lids(f, peer);
}

static uint32_t lids_behind(const struct fab_fabric *f, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++)
		n += lids_at(f, p);
	return n;
}

/* Dimension of the line that an arc of a leaf leads into, FAB_NONE: into none. */
static uint32_t dim_of(const struct fab_kfat *k, uint32_t arc)
{
	uint32_t line = k->switch_line[k->f->arc_peer[arc]];

	return line == FAB_NONE ? FAB_NONE : k->line_dim[line];
}

/* Put an arc of a leaf behind those to lower switches. Returns whether there is one to
 * the same already. */
static bool add_slot(struct fab_alternatives *a, uint32_t first, uint32_t n,
		     uint32_t leaf_first, uint32_t arc)
{
	const struct fab_fabric *f = a->k->f;
	uint16_t *slot = a->slot + first;

	for (; n && f->arc_peer[leaf_first + slot[n - 1]] > f->arc_peer[arc]; n--)
		slot[n] = slot[n - 1];
	slot[n] = (uint16_t)(arc - leaf_first);
	return n && f->arc_peer[leaf_first + slot[n - 1]] == f->arc_peer[arc];
}

/* The slots of all leaves. Returns the most of a leaf in one line. */
static uint32_t list_slots(struct fab_alternatives *a)
{
	const struct fab_kfat *k = a->k;
	const struct fab_fabric *f = k->f;
	uint32_t n = 0, most = 1;

	a->slot_first = FAB_NEW((size_t)k->n_leaves * k->n_dims + 1, uint32_t);
	a->slot = FAB_NEW((size_t)f->arc_first[f->n_switches] + 1, uint16_t);
	for (uint32_t i = 0; i < k->n_leaves * k->n_dims; i++) {
		uint32_t sw = k->leaf[i / k->n_dims], first = n;

		a->slot_first[i] = first;
		for (uint32_t arc = f->arc_first[sw]; arc < f->arc_first[sw + 1]; arc++) {
			if (dim_of(k, arc) != i % k->n_dims)
				continue;
			a->has_parallel |=
				add_slot(a, first, n - first, f->arc_first[sw], arc);
			n++;
		}
		if (n - first > most)
			most = n - first;
	}
	a->slot_first[(size_t)k->n_leaves * k->n_dims] = n;
	return most;
}

void fab_alternatives_init(struct fab_alternatives *a, const struct fab_kfat *k,
			   const struct fab_faults *faults)
{
	uint32_t n_slots, n_lids = 0;

	*a = (struct fab_alternatives){.k = k, .faults = faults, .n_most = 1};
	n_slots = list_slots(a);
	if (n_slots < 2)
		return;
	a->n = FAB_NEW((size_t)k->n_leaves + 1, uint32_t);
	a->first_lid = FAB_NEW((size_t)k->n_leaves + 1, uint32_t);
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t n = lids_behind(k->f, k->leaf[i]);

		a->first_lid[i] = n_lids;
		n_lids += n;
		a->n[i] = n < 1 ? 1 : n < n_slots ? n : n_slots;
		if (a->n[i] > a->n_most)
			a->n_most = a->n[i];
	}
}

void fab_alternatives_fini(struct fab_alternatives *a)
{
	free(a->n);
	free(a->first_lid);
	free(a->slot_first);
	free(a->slot);
}

uint32_t fab_alternatives_turns(const struct fab_fabric *f, uint32_t sw, uint32_t most,
				uint16_t *turn)
{
	uint32_t n = lids_behind(f, sw), at = 0;

	n = n < 1 ? 1 : n < most ? n : most;
	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++) {
		uint32_t n_lids = lids_at(f, p);

		if (n_lids)
			turn[fab_port_peer(f, p)] = (uint16_t)(at % n);
		at += n_lids;
	}
	return n;
}

/* Whose turn it is, LID by LID. */
static void take_turns(const struct fab_alternatives *a, struct fab_routes *r)
{
	const struct fab_fabric *f = a->k->f;

	r->n_alternatives = FAB_NEW0((size_t)f->n_switches + 1, uint16_t);
	r->turn = FAB_NEW0((size_t)f->n_ports + 1, uint16_t);
	for (uint32_t i = 0; i < r->n_leaves; i++) {
		uint32_t sw = r->leaf[i];

		r->n_alternatives[sw] = (uint16_t)fab_alternatives_turns(
			f, sw, a->n[a->k->leaf_of[sw]], r->turn);
	}
}

struct fab_routes *fab_alternatives_routes(const struct fab_alternatives *a)
{
	const struct fab_kfat *k = a->k;
	uint32_t *leaf = FAB_NEW((size_t)k->f->n_switches + 1, uint32_t), n = 0;
	uint32_t n_leaves = fab_destination_switches(k->f, a->faults, k, leaf);
	struct fab_routes *r;

	for (uint32_t i = 0; i < n_leaves; i++)
		n += a->n_most > 1 ? a->n[k->leaf_of[leaf[i]]] : 1;
	r = fab_routes_new(k->f, a->faults, n);
	r->leaf = leaf;
	r->n_leaves = n_leaves;
	n = 0;
	for (uint32_t i = 0; i < n_leaves; i++)
		for (uint32_t j = 0; j < (a->n_most > 1 ? a->n[k->leaf_of[leaf[i]]] : 1);
		     j++)
			r->column_switch[n++] = leaf[i];
	if (a->n_most > 1)
		take_turns(a, r);
	return r;
}

/* How many slots a leaf has in a dimension; *slot: the first. */
static uint32_t slots_of(const struct fab_alternatives *a, uint32_t leaf, uint32_t dim,
			 const uint16_t **slot)
{
	size_t at = (size_t)leaf * a->k->n_dims + dim;

	*slot = a->slot + a->slot_first[at];
	return a->slot_first[at + 1] - a->slot_first[at];
}

/* Their sum: other for each leaf of a line. */
static uint32_t coordinates(const struct fab_kfat *k, uint32_t leaf)
{
	uint32_t sum = 0;

	for (uint32_t d = 0; d < k->n_dims; d++)
		sum += k->coord[(size_t)leaf * k->n_dims + d];
	return sum;
}

uint16_t fab_alternatives_up(const struct fab_alternatives *a, uint32_t leaf,
			     uint32_t dim, uint32_t number, const uint16_t *arc,
			     uint32_t n)
{
	const uint16_t *slot;
	uint32_t n_slots = slots_of(a, leaf, dim, &slot);

	for (uint32_t i = 0; i < n; i++)
		if (arc[i] == slot[number % n_slots])
			return arc[i];
	return arc[(number / n_slots + coordinates(a->k, leaf)) % n];
}

uint16_t fab_alternatives_down(const struct fab_alternatives *a, uint32_t sw,
			       uint32_t leaf, uint32_t number, uint16_t any)
{
	const struct fab_fabric *f = a->k->f;
	const uint16_t *slot;
	uint32_t n_slots, n = 0, first = f->arc_first[a->k->leaf[leaf]], arc;

	if (!a->has_parallel)
		return any;
	n_slots = slots_of(a, leaf, a->k->line_dim[a->k->switch_line[sw]], &slot);
	arc = first + slot[number % n_slots];
	if (f->arc_peer[arc] == sw && fab_arc_is_live(a->faults, arc))
		return f->arc_reverse[arc];
	for (uint32_t i = 0; i < n_slots; i++)
		n += f->arc_peer[first + slot[i]] == sw &&
		     fab_arc_is_live(a->faults, first + slot[i]);
	n = number / n_slots % n;
	for (uint32_t i = 0; i < n_slots; i++)
		if (f->arc_peer[first + slot[i]] == sw &&
		    fab_arc_is_live(a->faults, first + slot[i]) && !n--)
			return f->arc_reverse[first + slot[i]];
	return any;
}

FAB_WIDE static void add_none(const uint8_t *sl, uint32_t n, uint32_t *n_none)
{
	for (uint32_t c = 0; c < n; c++)
		n_none[c] += sl[c] == FAB_SL_NONE;
}

/* Pairs towards each column that have no service level. The caller frees. */
static uint32_t *count_none(const struct fab_routes *r)
{
	uint32_t *n_none = FAB_NEW0((size_t)r->n_columns + 1, uint32_t);

	for (uint32_t s = 0; s < r->n_sl_sources; s++)
		add_none(r->sl + (size_t)s * r->n_columns, r->n_columns, n_none);
	return n_none;
}

static void copy_column(struct fab_routes *r, uint32_t from, uint32_t to)
{
	uint32_t n = r->f->n_switches;

	memcpy(r->next + (size_t)to * n, r->next + (size_t)from * n,
	       n * sizeof(*r->next));
	for (uint32_t s = 0; s < r->n_sl_sources; s++)
		r->sl[(size_t)s * r->n_columns + to] =
			r->sl[(size_t)s * r->n_columns + from];
}

/* The alternative that fewest pairs lack, for all that more lack. Returns how many. */
static uint32_t settle_leaf(struct fab_routes *r, uint32_t first, uint32_t n,
			    const uint32_t *n_none)
{
	uint32_t best = first;

	for (uint32_t c = first + 1; c < first + n; c++)
		if (n_none[c] < n_none[best])
			best = c;
	for (uint32_t c = first; c < first + n; c++)
		if (c != best && n_none[c])
			copy_column(r, best, c);
	return n_none[best];
}

uint64_t fab_alternatives_settle(struct fab_routes *r)
{
	uint64_t n_without = 0;
	uint32_t *n_none;

	if (!r->sl)
		return 0;
	n_none = count_none(r);
	for (uint32_t c = 0, n = 1; c < r->n_columns; c += n) {
		if (r->n_alternatives)
			n = r->n_alternatives[r->column_switch[c]];
		n_without += settle_leaf(r, c, n, n_none);
	}
	free(n_none);
	return n_without;
}
