/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of a fence as whole ticks: messages that come at one time do so whatever their
 * times were summed up from, and the model and the simulation have the same ones.
 */
#pragma once

#include <math.h>

#include "launch/fence.h"
#include "launch/fence_paths.h"

struct fence_ticks {
	double per_us; /* a power of 2 */
	uint64_t o, L;
};

static inline uint64_t fence_ticks_of(const struct fence_ticks *t, double us)
{
	return (uint64_t)llround(us * t->per_us);
}

/* As fine as there is room for: the contended fence (fab_fence_contended()) takes about
 * 2^49 of them. O(1). */
struct fence_ticks fence_ticks_for(struct fab_fence_line contended,
				   const struct fab_fence_job *job);
