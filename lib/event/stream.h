/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random streams by counter: each number is a function of a seed, an item and a draw, and
 * of nothing that was drawn before. Items (fault sets, trials, packets, hosts) can be
 * computed in any order, by any thread and in any part of a sweep, with the same numbers.
 *
 * Philox 2x64-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2,
 * 3, SC 2011, section 3.3): the key is the seed, the counter item and draw / 2. Different
 * (seed, item, draw) never share a block.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/* Draw number `draw` of item `item` under `seed`: 64 uniform bits. O(1). */
uint64_t fab_stream_at(uint64_t seed, uint64_t item, uint64_t draw);

/* The draws of one item in sequence. */
struct fab_stream {
	uint64_t seed, item;
	uint64_t draw;	/* number of the next one */
	uint64_t spare; /* its bits when `draw` is odd and has_spare */
	bool has_spare;
};

/* Before draw 0. Nothing to free. O(1). */
struct fab_stream fab_stream_of(uint64_t seed, uint64_t item);
/* 64 uniform bits. O(1). */
uint64_t fab_stream_next(struct fab_stream *stream);
/* Uniform in 0 .. bound-1 without bias; bound > 0. O(1). */
uint64_t fab_stream_below(struct fab_stream *stream, uint64_t bound);
/* Uniform in [0, 1), a multiple of 2^-53. O(1). */
double fab_stream_unit(struct fab_stream *stream);
/* Exponentially distributed with this mean: times between arrivals of a Poisson process.
 * Finite, >= 0. O(1). */
double fab_stream_exponential(struct fab_stream *stream, double mean);
