/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hops from one switch to many others at once. In a whole torus, mesh or HyperX they are
 * found from coordinates, side by side in the lanes of a vector; elsewhere they are read
 * from the row of the switch, which is seldom in the cache.
 */
#pragma once

#include "base/mem.h"
#include "fabric/dist.h"
#include "fabric/shape.h"

struct fab_hops {
	const struct fab_dist *dist; /* borrowed */
	struct fab_shape *shape;     /* NULL: rows */
	uint16_t *x;		     /* [switches * dimensions] coordinates */
};

/* Switches that hops are asked for. */
struct fab_hops_list {
	const struct fab_hops *hops;
	FAB_VEC(uint32_t) sw;
	uint16_t *x;   /* [dimensions * room] their coordinates */
	uint16_t *out; /* [room] */
	size_t room;
};

/* Borrows the distances. As fab_shape_recognize(). */
void fab_hops_init(struct fab_hops *hops, const struct fab_fabric *f,
		   const struct fab_dist *dist);
void fab_hops_fini(struct fab_hops *hops);

/* An empty list; `hops` is borrowed. O(1). */
void fab_hops_list_init(struct fab_hops_list *list, const struct fab_hops *hops);
void fab_hops_list_fini(struct fab_hops_list *list);
/* Empty again. O(1). */
static inline void fab_hops_list_clear(struct fab_hops_list *list)
{
	list->sw.n = 0;
}
/* Amortised O(dimensions). */
void fab_hops_list_add(struct fab_hops_list *list, uint32_t sw);
/* Hops from a switch to each of the list: [list->sw.n], borrowed until the next call;
 * *least is the smallest, UINT16_MAX for an empty list. O(dimensions * n). */
const uint16_t *fab_hops_from(struct fab_hops_list *list, uint32_t sw, uint16_t *least);
