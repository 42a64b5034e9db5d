/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/wheel.h"

#include <stdlib.h>
#include <string.h>

enum {
	SMALL = 24, /* events that are sorted by insertion */
	DIGIT = 8,  /* bits of a pass of the others */
	WORD = 64
};

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

size_t fab_wheel_bytes(const struct fab_wheel *w)
{
	return w->n_slots * sizeof(*w->head) + w->chunk.cap * sizeof(*w->chunk.v) +
	       (w->now.cap + w->spare.cap) * sizeof(*w->now.v) +
	       w->far.heap.cap * sizeof(*w->far.heap.v);
}

/* A chunk in front of those of a slot, which are full. */
static struct fab_wheel_head *chunk_new(struct fab_wheel *w, uint32_t slot)
{
	uint32_t id = w->free_chunk;

	if (id != FAB_NONE) {
		w->free_chunk = w->chunk.v[id].next;
	} else {
		FAB_RESERVE_BIG(&w->chunk, 1);
		id = (uint32_t)w->chunk.n++;
	}
	w->n_used += w->head[slot].chunk == FAB_NONE;
	w->chunk.v[id].next = w->head[slot].chunk;
	w->head[slot] = (struct fab_wheel_head){id, 0};
	w->used[slot / WORD] |= 1ull << slot % WORD;
	return &w->head[slot];
}

/* Where an event of that time stands among those to come in the slot of now. */
static size_t place_of(const struct fab_wheel *w, uint64_t time)
{
	size_t low = w->at, high = w->now.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->now.v[middle].time > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Into the slot of now, in order: the fewer of those before it, into the room of events
 * that were taken, and of those behind it move. */
static void insert(struct fab_wheel *w, struct fab_wheel_event event)
{
	size_t at = place_of(w, event.time), before = at - w->at;

	if (w->at && before < w->now.n - at) {
		w->at--;
		memmove(&w->now.v[w->at], &w->now.v[w->at + 1],
			before * sizeof(*w->now.v));
		w->now.v[w->at + before] = event;
		return;
	}
	FAB_RESERVE(&w->now, 1);
	memmove(&w->now.v[at + 1], &w->now.v[at], (w->now.n - at) * sizeof(*w->now.v));
	w->now.v[at] = event;
	w->now.n++;
}

void fab_wheel_add_slowly(struct fab_wheel *w, uint64_t time, uint32_t what,
			  uint32_t item)
{
	uint64_t slot = time >> w->slot_bits;
	struct fab_wheel_head *h;

	if (w->n_slots && slot == w->slot) {
		insert(w, (struct fab_wheel_event){time, what, item});
		return;
	}
	if (slot << w->slot_bits < w->next)
		w->next = slot << w->slot_bits;
	if (!w->n_slots || slot - w->slot >= w->n_slots) {
		fab_schedule_add(&w->far, time, 0, (uint64_t)what << 32 | item);
		return;
	}
	h = chunk_new(w, (uint32_t)slot & (w->n_slots - 1));
	w->chunk.v[h->chunk].event[h->n++] = (struct fab_wheel_event){time, what, item};
}

/* By time: one pass for each digit that a slot has. */
static void sort(struct fab_wheel *w)
{
	size_t n = w->now.n;
	uint64_t differ = 0;

	if (n <= SMALL) {
		for (size_t i = 1; i < n; i++) {
			struct fab_wheel_event event = w->now.v[i];
			size_t at = i;

			for (; at && w->now.v[at - 1].time > event.time; at--)
				w->now.v[at] = w->now.v[at - 1];
			w->now.v[at] = event;
		}
		return;
	}
	/* many at a few times only: digits that do not differ need no pass */
	for (size_t i = 1; i < n; i++)
		differ |= w->now.v[i].time ^ w->now.v[0].time;
	for (unsigned shift = 0; shift < w->slot_bits; shift += DIGIT) {
		uint32_t count[1 << DIGIT] = {0}, sum = 0;
		struct fab_wheel_event *from;
		size_t cap;

		if (!(differ >> shift & ((1 << DIGIT) - 1)))
			continue;
		w->spare.n = 0;
		FAB_RESERVE(&w->spare, n);
		for (size_t i = 0; i < n; i++)
			count[w->now.v[i].time >> shift & ((1 << DIGIT) - 1)]++;
		for (unsigned d = 0; d < 1 << DIGIT; d++) {
			uint32_t c = count[d];

			count[d] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++) {
			const struct fab_wheel_event *e = &w->now.v[i];

			w->spare.v[count[e->time >> shift & ((1 << DIGIT) - 1)]++] = *e;
		}
		from = w->now.v;
		cap = w->now.cap;
		w->now.v = w->spare.v;
		w->now.cap = w->spare.cap;
		w->spare.v = from;
		w->spare.cap = cap;
	}
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

/* All events of the chunks of the current slot. */
static void empty_slot(struct fab_wheel *w)
{
	uint32_t slot = (uint32_t)w->slot & (w->n_slots - 1);
	uint32_t id = w->head[slot].chunk, n = w->head[slot].n;

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
	w->n_used -= w->head[slot].chunk != FAB_NONE;
	w->head[slot] = (struct fab_wheel_head){FAB_NONE, FAB_WHEEL_CHUNK};
	w->used[slot / WORD] &= ~(1ull << slot % WORD);
}

/* Of the heap those that are due in the current slot; without a wheel: at one time. */
static void take_far(struct fab_wheel *w, uint64_t first)
{
	uint64_t end = w->n_slots ? (w->slot + 1) << w->slot_bits : first + 1;
	const struct fab_due *top;
	struct fab_due due;

	while ((top = fab_schedule_peek(&w->far)) && top->time < end) {
		struct fab_wheel_event event;

		(void)fab_schedule_take(&w->far, &due);
		event = (struct fab_wheel_event){due.time, (uint32_t)(due.item >> 32),
						 (uint32_t)due.item};
		FAB_PUSH(&w->now, event);
	}
}

void fab_wheel_turn(struct fab_wheel *w)
{
	const struct fab_due *top = fab_schedule_peek(&w->far);
	uint64_t first = w->next;

	w->now.n = w->at = 0;
	w->slot = first >> w->slot_bits;
	if (w->n_slots)
		empty_slot(w);
	if (top && top->time >> w->slot_bits == w->slot)
		take_far(w, top->time);
	sort(w);
	first = next_used(w);
	w->next = first == UINT64_MAX ? first : first << w->slot_bits;
	top = fab_schedule_peek(&w->far);
	first = top ? top->time >> w->slot_bits << w->slot_bits : UINT64_MAX;
	if (first < w->next)
		w->next = first;
}
