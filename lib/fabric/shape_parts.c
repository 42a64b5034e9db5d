/* SPDX-License-Identifier: BSD-2-Clause */
/* What several recognisers of shapes need. */
#include "fabric/shape_impl.h"

#include <string.h>

uint32_t fab_shape_levels(const struct fab_fabric *f, uint32_t *queue, uint32_t n_queue,
			  uint8_t *level)
{
	uint32_t tail = n_queue;

	memset(level, 255, f->n_switches);
	for (uint32_t i = 0; i < n_queue; i++)
		level[queue[i]] = 0;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = queue[head];

		for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++) {
			uint32_t v = f->peer[i];

			if (level[v] != 255)
				continue;
			if (level[u] == 253)
				return 0;
			level[v] = (uint8_t)(level[u] + 1);
			queue[tail++] = v;
		}
	}
	return tail ? level[queue[tail - 1]] + 1u : 0;
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
