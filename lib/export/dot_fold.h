/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of export/dot: which switches share a box of the picture. */
#pragma once

#include "fabric/fabric.h"
#include "fabric/shape.h"

struct fab_dot_box {
	uint32_t first, last; /* switches of its lowest rank, first and last by name */
	uint32_t rank;	      /* lowest of its switches; FAB_NONE: none has one */
	uint32_t n_lowest;    /* switches of that rank */
	uint32_t n_switches;
	uint32_t n_hosts; /* cables to host adapters */
};

struct fab_dot_boxes {
	uint32_t n;
	struct fab_dot_box *v; /* [n] */
	uint32_t *of_switch;   /* [n_switches] */
};

/*
 * A box for each switch, or with `fold` for each pod. In a tree a pod is what cables join
 * below the top rank (fabric/ranks.h); single switches, those of the top rank too, share
 * a box when they are joined to the same pods, or switches, by as many cables. In a
 * dragonfly a pod is a group. Other shapes have none. The caller frees it. O(cables log
 * cables).
 */
void fab_dot_boxes_init(struct fab_dot_boxes *boxes, const struct fab_fabric *f,
			const struct fab_shape *shape, bool fold);
void fab_dot_boxes_fini(struct fab_dot_boxes *boxes);
