/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recognisers of the single shapes share. */
#pragma once

#include "fabric/graph.h"
#include "fabric/shape.h"

/* A factor of a Cartesian product. */
enum fab_factor {
	FAB_PATH,     /* of 2 or more */
	FAB_RING,     /* of 5 or more */
	FAB_COMPLETE, /* of 3 or more */
};

/* A Cartesian product and where each vertex lies in it. */
struct fab_product {
	uint32_t n_dims;
	uint32_t dims[FAB_SHAPE_DIMS_MAX];
	enum fab_factor factor[FAB_SHAPE_DIMS_MAX];
	uint32_t *coords; /* [n * n_dims] */
};

/*
 * Is the connected simple graph (peers ascending) a Cartesian product of paths, rings and
 * complete graphs? (A ring of 4 is two paths of 2, a ring of 3 a complete graph.) On
 * success fills *grid; the caller frees grid->coords. O(dimensions * arcs + vertices *
 * degree^2).
 */
bool fab_shape_factor(const struct fab_graph *g, struct fab_product *grid);

/*
 * Each tries one shape and fills `shape` (kind and arrays) when the fabric has it.
 * `hosts` counts the adapters of each switch.
 */
bool fab_shape_try_tree(const struct fab_fabric *f, const uint32_t *hosts,
			struct fab_shape *shape);
bool fab_shape_try_kfat(const struct fab_fabric *f, const uint32_t *hosts,
			struct fab_shape *shape);
bool fab_shape_try_grid(const struct fab_fabric *f, struct fab_shape *shape);
bool fab_shape_try_dragonfly(const struct fab_fabric *f, struct fab_shape *shape);

/* Put the largest dimension first, in dims and in the coordinates of all switches. */
void fab_shape_sort_dims(struct fab_shape *shape);
