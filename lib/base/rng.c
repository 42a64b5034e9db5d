/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rng.h"

#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u

uint64_t fab_mix64(uint64_t x)
{
	x += GOLDEN;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t fab_hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const unsigned char *p = bytes;
	uint64_t h = fab_mix64(seed ^ n), word;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		h = fab_mix64(h ^ word);
	}
	if (n) {
		word = 0;
		memcpy(&word, p, n);
		h = fab_mix64(h ^ word);
	}
	return h;
}

uint64_t fab_hash_words(const uint64_t *words, size_t n, uint64_t seed)
{
	enum { LANES = 4 }; /* that wait for each other at the end only */
	uint64_t lane[LANES], h = fab_mix64(seed ^ n);

	for (uint64_t j = 0; j < LANES; j++)
		lane[j] = fab_mix64(h + j);
	for (; n >= LANES; words += LANES, n -= LANES)
		for (size_t j = 0; j < LANES; j++) {
			lane[j] = (lane[j] ^ words[j]) * GOLDEN;
			lane[j] ^= lane[j] >> 32;
		}
	for (size_t j = 0; j < n; j++)
		lane[j] = fab_mix64(lane[j] ^ words[j]);
	for (size_t j = 0; j < LANES; j++)
		h = fab_mix64(h ^ lane[j]);
	return h;
}

void fab_rng_init(struct fab_rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->s[i] = fab_mix64(seed + (uint64_t)i * GOLDEN);
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t fab_rng_next(struct fab_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t fab_rng_below(struct fab_rng *rng, uint64_t bound)
{
	/* Values under `skip` would make the low residues likelier. */
	uint64_t skip = -bound % bound, x;

	do
		x = fab_rng_next(rng);
	while (x < skip);
	return x % bound;
}
