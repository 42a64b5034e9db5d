/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes of the paths that are not plain. Lane 0 is the last round, where the plain paths
 * are, lane 1 the one before it, and so on.
 */
#include "unicast/vtftr_ib_lanes.h"

#include <stdlib.h>
#include <string.h>

/* In `refused`: more than n_back ever is. */
static const uint32_t FOR_GOOD = FAB_NONE - 1;

bool vtftr_ib_read_path(struct vtftr_ib_lanes *l, uint32_t source, uint32_t column)
{
	const struct fab_kfat *k = l->k;

	l->n_segments = 0;
	l->n_hops = fab_path_hops(l->v->routes, source, column, l->hops);
	for (uint32_t i = 0; i < l->n_hops; i++) {
		uint32_t sw = l->hops[i].sw;
		uint32_t line;

		if (k->leaf_of[sw] != FAB_NONE) {
			line = k->switch_line[k->f->arc_peer[k->f->arc_first[sw] +
							     l->hops[i].out]];
			l->dim[l->n_segments++] =
				line == FAB_NONE ? 0 : k->line_dim[line];
		}
		l->segment_of[i] = (uint8_t)(l->n_segments - 1);
	}
	return l->n_hops > 0;
}

void vtftr_ib_spread_lanes(struct vtftr_ib_lanes *l)
{
	for (uint32_t i = 0; i < l->n_hops; i++)
		l->lane[i] = l->segment_lane[l->segment_of[i]];
}

/* Lanes of the phases, from the destination back. */
void vtftr_ib_lanes_of_phases(struct vtftr_ib_lanes *l)
{
	int n_dims = (int)l->k->n_dims, phi = (int)l->n_rounds * n_dims;

	for (uint32_t segment = l->n_segments; segment-- > 0;) {
		int d = l->dim[segment];

		phi = d + (phi - 1 - d) / n_dims * n_dims;
		l->segment_lane[segment] = (uint8_t)((int)l->n_rounds - 1 - phi / n_dims);
	}
	vtftr_ib_spread_lanes(l);
}

static void drop(struct vtftr_ib_lanes *l, size_t n)
{
	while (l->added.n > n)
		fab_channel_order_drop(l->order, l->added.v[--l->added.n]);
}

void vtftr_ib_keep_paths(struct vtftr_ib_lanes *l)
{
	l->n_kept = l->added.n;
}

void vtftr_ib_drop_paths(struct vtftr_ib_lanes *l)
{
	drop(l, l->n_kept);
	l->n_back++;
}

/* Asked again as long as nothing is taken back, it is refused again. */
static bool is_refused(const struct vtftr_ib_lanes *l, uint64_t key)
{
	uint32_t since = fab_map64_get(l->refused, key);

	return since == FOR_GOOD || since == l->n_back;
}

/* What the paths that are there refuse; not what the path at hand would block. */
static void note_refused(struct vtftr_ib_lanes *l, uint64_t key)
{
	if (l->added.n == l->n_before)
		fab_map64_set(l->refused, key,
			      l->added.n > l->n_kept ? l->n_back : FOR_GOOD);
}

struct channel {
	uint32_t arc, lane;
};

static struct channel channel(const struct vtftr_ib_lanes *l, uint32_t hop)
{
	return (struct channel){l->k->f->arc_first[l->hops[hop].sw] + l->hops[hop].out,
				l->lane[hop]};
}

/* False: it would close a cycle. */
static bool add_dependency(struct vtftr_ib_lanes *l, struct channel a, struct channel b)
{
	const struct fab_fabric *f = l->k->f;
	uint32_t from = a.arc * l->n_rounds + a.lane, to = b.arc * l->n_rounds + b.lane;
	uint32_t slot = l->slot_first[a.arc] + b.arc - f->arc_first[f->arc_peer[a.arc]];
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t id;

	if (fab_channel_order_has(l->order, slot, from, to))
		return true;
	if (is_refused(l, key))
		return false;
	if (fab_channel_order_add(l->order, slot, from, to, &id) == FAB_EDGE_CYCLE) {
		note_refused(l, key);
		return false;
	}
	FAB_PUSH(&l->added, id);
	return true;
}

bool vtftr_ib_add_path(struct vtftr_ib_lanes *l)
{
	l->n_before = l->added.n;
	for (uint32_t i = 1; i < l->n_hops; i++)
		if (!add_dependency(l, channel(l, i - 1), channel(l, i))) {
			drop(l, l->n_before);
			return false;
		}
	return true;
}

/* Channels by phase, within a phase up before down: paths in phase order ascend. */
static uint32_t *channel_keys(const struct vtftr_ib_lanes *l, const struct fab_fabric *f)
{
	const struct fab_kfat *k = l->k;
	uint32_t *key =
		FAB_NEW((size_t)f->arc_first[f->n_switches] * l->n_rounds + 1, uint32_t);
	bool *is_low = FAB_NEW0(f->n_switches + 1, bool);

	for (uint32_t i = 0; i < k->n_leaves; i++)
		for (uint32_t p = f->peer_first[k->leaf[i]];
		     p < f->peer_first[k->leaf[i] + 1]; p++)
			is_low[f->peer[p]] = true;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			bool from_leaf = k->leaf_of[sw] != FAB_NONE;
			bool to_leaf = k->leaf_of[f->arc_peer[a]] != FAB_NONE;
			uint32_t line = k->switch_line[from_leaf ? f->arc_peer[a] : sw];
			uint32_t d = line == FAB_NONE ? 0 : k->line_dim[line];
			uint32_t step = from_leaf ? 0 : to_leaf ? 3 : is_low[sw] ? 1 : 2;

			for (unsigned lane = 0; lane < l->n_rounds; lane++)
				key[a * l->n_rounds + lane] =
					((l->n_rounds - 1 - lane) * k->n_dims + d) * 4 +
					step;
		}
	free(is_low);
	return key;
}

bool vtftr_ib_take_plain(void *lanes, uint32_t from, uint32_t to)
{
	struct vtftr_ib_lanes *l = lanes;

	return add_dependency(l, (struct channel){from, 0}, (struct channel){to, 0});
}

bool vtftr_ib_add_plain(struct vtftr_ib_lanes *l, uint32_t column)
{
	struct vtftr_ib_walk walk = {.v = l->v,
				     .paths = VTFTR_IB_PLAIN,
				     .take = vtftr_ib_take_plain,
				     .context = l,
				     .walked = l->walked,
				     .stamp = l->stamp};
	bool is_added;

	l->n_before = l->added.n;
	is_added = vtftr_ib_walk(&walk, column);

	l->stamp = walk.stamp;
	return is_added;
}

static void add_phased(struct vtftr_ib_lanes *l, uint32_t column)
{
	struct vtftr_ib *v = l->v;

	for (uint32_t i = 0; i < v->others[column].n; i++) {
		uint32_t s = v->others[column].source[i];

		if (v->others[column].kind[i] != FAB_PATH_PHASED ||
		    !vtftr_ib_read_path(l, v->routes->leaf[s], column))
			continue;
		vtftr_ib_lanes_of_phases(l);
		vtftr_ib_add_path(l);
	}
}

static void number_slots(struct vtftr_ib_lanes *l)
{
	const struct fab_fabric *f = l->k->f;
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint32_t n = 0; /* few: tables of lanes have 16 entries for each of them */

	l->slot_first = FAB_NEW((size_t)n_arcs + 1, uint32_t);
	for (uint32_t a = 0; a < n_arcs; a++) {
		uint32_t sw = f->arc_peer[a];

		l->slot_first[a] = n;
		n += f->arc_first[sw + 1] - f->arc_first[sw];
	}
	l->slot_first[n_arcs] = n;
}

void vtftr_ib_begin_order(struct vtftr_ib_lanes *l, const struct fab_phases *phases,
			  bool phased)
{
	const struct fab_fabric *f = l->k->f;
	uint32_t *key = channel_keys(l, f), n_arcs = f->arc_first[f->n_switches];

	number_slots(l);
	l->order =
		fab_channel_order_new(n_arcs * l->n_rounds, key, l->slot_first[n_arcs]);
	free(key);
	vtftr_ib_add_all_plain(l, phases);
	for (uint32_t i = 0; phased && i < l->v->routes->n_columns; i++)
		add_phased(l, i);
}

bool vtftr_ib_next_word(struct vtftr_ib_lanes *l)
{
	for (uint32_t segment = l->n_segments; segment-- > 0;) {
		if (++l->segment_lane[segment] < l->n_rounds)
			return true;
		l->segment_lane[segment] = 0;
	}
	return false;
}

/* The first word of lanes that closes no cycle. */
static bool find_word(struct vtftr_ib_lanes *l)
{
	if (l->n_segments > VTFTR_IB_LEGS_MAX)
		return false;
	memset(l->segment_lane, 0, l->n_segments);
	do {
		vtftr_ib_spread_lanes(l);
		if (vtftr_ib_add_path(l))
			return true;
	} while (vtftr_ib_next_word(l));
	return false;
}

void vtftr_ib_note_levels(struct vtftr_ib_lanes *l, uint32_t s, uint32_t i, unsigned sl)
{
	struct fab_routes *r = l->v->routes;

	r->sl[(size_t)s * r->n_columns + i] = (uint8_t)sl;
	if (sl >= r->n_sls)
		r->n_sls = (uint8_t)(sl + 1);
	for (uint32_t h = 0; h < l->n_hops; h++)
		if (l->lane[h] >= r->n_vls)
			r->n_vls = (uint8_t)(l->lane[h] + 1);
}

int vtftr_ib_begin_lanes(struct vtftr_ib *v, unsigned n_rounds,
			 struct vtftr_ib_lanes **out, struct fab_err *err)
{
	struct vtftr_ib_lanes *l = FAB_NEW0(1, struct vtftr_ib_lanes);
	int rc = fab_sl_packer_new(v->routes, vtftr_ib_levels(v), &l->packer, err);

	if (rc) {
		free(l);
		return rc;
	}
	l->v = v;
	l->k = v->problem->kfat;
	l->n_rounds = n_rounds;
	l->n_kept = SIZE_MAX;
	l->refused = fab_map64_new(1024);
	l->walked = FAB_NEW0(v->routes->f->n_switches + 1, uint32_t);
	v->routes->n_vls = v->routes->n_sls = 1;
	*out = l;
	return 0;
}

void vtftr_ib_end_lanes(struct vtftr_ib_lanes *l)
{
	struct fab_routes *r = l->v->routes;

	free(r->vl_first);
	free(r->sl2vl);
	fab_sl_packer_finish(l->packer);
	fab_sl_packer_free(l->packer);
	fab_channel_order_free(l->order);
	free(l->slot_first);
	free(l->added.v);
	free(l->walked);
	fab_map64_free(l->refused);
	free(l);
}

static void pack_pair(struct vtftr_ib_lanes *l, uint32_t s, uint32_t i, bool is_left)
{
	struct vtftr_ib *v = l->v;
	struct fab_routes *r = v->routes;
	unsigned sl = FAB_SL_NONE;

	if (!vtftr_ib_read_path(l, r->leaf[s], i))
		return;
	if (!is_left)
		vtftr_ib_lanes_of_phases(l);
	if (!is_left || find_word(l))
		sl = fab_sl_packer_add(l->packer, l->hops, l->lane, l->n_hops, 1);
	if (sl == FAB_SL_NONE) {
		r->sl[(size_t)s * r->n_columns + i] = FAB_SL_NONE;
		v->is_stuck[vtftr_ib_leaf(v, i)] = true;
		v->n_stuck++;
		return;
	}
	vtftr_ib_note_levels(l, s, i, sl);
}

static void pack_all(struct vtftr_ib_lanes *l, enum fab_path_kind path)
{
	struct vtftr_ib *v = l->v;

	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		for (uint32_t k = 0; k < v->others[i].n; k++)
			if (v->others[i].kind[k] == path)
				pack_pair(l, v->others[i].source[k], i,
					  path == FAB_PATH_LEFT);
}

int vtftr_ib_pack(struct vtftr_ib *v, const struct fab_phases *phases,
		  struct fab_err *err)
{
	struct vtftr_ib_lanes *l;
	int rc = vtftr_ib_begin_lanes(v, phases->n_rounds, &l, err);

	if (rc)
		return rc;
	v->n_stuck = 0;
	memset(v->is_stuck, 0, l->k->n_leaves * sizeof(*v->is_stuck));
	pack_all(l, FAB_PATH_PHASED);
	if (v->n_left) {
		vtftr_ib_begin_order(l, phases, true);
		pack_all(l, FAB_PATH_LEFT);
	}
	vtftr_ib_end_lanes(l);
	return 0;
}
