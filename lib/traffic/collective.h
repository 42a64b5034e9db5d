/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules of collectives: what each rank sends and waits for, round by round. In a
 * round a rank sends at most one message and receives at most one; it begins a round when
 * all that it receives in the rounds before has arrived.
 *
 * The data, a vector, is in as many blocks as there are ranks, numbered from 0 around. A
 * message carries `n_blocks` of them from `first_block` on; its receiver adds them to its
 * own (is_sum) or takes them instead.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

/* As `to`: the group of all ranks. */
#define FAB_TO_GROUP (FAB_NONE - 1)

struct fab_round {
	uint32_t to, from;		/* ranks; FAB_NONE: sends, receives nothing */
	uint32_t first_block, n_blocks; /* of what is sent; 0: a byte */
	bool is_sum;			/* for its receiver */
};

struct fab_schedule {
	const char *name;
	/* From this round on receives of a rank are counted: they come in the order of
	 * rounds, or in any, of messages to the group. FAB_NONE: from none. */
	uint32_t ring_from;
	bool is_scattered; /* that round is the first behind a binomial tree */
	bool is_each;	   /* a block has the size asked for, else all blocks together */
	bool to_group;	   /* it needs the group of all */
	uint32_t (*n_rounds)(uint32_t n_ranks);
	struct fab_round (*round)(uint32_t n_ranks, uint32_t rank, uint32_t round);
};

/*
 * Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in
 * MPICH, 2005: ring (reduce-scatter, then allgather, blocks around the ring), recdbl
 * (recursive doubling; ranks beyond the largest power of two give theirs to one below and
 * get the result back), tree (binomial reduce to rank 0, then broadcast); broadcasts down
 * a binomial tree, or scattered down it and gathered around a ring; allgathers around a
 * ring, or of Bruck et al. 1997; barriers by dissemination (Hensgen 1988). Next to them
 * `tree` by the group of all. Each up to a zeroed row.
 */
extern const struct fab_schedule fab_allreduces[], fab_broadcasts[], fab_allgathers[],
	fab_barriers[];

/* Bytes of blocks of a vector of `bytes`: shares as equal as can be. O(1). */
uint64_t fab_block_bytes(uint64_t bytes, uint32_t n_ranks, uint32_t first_block,
			 uint32_t n_blocks);
