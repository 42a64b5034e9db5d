/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hops from one switch to many others at once. In a whole torus, mesh or HyperX they are
 * found from coordinates, side by side in the lanes of a vector; elsewhere they are read
 * from the rows of those others, which are seldom in the cache.
 */
#pragma once

#include "base/mem.h"
#include "mcast/problem.h"

struct fab_hops {
	const struct fab_dist *dist;   /* borrowed */
	const struct fab_shape *shape; /* NULL: rows */
	struct fab_shape *own_shape;   /* that was recognised for this */
	uint16_t *x;		       /* [switches * dimensions] coordinates */
	uint16_t *size;		       /* [dimensions] switches around each */
};

/* Switches that hops are asked for. */
struct fab_hops_list {
	const struct fab_hops *hops;
	FAB_VEC(uint32_t) sw;
	uint16_t *x;   /* [dimensions * room] their coordinates */
	uint16_t *out; /* [room] */
	size_t room;
};

/* Borrows the distances and the shape of the problem. As fab_mcast_shape(). */
void fab_hops_init(struct fab_hops *hops, const struct fab_mcast_problem *problem);
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
/* The last one takes the place of entry i. O(dimensions). */
void fab_hops_list_drop(struct fab_hops_list *list, size_t i);
/* Entries of lists are worked on so many at a time. */
enum { FAB_HOPS_ALIGN = 32 };

/* As many entries as a list of n has with what fills it up. O(1). */
static inline size_t fab_hops_padded(size_t n)
{
	return (n + FAB_HOPS_ALIGN - 1) / FAB_HOPS_ALIGN * FAB_HOPS_ALIGN;
}

/* All ones, or none: what counts without a branch, so that many are done at once. O(1).
 */
static inline uint16_t fab_hops_mask(bool counts)
{
	return counts ? UINT16_MAX : 0;
}

/* Hops from a switch to each of the list: [fab_hops_padded(list->sw.n)], of which those
 * behind list->sw.n mean nothing; borrowed until the next call. O(dimensions * n). */
const uint16_t *fab_hops_from(struct fab_hops_list *list, uint32_t sw);
