/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules of allreduces: what each rank sends and waits for, round by round. In a round
 * a rank sends at most one message and receives at most one; it begins a round when all
 * that it receives in the rounds before has arrived.
 *
 * The data, a vector, is in as many blocks as there are ranks, numbered from 0 around. A
 * message carries `n_blocks` of them from `first_block` on; its receiver adds them to its
 * own (is_sum) or takes them instead.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

struct fab_round {
	uint32_t to, from;		/* ranks; FAB_NONE: sends, receives nothing */
	uint32_t first_block, n_blocks; /* of what is sent */
	bool is_sum;			/* for its receiver */
};

struct fab_allreduce {
	const char *name;
	/* Receives of a rank come in the order of their rounds: they are all from one. */
	bool is_ring;
	uint32_t (*n_rounds)(uint32_t n_ranks);
	struct fab_round (*round)(uint32_t n_ranks, uint32_t rank, uint32_t round);
};

/*
 * Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in
 * MPICH, 2005: ring (reduce-scatter, then allgather, blocks around the ring), recdbl
 * (recursive doubling; ranks beyond the largest power of two give theirs to one below and
 * get the result back), tree (binomial reduce to rank 0, then broadcast). Up to a zeroed
 * row.
 */
extern const struct fab_allreduce fab_allreduces[];

/* Bytes of blocks of a vector of `bytes`: shares as equal as can be. O(1). */
uint64_t fab_block_bytes(uint64_t bytes, uint32_t n_ranks, uint32_t first_block,
			 uint32_t n_blocks);
