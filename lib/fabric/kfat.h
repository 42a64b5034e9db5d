/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * High-dimension fat trees (kfats): leaf switches on a grid, every line of the grid along
 * every dimension joined by a root switch or by a tree of switches, or by several side by
 * side (planes). Recognised by the graph alone, also with parts missing.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "fabric/fabric.h"

enum { FAB_KFAT_DIMS_MAX = 24 };

/* A kfat with its coordinates, dead parts included. */
struct fab_kfat {
	const struct fab_fabric *f;
	struct fab_arena arena; /* of the arrays */
	uint32_t n_dims, dims[FAB_KFAT_DIMS_MAX];
	uint32_t n_leaves;
	uint32_t *leaf;	       /* [n_leaves] switch ids, ascending */
	uint32_t *leaf_of;     /* [n_switches] index in leaf, FAB_NONE for others */
	uint32_t *coord;       /* [n_leaves * n_dims] */
	uint32_t n_lines;      /* lines of all dimensions */
	uint32_t *line_of;     /* [n_leaves * n_dims] line of a leaf in a dimension */
	uint8_t *line_dim;     /* [n_lines] */
	uint32_t *switch_line; /* [n_switches] line a root switch belongs to, FAB_NONE
				  leaf */
	uint32_t n_planes;   /* root switches that join a leaf in each dimension, most */
	bool has_deep_lines; /* lines of more than one level of switches */
};

/*
 * Leaf switches are those with hosts; where that makes no kfat, or leaves more points of
 * the grid empty, those that may have lost theirs, too. Adapters that --hca left out
 * count. The caller frees *out; the fabric is borrowed. EINVAL: no kfat, a line
 * that names the first contradiction. O(cables * dims).
 */
int fab_kfat_recognize(const struct fab_fabric *f, struct fab_kfat **out,
		       struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. O(size). */
void fab_kfat_free(struct fab_kfat *k);
FAB_AUTO_POINTER(fab_kfat)

/*
 * No part is missing: every point of the grid has its leaf switch, and every leaf is
 * joined to equally many switches of its line in each dimension. O(leaves * dims).
 */
bool fab_kfat_is_whole(const struct fab_kfat *k);
