/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/shape.h"

#include "base/mem.h"
#include "fabric/shape_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Adapters, not aggregation nodes, on each switch. */
static uint32_t *count_hosts(const struct fab_fabric *f)
{
	uint32_t *hosts = FAB_NEW0(f->n_switches, uint32_t);

	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			hosts[f->port_node[f->cable_a[c]]]++;
	return hosts;
}

struct fab_shape *fab_shape_recognize(const struct fab_fabric *f)
{
	struct fab_shape *shape = FAB_NEW0(1, struct fab_shape);
	uint32_t *hosts = count_hosts(f);

	shape->n_switches = f->n_switches;
	if (!fab_shape_try_kfat(f, hosts, shape) &&
	    !fab_shape_try_tree(f, hosts, shape) && !fab_shape_try_grid(f, shape))
		fab_shape_try_dragonfly(f, shape);
	free(hosts);
	return shape;
}

void fab_shape_free(struct fab_shape *shape)
{
	if (!shape)
		return;
	free(shape->level);
	free(shape->coords);
	free(shape->group);
	free(shape);
}

const char *fab_shape_name(enum fab_shape_kind kind)
{
	static const char *const names[] = {
		[FAB_SHAPE_NONE] = NULL,
		[FAB_SHAPE_FATTREE] = "fattree",
		[FAB_SHAPE_KFAT] = "kfat",
		[FAB_SHAPE_TORUS] = "torus",
		[FAB_SHAPE_MESH] = "mesh",
		[FAB_SHAPE_HYPERX] = "hyperx",
		[FAB_SHAPE_DRAGONFLY] = "dragonfly",
	};

	return names[kind];
}

/* Append formatted text as far as there is room. */
static void append(char *out, size_t size, const char *format, ...) FAB_PRINTF(3, 4);
static void append(char *out, size_t size, const char *format, ...)
{
	size_t at = strlen(out);
	va_list ap;

	va_start(ap, format);
	vsnprintf(out + at, size - at, format, ap);
	va_end(ap);
}

char *fab_shape_text(const struct fab_shape *shape, char *out, size_t size)
{
	const char *name = fab_shape_name(shape->kind);

	if (!size)
		return out;
	out[0] = '\0';
	append(out, size, "%s", name ? name : "none");
	if (shape->kind == FAB_SHAPE_FATTREE)
		append(out, size, " levels=%" PRIu32 " roots=%" PRIu32, shape->n_levels,
		       shape->n_roots);
	for (uint32_t d = 0; d < shape->n_dims; d++)
		append(out, size, "%s%" PRIu32, d ? "x" : " ", shape->dims[d]);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_levels > 2)
		append(out, size, " levels=%" PRIu32, shape->n_levels - 1);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_planes > 1)
		append(out, size, " planes=%" PRIu32, shape->n_planes);
	if (shape->kind == FAB_SHAPE_DRAGONFLY)
		append(out, size, " groups=%" PRIu32 " a=%" PRIu32, shape->n_groups,
		       shape->group_size);
	return out;
}
