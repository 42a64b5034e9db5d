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

/* The coordinates of a line are those of any leaf of it; a switch outside all lines has
 * none. */
static void fill_coords(const struct fab_kfat *k, struct fab_shape *shape)
{
	uint32_t n = k->n_dims, n_switches = k->f->n_switches;
	uint32_t *leaf_of_line = FAB_NEW(k->n_lines, uint32_t);

	for (size_t i = 0; i < (size_t)k->n_leaves * n; i++)
		leaf_of_line[k->line_of[i]] = (uint32_t)(i / n);
	shape->coords = FAB_NEW((size_t)n_switches * n, uint32_t);
	for (uint32_t u = 0; u < n_switches; u++) {
		bool is_leaf = k->leaf_of[u] != FAB_NONE;
		uint32_t line = k->switch_line[u], leaf = k->leaf_of[u];
		uint32_t *coords = shape->coords + (size_t)u * n;

		if (!is_leaf && line == FAB_NONE) {
			memset(coords, 0xff, n * sizeof(*coords));
			continue;
		}
		if (!is_leaf)
			leaf = leaf_of_line[line];
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

static bool has_higher_peer(const struct fab_fabric *f, const uint32_t *level, uint32_t s)
{
	for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
		if (level[f->peer[i]] > level[s])
			return true;
	return false;
}

/* Levels are hops to the nearest leaf; roots have nothing above them. */
static void fill_levels(const struct fab_kfat *k, struct fab_shape *shape)
{
	const struct fab_fabric *f = k->f;
	const struct fab_graph g = fab_graph_of_peers(f);
	uint32_t *order = FAB_NEW((size_t)f->n_switches + 1, uint32_t), n;
	uint32_t *level = FAB_NEW((size_t)f->n_switches + 1, uint32_t);

	memcpy(order, k->leaf, k->n_leaves * sizeof(*order));
	n = fab_graph_search(&g, NULL, k->n_leaves, level, order, NULL);
	shape->n_levels = level[order[n - 1]] + 1;
	shape->level = FAB_NEW(f->n_switches, uint8_t);
	shape->is_root = FAB_NEW0(f->n_switches, bool);
	memset(shape->level, FAB_SHAPE_NO_LEVEL, f->n_switches);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i];

		shape->level[s] = (uint8_t)level[s];
		shape->is_root[s] = level[s] && !has_higher_peer(f, level, s);
		shape->n_roots += shape->is_root[s];
	}
	free(order);
	free(level);
}

static void fill(const struct fab_kfat *k, struct fab_shape *shape)
{
	*shape = fab_shape_of_kfat(k);
	fill_coords(k, shape);
	fab_shape_sort_dims(shape);
	fill_levels(k, shape);
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
