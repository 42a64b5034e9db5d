/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/schedule.h"

#include "event/wheel.h"

#include <stdlib.h>
#include <string.h>

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

/* The wheel. */

enum { WORD = 64, FEW = 24 /* events of a slot that are sorted by insertion */ };
enum { DIGIT_BITS = 7, DIGIT = (1 << DIGIT_BITS) - 1 };

void fab_wheel_init(struct fab_wheel *w, unsigned slot_bits, uint32_t n_slots)
{
	*w = (struct fab_wheel){.slot_bits = n_slots ? slot_bits : 0,
				.n_slots = n_slots,
				.n_near = n_slots ? n_slots - 1 : 0,
				.next = UINT64_MAX,
				.free_chunk = FAB_NONE};
	w->head = FAB_NEW(n_slots + 1, struct fab_wheel_head);
	w->used = FAB_NEW0(n_slots / WORD + 1, uint64_t);
	for (uint32_t i = 0; i < n_slots; i++)
		w->head[i] = (struct fab_wheel_head){FAB_NONE, FAB_WHEEL_CHUNK};
}

void fab_wheel_fini(struct fab_wheel *w)
{
	free(w->head);
	free(w->used);
	fab_free_big(w->chunk.v, w->chunk.cap, sizeof(*w->chunk.v));
	free(w->now.v);
	free(w->spare.v);
	fab_schedule_fini(&w->far);
	*w = (struct fab_wheel){0};
}

void fab_wheel_add_slowly(struct fab_wheel *w, uint64_t time, uint32_t what,
			  uint32_t item)
{
	struct fab_wheel_event event = {time, what, item};
	uint64_t slot = time >> w->slot_bits;
	struct fab_wheel_head *h;
	uint32_t id;

	if (w->n_slots && slot == w->slot) { /* into the slot of now, in order */
		size_t low = w->at, high = w->now.n, before;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (w->now.v[middle].time > time)
				high = middle;
			else
				low = middle + 1;
		}
		before = low - w->at;
		if (w->at && before < w->now.n - low) { /* fewer are to be moved */
			w->at--;
			memmove(&w->now.v[w->at], &w->now.v[w->at + 1],
				before * sizeof(*w->now.v));
			w->now.v[w->at + before] = event;
			return;
		}
		FAB_RESERVE(&w->now, 1);
		memmove(&w->now.v[low + 1], &w->now.v[low],
			(w->now.n - low) * sizeof(*w->now.v));
		w->now.v[low] = event;
		w->now.n++;
		return;
	}
	if (slot << w->slot_bits < w->next)
		w->next = slot << w->slot_bits;
	if (!w->n_slots || slot - w->slot >= w->n_slots) {
		fab_schedule_add(&w->far, time, 0, (uint64_t)what << 32 | item);
		return;
	}
	/* a chunk in front of those of the slot, which are full */
	slot &= w->n_slots - 1;
	h = &w->head[slot];
	id = w->free_chunk;
	if (id != FAB_NONE) {
		w->free_chunk = w->chunk.v[id].next;
	} else {
		FAB_RESERVE_BIG(&w->chunk, 1);
		id = (uint32_t)w->chunk.n++;
	}
	w->n_used += h->chunk == FAB_NONE;
	w->chunk.v[id].next = h->chunk;
	w->used[slot / WORD] |= 1ull << slot % WORD;
	*h = (struct fab_wheel_head){id, 1};
	w->chunk.v[id].event[0] = event;
}

/* The first slot behind the current one with events in chunks; UINT64_MAX: none. */
static uint64_t next_used(const struct fab_wheel *w)
{
	uint32_t mask, at, first;
	uint64_t bits;

	if (!w->n_used)
		return UINT64_MAX;
	mask = w->n_slots - 1;
	first = (uint32_t)(w->slot + 1) & mask;
	at = first / WORD;
	bits = w->used[at] & ~0ull << first % WORD;
	while (!bits) {
		at = (at + 1) & (mask / WORD);
		bits = w->used[at];
	}
	at = at * WORD + (uint32_t)__builtin_ctzll(bits);
	return w->slot + 1 + ((at - first) & mask);
}

/* The events of the next slot: of its chunks, then those of the heap that are due in it
 * (without a wheel: at one time), by time. */
void fab_wheel_turn(struct fab_wheel *w)
{
	uint64_t first = w->next, end, differ = 0;
	const struct fab_due *top;
	struct fab_due due;

	w->now.n = w->at = 0;
	w->slot = first >> w->slot_bits;
	if (w->n_slots) {
		uint32_t slot = (uint32_t)w->slot & (w->n_slots - 1);
		uint32_t id = w->head[slot].chunk, n = w->head[slot].n;

		w->n_used -= id != FAB_NONE;
		w->head[slot] = (struct fab_wheel_head){FAB_NONE, FAB_WHEEL_CHUNK};
		w->used[slot / WORD] &= ~(1ull << slot % WORD);
		while (id != FAB_NONE) {
			struct fab_wheel_chunk *c = &w->chunk.v[id];
			uint32_t next = c->next;

			FAB_RESERVE(&w->now, FAB_WHEEL_CHUNK);
			for (uint32_t i = 0; i < n; i++)
				w->now.v[w->now.n + i] = c->event[i];
			w->now.n += n;
			n = FAB_WHEEL_CHUNK;
			c->next = w->free_chunk;
			w->free_chunk = id;
			id = next;
		}
	}
	top = fab_schedule_peek(&w->far);
	end = w->n_slots ? (w->slot + 1) << w->slot_bits : top ? top->time + 1 : 0;
	for (; top && top->time < end; top = fab_schedule_peek(&w->far)) {
		(void)fab_schedule_take(&w->far, &due);
		FAB_PUSH(&w->now,
			 ((struct fab_wheel_event){due.time, (uint32_t)(due.item >> 32),
						   (uint32_t)due.item}));
	}
	/* many by digits of their times, the lowest first: by insertion alone a loaded
	 * torus 8x8x8 takes fabric-rdma 1.6 times as long */
	for (size_t i = 1; i < w->now.n && w->now.n > FEW; i++)
		differ |= w->now.v[i].time ^ w->now.v[0].time;
	for (unsigned shift = 0; shift < w->slot_bits && differ; shift += DIGIT_BITS) {
		struct fab_wheel_event *from = w->now.v;
		size_t n = w->now.n, cap = w->now.cap;
		uint32_t at[DIGIT + 1] = {0}, sum = 0;

		if (!(differ >> shift & DIGIT))
			continue;
		w->spare.n = 0;
		FAB_RESERVE(&w->spare, n);
		for (size_t i = 0; i < n; i++)
			at[from[i].time >> shift & DIGIT]++;
		for (unsigned d = 0; d <= DIGIT; d++) {
			sum += at[d];
			at[d] = sum - at[d];
		}
		for (size_t i = 0; i < n; i++)
			w->spare.v[at[from[i].time >> shift & DIGIT]++] = from[i];
		w->now.v = w->spare.v;
		w->now.cap = w->spare.cap;
		w->spare.v = from;
		w->spare.cap = cap;
	}
	for (size_t i = 1; i < w->now.n && !differ; i++) {
		struct fab_wheel_event event = w->now.v[i];
		size_t at = i;

		for (; at && w->now.v[at - 1].time > event.time; at--)
			w->now.v[at] = w->now.v[at - 1];
		w->now.v[at] = event;
	}
	first = next_used(w);
	w->next = first == UINT64_MAX ? first : first << w->slot_bits;
	first = top ? top->time >> w->slot_bits << w->slot_bits : UINT64_MAX;
	if (first < w->next)
		w->next = first;
}
