/* SPDX-License-Identifier: BSD-2-Clause */
/* Cycles of graphs against all walks. */
#include "fabric/graph.h"

#include "support/test.h"

/* Edges at random, as lists. */
struct edges {
	uint32_t n, n_edges, from[200], to[200];
};

static void draw(struct edges *e, uint64_t seed)
{
	struct fab_rng rng = test_rng(seed);

	e->n = 1 + test_below(&rng, 30);
	e->n_edges = test_below(&rng, e->n + e->n / 2);
	for (uint32_t i = 0; i < e->n_edges; i++) {
		e->from[i] = test_below(&rng, e->n);
		e->to[i] = test_below(&rng, e->n);
	}
}

/* reach[u * n + v]: steps of the shortest walk of one edge or more (Floyd, Warshall). */
static uint32_t *all_walks(const struct edges *e)
{
	uint32_t n = e->n, *steps = FAB_NEW((size_t)n * n, uint32_t);

	for (uint32_t i = 0; i < n * n; i++)
		steps[i] = FAB_NONE / 2;
	for (uint32_t i = 0; i < e->n_edges; i++)
		steps[e->from[i] * n + e->to[i]] = 1;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = 0; v < n; v++)
				if (steps[u * n + k] + steps[k * n + v] <
				    steps[u * n + v])
					steps[u * n + v] =
						steps[u * n + k] + steps[k * n + v];
	return steps;
}

static bool has_edge(const struct edges *e, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < e->n_edges; i++)
		if (e->from[i] == from && e->to[i] == to)
			return true;
	return false;
}

/* Strongly connected parts from all walks: the lowest vertex; FAB_NONE: on no cycle. */
static void find_parts(const struct edges *e, const uint32_t *steps, uint32_t *part)
{
	for (uint32_t u = 0; u < e->n; u++) {
		part[u] = FAB_NONE;
		for (uint32_t v = e->n; v-- > 0;)
			if (steps[u * e->n + v] < FAB_NONE / 2 &&
			    steps[v * e->n + u] < FAB_NONE / 2)
				part[u] = v;
	}
}

Test(graph, cycles_are_found_and_the_shortest_one)
{
	uint32_t n_with = 0, n_without = 0, n_long = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		uint32_t part[30], n, least = FAB_NONE / 2;
		FAB_AUTOFREE uint32_t *steps = NULL, *cycle = NULL;
		FAB_AUTO(fab_graph_fini) struct fab_graph g;
		struct edges e;

		draw(&e, seed);
		steps = all_walks(&e);
		find_parts(&e, steps, part);
		for (uint32_t v = 0; v < e.n; v++)
			if (steps[v * e.n + v] < least)
				least = steps[v * e.n + v];
		fab_graph_init(&g, e.n, e.n_edges, e.from, e.to);
		cr_assert_eq(g.first[e.n], e.n_edges);
		for (uint32_t v = 0; v < e.n; v++)
			for (uint32_t i = g.first[v]; i < g.first[v + 1]; i++)
				cr_assert(has_edge(&e, v, g.peer[i]));
		cr_assert_eq(fab_graph_has_cycle(&g), least < FAB_NONE / 2);
		cycle = fab_graph_shortest_cycle(&g, part, UINT64_MAX, &n);
		cr_assert_eq(n, least < FAB_NONE / 2 ? least : 0);
		for (uint32_t i = 0; i < n; i++)
			cr_assert(has_edge(&e, cycle[i], cycle[(i + 1) % n]));
		n_with += n > 0;
		n_without += !n;
		n_long += n > 3;
	}
	cr_assert(n_with > 50 && n_without > 50 && n_long > 4, "%u %u %u", n_with,
		  n_without, n_long);
}
