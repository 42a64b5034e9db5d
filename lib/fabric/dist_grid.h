/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hops between switches of a whole torus, mesh or HyperX, from their coordinates: what a
 * product of rings, paths or complete graphs has is the sum over its dimensions.
 */
#pragma once

#include "fabric/fabric.h"

struct fab_dist_grid;

/* NULL: the fabric has no such shape (fabric/shape.h). The caller frees. As long as
 * fab_shape_recognize(). */
struct fab_dist_grid *fab_dist_grid_new(const struct fab_fabric *f);
/* NULL is allowed. O(1). */
void fab_dist_grid_free(struct fab_dist_grid *grid);

/* The largest number of hops between two switches. O(dimensions). */
uint32_t fab_dist_grid_diameter(const struct fab_dist_grid *grid);
/* hops[n]: from a switch to the switches first .. first + n - 1, which are less than 256.
 * O(n * dimensions), many side by side. */
void fab_dist_grid_part(const struct fab_dist_grid *grid, uint32_t sw, uint32_t first,
			size_t n, uint8_t *hops);
