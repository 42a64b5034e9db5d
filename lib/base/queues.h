/* SPDX-License-Identifier: BSD-2-Clause */
/* Many queues of numbers 0 .. n_items-1, of which each stands in one at most. O(1) each.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct fab_queues {
	uint32_t *head, *tail; /* [n_queues]; head FAB_NONE: empty */
	uint32_t *next;	       /* [n_items] */
};

/* All empty; the caller frees them. O(n_queues). */
static inline struct fab_queues fab_queues_new(size_t n_queues, size_t n_items)
{
	struct fab_queues q = {.head = FAB_NEW(n_queues + 1, uint32_t),
			       .tail = FAB_NEW(n_queues + 1, uint32_t),
			       .next = FAB_NEW(n_items + 1, uint32_t)};

	memset(q.head, 0xff, n_queues * sizeof(*q.head)); /* FAB_NONE */
	return q;
}

static inline void fab_queues_fini(struct fab_queues *q)
{
	free(q->head);
	free(q->tail);
	free(q->next);
}

static inline void fab_queues_append(struct fab_queues *q, uint32_t queue, uint32_t item)
{
	q->next[item] = FAB_NONE;
	if (q->head[queue] == FAB_NONE)
		q->head[queue] = item;
	else
		q->next[q->tail[queue]] = item;
	q->tail[queue] = item;
}

/* The first of a queue that is not empty. */
static inline uint32_t fab_queues_pop(struct fab_queues *q, uint32_t queue)
{
	uint32_t item = q->head[queue];

	q->head[queue] = q->next[item];
	return item;
}
