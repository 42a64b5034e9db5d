/* SPDX-License-Identifier: BSD-2-Clause */
/* Which fence is the fastest from which size on, by their lines over the size. */
#pragma once

#include "launch/fence_paths.h"

/* Bytes from which on `b` is faster than `a`; INFINITY: never; 0: always. O(1). */
double fab_fence_crossing(struct fab_fence_line a, struct fab_fence_line b);

/* A range of sizes and the line that is the lowest in it, up to where the next begins. */
struct fab_fence_range {
	size_t line; /* its number */
	double from_bytes;
};

/*
 * The lowest of `n` lines from 0 to `most` bytes: ranges, ascending, into out[n]; returns
 * how many. Of lines that are equal the first. O(n^2).
 */
size_t fab_fence_ranges(const struct fab_fence_line *lines, size_t n, double most,
			struct fab_fence_range *out);
