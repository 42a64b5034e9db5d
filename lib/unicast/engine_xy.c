/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dimension order: a packet corrects coordinate 0, then 1, and so on. One lane, free of
 * deadlock, also where hosts of a leaf use several planes (unicast/alternatives.h); what
 * turns at a dead leaf switch is lost. The base of VTFTR (Liu et al. 2022).
 */
#include "unicast/segments.h"

#include <stdlib.h>

static uint32_t coord(const struct fab_kfat *k, uint32_t leaf, uint32_t d)
{
	return k->coord[(size_t)leaf * k->n_dims + d];
}

static void plan_xy(const struct fab_segments *segments, uint32_t to,
		    struct fab_segment_plan *plan)
{
	const struct fab_kfat *k = segments->k;

	for (uint32_t line = 0; line < k->n_lines; line++)
		plan->target[line] = fab_segments_leaf(segments, line,
						       coord(k, to, k->line_dim[line]));
	for (uint32_t leaf = 0; leaf < k->n_leaves; leaf++) {
		uint32_t d = 0;

		while (d < k->n_dims && coord(k, leaf, d) == coord(k, to, d))
			d++;
		plan->dim[leaf] = d < k->n_dims ? (uint8_t)d : FAB_SEGMENT_NONE;
	}
}

static int route_xy(const struct fab_unicast_problem *problem, struct fab_routes **out,
		    struct fab_err *err)
{
	(void)err;
	*out = fab_segments_route(problem, plan_xy);
	return 0;
}

const struct fab_unicast_engine fab_unicast_xy = {
	.name = "xy",
	.summary = "dimension order, no tolerance of faults",
	.manual = "Dimension order: row, then column. One lane; a pair that would "
		  "turn at a dead leaf is lost.",
	.needs_kfat = true,
	.route = route_xy,
};
