/* SPDX-License-Identifier: BSD-2-Clause */
/* Schedules of collectives: every rank ends with every block, or its sum. */
#include "traffic/collective.h"
#include "support/test.h"

enum { RANKS_MAX = 33 };

/* have[rank][block]: how often each rank's part is in the sum that this rank has;
 * knows[rank]: of whom it has heard. */
static struct state {
	uint8_t have[RANKS_MAX][RANKS_MAX][RANKS_MAX];
	uint64_t knows[RANKS_MAX];
} s, before;

/* All rounds; a send and the receive of it name each other. Blocks that are sent. */
static uint32_t run(const struct fab_schedule *c, uint32_t n)
{
	uint32_t sent = 0;

	for (uint32_t rank = 0; rank < n; rank++)
		s.knows[rank] = 1ull << rank;
	for (uint32_t round = 0; round < c->n_rounds(n); round++) {
		before = s;
		for (uint32_t rank = 0; rank < n; rank++) {
			struct fab_round r = c->round(n, rank, round);

			if (r.from != FAB_NONE)
				cr_assert_eq(c->round(n, r.from, round).to, rank);
			if (r.to == FAB_NONE)
				continue;
			sent += r.n_blocks;
			s.knows[r.to] |= before.knows[rank];
			cr_assert(r.to != rank && c->round(n, r.to, round).from == rank);
			for (uint32_t i = 0; i < r.n_blocks * n; i++) {
				uint32_t block = (r.first_block + i / n) % n;
				uint8_t part = before.have[rank][block][i % n];
				uint8_t *got = &s.have[r.to][block][i % n];

				*got = (uint8_t)(r.is_sum ? *got + part : part);
			}
		}
	}
	return sent;
}

/* Each rank has the first parts of each block once. */
static void expect_all(const struct fab_schedule *c, uint32_t n, uint32_t parts)
{
	for (uint32_t rank = 0; rank < n; rank++)
		for (uint32_t block = 0; block < n; block++)
			for (uint32_t part = 0; part < parts; part++)
				cr_assert_eq(s.have[rank][block][part], 1,
					     "%s of %u: %u %u %u", c->name, n, rank,
					     block, part);
}

Test(collective, every_rank_ends_with_every_block)
{
	for (const struct fab_schedule *c = fab_allreduces; c->name; c++)
		for (uint32_t n = 1; n <= RANKS_MAX; n++) {
			memset(&s, 0, sizeof(s));
			for (uint32_t i = 0; i < n * n; i++)
				s.have[i / n][i % n][i / n] = 1;
			run(c, n);
			expect_all(c, n, n);
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

/* Rank 0 has all blocks (broadcast), or each its own (allgather), none twice. */
Test(collective, all_is_everywhere)
{
	for (unsigned i = 0; i < 2; i++)
		for (const struct fab_schedule *c = i ? fab_allgathers : fab_broadcasts;
		     c->name; c++)
			for (uint32_t n = 1; n <= RANKS_MAX && !c->to_group; n++) {
				uint32_t sent;

				memset(&s, 0, sizeof(s));
				for (uint32_t block = 0; block < n; block++)
					s.have[i ? block : 0][block][0] = 1;
				sent = run(c, n);
				if (i || c->is_scattered)
					cr_assert_eq(sent,
						     n * (n - 1) +
							     (i ? 0 : scattered(n)));
				expect_all(c, n, 1);
			}
}

/* Each rank has heard of all when it goes on. */
Test(collective, none_leaves_a_barrier_before_all_have_come)
{
	for (uint32_t n = 1; n <= RANKS_MAX; n++) {
		run(fab_barriers, n);
		for (uint32_t rank = 0; rank < n; rank++)
			cr_assert_eq(s.knows[rank], (1ull << n) - 1);
	}
}

/* Shares are as equal as can be, and any blocks in a row are the sum of theirs. */
Test(collective, blocks_are_the_vector)
{
	for (uint32_t i = 0; i < 20 * 20 * 8; i++) {
		uint32_t n = 1 + i / 8 % 20, first = i / 160;
		uint64_t bytes = i % 8 * 7, sum = 0;

		for (uint32_t k = 0; k < n && first < n; k++) {
			uint64_t one = fab_block_bytes(bytes, n, (first + k) % n, 1);

			cr_assert(one == bytes / n || one == bytes / n + 1);
			sum += one;
			cr_assert_eq(fab_block_bytes(bytes, n, first, k + 1), sum);
		}
		cr_assert(sum == bytes || first >= n);
	}
}
