/* SPDX-License-Identifier: BSD-2-Clause */
/* Random regular graphs: regular, simple, in one piece, and random. */
#include "support/test.h"

static struct fab_fabric *draw(uint32_t n, uint32_t degree, uint32_t hosts, uint64_t seed)
{
	OWN_HEAP char *spec = fab_format("random:switches=%u,degree=%u,hosts=%u,seed=%lu",
					 n, degree, hosts, (unsigned long)seed);
	struct fab_fabric *f = test_gen(spec);

	test_counts(f, n, n * hosts, n * degree / 2);
	for (uint32_t s = 0; s < n; s++) {
		cr_assert_eq(test_degree(f, s), degree, "%s: parallel or loop", spec);
		cr_assert_eq(fab_degree(f, s), degree, "%s", spec);
		cr_assert_eq(f->node_n_ports[s], degree + hosts, "%s", spec);
		for (uint32_t a = f->arc_first[s] + 1; a < f->arc_first[s + 1]; a++)
			cr_assert_lt(f->arc_peer[a - 1], f->arc_peer[a],
				     "%s: ports in order of the neighbour", spec);
	}
	return f;
}

/* All sizes that exist, up to nine switches, by many seeds; some larger ones. */
Test(gen_random, sizes)
{
	static const uint32_t sizes[][2] = {{100, 2},	{1000, 2},  {1000, 3},
					    {501, 250}, {500, 250}, {500, 249},
					    {300, 299}, {300, 297}, {20000, 16}};

	for (uint32_t n = 2; n <= 9; n++)
		for (uint32_t degree = n > 2 ? 2 : 1; degree < n; degree++)
			for (uint64_t seed = 0; seed < 40 && n * degree % 2 == 0; seed++)
				fab_fabric_free(draw(n, degree, 1, seed));
	for (size_t i = 0; i < FAB_COUNT(sizes); i++)
		fab_fabric_free(draw(sizes[i][0], sizes[i][1], 0, i));
}

/* Each of the 15 pairs of six switches is joined in 3/5 of all cubic graphs. */
Test(gen_random, pairs_are_equally_likely)
{
	enum { N = 6, SEEDS = 2000 };
	unsigned seen[N][N] = {{0}};

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		OWN(fab_fabric) *f = draw(N, 3, 0, seed);

		for (uint32_t s = 0; s < N; s++)
			for (uint32_t p = f->peer_first[s]; p < f->peer_first[s + 1]; p++)
				seen[s][f->peer[p]]++;
	}
	for (int i = 0; i < N * N; i++)
		cr_assert(i / N == i % N || (seen[i / N][i % N] > 1100 &&
					     seen[i / N][i % N] < 1300),
			  "%d-%d: %u of %d", i / N, i % N, seen[i / N][i % N], SEEDS);
}
