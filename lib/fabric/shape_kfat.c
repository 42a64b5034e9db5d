/* SPDX-License-Identifier: BSD-2-Clause */
/* High-dimension fat trees as a shape: nothing is missing. */
#include "fabric/shape_impl.h"

#include "base/mem.h"
#include "fabric/kfat.h"

#include <stdlib.h>
#include <string.h>

enum { LEAVES_MIN = 4 };

static uint32_t n_peers(const struct fab_fabric *f, uint32_t sw)
{
	return f->peer_first[sw + 1] - f->peer_first[sw];
}

/* Four host switches or more, all joined to equally many others: a quick refusal. */
static bool is_even(const struct fab_fabric *f, const uint32_t *hosts)
{
	uint32_t n_leaves = 0, first = FAB_NONE;

	for (uint32_t u = 0; u < f->n_switches; u++) {
		if (!hosts[u])
			continue;
		if (first == FAB_NONE)
			first = u;
		else if (n_peers(f, u) != n_peers(f, first))
			return false;
		n_leaves++;
	}
	return n_leaves >= LEAVES_MIN && n_peers(f, first) >= 2;
}

/* The coordinates of a line are those of any leaf of it. */
static void fill_coords(const struct fab_kfat *k, struct fab_shape *shape)
{
	uint32_t n = k->n_dims, n_switches = k->f->n_switches;
	uint32_t *leaf_of_line = FAB_NEW(k->n_lines, uint32_t);

	for (size_t i = 0; i < (size_t)k->n_leaves * n; i++)
		leaf_of_line[k->line_of[i]] = (uint32_t)(i / n);
	shape->coords = FAB_NEW((size_t)n_switches * n, uint32_t);
	for (uint32_t u = 0; u < n_switches; u++) {
		bool is_leaf = k->leaf_of[u] != FAB_NONE;
		uint32_t line = k->switch_line[u];
		uint32_t leaf = is_leaf ? k->leaf_of[u] : leaf_of_line[line];
		uint32_t *coords = shape->coords + (size_t)u * n;

		memcpy(coords, k->coord + (size_t)leaf * n, n * sizeof(*coords));
		if (!is_leaf)
			coords[k->line_dim[line]] = FAB_NONE;
	}
	free(leaf_of_line);
}

struct fab_shape fab_shape_of_kfat(const struct fab_kfat *k)
{
	struct fab_shape shape = {.kind = FAB_SHAPE_KFAT,
				  .n_switches = k->f->n_switches,
				  .n_levels = k->has_deep_lines ? 3 : 2,
				  .n_dims = k->n_dims,
				  .n_planes = k->n_planes};

	_Static_assert(sizeof(shape.dims) == sizeof(k->dims), "as many dimensions");
	memcpy(shape.dims, k->dims, sizeof(shape.dims));
	return shape;
}

static void fill(const struct fab_kfat *k, struct fab_shape *shape)
{
	uint32_t *queue = FAB_NEW(k->f->n_switches, uint32_t);

	*shape = fab_shape_of_kfat(k);
	fill_coords(k, shape);
	fab_shape_sort_dims(shape);
	memcpy(queue, k->leaf, k->n_leaves * sizeof(*queue));
	shape->level = FAB_NEW(k->f->n_switches, uint8_t);
	shape->n_levels = fab_shape_levels(k->f, queue, k->n_leaves, shape->level);
	shape->n_roots = fab_shape_count_roots(k->f, shape->level);
	free(queue);
}

bool fab_shape_try_kfat(const struct fab_fabric *f, const uint32_t *hosts,
			struct fab_shape *shape)
{
	struct fab_kfat *k;
	struct fab_err ignored;
	bool is_good;

	if (!is_even(f, hosts) || fab_kfat_recognize(f, &k, &ignored))
		return false;
	is_good = fab_kfat_is_whole(k);
	if (is_good)
		fill(k, shape);
	fab_kfat_free(k);
	return is_good;
}
