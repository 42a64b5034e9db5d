/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which shape a fabric has, seen from the graph of its switches alone: names, GUIDs and
 * the order of the nodes do not count, only which switches are joined and which have
 * hosts. Parallel cables count once, self-loops and aggregation nodes not at all.
 *
 *   kfat       the switches without hosts fall into parts ("lines"), every host switch
 *              is joined to equally many switches (planes) of each of D >= 2 lines, and
 *              the lines are those of a D-dimensional grid of the host switches; parts
 *              without hosts have no level and no coordinates
 *   fattree    levels: a switch's level is its distance from the nearest leaf switch,
 *              and every cable joins two levels that follow each other. Leaves and roots
 *              are those of fabric/ranks.h; at most an eighth of all adapters is on
 *              other switches. The fabric may be in several parts, irregular, and
 *              tapered; parts without hosts have no level.
 *   torus      Cartesian product of rings; two dimensions of 2 are the same graph as one
 *              of 4 and are reported as that
 *   mesh       Cartesian product of paths, one of them longer than 2; or two switches
 *   hyperx     Cartesian product of complete graphs, one of them larger than 3 (a full
 *              mesh of four or more switches is a hyperx of one dimension)
 *   dragonfly  equal groups, at least 3 of at least 3 switches, all switches of a group
 *              joined to each other, every two groups joined by at least one cable.
 *              Groups of 3 or 4 can go unnoticed when global cables make as many
 *              triangles as they do.
 *
 * Where a graph has several of these shapes, the first in this list is reported.
 */
#pragma once

#include "base/mem.h"
#include "fabric/fabric.h"

enum fab_shape_kind {
	FAB_SHAPE_NONE,
	FAB_SHAPE_FATTREE,
	FAB_SHAPE_KFAT,
	FAB_SHAPE_TORUS,
	FAB_SHAPE_MESH,
	FAB_SHAPE_HYPERX,
	FAB_SHAPE_DRAGONFLY,
};

enum { FAB_SHAPE_DIMS_MAX = 24, FAB_SHAPE_LEVELS_MAX = 255, FAB_SHAPE_NO_LEVEL = 255 };

/* A recognised shape; arrays that the kind does not use are NULL. */
struct fab_shape {
	enum fab_shape_kind kind;
	uint32_t n_switches;

	/* fattree, kfat: level of each switch, 0 = leaf, FAB_SHAPE_NO_LEVEL in a part
	 * without hosts [n_switches]; how many levels; which switches are roots
	 * [n_switches], and how many (fabric/ranks.h) */
	uint32_t n_levels;
	uint8_t *level;
	bool *is_root;
	uint32_t n_roots;

	/* kfat: switches, or trees, that join each line side by side */
	uint32_t n_planes;

	/* torus, mesh, hyperx, kfat: sizes, largest first, and the coordinates of each
	 * switch [n_switches * n_dims]. kfat: a switch of a line has FAB_NONE in the
	 * dimension along which the line runs. */
	uint32_t n_dims;
	uint32_t dims[FAB_SHAPE_DIMS_MAX];
	uint32_t *coords;

	/* dragonfly: group of each switch [n_switches], numbered by lowest switch */
	uint32_t n_groups, group_size;
	uint32_t *group;
};

/*
 * Recognise. Never NULL: where there is no shape, kind is FAB_SHAPE_NONE. The caller
 * frees. O(cables * largest degree) but for grids of many dimensions:
 * O(dimensions * cables + switches * degree^2).
 */
struct fab_shape *fab_shape_recognize(const struct fab_fabric *f)
	__attribute__((returns_nonnull, warn_unused_result));
/* Properties of a kfat without its switches: kind, sizes, levels, planes; the arrays
 * are NULL. Parts may be missing. O(switches). */
struct fab_kfat;
struct fab_shape fab_shape_of_kfat(const struct fab_kfat *k);
/* NULL is allowed. O(size). */
void fab_shape_free(struct fab_shape *shape);
FAB_AUTO_POINTER(fab_shape)

/* "fattree", "kfat", "torus", "mesh", "hyperx", "dragonfly"; NULL for FAB_SHAPE_NONE.
 * O(1). */
const char *fab_shape_name(enum fab_shape_kind kind);

/* Switch hops of a whole torus, mesh or hyperx of these sizes; FAB_NONE for the other
 * shapes. O(dimensions). */
uint32_t fab_shape_diameter(const struct fab_shape *shape);

/*
 * In a few words: "fattree levels=3 roots=400", "torus 30x20x20", "kfat 16x16",
 * "kfat 8x8 levels=2 planes=2", "dragonfly groups=163 a=18", "none". At most `size`
 * bytes; returns `out`. O(1).
 */
char *fab_shape_text(const struct fab_shape *shape, char *out, size_t size);
