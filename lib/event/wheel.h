/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The queue of a simulation with very many events that come soon: a wheel (calendar
 * queue, Brown 1988) of slots of 2^k ticks, each a list of chunks; a slot is sorted when
 * its time has come. Events beyond the wheel wait in a heap (event/schedule.h).
 *
 * Events come by time; those of one time in no particular order, whatever was added
 * first: who needs one gives it to what it does. So wheel and heap serve alike.
 *
 *   while (fab_wheel_next(&w) < limit) {
 *           event = fab_wheel_take(&w);
 *           ...
 */
#pragma once

#include "event/schedule.h"

/* An event: whatever `what` and `item` mean to the user. */
struct fab_wheel_event {
	uint64_t time;
	uint32_t what, item;
};

enum { FAB_WHEEL_CHUNK = 15 };

struct fab_wheel_chunk {
	struct fab_wheel_event event[FAB_WHEEL_CHUNK];
	uint32_t next; /* chunk, which is full; FAB_NONE */
	uint32_t unused[3];
};

/* A slot of the wheel. What an addition reads is here, in a few lines of the cache: a
 * chunk is only written to. */
struct fab_wheel_head {
	uint32_t chunk; /* FAB_NONE: empty */
	uint32_t n;	/* events in that chunk; FAB_WHEEL_CHUNK: no room, or empty */
};

struct fab_wheel {
	unsigned slot_bits; /* a slot is 2^slot_bits ticks */
	uint32_t n_slots;   /* power of two; 0: all are in the heap */
	uint64_t n_near;    /* slots behind the one of now that are in the wheel */
	uint64_t slot;	    /* of the events in `now`; all before it have been taken */
	uint64_t next;	    /* where the next slot with events begins, UINT64_MAX */
	struct fab_wheel_head *head; /* [n_slots] */
	uint64_t *used;		     /* [n_slots / 64] bits */
	uint64_t n_used;	     /* slots */
	FAB_VEC(struct fab_wheel_chunk) chunk;
	uint32_t free_chunk;
	/* events of the slot, ascending; those before `at` are taken */
	FAB_VEC(struct fab_wheel_event) now;
	size_t at;
	FAB_VEC(struct fab_wheel_event) spare; /* for sorting */
	struct fab_schedule far;
};

/*
 * At time 0. Slots of 2^slot_bits ticks, n_slots of them, a power of two >= 64; 0: a
 * heap. The caller calls fini. O(n_slots).
 */
void fab_wheel_init(struct fab_wheel *w, unsigned slot_bits, uint32_t n_slots);
void fab_wheel_fini(struct fab_wheel *w);

/* For the inline functions: events that are not in a chunk that is there; the next slot
 * with events into `now`. O(1) amortised an event, and O(slots passed / 64). */
void fab_wheel_add_slowly(struct fab_wheel *w, uint64_t time, uint32_t what,
			  uint32_t item);
void fab_wheel_turn(struct fab_wheel *w);

/* No event is before this time, and the next one is in its slot; UINT64_MAX: there is
 * none. O(1). */
static inline uint64_t fab_wheel_first(const struct fab_wheel *w)
{
	return w->at < w->now.n ? w->now.v[w->at].time : w->next;
}

/* Add an event, not before the time of the one taken last. Amortised O(1) within the
 * wheel, O(events of the slot) for the slot of now. */
static inline void fab_wheel_add(struct fab_wheel *w, uint64_t time, uint32_t what,
				 uint32_t item)
{
	uint64_t ahead = (time >> w->slot_bits) - w->slot;

	if (ahead - 1 < w->n_near) {
		struct fab_wheel_head *h =
			&w->head[(time >> w->slot_bits) & (w->n_slots - 1)];

		if (h->n < FAB_WHEEL_CHUNK) {
			w->chunk.v[h->chunk].event[h->n++] =
				(struct fab_wheel_event){time, what, item};
			return;
		}
	}
	fab_wheel_add_slowly(w, time, what, item);
}

/*
 * Time of the next event if it is before `limit`, else UINT64_MAX (of no event, too).
 * From then on no event may be added before its slot begins, which is before `limit`.
 * Amortised O(slots passed / 64).
 */
static inline uint64_t fab_wheel_next(struct fab_wheel *w, uint64_t limit)
{
	if (w->at == w->now.n) {
		if (w->next >= limit)
			return UINT64_MAX;
		fab_wheel_turn(w);
	}
	return w->now.v[w->at].time < limit ? w->now.v[w->at].time : UINT64_MAX;
}

/* The event of fab_wheel_next(); the fab_wheel_ahead() events behind it in memory come
 * next. Borrowed until the next addition. O(1). */
static inline const struct fab_wheel_event *fab_wheel_take(struct fab_wheel *w)
{
	return &w->now.v[w->at++];
}

/* How many events are known to follow the one taken last. O(1). */
static inline size_t fab_wheel_ahead(const struct fab_wheel *w)
{
	return w->now.n - w->at;
}
