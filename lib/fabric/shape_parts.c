/* SPDX-License-Identifier: BSD-2-Clause */
/* What several recognisers of shapes need. */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

uint32_t fab_shape_levels(const struct fab_fabric *f, uint32_t *queue, uint32_t n_queue,
			  uint8_t *level)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	uint32_t *dist = FAB_NEW((size_t)f->n_switches + 1, uint32_t), n_levels = 0;
	uint32_t n = fab_graph_search(&g, NULL, n_queue, dist, queue, NULL);

	if (n)
		n_levels = dist[queue[n - 1]] + 1;
	for (uint32_t u = 0; u < f->n_switches; u++)
		level[u] = dist[u] < 255 ? (uint8_t)dist[u] : 255;
	free(dist);
	return n_levels <= 254 ? n_levels : 0;
}

uint32_t fab_shape_count_roots(const struct fab_fabric *f, const uint8_t *level)
{
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->n_switches; u++) {
		uint32_t i = f->peer_first[u];

		while (i < f->peer_first[u + 1] && level[f->peer[i]] <= level[u])
			i++;
		n += i == f->peer_first[u + 1];
	}
	return n;
}

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
