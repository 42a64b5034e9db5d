/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/collective.h"

#include <string.h>

static uint32_t ring_rounds(uint32_t n)
{
	return n > 1 ? 2 * (n - 1) : 0;
}

/* Reduce-scatter sends block rank - round; the allgather goes on with what is complete.
 */
static struct fab_round ring_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t back = round % n; /* 0 .. 2n-3, less than twice around */

	return (struct fab_round){.to = (rank + 1) % n,
				  .from = (rank + n - 1) % n,
				  .first_block = (rank + n - back) % n,
				  .n_blocks = 1,
				  .is_sum = round < n - 1};
}

/* Largest power of two that is not above n > 0, as its logarithm. */
static uint32_t log_below(uint32_t n)
{
	return 31 - (uint32_t)__builtin_clz(n);
}

static uint32_t recdbl_rounds(uint32_t n)
{
	bool folds = n & (n - 1);

	return n > 1 ? log_below(n) + 2 * folds : 0;
}

/* Rank `pow` + k gives its vector to rank k before, and gets the sum from it after. */
static struct fab_round fold(uint32_t n, uint32_t rank, bool is_before)
{
	uint32_t pow = 1u << log_below(n), partner = FAB_NONE;
	bool is_extra = rank >= pow;
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, is_before};

	if (is_extra)
		partner = rank - pow;
	else if (rank + pow < n)
		partner = rank + pow;
	if (is_extra == is_before)
		r.to = partner;
	else
		r.from = partner;
	return r;
}

static struct fab_round recdbl_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t rounds = recdbl_rounds(n), pow = 1u << log_below(n);
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, true};

	if (pow < n) {
		if (!round || round + 1 == rounds)
			return fold(n, rank, !round);
		round--;
	}
	if (rank < pow)
		r.to = r.from = rank ^ 1u << round;
	return r;
}

/* Levels of a binomial tree of n ranks. */
static uint32_t levels(uint32_t n)
{
	return n > 1 ? log_below(n - 1) + 1 : 0;
}

static uint32_t tree_rounds(uint32_t n)
{
	return 2 * levels(n);
}

/* Upwards level by level, the nearest first; downwards the other way. */
static struct fab_round tree_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t depth = levels(n);
	bool is_up = round < depth;
	uint32_t bit = 1u << (is_up ? round : 2 * depth - 1 - round);
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, is_up};
	uint32_t *below = is_up ? &r.to : &r.from; /* what the lower one does */
	uint32_t *above = is_up ? &r.from : &r.to;

	if (rank % (2 * bit) == bit)
		*below = rank - bit;
	else if (rank % (2 * bit) == 0 && bit < n - rank)
		*above = rank + bit;
	return r;
}

const struct fab_collective fab_allreduces[] = {
	{"ring", "blocks around a ring, twice", true, ring_rounds, ring_round},
	{"recdbl", "recursive doubling", false, recdbl_rounds, recdbl_round},
	{"tree", "up a binomial tree and down", false, tree_rounds, tree_round},
};
const size_t fab_n_allreduces = FAB_COUNT(fab_allreduces);

const struct fab_collective *fab_allreduce_find(const char *name)
{
	for (size_t i = 0; i < fab_n_allreduces; i++)
		if (!strcmp(name, fab_allreduces[i].name))
			return &fab_allreduces[i];
	return NULL;
}

uint64_t fab_block_bytes(uint64_t bytes, uint32_t n_ranks, uint32_t first_block,
			 uint32_t n_blocks)
{
	uint64_t each = bytes / n_ranks, longer = bytes % n_ranks, sum = 0;

	if (n_blocks == n_ranks)
		return bytes;
	for (uint32_t i = 0; i < n_blocks; i++)
		sum += each + ((first_block + i) % n_ranks < longer);
	return sum;
}
