/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dimension order: a packet corrects coordinate 0, then 1, and so on. One lane, free of
 * deadlock, also where hosts of a leaf use several planes (unicast/kfat/segments.h); what
 * turns at a dead leaf switch is lost. The base of VTFTR (Liu et al. 2022).
 */
#include "unicast/kfat/segments.h"

#include "base/progress.h"
#include "base/rng.h"
#include "base/threads.h"
#include "unicast/engine.h"
#include "unicast/path.h"
#include "unicast/reliability.h"

#include <stdlib.h>
#include <string.h>

static void plan_xy(const struct fab_segments *segments, uint32_t to,
		    struct fab_segment_plan *plan)
{
	const struct fab_kfat *k = segments->k;

	for (uint32_t line = 0; line < k->n_lines; line++)
		plan->target[line] = fab_segments_leaf(
			segments, line, fab_kfat_coord(k, to, k->line_dim[line]));
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t d = 0;

		while (d < k->n_dims &&
		       fab_kfat_coord(k, leaf, d) == fab_kfat_coord(k, to, d))
			d++;
		plan->dim[leaf] = d < k->n_dims ? (uint8_t)d : FAB_SEGMENT_NONE;
	}
}

const struct fab_unicast_engine fab_unicast_xy = {
	.name = "xy",
	.summary = "dimension order, no tolerance of faults",
	.manual = "Row, then column. One lane; pairs turning at a dead leaf are lost.",
	.needs_kfat = true,
	.treats_planes_alike = true,
	.route = fab_segments_route,
	.plan = plan_xy,
};

/*
 * Algorithm A, the rival in Liu et al. 2022: what would turn at a dead leaf takes
 * one fixed detour, row - column - row - column by the next column and the next row, 4
 * hops more. It answers one fault a column: where the next ones are dead, too, pairs are
 * lost. One lane, and no argument why it should be free of deadlock.
 */

static void plan_a(const struct fab_segments *segments, uint32_t to,
		   struct fab_segment_plan *plan)
{
	const struct fab_kfat *k = segments->k;
	uint32_t xd = fab_kfat_coord(k, to, 0), yd = fab_kfat_coord(k, to, 1);
	uint32_t detour = (xd + 1) % k->dims[0], first_dead = FAB_NONE;

	/* Rows: to the column of the destination, or to the next one where that turn is
	 * dead. */
	for (uint32_t line = 0; line < k->n_lines; line++)
		if (k->line_dim[line] == 0) {
			uint32_t turn = fab_segments_leaf(segments, line, xd);

			plan->target[line] =
				turn != FAB_NONE
					? turn
					: fab_segments_leaf(segments, line, detour);
		}
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++)
		if (fab_kfat_coord(k, leaf, 0) == xd &&
		    !fab_switch_is_live(segments->faults, k->leaf[leaf]) &&
		    fab_kfat_coord(k, leaf, 1) < first_dead)
			first_dead = fab_kfat_coord(k, leaf, 1);
	/* Columns: to the row of the destination; the detour's to the row after the first
	 * dead turn. */
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		const uint32_t *line = k->line_of + (size_t)leaf * 2;
		uint32_t x = fab_kfat_coord(k, leaf, 0);
		bool is_detour = x == detour && first_dead != FAB_NONE;
		/* any leaf of the row knows its y */
		bool turns = fab_kfat_coord(k, leaf, 1) == yd ||
			     fab_segments_leaf(segments, line[0], xd) != FAB_NONE;

		if (line[1] != FAB_NONE)
			plan->target[line[1]] = fab_segments_leaf(
				segments, line[1],
				is_detour ? (first_dead + 1) % k->dims[1] : yd);
		plan->dim[leaf] = x == xd || (!turns && x == detour);
	}
}

const struct fab_unicast_engine fab_unicast_algorithm_a = {
	.name = "algorithm-a",
	.summary = "one fixed detour of 4 hops more",
	.manual =
		"A fixed detour of 4 hops more, by the next column and row. Two dimensions, one lane, no answer to several faults, credit loops.",
	.needs_kfat = true,
	.treats_planes_alike = true,
	.n_dims = 2,
	.route = fab_segments_route,
	.plan = plan_a,
};

/*
 * VTFTR as published (Liu et al. 2022): xy; yx where the turn of xy is dead; where both
 * are, row - column - row through a column without faults, else column - row - column
 * through a row without. A packet changes from lane 0 to lane 1 on the turn from a column
 * to a row. It knows dead leaf switches only: what needs a dead root switch or
 * link is lost; of several switches a line any will do (unicast/kfat/segments.h). Service
 * levels are ours (section 2): InfiniBand has no other means to change the lane in
 * mid-path.
 */

struct turns {
	const struct fab_segments *segments;
	uint32_t *row, *column; /* line by y, by x; FAB_NONE */
	bool *row_is_whole, *column_is_whole;
	/* of the destination at hand: a row's leaf in its column, a column's in its row
	 */
	bool *row_is_sound, *column_is_sound;
};

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

/* A whole line, spread by destination; FAB_NONE: no line is whole. */
static uint32_t pick_whole(const bool *is_whole, uint32_t n, uint32_t to)
{
	uint32_t start = (uint32_t)(fab_mix64(to) % n);

	for (uint32_t i = 0; i < n; i++)
		if (is_whole[(start + i) % n])
			return (start + i) % n;
	return FAB_NONE;
}

/* Returns what plan_leaves() does. */
static bool plan(const struct turns *t, uint32_t to, struct fab_segment_plan *p)
{
	const struct fab_segments *segments = t->segments;
	const struct fab_kfat *k = segments->k;
	uint32_t xd = fab_kfat_coord(k, to, 0), yd = fab_kfat_coord(k, to, 1);
	uint32_t c = pick_whole(t->column_is_whole, k->dims[0], to);
	uint32_t r = pick_whole(t->row_is_whole, k->dims[1], to);
	uint32_t own = k->line_of[(size_t)to * 2 + 1];
	bool any = false;

	for (uint32_t line = 0; line < k->n_lines; line++)
		p->target[line] = FAB_NONE;
	for (uint32_t y = 0; y < k->dims[1]; y++) {
		uint32_t x;

		t->row_is_sound[y] =
			fab_segments_leaf(segments, t->row[y], xd) != FAB_NONE;
		x = y == yd || t->row_is_sound[y] ? xd : c;
		if (t->row[y] != FAB_NONE && x != FAB_NONE)
			p->target[t->row[y]] = fab_segments_leaf(segments, t->row[y], x);
	}
	for (uint32_t x = 0; x < k->dims[0]; x++) {
		uint32_t y;

		t->column_is_sound[x] =
			fab_segments_leaf(segments, t->column[x], yd) != FAB_NONE;
		y = x == xd || t->column_is_sound[x] ? yd : r;
		if (t->column[x] != FAB_NONE && y != FAB_NONE)
			p->target[t->column[x]] =
				fab_segments_leaf(segments, t->column[x], y);
	}
	/* By row where the turn of xy is sound or both are dead and a column is whole,
	 * else by column. Returns whether a leaf goes by a column that is not the
	 * destination's. */
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t x = fab_kfat_coord(k, leaf, 0), y = fab_kfat_coord(k, leaf, 1);
		bool by_row = y == yd ||
			      (x != xd && (t->row_is_sound[y] ||
					   (!t->column_is_sound[x] && c != FAB_NONE)));

		any |= !by_row && k->line_of[(size_t)leaf * 2 + 1] != own;
		p->dim[leaf] = !by_row;
	}
	return any;
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

/* A circular path counts as one that turns. */
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

/* May a leaf's path turn from a column to a row? */
static bool may_turn(const struct filling *fill, uint32_t leaf)
{
	uint8_t dim = fill->plan.dim[leaf];
	const struct fab_kfat *k = fill->t->segments->k;
	uint32_t line =
		dim == FAB_SEGMENT_NONE ? FAB_NONE : k->line_of[(size_t)leaf * 2 + dim];

	return line != FAB_NONE && fill->turning[line] == TURNS;
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
		struct fab_hop hops[FAB_PATH_MAX];
		uint8_t lanes[FAB_PATH_MAX];
		uint32_t own;
		bool any = false;

		fill.others_by_column = plan(t, to, &fill.plan);
		fab_segments_fill(t->segments, &fill.plan, to,
				  fab_routes_alternative(r, i),
				  r->next + (size_t)i * k->f->n_switches);
		/* Levels of the pairs of a column: without the turn level 0, lane 0; the
		 * others are packed from level 1 on, where leaves take such lines. */
		own = k->line_of[(size_t)to * 2 + 1];
		memset(fill.turning, 0, k->n_lines * sizeof(*fill.turning));
		for (uint32_t line = 0; line < k->n_lines; line++) {
			bool is_taken = fill.others_by_column || k->line_dim[line] == 0 ||
					line == own;

			any = (turning_of(&fill, line, to) == TURNS && is_taken) || any;
		}
		if (!any)
			continue;
		for (uint32_t s = 0; s < r->n_sl_sources; s++) {
			uint32_t sw = r->sl_source[s], n;
			unsigned sl;

			if (!may_turn(&fill, k->leaf_of[sw]))
				continue;
			n = fab_path_hops(r, sw, i, hops);
			if (!set_lanes(k, hops, n, lanes))
				continue;
			sl = fab_sl_packer_add(fill.packer, hops, lanes, n, 1);
			r->sl[(size_t)s * r->n_columns + i] = (uint8_t)sl;
			if (sl != FAB_SL_NONE && sl >= r->n_sls)
				r->n_sls = (uint8_t)(sl + 1);
			r->n_vls = 2;
		}
	}
	free(fill.turning);
	fab_segment_plan_fini(&fill.plan);
	if (r->n_vls > 1)
		fab_sl_packer_finish(fill.packer);
	fab_sl_packer_free(fill.packer);
	return 0;
}

static int route_vtftr(const struct fab_unicast_engine *self,
		       const struct fab_unicast_problem *problem, struct fab_routes **out,
		       struct fab_err *err)
{
	const struct fab_kfat *k = problem->kfat;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct fab_segments segments;
	struct turns t;
	struct fab_routes *r;
	int rc;

	(void)self;
	fab_segments_init(&segments, k, problem->faults);
	t.segments = &segments;
	t.row = fab_arena_none(&arena, k->dims[1] + 1);
	t.column = fab_arena_none(&arena, k->dims[0] + 1);
	t.row_is_whole = FAB_ARENA_NEW0(&arena, k->dims[1] + 1, bool);
	t.column_is_whole = FAB_ARENA_NEW0(&arena, k->dims[0] + 1, bool);
	t.row_is_sound = FAB_ARENA_NEW0(&arena, k->dims[1] + 1, bool);
	t.column_is_sound = FAB_ARENA_NEW0(&arena, k->dims[0] + 1, bool);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		const uint32_t *line = k->line_of + (size_t)leaf * 2;

		if (line[0] != FAB_NONE)
			t.row[fab_kfat_coord(k, leaf, 1)] = line[0];
		if (line[1] != FAB_NONE)
			t.column[fab_kfat_coord(k, leaf, 0)] = line[1];
	}
	for (uint32_t y = 0; y < k->dims[1]; y++)
		t.row_is_whole[y] = is_whole(&segments, t.row[y], k->dims[0]);
	for (uint32_t x = 0; x < k->dims[0]; x++)
		t.column_is_whole[x] = is_whole(&segments, t.column[x], k->dims[1]);
	r = fab_alternatives_routes(&segments.alternatives);
	rc = fill_all(&t, r, err);
	if (!rc)
		fab_alternatives_settle(r);
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
	.manual =
		"As published: column first where the row's turn is dead; where both are, by a column or row without faults. Two lanes, changed on turns from column to row. Two dimensions, dead leaf switches only.",
	.needs_kfat = true,
	.treats_planes_alike = true,
	.n_dims = 2,
	.route = route_vtftr,
};

enum { LAST_PHASE = FAB_LOCAL_PHASE_LAST, LEGS_MAX = 4 };

/* A packet in flight. Phase 0 and 2 are rows, 1 and 3 columns, on lanes 0 and 1. */
struct packet {
	const struct fab_segments *segments;
	const bool *is_clean; /* [lines] no leaf is known to be dead; NULL: search */
	uint32_t to;
	uint32_t dead[FAB_LOCAL_REROUTE_BURST_MAX], n_dead; /* unknown to the tables */
	uint32_t met[FAB_LOCAL_REROUTE_BURST_MAX], n_met;
};

static bool is_in(const uint32_t *set, uint32_t n, uint32_t leaf)
{
	for (uint32_t i = 0; i < n; i++)
		if (set[i] == leaf)
			return true;
	return false;
}

static uint32_t next_leaf(const struct packet *p, uint32_t line, uint32_t from, int phase,
			  unsigned n_segments);

/* Can the packet at a leaf, come by `phase`, arrive in n_segments, by the known faults?
 */
static bool can_go(const struct packet *p, uint32_t leaf, int phase, unsigned n_segments)
{
	const struct fab_kfat *k = p->segments->k;

	if (leaf == p->to)
		return true;
	for (int dim = 0; dim < 2 && n_segments; dim++) {
		int next = fab_local_phase(phase, dim);
		uint32_t line = k->line_of[(size_t)leaf * 2 + (uint32_t)dim];

		if (next > LAST_PHASE || line == FAB_NONE)
			continue;
		if (fab_kfat_coord(k, leaf, (uint32_t)!dim) ==
			    fab_kfat_coord(k, p->to, (uint32_t)!dim) &&
		    fab_segments_has(p->segments, line, leaf, p->to))
			return true;
		if (n_segments > 1 &&
		    next_leaf(p, line, leaf, next, n_segments - 1) != FAB_NONE)
			return true;
	}
	return false;
}

/* The first leaf of a line that the packet from leaf `from` can take by `phase`, and go
 * on from in n_segments; FAB_NONE. */
static uint32_t next_leaf(const struct packet *p, uint32_t line, uint32_t from, int phase,
			  unsigned n_segments)
{
	for (uint32_t c = 0; c < p->segments->k->dims[phase & 1]; c++) {
		uint32_t by = fab_segments_leaf(p->segments, line, c);

		if (by != FAB_NONE && by != from && !is_in(p->met, p->n_met, by) &&
		    fab_segments_has(p->segments, line, from, by) &&
		    can_go(p, by, phase, n_segments))
			return by;
	}
	return FAB_NONE;
}

/*
 * The packet is in a line, come from leaf `from` by `phase`: the leaf to go on by, with
 * the fewest segments; FAB_NONE: stuck.
 */
static uint32_t leave_line(const struct packet *p, uint32_t line, uint32_t from,
			   int phase)
{
	uint32_t by = FAB_NONE;

	for (unsigned n = 0; n < LEGS_MAX && by == FAB_NONE; n++)
		by = next_leaf(p, line, from, phase, n);
	return by;
}

/* The line and phase that the packet at a leaf takes next, with the fewest segments. */
static bool choose_line(const struct packet *p, uint32_t leaf, int phase, uint32_t *line,
			int *next)
{
	for (unsigned n_segments = 0; n_segments < LEGS_MAX; n_segments++)
		for (int dim = 0; dim < 2; dim++) {
			*line = p->segments->k->line_of[(size_t)leaf * 2 + (uint32_t)dim];
			*next = fab_local_phase(phase, dim);
			if (*line != FAB_NONE && *next <= LAST_PHASE &&
			    next_leaf(p, *line, leaf, *next, n_segments) != FAB_NONE)
				return true;
		}
	return false;
}

/* From the first dead leaf it meets to the end: segments, FAB_NONE when it gets stuck. */
static uint32_t reroute(struct packet *p, uint32_t line, uint32_t from, uint32_t meets,
			int phase)
{
	uint32_t n_segments = 0;

	p->met[0] = meets;
	p->n_met = 1;
	for (;;) {
		uint32_t by = leave_line(p, line, from, phase);

		if (by == FAB_NONE)
			return FAB_NONE;
		if (is_in(p->dead, p->n_dead, by)) {
			p->met[p->n_met++] = by;
			continue;
		}
		n_segments++;
		if (by == p->to)
			return n_segments;
		from = by;
		if (!choose_line(p, from, phase, &line, &phase))
			return FAB_NONE;
	}
}

/* [lines] lines of which all leaves are there and alive. The caller frees. */
static bool *find_clean(const struct fab_kfat *k, const struct fab_faults *known)
{
	bool *is_clean = FAB_NEW(k->n_lines + 1, bool);
	FAB_AUTOFREE uint32_t *n = FAB_NEW0(k->n_lines + 1, uint32_t);

	for (uint32_t i = 0; i < k->n_leaves * k->n_dims; i++)
		if (k->line_of[i] != FAB_NONE &&
		    fab_switch_is_live(known, k->leaf[i / k->n_dims]))
			n[k->line_of[i]]++;
	for (uint32_t line = 0; line < k->n_lines; line++)
		is_clean[line] = n[line] == k->dims[k->line_dim[line]];
	return is_clean;
}

/* Is a leaf in the list of a line's entry towards the leaf at `coord`? */
static bool is_listed(const struct fab_kfat *k, const bool *is_clean, uint32_t line,
		      uint32_t coord, uint32_t leaf)
{
	uint32_t dim = k->line_dim[line], across;

	if (leaf == FAB_NONE || fab_kfat_coord(k, leaf, dim) == coord)
		return false;
	across = k->line_of[(size_t)leaf * 2 + !dim];
	return across != FAB_NONE && is_clean[across];
}

uint32_t fab_local_reroute_list(const struct fab_kfat *k, const struct fab_faults *known,
				uint32_t line, uint32_t coord, uint32_t *leaf)
{
	FAB_AUTOFREE bool *is_clean = find_clean(k, known);
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n_leaves; i++)
		if (k->line_of[(size_t)i * k->n_dims + k->line_dim[line]] == line &&
		    is_listed(k, is_clean, line, coord, i))
			leaf[n++] = i;
	return n;
}

/* The first leaf in the list of a line's entry towards a coordinate that is not known to
 * be dead by now; FAB_NONE: none. */
static uint32_t first_listed(const struct packet *p, uint32_t line, uint32_t coord)
{
	const struct fab_kfat *k = p->segments->k;

	for (uint32_t c = 0; c < k->dims[k->line_dim[line]]; c++) {
		uint32_t by = fab_segments_leaf(p->segments, line, c);

		if (is_listed(k, p->is_clean, line, coord, by) &&
		    !is_in(p->dead, p->n_dead, by))
			return by;
	}
	return FAB_NONE;
}

/*
 * The line's switch finds the leaf `dead` dead: it hands the packet to the first leaf in
 * the list of its entry; from there it goes by the other dimension first, and then
 * straight. Segments, FAB_NONE: a list is empty, or a segment more than the lanes allow.
 */
static uint32_t reroute_by_lists(const struct packet *p, uint32_t line, uint32_t dead,
				 int phase)
{
	const struct fab_kfat *k = p->segments->k;
	uint32_t n_segments = 0;

	for (;;) {
		uint32_t dim = k->line_dim[line], next;
		uint32_t to = first_listed(p, line, fab_kfat_coord(k, dead, dim));

		for (dead = FAB_NONE; dead == FAB_NONE;) {
			if (to == FAB_NONE)
				return FAB_NONE;
			n_segments++;
			if (to == p->to)
				return n_segments;
			dim = !dim;
			line = k->line_of[(size_t)to * 2 + dim];
			phase = fab_local_phase(phase, (int)dim);
			if (phase > LAST_PHASE)
				return FAB_NONE;
			next = fab_segments_leaf(p->segments, line,
						 fab_kfat_coord(k, p->to, dim));
			if (next != FAB_NONE && is_in(p->dead, p->n_dead, next))
				dead = next;
			to = next;
		}
	}
}

/* The pair of leaf[0] and leaf[n], whose path turns at leaf[i], dead with the others. */
static void meet(const struct fab_kfat *k, struct packet *p, const uint32_t *leaf,
		 uint32_t n, uint32_t i, struct fab_local_reroute *sum)
{
	int phase = -1;
	uint32_t line = FAB_NONE, segments;

	for (uint32_t segment = 0; segment < i; segment++) {
		int dim = fab_kfat_coord(k, leaf[segment], 0) ==
			  fab_kfat_coord(k, leaf[segment + 1], 0);

		phase = fab_local_phase(phase, dim);
		line = k->line_of[(size_t)leaf[segment] * 2 + (uint32_t)dim];
	}
	p->to = leaf[n];
	sum->cases++;
	segments = p->is_clean ? reroute_by_lists(p, line, leaf[i], phase)
			       : reroute(p, line, leaf[i - 1], leaf[i], phase);
	if (segments == FAB_NONE)
		sum->stuck++;
	else
		sum->segments_more += segments + i - 1 > n ? segments + i - 1 - n : 0;
}

static void run(const struct fab_kfat *k, const struct fab_faults *faults,
		const struct fab_segments *segments, const struct fab_routes *r,
		const bool *is_clean, unsigned burst, int n_threads,
		struct fab_local_reroute *out)
{
	uint64_t cases = 0, stuck = 0, more = 0;
	/* alternatives go through the same leaves */
	FAB_AUTOFREE uint32_t *column = NULL;
	uint32_t n = fab_routes_leaf_columns(r, &column);

	n_threads = fab_threads_for(n_threads, (uint64_t)n * n * 32);
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 8)        \
	reduction(+ : cases, stuck, more)
	for (uint32_t i = 0; i < n; i++) {
		struct packet p = {.segments = segments, .is_clean = is_clean};
		struct fab_local_reroute sum = {0};
		uint32_t leaf[LEGS_MAX + 1];

		fab_progress_report("local reroute", "destinations", i, n);
		for (uint32_t s = 0; s < n; s++) {
			uint32_t n_segments;
			uint32_t source = r->column_switch[column[s]];
			struct fab_path path = fab_path_from(r, source, column[i]);
			uint32_t m = 0;

			/* The leaves on the path of the tables, source first; returns the
			 * number of segments. */
			leaf[0] = k->leaf_of[source];
			while (fab_path_step(&path))
				if (k->leaf_of[path.at] != FAB_NONE && m < LEGS_MAX)
					leaf[++m] = k->leaf_of[path.at];
			n_segments = fab_path_end(&path) == FAB_PATH_ARRIVES ? m : 0;
			/* All bursts that the path of a pair meets. */
			for (uint32_t e = 1; e < n_segments; e++) {
				p.dead[0] = leaf[e];
				p.n_dead = 1;
				if (burst == 1) {
					meet(k, &p, leaf, n_segments, e, &sum);
					continue;
				}
				p.n_dead = 2;
				for (uint32_t other = 0; other < k->n_leaves; other++) {
					uint32_t at = 1;

					if (!fab_switch_is_live(faults, k->leaf[other]) ||
					    other == leaf[e] || other == leaf[0] ||
					    other == leaf[n_segments])
						continue;
					while (at < e && leaf[at] != other)
						at++;
					if (at < e)
						continue; /* it is met there, and counted
							     there */
					p.dead[1] = other;
					meet(k, &p, leaf, n_segments, e, &sum);
				}
			}
		}
		cases += sum.cases;
		stuck += sum.stuck;
		more += sum.segments_more;
	}
	fab_threads_rest(n_threads);
	*out = (struct fab_local_reroute){(burst == 1 ? n : n * (n - 1) / 2), cases,
					  stuck, more};
}

static const char *const method_names[] = {[FAB_REROUTE_LISTS] = "lists",
					   [FAB_REROUTE_SEARCH] = "search",
					   [FAB_REROUTE_METHODS] = "both"};
const struct fab_choices fab_reroute_choices = {
	.what = "method", .n = FAB_COUNT(method_names), .names = method_names};

int fab_local_reroute_all(const struct fab_kfat *k, const struct fab_faults *known,
			  enum fab_reroute_method method, unsigned burst, int n_threads,
			  struct fab_local_reroute *out, struct fab_err *err)
{
	const struct fab_unicast_problem problem = {.f = k->f,
						    .faults = known,
						    .kfat = k,
						    .max_vls = 2,
						    .n_threads = n_threads};
	struct fab_segments segments;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;
	FAB_AUTOFREE bool *is_clean = NULL;
	int rc = fab_unicast_route(&fab_unicast_vtftr, &problem, &r, err);

	if (rc)
		return rc;
	fab_segments_init(&segments, k, known);
	is_clean = method == FAB_REROUTE_LISTS ? find_clean(k, known) : NULL;
	run(k, known, &segments, r, is_clean, burst, n_threads, out);
	fab_segments_fini(&segments);
	return 0;
}

struct fab_local_steps {
	struct fab_segments segments;
	bool *is_clean; /* of lists; NULL: search */
};

struct fab_local_steps *fab_local_steps_new(const struct fab_kfat *k,
					    const struct fab_faults *known,
					    enum fab_reroute_method method)
{
	struct fab_local_steps *s;

	if (!k || k->n_dims != 2 || k->has_deep_lines)
		return NULL;
	s = FAB_NEW0(1, struct fab_local_steps);
	fab_segments_init(&s->segments, k, known);
	s->is_clean = method == FAB_REROUTE_LISTS ? find_clean(k, known) : NULL;
	return s;
}

void fab_local_steps_free(struct fab_local_steps *s)
{
	if (!s)
		return;
	fab_segments_fini(&s->segments);
	FAB_FREE_ALL(s->is_clean, s);
}

static struct packet packet_of(const struct fab_local_steps *s,
			       const struct fab_local_packet *packet)
{
	struct packet p = {.segments = &s->segments,
			   .is_clean = s->is_clean,
			   .to = packet->to,
			   .n_dead = packet->n_met,
			   .n_met = packet->n_met};

	memcpy(p.dead, packet->met, packet->n_met * sizeof(*p.dead));
	memcpy(p.met, packet->met, packet->n_met * sizeof(*p.met));
	return p;
}

uint32_t fab_local_steps_line(const struct fab_local_steps *s,
			      const struct fab_local_packet *packet, uint32_t line,
			      uint32_t from, int phase)
{
	const struct packet p = packet_of(s, packet);
	uint32_t coord, straight;

	if (!s->is_clean)
		return leave_line(&p, line, from, phase);
	coord = fab_kfat_coord(s->segments.k, p.to, s->segments.k->line_dim[line]);
	straight = fab_segments_leaf(&s->segments, line, coord);
	return straight != FAB_NONE && !is_in(p.dead, p.n_dead, straight)
		       ? straight
		       : first_listed(&p, line, coord);
}

uint32_t fab_local_steps_leaf(const struct fab_local_steps *s,
			      const struct fab_local_packet *packet, uint32_t leaf,
			      int phase)
{
	const struct packet p = packet_of(s, packet);
	uint32_t line;
	int next;

	if (s->is_clean)
		return s->segments.k->line_of[(size_t)leaf * 2 + !(phase & 1)];
	return choose_line(&p, leaf, phase, &line, &next) ? line : FAB_NONE;
}
