/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/dist_grid.h"

#include "base/mem.h"
#include "fabric/shape.h"

#include <stdlib.h>

struct fab_dist_grid {
	struct fab_shape *shape;
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
	return grid;
}

void fab_dist_grid_free(struct fab_dist_grid *grid)
{
	if (grid)
		fab_shape_free(grid->shape);
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

void fab_dist_grid_row(const struct fab_dist_grid *grid, uint32_t sw, uint8_t *row)
{
	const struct fab_shape *s = grid->shape;
	const uint32_t *own = s->coords + (size_t)sw * s->n_dims;
	uint32_t n_places = 0, first[FAB_SHAPE_DIMS_MAX];
	uint8_t *hops;

	for (uint32_t d = 0; d < s->n_dims; d++) {
		first[d] = n_places;
		n_places += s->dims[d];
	}
	hops = FAB_NEW(n_places, uint8_t);
	for (uint32_t d = 0; d < s->n_dims; d++)
		for (uint32_t at = 0; at < s->dims[d]; at++)
			hops[first[d] + at] =
				(uint8_t)hops_between(s->kind, s->dims[d], own[d], at);
	for (uint32_t v = 0; v < s->n_switches; v++) {
		const uint32_t *at = s->coords + (size_t)v * s->n_dims;
		unsigned sum = 0;

		for (uint32_t d = 0; d < s->n_dims; d++)
			sum += hops[first[d] + at[d]];
		row[v] = (uint8_t)sum;
	}
	free(hops);
}
