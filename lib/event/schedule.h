/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clock and queue of a simulation: what is due when. Times are integers of a unit that
 * the user chooses (ns, ps, ticks). At one time events come by ascending kind, those of
 * one kind in the order in which they were added, so that a run repeats to the byte.
 *
 *   struct fab_schedule s = {0};
 *   fab_schedule_add(&s, 100, ARRIVAL, packet);
 *   while (fab_schedule_take(&s, &due))
 *           handlers[fab_due_kind(&due)](..., due.item);
 *   fab_schedule_fini(&s);
 *
 * A 4-ary heap (Johnson 1975: d-heaps), 24 bytes an event. An event is not removed
 * early: its handler checks whether it still applies.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

struct fab_due {
	uint64_t time;
	uint64_t order; /* kind, then number: see fab_due_kind() */
	uint64_t item;	/* the user's: what it happens to */
};

/* All zero: empty, at time 0. */
struct fab_schedule {
	uint64_t now;	  /* time of the event taken last */
	uint64_t n_added; /* ever; less than 2^56 */
	FAB_VEC(struct fab_due) heap;
};

/* Frees what it holds. O(events). */
void fab_schedule_fini(struct fab_schedule *s);
/* A time before now is now. O(log events waiting). */
void fab_schedule_add(struct fab_schedule *s, uint64_t time, uint8_t kind, uint64_t item);
/* The next event, NULL: none waits. Borrowed until the next call. O(1). */
const struct fab_due *fab_schedule_peek(const struct fab_schedule *s);
/* Take the next event and set the clock to its time; false: none waits. O(log events). */
bool fab_schedule_take(struct fab_schedule *s, struct fab_due *due);

/* Kind of an event. O(1). */
static inline uint8_t fab_due_kind(const struct fab_due *due)
{
	return (uint8_t)(due->order >> 56);
}

/* Sum of two times, the last one there is when it would be beyond. O(1). */
static inline uint64_t fab_time_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/*
 * Seconds as a time, for models that compute in real numbers, and back: exact, and in the
 * same order (the bits of numbers >= 0 are in the order of the numbers). Such times are
 * compared, never added. 0 <= seconds <= INFINITY. O(1).
 */
static inline uint64_t fab_time_of_seconds(double seconds)
{
	uint64_t time;

	seconds += 0.0; /* -0.0 is 0.0 */
	memcpy(&time, &seconds, sizeof(time));
	return time;
}

/* Seconds of a time. O(1). */
static inline double fab_seconds_of_time(uint64_t time)
{
	double seconds;

	memcpy(&seconds, &time, sizeof(seconds));
	return seconds;
}
