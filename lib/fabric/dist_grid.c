/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist_grid.h"

#include "base/macros.h"
#include "base/mem.h"
#include "fabric/shape.h"

#include <stdlib.h>
#include <string.h>

struct fab_dist_grid {
	struct fab_shape *shape;
	uint16_t *at; /* [dimensions * switches] coordinates */
};

struct fab_dist_grid *fab_dist_grid_new(const struct fab_fabric *f)
{
	struct fab_shape *shape = fab_shape_recognize(f);
	struct fab_dist_grid *grid;

	if (shape->kind != FAB_SHAPE_TORUS && shape->kind != FAB_SHAPE_MESH &&
	    shape->kind != FAB_SHAPE_HYPERX) {
		fab_shape_free(shape);
		return NULL;
	}
	grid = FAB_NEW(1, struct fab_dist_grid);
	grid->shape = shape;
	grid->at = FAB_NEW((size_t)shape->n_dims * shape->n_switches, uint16_t);
	for (uint32_t d = 0; d < shape->n_dims; d++)
		for (uint32_t v = 0; v < shape->n_switches; v++)
			grid->at[(size_t)d * shape->n_switches + v] =
				(uint16_t)shape->coords[(size_t)v * shape->n_dims + d];
	return grid;
}

void fab_dist_grid_free(struct fab_dist_grid *grid)
{
	if (grid) {
		fab_shape_free(grid->shape);
		free(grid->at);
	}
	free(grid);
}

/* Hops between two places of a ring, path or complete graph of `size`. */
static uint32_t hops_between(enum fab_shape_kind kind, uint32_t size, uint32_t a,
			     uint32_t b)
{
	uint32_t apart = a < b ? b - a : a - b;

	if (kind == FAB_SHAPE_HYPERX)
		return apart != 0;
	return kind == FAB_SHAPE_TORUS && size - apart < apart ? size - apart : apart;
}

uint32_t fab_dist_grid_diameter(const struct fab_dist_grid *grid)
{
	const struct fab_shape *s = grid->shape;
	uint32_t sum = 0;

	for (uint32_t d = 0; d < s->n_dims; d++)
		sum += hops_between(s->kind, s->dims[d], 0,
				    s->kind == FAB_SHAPE_TORUS ? s->dims[d] / 2
							       : s->dims[d] - 1);
	return sum;
}

/* Add the hops from coordinate `own` to each at[n]: at most `most`, and around the other
 * way where that is less, which are `size` together. */
FAB_WIDE static void add_hops(uint8_t *restrict hops, const uint16_t *restrict at,
			      size_t n, uint16_t own, uint16_t size, uint16_t most)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t apart = at[i] > own ? at[i] - own : own - at[i];
		uint16_t around = (uint16_t)(size - apart);

		apart = apart < around ? apart : around;
		hops[i] = (uint8_t)(hops[i] + (apart < most ? apart : most));
	}
}

void fab_dist_grid_part(const struct fab_dist_grid *grid, uint32_t sw, uint32_t first,
			size_t n, uint8_t *hops)
{
	const struct fab_shape *s = grid->shape;

	memset(hops, 0, n);
	for (uint32_t d = 0; d < s->n_dims; d++) {
		const uint16_t *at = grid->at + (size_t)d * s->n_switches;
		/* a mesh has no path around */
		uint32_t size = s->kind == FAB_SHAPE_MESH ? 2 * s->dims[d] : s->dims[d];

		add_hops(hops, at + first, n, at[sw], (uint16_t)size,
			 s->kind == FAB_SHAPE_HYPERX ? 1 : UINT16_MAX);
	}
}
