/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes of the ways that are not plain. Lane 0 is the last round, where the plain ways
 * are, lane 1 the one before it, and so on.
 */
#include "unicast/vtftr_ib.h"

#include "unicast/channel_order.h"

#include <stdlib.h>
#include <string.h>

enum { LEGS_MAX = 12 };

struct lanes {
	struct vtftr_ib *v;
	const struct fab_kfat *k;
	unsigned n_rounds;
	struct fab_sl_packer *packer;
	struct fab_channel_order *order; /* channel = arc * n_rounds + lane; NULL until
					    there is a left-over */
	/* the way at hand */
	uint32_t n_hops, n_legs;
	struct fab_hop hops[FAB_PATH_MAX];
	uint8_t leg_of[FAB_PATH_MAX]; /* of a hop */
	uint8_t dim[FAB_PATH_MAX];    /* of a leg */
	uint8_t leg_lane[FAB_PATH_MAX];
	uint8_t lane[FAB_PATH_MAX]; /* of a hop */
};

/* The hops from a source, and which legs they make. False: no way. */
static bool read_way(struct lanes *l, uint32_t source, uint32_t column)
{
	const struct fab_kfat *k = l->k;

	l->n_legs = 0;
	l->n_hops = fab_path_hops(l->v->routes, l->v->live.back, source, column, l->hops);
	for (uint32_t i = 0; i < l->n_hops; i++) {
		uint32_t sw = l->hops[i].sw;
		uint32_t line;

		if (k->leaf_of[sw] != FAB_NONE) {
			line = k->switch_line[k->f->arc_peer[k->f->arc_first[sw] +
							     l->hops[i].out]];
			l->dim[l->n_legs++] = line == FAB_NONE ? 0 : k->line_dim[line];
		}
		l->leg_of[i] = (uint8_t)(l->n_legs - 1);
	}
	return l->n_hops > 0;
}

static void spread_lanes(struct lanes *l)
{
	for (uint32_t i = 0; i < l->n_hops; i++)
		l->lane[i] = l->leg_lane[l->leg_of[i]];
}

/* Lanes of the phases, from the destination back. */
static void lanes_of_phases(struct lanes *l)
{
	int n_dims = (int)l->k->n_dims, phi = (int)l->n_rounds * n_dims;

	for (uint32_t leg = l->n_legs; leg-- > 0;) {
		int d = l->dim[leg];

		phi = d + (phi - 1 - d) / n_dims * n_dims;
		l->leg_lane[leg] = (uint8_t)((int)l->n_rounds - 1 - phi / n_dims);
	}
	spread_lanes(l);
}

static uint32_t channel(const struct lanes *l, uint32_t hop)
{
	uint32_t arc = l->k->f->arc_first[l->hops[hop].sw] + l->hops[hop].out;

	return arc * l->n_rounds + l->lane[hop];
}

/* Add the dependencies of the way at hand; on a cycle take the new ones back. */
static bool add_way(struct lanes *l)
{
	uint32_t added[FAB_PATH_MAX], n = 0;

	for (uint32_t i = 1; i < l->n_hops; i++)
		switch (fab_channel_order_add(l->order, channel(l, i - 1), channel(l, i),
					      &added[n])) {
		case FAB_EDGE_NEW:
			n++;
			break;
		case FAB_EDGE_KNOWN:
			break;
		case FAB_EDGE_CYCLE:
			while (n)
				fab_channel_order_drop(l->order, added[--n]);
			return false;
		}
	return true;
}

/* Channels by phase, within a phase up before down: ways in phase order ascend. */
static uint32_t *channel_keys(const struct lanes *l, const struct fab_fabric *f)
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

/* Dependencies of the plain ways of a column, all on lane 0: each switch once. */
static void add_plain(struct lanes *l, uint32_t column, uint32_t *walked)
{
	const struct vtftr_ib *v = l->v;
	const struct fab_fabric *f = l->k->f;
	const uint16_t *next = v->routes->next + (size_t)column * f->n_switches;

	for (uint32_t s = 0; s < v->routes->n_columns; s++) {
		uint32_t sw = v->routes->column_switch[s], in = FAB_NONE, id;

		if (v->way[column] && v->way[column][v->source_leaf[s]] != FAB_WAY_PLAIN)
			continue;
		while (next[sw] < FAB_ARC_BROKEN) {
			uint32_t out = f->arc_first[sw] + next[sw];

			if (in != FAB_NONE)
				fab_channel_order_add(l->order, in * l->n_rounds,
						      out * l->n_rounds, &id);
			if (walked[sw] == column + 1)
				break;
			walked[sw] = column + 1;
			in = out;
			sw = f->arc_peer[out];
		}
	}
}

static void add_phased(struct lanes *l, uint32_t column)
{
	struct vtftr_ib *v = l->v;

	for (uint32_t s = 0; v->way[column] && s < v->routes->n_columns; s++) {
		if (v->way[column][v->source_leaf[s]] != FAB_WAY_PHASED ||
		    !read_way(l, v->routes->column_switch[s], column))
			continue;
		lanes_of_phases(l);
		add_way(l);
	}
}

/* Dependencies of the plain ways, and with `phased` of all in phase order. */
static void begin_order(struct lanes *l, bool phased)
{
	const struct fab_fabric *f = l->k->f;
	uint32_t *key = channel_keys(l, f);
	uint32_t *walked = FAB_NEW0(f->n_switches + 1, uint32_t);

	l->order = fab_channel_order_new(f->arc_first[f->n_switches] * l->n_rounds, key);
	free(key);
	for (uint32_t i = 0; i < l->v->routes->n_columns; i++) {
		add_plain(l, i, walked);
		if (phased)
			add_phased(l, i);
	}
	free(walked);
}

/* The next word of lanes; false after the last one. */
static bool next_word(struct lanes *l)
{
	for (uint32_t leg = l->n_legs; leg-- > 0;) {
		if (++l->leg_lane[leg] < l->n_rounds)
			return true;
		l->leg_lane[leg] = 0;
	}
	return false;
}

/* The first word of lanes that closes no cycle. */
static bool find_word(struct lanes *l)
{
	if (l->n_legs > LEGS_MAX)
		return false;
	memset(l->leg_lane, 0, l->n_legs);
	do {
		spread_lanes(l);
		if (add_way(l))
			return true;
	} while (next_word(l));
	return false;
}

/* The level of a pair, and how many levels and lanes that makes. */
static void note_levels(struct lanes *l, uint32_t s, uint32_t i, unsigned sl)
{
	struct fab_routes *r = l->v->routes;

	r->sl[(size_t)s * r->n_columns + i] = (uint8_t)sl;
	if (sl >= r->n_sls)
		r->n_sls = (uint8_t)(sl + 1);
	for (uint32_t h = 0; h < l->n_hops; h++)
		if (l->lane[h] >= r->n_vls)
			r->n_vls = (uint8_t)(l->lane[h] + 1);
}

static int begin_lanes(struct vtftr_ib *v, unsigned n_rounds, struct lanes **out,
		       struct fab_err *err)
{
	struct lanes *l = FAB_NEW0(1, struct lanes);
	int rc = fab_sl_packer_new(v->routes, &l->packer, err);

	if (rc) {
		free(l);
		return rc;
	}
	l->v = v;
	l->k = v->problem->kfat;
	l->n_rounds = n_rounds;
	v->routes->n_vls = v->routes->n_sls = 1;
	*out = l;
	return 0;
}

/* Hand the tables of lanes over. */
static void end_lanes(struct lanes *l)
{
	struct fab_routes *r = l->v->routes;

	free(r->vl_first);
	free(r->sl2vl);
	fab_sl_packer_finish(l->packer);
	fab_sl_packer_free(l->packer);
	fab_channel_order_free(l->order);
	free(l);
}

static void pack_pair(struct lanes *l, uint32_t s, uint32_t i, bool is_left)
{
	struct vtftr_ib *v = l->v;
	struct fab_routes *r = v->routes;
	unsigned sl = FAB_SL_NONE;

	if (!read_way(l, r->column_switch[s], i))
		return;
	if (!is_left)
		lanes_of_phases(l);
	if (!is_left || find_word(l))
		sl = fab_sl_packer_add(l->packer, l->hops, l->lane, l->n_hops, 1);
	if (sl == FAB_SL_NONE) {
		r->sl[(size_t)s * r->n_columns + i] = FAB_SL_NONE;
		v->is_stuck[i] = true;
		v->n_stuck++;
		return;
	}
	note_levels(l, s, i, sl);
}

static void pack_all(struct lanes *l, enum fab_way way)
{
	struct vtftr_ib *v = l->v;

	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		for (uint32_t s = 0; v->way[i] && s < v->routes->n_columns; s++)
			if (v->way[i][v->source_leaf[s]] == way)
				pack_pair(l, s, i, way == FAB_WAY_LEFT);
}

/* The way at hand with its word of lanes in that service level, if both allow it. */
static bool place_word(struct lanes *l, unsigned sl)
{
	spread_lanes(l);
	if (!fab_sl_packer_fits(l->packer, l->hops, l->lane, l->n_hops, sl) ||
	    !add_way(l))
		return false;
	fab_sl_packer_add(l->packer, l->hops, l->lane, l->n_hops, sl);
	return true;
}

/* The lowest service level with a word that closes no cycle, lane 1 all the way first. */
static unsigned place(struct lanes *l)
{
	if (l->n_legs > LEGS_MAX)
		return FAB_SL_NONE;
	for (unsigned sl = 1; sl < FAB_SLS_MAX; sl++) {
		memset(l->leg_lane, 1, l->n_legs);
		if (place_word(l, sl))
			return sl;
		memset(l->leg_lane, 0, l->n_legs);
		do
			if (place_word(l, sl))
				return sl;
		while (next_word(l));
	}
	return FAB_SL_NONE;
}

static bool place_all(struct lanes *l)
{
	struct vtftr_ib *v = l->v;
	struct fab_routes *r = v->routes;

	for (uint32_t i = 0; i < r->n_columns; i++)
		for (uint32_t s = 0; v->way[i] && s < r->n_columns; s++) {
			uint8_t way = v->way[i][v->source_leaf[s]];
			unsigned sl;

			if ((way != FAB_WAY_PHASED && way != FAB_WAY_LEFT) ||
			    !read_way(l, r->column_switch[s], i))
				continue;
			sl = place(l);
			if (sl == FAB_SL_NONE)
				return false;
			note_levels(l, s, i, sl);
		}
	return true;
}

int vtftr_ib_place(struct vtftr_ib *v, unsigned n_rounds, bool *is_done,
		   struct fab_err *err)
{
	struct lanes *l;
	int rc = begin_lanes(v, n_rounds, &l, err);

	if (rc)
		return rc;
	begin_order(l, false);
	*is_done = place_all(l);
	end_lanes(l);
	return 0;
}

int vtftr_ib_pack(struct vtftr_ib *v, unsigned n_rounds, struct fab_err *err)
{
	struct lanes *l;
	int rc = begin_lanes(v, n_rounds, &l, err);

	if (rc)
		return rc;
	v->n_stuck = 0;
	memset(v->is_stuck, 0, v->routes->n_columns * sizeof(*v->is_stuck));
	pack_all(l, FAB_WAY_PHASED);
	if (v->n_left) {
		begin_order(l, true);
		pack_all(l, FAB_WAY_LEFT);
	}
	end_lanes(l);
	return 0;
}
