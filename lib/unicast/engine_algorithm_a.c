/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Algorithm A, the rival in Liu et al. 2022: what would turn at a dead leaf takes
 * one fixed detour, row - column - row - column by the next column and the next row, 4
 * hops more. It answers one fault a column: where the next ones are dead, too, pairs are
 * lost. One lane, and no argument why it should be free of deadlock.
 */
#include "unicast/segments.h"

#include <errno.h>

static uint32_t x_of(const struct fab_kfat *k, uint32_t leaf)
{
	return k->coord[(size_t)leaf * 2];
}

static uint32_t y_of(const struct fab_kfat *k, uint32_t leaf)
{
	return k->coord[(size_t)leaf * 2 + 1];
}

/* The leaf of row `line` in column x: any leaf of the row knows its y. */
static bool can_turn(const struct fab_segments *segments, uint32_t row, uint32_t x)
{
	return fab_segments_leaf(segments, row, x) != FAB_NONE;
}

/* Rows: to the column of the destination, or to the next one where that turn is dead. */
static void plan_rows(const struct fab_segments *segments, uint32_t to,
		      struct fab_segment_plan *plan)
{
	const struct fab_kfat *k = segments->k;
	uint32_t x = x_of(k, to), detour = (x + 1) % k->dims[0];

	for (uint32_t line = 0; line < k->n_lines; line++)
		if (k->line_dim[line] == 0)
			plan->target[line] = fab_segments_leaf(
				segments, line, can_turn(segments, line, x) ? x : detour);
}

/* Columns: to the row of the destination; the detour's to the row after the first dead
 * turn. */
static void plan_columns(const struct fab_segments *segments, uint32_t to,
			 struct fab_segment_plan *plan)
{
	const struct fab_kfat *k = segments->k;
	uint32_t x = x_of(k, to), detour = (x + 1) % k->dims[0], first_dead = FAB_NONE;

	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++)
		if (x_of(k, leaf) == x &&
		    !fab_switch_is_live(segments->faults, k->leaf[leaf]) &&
		    y_of(k, leaf) < first_dead)
			first_dead = y_of(k, leaf);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t line = k->line_of[(size_t)leaf * 2 + 1], y = y_of(k, to);

		if (line == FAB_NONE)
			continue;
		if (x_of(k, leaf) == detour && first_dead != FAB_NONE)
			y = (first_dead + 1) % k->dims[1];
		plan->target[line] = fab_segments_leaf(segments, line, y);
	}
}

static void plan_a(const struct fab_segments *segments, uint32_t to,
		   struct fab_segment_plan *plan)
{
	const struct fab_kfat *k = segments->k;
	uint32_t x = x_of(k, to), detour = (x + 1) % k->dims[0];

	plan_rows(segments, to, plan);
	plan_columns(segments, to, plan);
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t row = k->line_of[(size_t)leaf * 2];
		bool turns = y_of(k, leaf) == y_of(k, to) ||
			     (row != FAB_NONE && can_turn(segments, row, x));

		plan->dim[leaf] = 0;
		if (x_of(k, leaf) == x || (!turns && x_of(k, leaf) == detour))
			plan->dim[leaf] = 1;
	}
}

static int route_a(const struct fab_unicast_problem *problem, struct fab_routes **out,
		   struct fab_err *err)
{
	int rc = fab_unicast_fits(&fab_unicast_algorithm_a, problem, err);

	if (rc)
		return rc;
	*out = fab_segments_route(problem, plan_a);
	return 0;
}

const struct fab_unicast_engine fab_unicast_algorithm_a = {
	.name = "algorithm-a",
	.summary = "one fixed detour of 4 hops more",
	.manual = "One fixed detour of 4 hops more, by the next column and the "
		  "next row. One lane, no answer to several faults, and credit "
		  "loops. Two dimensions.",
	.needs_kfat = true,
	.n_dims = 2,
	.route = route_a,
};
