/* SPDX-License-Identifier: BSD-2-Clause */
/* Searches in the graph of switches against relaxing all arcs until nothing changes. */
#include "fabric/graph.h"

#include "support/test.h"

enum { N_SEEDS = 40 };

struct setting {
	struct fab_fabric *f;
	struct fab_faults *faults;
	uint32_t n_from, *from; /* some switches, each once */
};

static void setting_init(struct setting *s, uint64_t seed)
{
	struct fab_rng rng = test_rng(seed);

	s->f = test_random_fabric(3 + (uint32_t)seed * 2, 20, 2 + (uint32_t)seed % 3,
				  seed);
	s->faults = fab_faults_new(s->f);
	for (uint32_t i = 0; i < seed / 4 && s->f->n_switch_links; i++)
		if (i % 3)
			fab_faults_kill_cable(s->faults,
					      test_below(&rng, s->f->n_cables));
		else
			fab_faults_kill_switch(s->faults,
					       test_below(&rng, s->f->n_switches));
	s->from = FAB_NEW(s->f->n_switches, uint32_t);
	s->n_from = 0;
	for (uint32_t sw = 0; sw < s->f->n_switches; sw++)
		if (!fab_rng_below(&rng, 5))
			s->from[s->n_from++] = sw;
}

static void setting_fini(struct setting *s)
{
	free(s->from);
	fab_faults_free(s->faults);
	fab_fabric_free(s->f);
}

OWN_VALUE(setting, setting_fini)

/* Hops from the nearest of n switches: all cables, again and again. */
static uint32_t *relax(const struct fab_fabric *f, const bool *cable_is_dead, uint32_t n,
		       const uint32_t *from)
{
	uint32_t *dist = FAB_NEW(f->n_switches, uint32_t);
	bool changes = true;

	memset(dist, 0xff, f->n_switches * sizeof(*dist));
	for (uint32_t i = 0; i < n; i++)
		dist[from[i]] = 0;
	while (changes) {
		changes = false;
		for (uint32_t c = 0; c < f->n_switch_links; c++)
			for (int way = 0; way < 2; way++) {
				uint32_t u =
					f->port_node[way ? f->cable_a[c] : f->cable_b[c]];
				uint32_t v =
					f->port_node[way ? f->cable_b[c] : f->cable_a[c]];

				if (cable_is_dead[c] || dist[u] == FAB_NONE ||
				    dist[v] <= dist[u] + 1)
					continue;
				dist[v] = dist[u] + 1;
				changes = true;
			}
	}
	return dist;
}

static void expect_order(const struct fab_fabric *f, const uint32_t *dist,
			 const uint32_t *order, uint32_t n)
{
	OWN_HEAP bool *is_met = FAB_NEW0(f->n_switches, bool);
	uint32_t reached = 0;

	for (uint32_t i = 0; i < n; i++) {
		cr_assert_neq(dist[order[i]], FAB_NONE);
		cr_assert(!is_met[order[i]]);
		cr_assert(!i || dist[order[i - 1]] <= dist[order[i]]);
		is_met[order[i]] = true;
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		reached += dist[sw] != FAB_NONE;
	cr_assert_eq(n, reached);
}

Test(graph, a_search_finds_the_fewest_hops)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		struct fab_graph g;
		OWN(setting) s;
		uint32_t *expected, n;
		FAB_AUTOFREE uint32_t *dist = NULL, *order = NULL, *by = NULL;

		setting_init(&s, seed);
		g = fab_graph_of_arcs(s.f);
		dist = FAB_NEW(s.f->n_switches, uint32_t);
		order = FAB_NEW(s.f->n_switches, uint32_t);
		by = FAB_NEW(s.f->n_switches, uint32_t);
		memcpy(order, s.from, s.n_from * sizeof(*order));
		n = fab_graph_search(&g, s.faults->arc_is_dead, s.n_from, dist, order,
				     by);
		expected = relax(s.f, s.faults->cable_is_dead, s.n_from, s.from);
		cr_assert_arr_eq(dist, expected, s.f->n_switches * sizeof(*dist));
		expect_order(s.f, dist, order, n);
		for (uint32_t i = s.n_from; i < n; i++) {
			uint32_t arc = by[order[i]], back = s.f->arc_reverse[arc];

			cr_assert_eq(s.f->arc_peer[arc], order[i]);
			back = s.f->arc_peer[s.f->arc_first[order[i]] + back];
			cr_assert_eq(dist[back] + 1, dist[order[i]]);
			cr_assert(!s.faults->arc_is_dead[arc]);
		}
		free(expected);
		for (uint32_t sw = 0; sw < s.f->n_switches; sw++) {
			bool is_dead = s.faults->switch_is_dead[sw];

			n = fab_faults_search(s.f, s.faults, sw, dist, order);
			expected = relax(s.f, s.faults->cable_is_dead, !is_dead, &sw);
			cr_assert_arr_eq(dist, expected, s.f->n_switches * sizeof(*dist));
			expect_order(s.f, dist, order, n);
			free(expected);
		}
	}
}

Test(graph, arcs_know_their_reverse_and_die_with_their_cable)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		const struct fab_fabric *f;
		OWN(setting) s;

		setting_init(&s, seed);
		f = s.f;
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1];
			     a++) {
				uint32_t v = f->arc_peer[a];
				uint32_t back = f->arc_first[v] + f->arc_reverse[a];

				cr_assert_lt(back, f->arc_first[v + 1]);
				cr_assert_eq(f->arc_peer[back], sw);
				cr_assert_eq(f->arc_cable[back], f->arc_cable[a]);
				cr_assert_eq(s.faults->arc_is_dead[a],
					     s.faults->cable_is_dead[f->arc_cable[a]]);
				cr_assert(!s.faults->switch_is_dead[sw] ||
					  s.faults->arc_is_dead[a]);
			}
		fab_faults_clear(s.faults);
		for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++)
			cr_assert(!s.faults->arc_is_dead[a]);
	}
}

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

/* Parts: the lowest switch that can be reached, over what is not cut. */
Test(graph, parts_are_what_hangs_together)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		uint32_t *dist, n, next = 0;
		FAB_AUTOFREE uint32_t *part = NULL;
		struct fab_graph g;
		OWN(setting) s;

		setting_init(&s, seed);
		g = fab_graph_of_arcs(s.f);
		part = FAB_NEW(g.n, uint32_t);
		n = fab_graph_parts(&g, s.faults->arc_is_dead, part);
		for (uint32_t sw = 0; sw < g.n; sw++) {
			uint32_t lowest = 0;

			dist = relax(s.f, s.faults->cable_is_dead, 1, &sw);
			while (dist[lowest] == FAB_NONE)
				lowest++;
			cr_assert_eq(part[sw], lowest == sw ? next++ : part[lowest]);
			free(dist);
		}
		cr_assert_eq(n, next);
	}
}
