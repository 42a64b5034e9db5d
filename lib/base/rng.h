/* SPDX-License-Identifier: BSD-2-Clause */
/* Random numbers: equal seeds give equal numbers everywhere. */
#pragma once

#include "base/macros.h"

/* A well-mixed 64-bit hash of a 64-bit value (splitmix64's finaliser). O(1). */
uint64_t fab_mix64(uint64_t x);
/* A 64-bit hash of bytes under a seed (wyhash-like quality, not cryptographic). O(len).
 */
uint64_t fab_hash_bytes(const void *bytes, size_t n, uint64_t seed);
/* A hash of many words, several times as fast, with other values. O(n). */
uint64_t fab_hash_words(const uint64_t *words, size_t n, uint64_t seed);
/* 64 uniform bits as a number in [0, 1), a multiple of 2^-53. O(1). */
static inline double fab_unit(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

/* xoshiro256** (Blackman, Vigna 2018). */
struct fab_rng {
	uint64_t s[4];
};

/* The state of a generator from a seed; equal seeds give equal numbers. O(1). */
void fab_rng_init(struct fab_rng *rng, uint64_t seed);
uint64_t fab_rng_next(struct fab_rng *rng);
/* Uniform in 0 .. bound-1 without bias; bound > 0. O(1). */
uint64_t fab_rng_below(struct fab_rng *rng, uint64_t bound);
