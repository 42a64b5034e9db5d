/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two service levels and three lanes for two dimensions, whatever is dead, as long as no
 * path turns more than once from the second dimension (columns) back into the first
 * (rows) or goes through two switches of a line one after the other; paths of at most
 * three segments do not.
 *
 * A path that turns from column a along a row to column b has service level 1 if b > a,
 * else 0, as all paths without such a turn. A packet's lane is its service level, but on
 * the cable from a leaf switch to the switch of its row:
 *
 *                             from an adapter   from a column
 *     service level 0                0                2
 *     service level 1                0                1
 *
 * That is a function of service level, in-port and out-port, so SL2VL tables say it.
 *
 * No cycle: nothing leads to a channel on which packets are injected into a row. Of the
 * others, those on lanes 0 and 2 are used by level 0 only, those on lane 1 by level 1
 * only, so that a cycle has channels of one level. Within a row and within a column the
 * channels of a path go up, then down, so that a cycle must turn from a column into a
 * row. There it goes over a channel of lane 2 (1), which only packets that come from a
 * column use, and each of them leaves the row at a lower (higher) column; from there the
 * cycle stays in that column until it turns again. So the columns at which it turns only
 * descend (ascend), and it never closes. That takes lines of one level of switches: in a
 * deeper line a packet that turned shares channels with injected ones behind its first
 * switch, where its lane cannot be told from theirs, and cycles were seen. Which of
 * several switches of a row or column the channels are at, plane by plane, does not
 * matter to any of this.
 *
 * Where a row is whole, two levels and two lanes do: every pair whose direct paths are
 * dead can go along its column to that row, along the row, and along the column of the
 * destination, all on lane 1. A column there leads from other leaves to one of that row
 * or from one of that row to others, and nothing goes on from a path's last segment: no
 * cycle. Columns likewise. The engine finds its lanes without this construction.
 *
 * Whether two levels and two lanes always suffice together is open. For the 153 sets of
 * dead leaves of 4x3 and 4x4, up to symmetry, that touch every row and column and leave
 * two leaves or more, and for six of 5x5, a SAT solver found tables of shortest paths: no
 * counterexample, and no proof. Checked with this engine: 10 000 random sets each of 29
 * dead leaves of 16x16, 12 of 8x8, 7 of 5x5 and 5 of 4x4 that touch every row and column:
 * no cycle and all paths shortest, with two levels, and with two lanes.
 */
#include "unicast/vtftr_ib_lanes.h"

#include <stdlib.h>

enum { ROWS, COLUMNS, LANE_TURN_DOWN = 2, LANE_TURN_UP = 1, N_LANES = 3, N_LEVELS = 2 };

/* Column of the leaf switch before a hop. */
static uint32_t column_at(const struct vtftr_ib_lanes *l, uint32_t hop)
{
	const struct fab_kfat *k = l->k;

	return k->coord[(size_t)k->leaf_of[l->hops[hop].sw] * k->n_dims + ROWS];
}

/* Column to which the path at hand goes after its last hop of a segment. */
static uint32_t column_after(const struct vtftr_ib_lanes *l, uint32_t segment)
{
	const struct fab_kfat *k = l->k;
	uint32_t last = l->n_hops - 1, leaf;

	while (l->segment_of[last] > segment)
		last--;
	leaf = k->f->arc_peer[k->f->arc_first[l->hops[last].sw] + l->hops[last].out];
	return k->coord[(size_t)k->leaf_of[leaf] * k->n_dims + ROWS];
}

/* The level of the path at hand; FAB_SL_NONE: it turns into a row more than once, or
 * changes switches of one line at a leaf. */
static unsigned level_of(const struct vtftr_ib_lanes *l)
{
	uint32_t n_turns = 0;
	unsigned sl = 0;

	for (uint32_t i = 1, segment = 0; i < l->n_hops; i++) {
		if (l->segment_of[i] == segment)
			continue;
		segment = l->segment_of[i];
		if (l->dim[segment - 1] == l->dim[segment])
			return FAB_SL_NONE;
		if (l->dim[segment] != ROWS)
			continue;
		n_turns++;
		sl = column_after(l, segment) > column_at(l, i);
	}
	return n_turns > 1 ? FAB_SL_NONE : sl;
}

/* Levels of all pairs; false: one of them has none. */
static bool note_pairs(struct vtftr_ib_lanes *l)
{
	struct vtftr_ib *v = l->v;
	struct fab_routes *r = v->routes;

	for (uint32_t i = 0; i < r->n_columns; i++)
		for (uint32_t k = 0; k < v->others[i].n; k++) {
			uint32_t s = v->others[i].source[k];
			unsigned sl;

			if (!vtftr_ib_read_path(l, r->leaf[s], i))
				continue;
			sl = level_of(l);
			if (sl == FAB_SL_NONE)
				return false;
			r->sl[(size_t)s * r->n_columns + i] = (uint8_t)sl;
		}
	return true;
}

/* Does an arc join a leaf switch and its row? */
static bool is_of_row(const struct fab_kfat *k, uint32_t arc)
{
	uint32_t line = k->switch_line[k->f->arc_peer[arc]];

	return line != FAB_NONE && k->line_dim[line] == ROWS;
}

static uint8_t lane_of(const struct fab_kfat *k, uint32_t sw, uint32_t in, uint32_t out,
		       unsigned sl)
{
	uint32_t first = k->f->arc_first[sw], d = k->f->arc_first[sw + 1] - first;

	if (k->leaf_of[sw] == FAB_NONE || out == d || !is_of_row(k, first + out))
		return (uint8_t)sl;
	if (in == d || is_of_row(k, first + in))
		return 0;
	return sl ? LANE_TURN_UP : LANE_TURN_DOWN;
}

/* SL2VL tables: of levels that no pair has, too. */
static void fill_tables(struct fab_sl_packer *packer, const struct fab_kfat *k)
{
	const struct fab_fabric *f = k->f;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint16_t d = (uint16_t)(f->arc_first[sw + 1] - f->arc_first[sw]);

		for (uint16_t in = 0; in <= d; in++)
			for (uint16_t out = 0; out < d; out++)
				for (unsigned sl = 0; sl < N_LEVELS; sl++) {
					const struct fab_hop hop = {sw, in, out};

					fab_sl_packer_set(packer, &hop, sl,
							  lane_of(k, sw, in, out, sl));
				}
	}
}

int vtftr_ib_order_turns(struct vtftr_ib *v, bool *is_done, struct fab_err *err)
{
	struct vtftr_ib_lanes *l;
	int rc;

	*is_done = false;
	if (v->problem->kfat->n_dims != 2 || v->problem->kfat->has_deep_lines ||
	    v->problem->max_vls < N_LANES || vtftr_ib_levels(v) < N_LEVELS)
		return 0;
	rc = vtftr_ib_begin_lanes(v, N_LANES, &l, err);
	if (rc)
		return rc;
	*is_done = note_pairs(l);
	if (*is_done) {
		fill_tables(l->packer, l->k);
		v->routes->n_vls = N_LANES;
		v->routes->n_sls = N_LEVELS;
	}
	vtftr_ib_end_lanes(l);
	return 0;
}
