/* SPDX-License-Identifier: BSD-2-Clause */
/* Cycles of graphs against all walks. */
#include "fabric/graph.h"

#include "support/test.h"

enum { MOST = 30, FAR = 1000 };

/* Steps of the shortest walks of one edge or more (Floyd, Warshall). */
static uint32_t steps[MOST][MOST];

static void find_walks(uint32_t n, uint32_t n_edges, const uint32_t *from,
		       const uint32_t *to)
{
	for (uint32_t i = 0; i < n * n; i++)
		steps[i / n][i % n] = FAR;
	for (uint32_t i = 0; i < n_edges; i++)
		steps[from[i]][to[i]] = 1;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = 0; v < n; v++)
				if (steps[u][k] + steps[k][v] < steps[u][v])
					steps[u][v] = steps[u][k] + steps[k][v];
}

Test(graph, cycles_are_found_and_the_shortest_one)
{
	uint32_t n_with = 0, n_without = 0, n_long = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		struct fab_rng rng = test_rng(seed);
		uint32_t n = 1 + test_below(&rng, MOST), from[2 * MOST], to[2 * MOST];
		uint32_t n_edges = test_below(&rng, n + n / 2), part[MOST];
		uint32_t n_cycle, least = FAR;
		FAB_AUTOFREE uint32_t *cycle = NULL;
		FAB_AUTO(fab_graph_fini) struct fab_graph g;

		for (uint32_t i = 0; i < n_edges; i++) {
			from[i] = test_below(&rng, n);
			to[i] = test_below(&rng, n);
		}
		find_walks(n, n_edges, from, to);
		/* strongly connected parts: the lowest vertex; FAB_NONE: on no cycle */
		for (uint32_t u = 0; u < n; u++) {
			part[u] = FAB_NONE;
			for (uint32_t v = n; v-- > 0;)
				if (steps[u][v] < FAR && steps[v][u] < FAR)
					part[u] = v;
			least = steps[u][u] < least ? steps[u][u] : least;
		}
		fab_graph_init(&g, n, n_edges, from, to);
		cr_assert_eq(g.first[n], n_edges);
		for (uint32_t v = 0; v < n; v++)
			for (uint32_t i = g.first[v]; i < g.first[v + 1]; i++)
				cr_assert_eq(steps[v][g.peer[i]], 1);
		cr_assert_eq(fab_graph_has_cycle(&g), least < FAR);
		cycle = fab_graph_shortest_cycle(&g, part, UINT64_MAX, &n_cycle);
		cr_assert_eq(n_cycle, least < FAR ? least : 0);
		for (uint32_t i = 0; i < n_cycle; i++)
			cr_assert_eq(steps[cycle[i]][cycle[(i + 1) % n_cycle]], 1);
		n_with += n_cycle > 0;
		n_without += !n_cycle;
		n_long += n_cycle > 3;
	}
	cr_assert(n_with > 50 && n_without > 50 && test_reaches(n_long > 4), "%u %u %u",
		  n_with, n_without, n_long);
}
