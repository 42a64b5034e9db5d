/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/balls.h"

#include "base/mem.h"
#include "base/threads.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Balls of a radius pay when switches are asked for so many times as often as there are
 * any; of how many radii, and in how many bytes at most. */
enum { LEAST_USES = 4, MAX_RADII = 8, MAX_BYTES = 64 << 20 };

struct fab_balls {
	size_t words;
	unsigned low, n;	 /* radii low .. low + n - 1 */
	uint64_t *of[MAX_RADII]; /* [switches * words] of each radius */
};

/* The lowest bits of eight bytes, side by side; the first byte's is the lowest. */
static uint64_t gather(uint64_t bytes)
{
	return (le64toh(bytes) * 0x0102040810204080u) >> 56;
}

/* static: clang 14 gives no other function that has clones its plain name */
FAB_WIDE static void bytes_upto(const uint8_t *bytes, size_t n, uint8_t most,
				uint64_t *bits)
{
	for (size_t w = 0; w < n / 64; w++) {
		uint8_t is_low[64];
		uint64_t eight[8], word = 0;

		for (unsigned i = 0; i < 64; i++)
			is_low[i] = bytes[64 * w + i] <= most;
		memcpy(eight, is_low, sizeof(eight));
		for (unsigned i = 0; i < 8; i++)
			word |= gather(eight[i]) << 8 * i;
		bits[w] = word;
	}
}

void fab_bytes_upto(const uint8_t *bytes, size_t n, uint8_t most, uint64_t *bits)
{
	bytes_upto(bytes, n, most, bits);
}

static uint64_t *make_balls(const struct fab_dist *dist, uint32_t n, uint8_t radius,
			    int n_threads)
{
	size_t stride = fab_dist_stride(dist), words = stride / 64;
	uint64_t *bits = FAB_NEW(n * words, uint64_t);
	int n_workers = fab_threads_for(n_threads, n * words);

#pragma omp parallel for schedule(static) num_threads(n_workers)
	for (uint32_t s = 0; s < n; s++)
		fab_bytes_upto(fab_dist_row(dist, s), stride, radius, bits + s * words);
	return bits;
}

bool fab_balls_fit(const struct fab_dist *dist, unsigned n_radii)
{
	uint64_t bytes = (uint64_t)fab_dist_n(dist) * (fab_dist_stride(dist) / 8);

	return n_radii <= MAX_RADII && n_radii * bytes <= MAX_BYTES;
}

struct fab_balls *fab_balls_new(const struct fab_dist *dist, uint64_t n_uses, uint8_t low,
				uint8_t high, int n_threads)
{
	size_t words = fab_dist_stride(dist) / 64;
	uint64_t n = fab_dist_n(dist);
	unsigned first = low - (low > 0), n_radii = high - first + 1u;
	struct fab_balls *b;

	if (!fab_balls_fit(dist, n_radii) || n_uses < LEAST_USES * n_radii * n)
		return NULL;
	b = FAB_NEW0(1, struct fab_balls);
	b->words = words;
	b->low = first;
	b->n = n_radii;
	for (unsigned i = 0; i < n_radii; i++)
		b->of[i] = make_balls(dist, (uint32_t)n, (uint8_t)(first + i), n_threads);
	return b;
}

void fab_balls_free(struct fab_balls *b)
{
	for (unsigned i = 0; b && i < b->n; i++)
		free(b->of[i]);
	free(b);
}

FAB_WIDE static uint64_t keep_common(uint64_t *restrict bits,
				     const uint64_t *restrict other, size_t words)
{
	uint64_t any = 0;

	for (size_t w = 0; w < words; w++)
		any |= bits[w] &= other[w];
	return any;
}

/* The common part of the balls; false: it is empty. */
static bool intersect(const struct fab_balls *b, unsigned radius, const uint32_t *sw,
		      uint32_t n, uint64_t *bits)
{
	const uint64_t *balls = b->of[radius - b->low];

	memcpy(bits, balls + sw[0] * b->words, b->words * sizeof(*bits));
	for (uint32_t i = 1; i < n; i++)
		if (!keep_common(bits, balls + sw[i] * b->words, b->words))
			return false;
	return true;
}

bool fab_balls_find(const struct fab_balls *b, const uint32_t *sw, uint32_t n,
		    uint64_t *bits, uint8_t *radius)
{
	for (unsigned r = b->low; r < b->low + b->n; r++) {
		if (!intersect(b, r, sw, n, bits))
			continue;
		*radius = (uint8_t)r;
		return r == 0 || r > b->low;
	}
	return false;
}
