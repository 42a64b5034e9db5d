/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VTFTR as published (Liu et al. 2022): xy; yx where the turn of xy is dead; where both
 * are, row - column - row through a column without faults, else column - row - column
 * through a row without. A packet changes from lane 0 to lane 1 on the turn from a column
 * to a row. It knows dead leaf switches only: what needs a dead root switch or
 * link is lost; of several switches a line any will do (unicast/alternatives.h). Service
 * levels are ours (section 2): InfiniBand has no other means to change the lane in
 * mid-path.
 */
#include "unicast/segments.h"
#include "unicast/service_levels.h"

#include "base/rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct turns {
	const struct fab_segments *segments;
	uint32_t *row, *column; /* line by y, by x; FAB_NONE */
	bool *row_is_whole, *column_is_whole;
	/* of the destination at hand: a row's leaf in its column, a column's in its row
	 */
	bool *row_is_sound, *column_is_sound;
};

static uint32_t x_of(const struct fab_kfat *k, uint32_t leaf)
{
	return k->coord[(size_t)leaf * 2];
}

static uint32_t y_of(const struct fab_kfat *k, uint32_t leaf)
{
	return k->coord[(size_t)leaf * 2 + 1];
}

/* All leaves of the line are there, alive, and reach each other along it. */
static bool is_whole(const struct fab_segments *segments, uint32_t line, uint32_t n)
{
	uint32_t first = fab_segments_leaf(segments, line, 0);

	if (first == FAB_NONE)
		return false;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t leaf = fab_segments_leaf(segments, line, i);

		if (leaf == FAB_NONE || !fab_segments_has(segments, line, leaf, first) ||
		    !fab_segments_has(segments, line, first, leaf))
			return false;
	}
	return true;
}

static void find_turns(struct turns *t, const struct fab_segments *segments)
{
	const struct fab_kfat *k = segments->k;

	t->segments = segments;
	t->row = FAB_NEW(k->dims[1] + 1, uint32_t);
	t->column = FAB_NEW(k->dims[0] + 1, uint32_t);
	t->row_is_whole = FAB_NEW0(k->dims[1] + 1, bool);
	t->column_is_whole = FAB_NEW0(k->dims[0] + 1, bool);
	t->row_is_sound = FAB_NEW0(k->dims[1] + 1, bool);
	t->column_is_sound = FAB_NEW0(k->dims[0] + 1, bool);
	for (uint32_t y = 0; y < k->dims[1]; y++)
		t->row[y] = FAB_NONE;
	for (uint32_t x = 0; x < k->dims[0]; x++)
		t->column[x] = FAB_NONE;
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		const uint32_t *line = k->line_of + (size_t)leaf * 2;

		if (line[0] != FAB_NONE)
			t->row[y_of(k, leaf)] = line[0];
		if (line[1] != FAB_NONE)
			t->column[x_of(k, leaf)] = line[1];
	}
	for (uint32_t y = 0; y < k->dims[1]; y++)
		t->row_is_whole[y] = is_whole(segments, t->row[y], k->dims[0]);
	for (uint32_t x = 0; x < k->dims[0]; x++)
		t->column_is_whole[x] = is_whole(segments, t->column[x], k->dims[1]);
}

static void free_turns(struct turns *t)
{
	free(t->row);
	free(t->column);
	free(t->row_is_whole);
	free(t->column_is_whole);
	free(t->row_is_sound);
	free(t->column_is_sound);
}

/* One that is whole, other for each destination; FAB_NONE: there is none. */
static uint32_t pick_whole(const bool *is_whole, uint32_t n, uint32_t to)
{
	uint32_t start = (uint32_t)(fab_mix64(to) % n);

	for (uint32_t i = 0; i < n; i++)
		if (is_whole[(start + i) % n])
			return (start + i) % n;
	return FAB_NONE;
}

/* Is the leaf at (line, coordinate) there and joined to it? */
static bool is_sound(const struct turns *t, uint32_t line, uint32_t coord)
{
	uint32_t leaf = fab_segments_leaf(t->segments, line, coord);

	return leaf != FAB_NONE;
}

/*
 * By row where the turn of xy is sound or both are dead and a column is whole, else by
 * column. Returns whether a leaf goes by a column that is not the destination's.
 */
static bool plan_leaves(const struct turns *t, uint32_t to, bool has_whole, uint8_t *dim)
{
	const struct fab_kfat *k = t->segments->k;
	uint32_t xd = x_of(k, to), yd = y_of(k, to), own = k->line_of[(size_t)to * 2 + 1];
	bool any = false;

	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t x = x_of(k, leaf), y = y_of(k, leaf);
		bool is_beside = x != xd;
		bool by_row =
			y == yd || (is_beside && (t->row_is_sound[y] ||
						  (!t->column_is_sound[x] && has_whole)));

		any |= !by_row && k->line_of[(size_t)leaf * 2 + 1] != own;
		dim[leaf] = !by_row;
	}
	return any;
}

/* Returns what plan_leaves() does. */
static bool plan(const struct turns *t, uint32_t to, struct fab_segment_plan *p)
{
	const struct fab_segments *segments = t->segments;
	const struct fab_kfat *k = segments->k;
	uint32_t xd = x_of(k, to), yd = y_of(k, to);
	uint32_t c = pick_whole(t->column_is_whole, k->dims[0], to);
	uint32_t r = pick_whole(t->row_is_whole, k->dims[1], to);

	for (uint32_t line = 0; line < k->n_lines; line++)
		p->target[line] = FAB_NONE;
	for (uint32_t y = 0; y < k->dims[1]; y++) {
		uint32_t x;

		t->row_is_sound[y] = is_sound(t, t->row[y], xd);
		x = y == yd || t->row_is_sound[y] ? xd : c;
		if (t->row[y] != FAB_NONE && x != FAB_NONE)
			p->target[t->row[y]] = fab_segments_leaf(segments, t->row[y], x);
	}
	for (uint32_t x = 0; x < k->dims[0]; x++) {
		uint32_t y;

		t->column_is_sound[x] = is_sound(t, t->column[x], yd);
		y = x == xd || t->column_is_sound[x] ? yd : r;
		if (t->column[x] != FAB_NONE && y != FAB_NONE)
			p->target[t->column[x]] =
				fab_segments_leaf(segments, t->column[x], y);
	}
	return plan_leaves(t, to, c != FAB_NONE, p->dim);
}

/* Lane of each hop: 1 from the first turn from a column to a row on. */
static bool set_lanes(const struct fab_kfat *k, const struct fab_hop *hops, uint32_t n,
		      uint8_t *lanes)
{
	uint8_t lane = 0;
	uint32_t last = FAB_NONE;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t arc = k->f->arc_first[hops[i].sw] + hops[i].out;
		uint32_t line = k->switch_line[k->leaf_of[hops[i].sw] != FAB_NONE
						       ? k->f->arc_peer[arc]
						       : hops[i].sw];
		uint32_t dim = k->line_dim[line];

		if (last == 1 && dim == 0)
			lane = 1;
		lanes[i] = lane;
		last = dim;
	}
	return lane;
}

/* Does what a line sends to its target turn from a column to a row later on? */
enum turning { UNKNOWN, STRAIGHT, TURNS };

/* The tables of one destination, and what they ask of the lanes. */
struct filling {
	const struct turns *t;
	struct fab_routes *r;
	struct fab_segment_plan plan;
	bool others_by_column; /* as plan() says */
	enum turning *turning; /* [n_lines] */
	struct fab_sl_packer *packer;
};

/* A path that goes in a circle is taken for one that turns: whoever follows it sees. */
static enum turning turning_of(struct filling *fill, uint32_t line, uint32_t to)
{
	const struct fab_kfat *k = fill->t->segments->k;
	uint32_t target = fill->plan.target[line], next;
	uint8_t dim;

	if (fill->turning[line] != UNKNOWN)
		return fill->turning[line];
	fill->turning[line] = TURNS;
	dim = target == FAB_NONE || target == to ? FAB_SEGMENT_NONE
						 : fill->plan.dim[target];
	next = dim == FAB_SEGMENT_NONE ? FAB_NONE : k->line_of[(size_t)target * 2 + dim];
	if (next == FAB_NONE)
		return fill->turning[line] = STRAIGHT;
	if (k->line_dim[line] == 1 && dim == 0)
		return TURNS;
	return fill->turning[line] = turning_of(fill, next, to);
}

/* Is there a line that leaves take and whose paths turn? */
static bool find_turning(struct filling *fill, uint32_t to)
{
	const struct fab_kfat *k = fill->t->segments->k;
	uint32_t own = k->line_of[(size_t)to * 2 + 1];
	bool any = false;

	memset(fill->turning, 0, k->n_lines * sizeof(*fill->turning));
	for (uint32_t line = 0; line < k->n_lines; line++) {
		bool is_taken =
			fill->others_by_column || k->line_dim[line] == 0 || line == own;

		any = (turning_of(fill, line, to) == TURNS && is_taken) || any;
	}
	return any;
}

/* May a leaf's path turn from a column to a row? */
static bool may_turn(const struct filling *fill, uint32_t leaf)
{
	uint8_t dim = fill->plan.dim[leaf];
	uint32_t line;

	if (dim == FAB_SEGMENT_NONE)
		return false;
	line = fill->t->segments->k->line_of[(size_t)leaf * 2 + dim];
	return line != FAB_NONE && fill->turning[line] == TURNS;
}

/* Levels of the pairs of a column: without the turn level 0, lane 0; the others are
 * packed from level 1 on. */
static void pack(struct filling *fill, uint32_t column)
{
	const struct fab_kfat *k = fill->t->segments->k;
	struct fab_routes *r = fill->r;
	struct fab_hop hops[FAB_PATH_MAX];
	uint8_t lanes[FAB_PATH_MAX];

	if (!find_turning(fill, k->leaf_of[r->column_switch[column]]))
		return;
	for (uint32_t s = 0; s < r->n_sl_sources; s++) {
		uint32_t sw = r->sl_source[s], n;
		unsigned sl;

		if (!may_turn(fill, k->leaf_of[sw]))
			continue;
		n = fab_path_hops(r, sw, column, hops);
		if (!set_lanes(k, hops, n, lanes))
			continue;
		sl = fab_sl_packer_add(fill->packer, hops, lanes, n, 1);
		r->sl[(size_t)s * r->n_columns + column] = (uint8_t)sl;
		if (sl != FAB_SL_NONE && sl >= r->n_sls)
			r->n_sls = (uint8_t)(sl + 1);
		r->n_vls = 2;
	}
}

static int fill_all(const struct turns *t, struct fab_routes *r, struct fab_err *err)
{
	const struct fab_kfat *k = t->segments->k;
	struct filling fill = {.t = t, .r = r};
	int rc = fab_sl_packer_new(r, FAB_SLS_MAX, &fill.packer, err);

	if (rc)
		return rc;
	fab_routes_new_levels(r);
	fab_segment_plan_init(&fill.plan, k);
	fill.turning = FAB_NEW(k->n_lines + 1, enum turning);
	for (uint32_t i = 0; i < r->n_columns; i++) {
		uint32_t to = k->leaf_of[r->column_switch[i]];

		fill.others_by_column = plan(t, to, &fill.plan);
		fab_segments_fill(t->segments, &fill.plan, to,
				  fab_routes_alternative(r, i),
				  r->next + (size_t)i * k->f->n_switches);
		pack(&fill, i);
	}
	free(fill.turning);
	fab_segment_plan_fini(&fill.plan);
	if (r->n_vls > 1)
		fab_sl_packer_finish(fill.packer);
	fab_sl_packer_free(fill.packer);
	return 0;
}

static int route_vtftr(const struct fab_unicast_problem *problem, struct fab_routes **out,
		       struct fab_err *err)
{
	const struct fab_kfat *k = problem->kfat;
	struct fab_segments segments;
	struct turns t;
	struct fab_routes *r;
	int rc = fab_unicast_fits(&fab_unicast_vtftr, problem, err);

	if (rc)
		return rc;
	fab_segments_init(&segments, k, problem->faults);
	find_turns(&t, &segments);
	r = fab_alternatives_routes(&segments.alternatives);
	rc = fill_all(&t, r, err);
	if (!rc)
		fab_alternatives_settle(r);
	free_turns(&t);
	fab_segments_fini(&segments);
	if (rc)
		fab_routes_free(r);
	else
		*out = r;
	return rc;
}

const struct fab_unicast_engine fab_unicast_vtftr = {
	.name = "vtftr",
	.summary = "as published: detours through rows or columns without faults",
	.manual = "As published: column first where the row's turn is dead; where "
		  "both are, a detour through a column or row without any fault. "
		  "Two lanes, changed on the turn from a column to a row. Two "
		  "dimensions; it knows dead leaf switches only.",
	.needs_kfat = true,
	.n_dims = 2,
	.route = route_vtftr,
};
