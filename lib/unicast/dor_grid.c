/* SPDX-License-Identifier: BSD-2-Clause */
/* The grid of dimension order: which arc leaves a switch along which axis. */
#include <stdlib.h>

#include "base/mem.h"
#include "unicast/dor.h"

static void set_places(struct dor *x)
{
	uint32_t n = x->f->n_switches, n_axes = x->n_axes;

	x->place = FAB_NEW0((size_t)n + 1, uint32_t);
	x->switch_at = FAB_NEW((size_t)n + 1, uint32_t);
	x->coord = FAB_NEW((size_t)n * n_axes + 1, uint32_t);
	for (uint32_t s = 0; s < n; s++) {
		const uint32_t *coord = x->shape->coords + (size_t)s * n_axes;

		for (uint32_t d = 0; d < n_axes; d++)
			x->place[s] += coord[x->axis[d].dim] * x->axis[d].stride;
		x->switch_at[x->place[s]] = s;
		for (uint32_t d = 0; d < n_axes; d++)
			x->coord[(size_t)x->place[s] * n_axes + d] =
				coord[x->axis[d].dim];
	}
}

/* The exit of a switch by which an arc leaves it, FAB_NONE: a cable to itself. */
static uint32_t exit_of(const struct dor *x, uint32_t sw, uint32_t arc)
{
	const uint32_t *from = x->coord + (size_t)x->place[sw] * x->n_axes;
	const uint32_t *to = x->coord + (size_t)x->place[x->f->arc_peer[arc]] * x->n_axes;

	for (uint32_t d = 0; d < x->n_axes; d++) {
		const struct dor_axis *a = &x->axis[d];

		if (from[d] == to[d])
			continue;
		if (a->line == DOR_COMPLETE)
			return a->first_exit + to[d];
		if (a->line == DOR_PATH)
			return a->first_exit + (to[d] < from[d]);
		return a->first_exit + (to[d] != (from[d] + 1) % a->size);
	}
	return FAB_NONE;
}

/* Live arcs by exit. */
static void set_exits(struct dor *x)
{
	const struct fab_fabric *f = x->f;
	size_t n = (size_t)f->n_switches * x->n_exits;
	uint32_t *exit = FAB_NEW((size_t)f->arc_first[f->n_switches] + 1, uint32_t);

	x->exit_first = FAB_NEW0(n + 2, uint32_t);
	x->exit_arc = FAB_NEW((size_t)f->arc_first[f->n_switches] + 1, uint16_t);
	x->n_cables = 1;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
			exit[a] = fab_arc_is_live(x->faults, a) ? exit_of(x, sw, a)
								: FAB_NONE;
			if (exit[a] != FAB_NONE)
				x->exit_first[x->place[sw] * (size_t)x->n_exits +
					      exit[a] + 2]++;
		}
	for (size_t i = 2; i < n + 2; i++) {
		if (x->exit_first[i] > x->n_cables)
			x->n_cables = x->exit_first[i];
		x->exit_first[i] += x->exit_first[i - 1];
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			if (exit[a] != FAB_NONE)
				x->exit_arc[x->exit_first[x->place[sw] *
								  (size_t)x->n_exits +
							  exit[a] + 1]++] =
					(uint16_t)(a - f->arc_first[sw]);
	free(exit);
}

/* The place next up (or down) an axis of a place; on a path the last has none beyond. */
static uint32_t next_place(const struct dor *x, uint32_t place, uint32_t d, bool is_down)
{
	const struct dor_axis *a = &x->axis[d];
	uint32_t at = x->coord[(size_t)place * x->n_axes + d];
	uint32_t to = (at + (is_down ? a->size - 1 : 1)) % a->size;

	return place - at * a->stride + to * a->stride;
}

/* How far one gets from each place in both directions of each axis. */
static void set_runs(struct dor *x)
{
	uint32_t n = x->f->n_switches;

	x->run = FAB_NEW0((size_t)n * x->n_axes * 2 + 1, uint32_t);
	for (uint32_t place = 0; place < n; place++)
		for (uint32_t i = 0; i < x->n_axes * 2; i++) {
			const struct dor_axis *a = &x->axis[i / 2];
			uint32_t at = place, hops = 0;

			if (a->line == DOR_COMPLETE)
				continue;
			while (hops < a->size &&
			       dor_n_live(x, at, a->first_exit + i % 2)) {
				at = next_place(x, at, i / 2, i % 2);
				hops++;
			}
			x->run[(size_t)place * x->n_axes * 2 + i] = hops;
		}
}

/* Is every cable of this axis there, at this place; are there always equally many? */
static bool is_whole_at(const struct dor *x, uint32_t d, uint32_t place, uint32_t *n)
{
	const struct dor_axis *a = &x->axis[d];
	const uint32_t *run = x->run + ((size_t)place * x->n_axes + d) * 2;
	uint32_t at = x->coord[(size_t)place * x->n_axes + d];

	if (a->line == DOR_RING && (run[0] < a->size || run[1] < a->size))
		return false;
	if (a->line == DOR_PATH && (run[0] < a->size - 1 - at || run[1] < at))
		return false;
	for (uint32_t i = 0; i < a->n_exits; i++) {
		uint32_t live = dor_n_live(x, place, a->first_exit + i);

		if (!live && a->line == DOR_COMPLETE && i != at)
			return false;
		if (live && *n && live != *n)
			return false;
		if (live)
			*n = live;
	}
	return true;
}

static bool is_whole(struct dor *x)
{
	uint32_t n_rows = 0;

	for (uint32_t s = 0; s < x->f->n_switches; s++)
		if (!fab_switch_is_live(x->faults, s))
			return false;
	for (uint32_t d = 0; d < x->n_axes; d++) {
		struct dor_axis *a = &x->axis[d];

		a->n_parallel = 0;
		for (uint32_t place = 0; place < x->f->n_switches; place++)
			if (!is_whole_at(x, d, place, &a->n_parallel))
				return false;
		a->first_row = n_rows;
		n_rows += a->n_exits * a->n_parallel;
	}
	x->n_rows = n_rows;
	return true;
}

/* Arcs of exit number i of an axis. */
static void set_row(struct dor *x, uint32_t d, uint32_t i, uint32_t place)
{
	const struct dor_axis *a = &x->axis[d];
	const uint32_t *first =
		x->exit_first + (size_t)place * x->n_exits + a->first_exit + i;
	size_t row = a->first_row + (size_t)i * a->n_parallel;

	for (uint32_t k = 0; k < first[1] - first[0]; k++)
		x->row[(row + k) * x->f->n_switches + place] = x->exit_arc[first[0] + k];
}

/* The same arcs by exit and cable, so that a column takes them in one piece. */
static void set_rows(struct dor *x)
{
	uint32_t n = x->f->n_switches;

	x->is_in_order = true;
	for (uint32_t s = 0; s < n; s++)
		x->is_in_order = x->is_in_order && x->place[s] == s;
	if (!is_whole(x))
		return;
	x->row = FAB_NEW0((size_t)x->n_rows * n + 1, uint16_t);
	for (uint32_t d = 0; d < x->n_axes; d++)
		for (uint32_t i = 0; i < x->axis[d].n_exits; i++)
			for (uint32_t place = 0; place < n; place++)
				set_row(x, d, i, place);
}

void dor_set_grid(struct dor *x)
{
	set_places(x);
	set_exits(x);
	set_runs(x);
	set_rows(x);
}
