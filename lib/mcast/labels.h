/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths that a search for the cheapest one has come by so far, the cheapest first. */
#pragma once

#include <stdbool.h>

#include "base/mem.h"

/* A path to a switch, not known to be the cheapest before it is taken. */
struct fab_label {
	double cost;
	uint32_t sw;
	int32_t hops;
};

/* A heap; free() of v. */
struct fab_labels {
	FAB_VEC(struct fab_label);
};

static inline bool fab_label_is_before(const struct fab_label *a,
				       const struct fab_label *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	return a->hops != b->hops ? a->hops < b->hops : a->sw < b->sw;
}

/* O(log n). */
static inline void fab_labels_push(struct fab_labels *heap, struct fab_label label)
{
	size_t at = heap->n;

	FAB_PUSH(heap, label);
	while (at && fab_label_is_before(&label, &heap->v[(at - 1) / 2])) {
		heap->v[at] = heap->v[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->v[at] = label;
}

/* O(log n). */
static inline struct fab_label fab_labels_pop(struct fab_labels *heap)
{
	struct fab_label top = heap->v[0], last = heap->v[--heap->n];
	size_t at = 0, n = heap->n;

	while (2 * at + 1 < n) {
		size_t child = 2 * at + 1;

		if (child + 1 < n &&
		    fab_label_is_before(&heap->v[child + 1], &heap->v[child]))
			child++;
		if (!fab_label_is_before(&heap->v[child], &last))
			break;
		heap->v[at] = heap->v[child];
		at = child;
	}
	heap->v[at] = last;
	return top;
}
