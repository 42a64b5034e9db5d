/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/stream.h"

#include <math.h>

#include "base/rng.h"

__extension__ typedef unsigned __int128 wide;

enum { ROUNDS = 10 };

/* Both words of a block. Constants of Salmon et al. 2011, table 2. */
static void philox(uint64_t key, uint64_t word[2])
{
	for (int i = 0; i < ROUNDS; i++) {
		wide product = (wide)word[0] * 0xd2b74407b1ce6e93u;

		word[0] = (uint64_t)(product >> 64) ^ key ^ word[1];
		word[1] = (uint64_t)product;
		key += 0x9e3779b97f4a7c15u;
	}
}

uint64_t fab_stream_at(uint64_t seed, uint64_t item, uint64_t draw)
{
	uint64_t word[2] = {draw / 2, item};

	philox(seed, word);
	return word[draw % 2];
}

struct fab_stream fab_stream_of(uint64_t seed, uint64_t item)
{
	return (struct fab_stream){.seed = seed, .item = item};
}

uint64_t fab_stream_next(struct fab_stream *s)
{
	uint64_t word[2] = {s->draw / 2, s->item};

	if (s->has_spare) {
		s->has_spare = false;
		s->draw++;
		return s->spare;
	}
	philox(s->seed, word);
	s->has_spare = s->draw % 2 == 0;
	s->spare = word[1];
	return word[s->draw++ % 2];
}

uint64_t fab_stream_below(struct fab_stream *s, uint64_t bound)
{
	/* Values under `skip` would make the low residues likelier. */
	uint64_t skip = -bound % bound, x;

	do
		x = fab_stream_next(s);
	while (x < skip);
	return x % bound;
}

double fab_stream_unit(struct fab_stream *s)
{
	return fab_unit(fab_stream_next(s));
}

double fab_stream_exponential(struct fab_stream *s, double mean)
{
	return -mean * log(1 - fab_stream_unit(s)); /* 1 - u is exact */
}
