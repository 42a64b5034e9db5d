/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Root candidates by sets: the switches within r hops of all members are the common part
 * of the balls of radius r around them, a bit a switch. An eighth of the bytes of the
 * distances themselves, once the balls are made.
 */
#pragma once

#include <stdbool.h>

#include "fabric/dist.h"
#include "mcast/groups.h"

struct fab_balls;

/* Would balls of that many radii take little enough memory? O(1). */
bool fab_balls_fit(const struct fab_dist *dist, unsigned n_radii);

/*
 * Balls for the radii low .. high, and for low - 1, to see that nothing is that near;
 * NULL: `n_uses` (switches of groups that ask) are too few for them, or they would take
 * too much memory. The caller frees. The same for any number of threads. O(switches^2)
 * for each radius.
 */
struct fab_balls *fab_balls_new(const struct fab_dist *dist, uint64_t n_uses, uint8_t low,
				uint8_t high, int n_threads);
/* NULL is allowed. O(1). */
void fab_balls_free(struct fab_balls *balls);

/*
 * The candidates of the switches sw[n] as bits, and in *radius how far the farthest
 * member is; false: no balls of their radius. O(n * switches / 64).
 */
bool fab_balls_find(const struct fab_balls *balls, const uint32_t *sw, uint32_t n,
		    uint64_t *bits, uint8_t *radius);

/* Bit i: byte i is `most` or less; n is a multiple of 64. O(n). */
void fab_bytes_upto(const uint8_t *bytes, size_t n, uint8_t most, uint64_t *bits);
