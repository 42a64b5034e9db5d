/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/schedule.h"

#include <stdlib.h>

enum { ARITY = 4, KIND_SHIFT = 56 };

void fab_schedule_fini(struct fab_schedule *s)
{
	free(s->heap.v);
	*s = (struct fab_schedule){0};
}

static bool is_before(const struct fab_due *a, const struct fab_due *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void fab_schedule_add(struct fab_schedule *s, uint64_t time, uint8_t kind, uint64_t item)
{
	struct fab_due due = {.time = time > s->now ? time : s->now,
			      .order = (uint64_t)kind << KIND_SHIFT | s->n_added++,
			      .item = item};
	size_t at = s->heap.n;

	FAB_PUSH(&s->heap, due);
	for (; at; at = (at - 1) / ARITY) {
		struct fab_due *parent = &s->heap.v[(at - 1) / ARITY];

		if (!is_before(&due, parent))
			break;
		s->heap.v[at] = *parent;
	}
	s->heap.v[at] = due;
}

const struct fab_due *fab_schedule_peek(const struct fab_schedule *s)
{
	return s->heap.n ? s->heap.v : NULL;
}

bool fab_schedule_take(struct fab_schedule *s, struct fab_due *due)
{
	struct fab_due *v = s->heap.v;
	struct fab_due last;
	size_t n, at = 0;

	if (!s->heap.n)
		return false;
	*due = v[0];
	s->now = due->time;
	n = --s->heap.n;
	last = v[n];
	for (size_t child; (child = at * ARITY + 1) < n; at = child) {
		size_t end = child + ARITY < n ? child + ARITY : n;

		for (size_t k = child + 1; k < end; k++)
			if (is_before(&v[k], &v[child]))
				child = k;
		if (!is_before(&v[child], &last))
			break;
		v[at] = v[child];
	}
	v[at] = last;
	return true;
}
