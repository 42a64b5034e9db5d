/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the recognition of a kfat share. */
#pragma once

#include "base/map.h"
#include "base/mem.h"
#include "base/sets.h"
#include "fabric/kfat.h"

/* Lines of leaf i, in the order of its ports: at[first[i] .. first[i + 1]). */
struct kfat_lines {
	uint32_t *first, *at;
};

/*
 * Fill k->line_dim. Two lines that meet run along different dimensions. In two dimensions
 * that says all; in more, lines on opposite sides of a rectangle of leaves run alike.
 * EINVAL: contradiction. O(leaves * dims^2 * 64).
 */
int fab_kfat_find_runs(struct fab_kfat *k, const struct kfat_lines *l,
		       struct fab_err *err) FAB_MUST_CHECK;
