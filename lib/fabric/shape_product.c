/* SPDX-License-Identifier: BSD-2-Clause */
/* Tori, meshes and HyperX: which of them the factors of a product make. */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>

/* What a product has: every kind of factor that only one of the shapes can have. */
struct census {
	uint32_t pairs, paths, rings, completes; /* of 2; >= 3; >= 3; >= 4 */
};

static enum fab_shape_kind kind_of(const struct fab_product *grid, struct census *c)
{
	*c = (struct census){0};
	for (uint32_t d = 0; d < grid->n_dims; d++) {
		if (grid->dims[d] == 2)
			c->pairs++;
		else if (grid->factor[d] == FAB_PATH)
			c->paths++;
		else if (grid->factor[d] == FAB_RING || grid->dims[d] == 3)
			c->rings++;
		else
			c->completes++;
	}
	if (c->paths || c->pairs == grid->n_dims) {
		if (c->rings || c->completes)
			return FAB_SHAPE_NONE;
		return c->paths || c->pairs == 1 ? FAB_SHAPE_MESH : FAB_SHAPE_TORUS;
	}
	if (!c->completes)
		return FAB_SHAPE_TORUS;
	for (uint32_t d = 0; d < grid->n_dims; d++)
		if (grid->factor[d] == FAB_RING)
			return FAB_SHAPE_NONE;
	return FAB_SHAPE_HYPERX;
}

/* Two coordinates of 0 and 1 are one of 0 .. 3 round the ring of 4. */
static uint32_t around(uint32_t a, uint32_t b)
{
	return a ? 3 - b : b;
}

/* Copy sizes and coordinates; with `merge`, pairs of dimensions of 2 as one of 4. */
static void take_dims(struct fab_shape *shape, const struct fab_product *grid, bool merge)
{
	uint32_t source[FAB_SHAPE_DIMS_MAX] = {0}, other[FAB_SHAPE_DIMS_MAX] = {0};
	uint32_t open = FAB_NONE;

	for (uint32_t d = 0; d < grid->n_dims; d++) {
		if (merge && grid->dims[d] == 2 && open != FAB_NONE) {
			other[open] = d;
			shape->dims[open] = 4;
			open = FAB_NONE;
			continue;
		}
		if (merge && grid->dims[d] == 2)
			open = shape->n_dims;
		source[shape->n_dims] = d;
		other[shape->n_dims] = FAB_NONE;
		shape->dims[shape->n_dims++] = grid->dims[d];
	}
	shape->coords = FAB_NEW((size_t)shape->n_switches * shape->n_dims, uint32_t);
	for (uint32_t v = 0; v < shape->n_switches; v++)
		for (uint32_t d = 0; d < shape->n_dims; d++) {
			const uint32_t *c = grid->coords + (size_t)v * grid->n_dims;

			shape->coords[(size_t)v * shape->n_dims + d] =
				other[d] == FAB_NONE ? c[source[d]]
						     : around(c[source[d]], c[other[d]]);
		}
	fab_shape_sort_dims(shape);
}

bool fab_shape_try_grid(const struct fab_fabric *f, struct fab_shape *shape)
{
	struct fab_graph g = {f->n_switches, f->peer_first, f->peer};
	enum fab_shape_kind kind;
	struct fab_product grid;
	struct census census;

	if (!fab_shape_factor(&g, &grid))
		return false;
	kind = kind_of(&grid, &census);
	if (kind != FAB_SHAPE_NONE) {
		shape->kind = kind;
		take_dims(shape, &grid, kind == FAB_SHAPE_TORUS);
	}
	free(grid.coords);
	return kind != FAB_SHAPE_NONE;
}
