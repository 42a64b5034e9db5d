/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When trees are balanced again: after changes of groups, after some time, or when asked,
 * but no sooner than an interval after the last time. A port that joins and leaves more
 * often than its budget allows brings it no nearer. Times are those of fab_now().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fab_pace;

/* 0 each: no limit, or never for that reason. */
struct fab_pace_limits {
	uint32_t changes;	 /* balance after this many changes of groups */
	uint32_t seconds;	 /* or this long after the first of them */
	uint32_t min_interval_s; /* between the beginnings of two times */
	uint32_t port_changes;	 /* budget: changes of a port that count in a minute */
};

/* No change so far. The caller frees. O(1). */
struct fab_pace *fab_pace_new(void);
void fab_pace_free(struct fab_pace *p);

/*
 * A group has changed: these n ports joined or left. It counts unless all of them have
 * used up their budget. Returns the first such port of a minute, else 0. O(n).
 */
uint64_t fab_pace_change(struct fab_pace *p, const struct fab_pace_limits *limits,
			 const uint64_t *guid, uint32_t n, double now);
/* Balance as soon as the interval allows. O(1). */
void fab_pace_ask(struct fab_pace *p);
/* Seconds until trees are to be balanced; 0: now; INFINITY: not as things are. O(1). */
double fab_pace_due(const struct fab_pace *p, const struct fab_pace_limits *limits,
		    double now);
/* They are balanced now: changes up to here are done with. O(1). */
void fab_pace_begin(struct fab_pace *p, double now);
/*
 * The result of balancing: the largest EFI, moves that were made, and moves that the next
 * lower one takes in all. More than were made: this asks for the next time, as long as
 * each time is nearer to the end than the one before, if no group has changed since.
 * O(1).
 */
void fab_pace_end(struct fab_pace *p, uint32_t max_efi, uint32_t n_moved,
		  uint32_t n_needed);
