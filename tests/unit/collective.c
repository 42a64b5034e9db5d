/* SPDX-License-Identifier: BSD-2-Clause */
/* Schedules of collectives: every rank ends with every block, or its sum. */
#include "traffic/collective.h"
#include "support/test.h"

enum { RANKS_MAX = 33 };

/* have[rank][block]: how often each rank's part is in the sum that this rank has. */
struct state {
	uint8_t have[RANKS_MAX][RANKS_MAX][RANKS_MAX];
	uint32_t sent; /* blocks */
};

static void send_block(const struct state *before, struct state *after, uint32_t n,
		       uint32_t rank, const struct fab_round *r, uint32_t block)
{
	for (uint32_t part = 0; part < n; part++) {
		uint8_t sent = before->have[rank][block][part];
		uint8_t *got = &after->have[r->to][block][part];

		*got = (uint8_t)(r->is_sum ? *got + sent : sent);
	}
}

/* All rounds; a send and the receive of it name each other. */
static void run(const struct fab_schedule *c, uint32_t n, struct state *s)
{
	FAB_AUTOFREE struct state *before = FAB_NEW(1, struct state);

	for (uint32_t round = 0; round < c->n_rounds(n); round++) {
		*before = *s;
		for (uint32_t rank = 0; rank < n; rank++) {
			struct fab_round r = c->round(n, rank, round);

			if (r.from != FAB_NONE)
				cr_assert_eq(c->round(n, r.from, round).to, rank);
			if (r.to == FAB_NONE)
				continue;
			s->sent += r.n_blocks;
			cr_assert_neq(r.to, rank);
			cr_assert_eq(c->round(n, r.to, round).from, rank);
			for (uint32_t i = 0; i < r.n_blocks; i++)
				send_block(before, s, n, rank, &r,
					   (r.first_block + i) % n);
		}
	}
}

Test(collective, every_rank_ends_with_every_block)
{
	FAB_AUTOFREE struct state *s = FAB_NEW(1, struct state);

	for (const struct fab_schedule *c = fab_allreduces; c->name; c++)
		for (uint32_t n = 1; n <= RANKS_MAX; n++) {
			memset(s, 0, sizeof(*s));
			for (uint32_t rank = 0; rank < n; rank++)
				for (uint32_t block = 0; block < n; block++)
					s->have[rank][block][rank] = 1;
			run(c, n, s);
			for (uint32_t rank = 0; rank < n; rank++)
				for (uint32_t block = 0; block < n; block++)
					for (uint32_t part = 0; part < n; part++)
						cr_assert_eq(s->have[rank][block][part],
							     1, "%s of %u: %u %u %u",
							     c->name, n, rank, block,
							     part);
		}
}

/* Blocks that go down a binomial tree of n ranks, each to the top of its part. */
static uint32_t scattered(uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t rank = 1; rank < n; rank++) {
		uint32_t size = rank & -rank;

		sum += n - rank < size ? n - rank : size;
	}
	return sum;
}

/* Rank 0 has all blocks (broadcast), or each its own (allgather). */
Test(collective, all_is_everywhere)
{
	FAB_AUTOFREE struct state *s = FAB_NEW(1, struct state);

	for (unsigned i = 0; i < 2; i++)
		for (const struct fab_schedule *c = i ? fab_allgathers : fab_broadcasts;
		     c->name; c++)
			for (uint32_t n = 1; n <= RANKS_MAX && !c->to_group; n++) {
				memset(s, 0, sizeof(*s));
				for (uint32_t block = 0; block < n; block++)
					s->have[i ? block : 0][block][0] = 1;
				run(c, n, s);
				if (i) /* none twice */
					cr_assert_eq(s->sent, n * (n - 1));
				else if (c->is_scattered && n > 1)
					cr_assert_eq(s->sent, n * (n - 1) + scattered(n));
				for (uint32_t rank = 0; rank < n; rank++)
					for (uint32_t block = 0; block < n; block++)
						cr_assert_eq(s->have[rank][block][0], 1,
							     "%s of %u: %u %u", c->name,
							     n, rank, block);
			}
}

/* Each rank has heard of all when it goes on. */
Test(collective, none_leaves_a_barrier_before_all_have_come)
{
	for (uint32_t n = 1; n <= RANKS_MAX; n++) {
		uint64_t knows[RANKS_MAX], before[RANKS_MAX];

		for (uint32_t rank = 0; rank < n; rank++)
			knows[rank] = 1ull << rank;
		for (uint32_t round = 0; round < fab_barriers->n_rounds(n); round++) {
			memcpy(before, knows, sizeof(before));
			for (uint32_t rank = 0; rank < n; rank++) {
				struct fab_round r = fab_barriers->round(n, rank, round);

				cr_assert_eq(fab_barriers->round(n, r.to, round).from,
					     rank);
				knows[r.to] |= before[rank];
			}
		}
		for (uint32_t rank = 0; rank < n; rank++)
			cr_assert_eq(knows[rank], (1ull << n) - 1);
	}
}

Test(collective, blocks_are_the_vector)
{
	for (uint32_t n = 1; n < 20; n++)
		for (uint64_t bytes = 0; bytes < 50; bytes += 7) {
			uint64_t sum = 0;

			for (uint32_t b = 0; b < n; b++) {
				uint64_t one = fab_block_bytes(bytes, n, b, 1);

				cr_assert_leq(one, bytes / n + 1);
				cr_assert_geq(one, bytes / n);
				sum += one;
			}
			cr_assert_eq(sum, bytes);
			cr_assert_eq(fab_block_bytes(bytes, n, 0, n), bytes);
			if (n > 1)
				cr_assert_eq(fab_block_bytes(bytes, n, n - 1, 2),
					     fab_block_bytes(bytes, n, n - 1, 1) +
						     fab_block_bytes(bytes, n, 0, 1));
		}
}
