/* SPDX-License-Identifier: BSD-2-Clause */
/* What several recognisers of shapes need. */
#include "fabric/shape_impl.h"

#include <string.h>

void fab_shape_sort_dims(struct fab_shape *shape)
{
	uint32_t n = shape->n_dims, order[FAB_SHAPE_DIMS_MAX], old[FAB_SHAPE_DIMS_MAX];

	for (uint32_t d = 0; d < n; d++) {
		uint32_t at = d;

		for (; at && shape->dims[order[at - 1]] < shape->dims[d]; at--)
			order[at] = order[at - 1];
		order[at] = d;
	}
	memcpy(old, shape->dims, n * sizeof(*old));
	for (uint32_t d = 0; d < n; d++)
		shape->dims[d] = old[order[d]];
	for (uint32_t v = 0; v < shape->n_switches; v++) {
		uint32_t *coords = shape->coords + (size_t)v * n;

		memcpy(old, coords, n * sizeof(*old));
		for (uint32_t d = 0; d < n; d++)
			coords[d] = old[order[d]];
	}
}
