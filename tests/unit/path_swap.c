/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of trees swapped for cheaper ones: trees stay trees and low, and no cheaper
 * path is left where height is no matter. */
#include "mcast/path_swap.h"
#include "base/rng.h"
#include "mcast/cheap_tree.h"
#include "mcast/loose_tree.h"
#include "support/gen.h"
#include "support/nets.h"
#include "support/trees.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

struct tried {
	struct fab_fabric *f;
	struct fab_dist *dist;
	struct fab_mcast_problem p;
	uint32_t *load;
	struct fab_prices prices;
	struct fab_cheap_tree *cheap;
	struct fab_hops hops;
	struct fab_path_swap *x;
	uint32_t sw[MOST], n, root;
	unsigned radius;
};

static void set_up(struct tried *t, const char *spec, uint64_t seed)
{
	*t = (struct tried){.f = test_gen_raw(spec)};
	t->load = calloc(t->f->n_switch_links, sizeof(*t->load));
	for (uint32_t c = 0; c < t->f->n_switch_links; c++)
		t->load[c] = (uint32_t)(fab_mix64(seed * 1000 + c) % 6);
	cr_assert_eq(fab_dist_new(t->f, 1, &t->dist, NULL), 0);
	t->p = (struct fab_mcast_problem){.f = t->f, .dist = t->dist};
	fab_prices_init(&t->prices, t->load);
	fab_prices_set_smooth(&t->prices, 6);
	t->cheap = fab_cheap_tree_new(&t->p);
	fab_hops_init(&t->hops, &t->p);
	t->x = fab_path_swap_new(&t->p, &t->hops);
}

static void tear_down(struct tried *t)
{
	fab_path_swap_free(t->x);
	fab_hops_fini(&t->hops);
	fab_cheap_tree_free(t->cheap);
	fab_prices_fini(&t->prices);
	fab_dist_free(t->dist);
	fab_fabric_free(t->f);
	free(t->load);
}

/* Some switches and the one from which the farthest of them is nearest. */
static void draw_group(struct tried *t, uint64_t seed)
{
	t->n = trees_draw_switches(t->f, MOST, seed, t->sw);
	t->radius = FAB_HOPS_UNREACHABLE;
	for (uint32_t s = 0; s < t->f->n_switches; s++) {
		unsigned most = 0;

		for (uint32_t i = 0; i < t->n; i++) {
			unsigned hops = fab_dist_row(t->dist, s)[t->sw[i]];

			most = hops > most ? hops : most;
		}
		if (most < t->radius) {
			t->radius = most;
			t->root = s;
		}
	}
}

/* A tree of shortest paths, taken by the search; what it costs. */
static double start(struct tried *t)
{
	struct fab_grown tree = fab_cheap_tree_grow(t->cheap, &t->prices, t->sw, t->n,
						    t->root, __DBL_MAX__);

	fab_path_swap_take(t->x, t->sw, t->n, tree.n, tree.sw, tree.cable);
	return tree.price;
}

static uint32_t other_end(const struct fab_fabric *f, uint32_t cable, uint32_t sw)
{
	uint32_t a = f->port_node[f->cable_a[cable]];

	return a == sw ? f->port_node[f->cable_b[cable]] : a;
}

static void check_group(struct tried *t, unsigned slack,
			const struct fab_path_swap_how *how, unsigned *n_cheaper)
{
	double before = start(t), after, sum;
	struct fab_grown tree;
	uint32_t root;

	after = fab_path_swap_run(t->x, &t->prices, t->radius + slack, how);
	root = fab_path_swap_root(t->x, t->radius + slack, t->root);
	tree = fab_path_swap_hang(t->x, root);
	sum = fab_prices_sum(&t->prices, tree.cable, tree.n);
	cr_expect_float_eq(sum, after, 1e-9);
	cr_expect_eq(tree.price, after);
	cr_expect_leq(after, before + 1e-9);
	*n_cheaper += after < before - 1e-9;
	free(trees_check(t->f, root, &tree, t->sw, t->n, t->radius + slack));
}

/* Groups of all kinds on all kinds of fabrics: so many of 300 trees become cheaper. */
static void check_shapes(bool is_near, unsigned least)
{
	static const char *const specs[] = {"torus:dims=6x5,hosts=1",
					    "mesh:dims=7x4,hosts=1",
					    "fattree:radix=6,levels=3",
					    "dragonfly:a=4,p=2,h=2",
					    "pgft:h=2,m=6/5,w=1/3,p=1/2",
					    "random:switches=30,degree=4,hosts=2,seed=5"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		unsigned n_cheaper = 0;
		struct tried t;

		set_up(&t, specs[i], i);
		for (uint64_t g = 0; g < 300; g++) {
			const struct fab_path_swap_how how = {.is_near = is_near,
							      .seed = g};

			draw_group(&t, g);
			check_group(&t, g % 3, &how, &n_cheaper);
		}
		cr_expect_gt(n_cheaper, least, "%s: %u of 300", specs[i], n_cheaper);
		tear_down(&t);
	}
}

Test(path_swap, trees_stay_trees_and_low)
{
	check_shapes(false, 80);
}

Test(path_swap, trees_stay_trees_by_near_paths)
{
	check_shapes(true, 40);
}

/* The cheapest path between two halves, by hand: half[sw] 1 or 2, 0 neither. */
static double cheapest_between(const struct tried *t, const uint8_t *half)
{
	const struct fab_fabric *f = t->f;
	double *cost = malloc(f->n_switches * sizeof(*cost)), best = __DBL_MAX__;
	bool changed = true;

	for (uint32_t s = 0; s < f->n_switches; s++)
		cost[s] = half[s] == 1 ? 0 : __DBL_MAX__;
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < f->n_switches; s++)
			for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
				double via =
					cost[s] + fab_price(&t->prices, f->arc_cable[a]);

				if (cost[s] < __DBL_MAX__ &&
				    via < cost[f->arc_peer[a]] - 1e-12) {
					cost[f->arc_peer[a]] = via;
					changed = true;
				}
			}
	}
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (half[s] == 2 && cost[s] < best)
			best = cost[s];
	free(cost);
	return best;
}

/* Without the path from `bottom` up to the next member or branch: is it the cheapest? */
static void check_path(const struct tried *t, const uint32_t *parent,
		       const uint32_t *cable, const bool *is_key, uint32_t bottom)
{
	uint8_t *half = calloc(t->f->n_switches, 1);
	double cost = 0;
	uint32_t up = bottom;

	do {
		cost += fab_price(&t->prices, cable[up]);
		up = parent[up];
	} while (!is_key[up]);
	for (uint32_t s = 0; s < t->f->n_switches; s++) {
		uint32_t at = s;

		if (parent[s] == FAB_NONE && s != t->sw[0])
			continue;
		while (at != bottom && at != t->sw[0])
			at = parent[at];
		half[s] = at == bottom ? 1 : 2;
	}
	for (uint32_t s = parent[bottom]; s != up; s = parent[s])
		half[s] = 0;
	cr_expect_geq(cheapest_between(t, half), cost - 1e-9, "a cheaper path is left");
	free(half);
}

/* Run until nothing changes; then no path has a cheaper one in its place: near paths
 * where every cable costs the same. */
static void check_fixpoint(bool is_near)
{
	const struct fab_path_swap_how how = {.is_near = is_near};
	struct tried t;

	set_up(&t, "torus:dims=6x5,hosts=1", 7);
	if (is_near)
		memset(t.load, 0, t.f->n_switch_links * sizeof(*t.load));
	for (uint64_t g = 0; g < 60; g++) {
		uint32_t parent[30], cable[30], n_children[30] = {0};
		double last = __DBL_MAX__, now;
		struct fab_grown tree;
		bool is_key[30] = {false};

		draw_group(&t, g);
		start(&t);
		while ((now = fab_path_swap_run(t.x, &t.prices, 100, &how)) < last)
			last = now;
		tree = fab_path_swap_hang(t.x, t.sw[0]);
		memset(parent, 0xff, sizeof(parent));
		for (uint32_t i = 0; i < tree.n; i++) {
			uint32_t s = tree.sw[i];

			cable[s] = tree.cable[i];
			parent[s] = other_end(t.f, cable[s], s);
			n_children[parent[s]]++;
		}
		for (uint32_t i = 0; i < t.n; i++)
			is_key[t.sw[i]] = true;
		for (uint32_t s = 0; s < 30; s++)
			is_key[s] = is_key[s] || n_children[s] > 1;
		for (uint32_t s = 0; s < 30; s++)
			if (is_key[s] && s != t.sw[0] && parent[s] != FAB_NONE)
				check_path(&t, parent, cable, is_key, s);
	}
	tear_down(&t);
}

Test(path_swap, no_cheaper_path_is_left)
{
	check_fixpoint(false);
}

Test(path_swap, no_nearer_path_is_left)
{
	check_fixpoint(true);
}

/* What costs less than `least` stays. */
Test(path_swap, cheap_paths_are_left_alone)
{
	const struct fab_path_swap_how all = {0}, some_of = {.least = 12},
				       none = {.least = 1e9};
	unsigned n_all = 0, n_some = 0;
	struct tried t;

	set_up(&t, "torus:dims=6x5,hosts=1", 3);
	for (uint64_t g = 0; g < 100; g++) {
		double before, some;

		draw_group(&t, g);
		before = start(&t);
		cr_expect_float_eq(fab_path_swap_run(t.x, &t.prices, t.radius, &none),
				   before, 1e-9);
		cr_expect_eq(fab_path_swap_steps(t.x), 0);
		some = fab_path_swap_run(t.x, &t.prices, t.radius, &some_of);
		n_some += some < before - 1e-9;
		start(&t);
		n_all +=
			fab_path_swap_run(t.x, &t.prices, t.radius, &all) < before - 1e-9;
	}
	cr_expect_lt(n_some, n_all);
	cr_expect_gt(n_some, 0);
	tear_down(&t);
}

static uint32_t cable_between(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	for (uint32_t i = f->arc_first[a]; i < f->arc_first[a + 1]; i++)
		if (f->arc_peer[i] == b)
			return f->arc_cable[i];
	return FAB_NONE;
}

/* Each node is where it is looked for, behind its parent, by a cable to it; what hangs on
 * it follows it. */
static void check_nodes(const struct fab_loose_tree *t, size_t n)
{
	cr_assert_eq(t->node.n, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_loose_node *v = t->node.v;
		uint32_t end = i + 1, n_children = 0;

		cr_expect_eq(fab_loose_find(t, v[i].sw), i);
		for (uint32_t j = i + 1; j < n; j++) {
			n_children += v[j].parent == i;
			if (v[j].parent >= i && v[j].parent < end && end == j)
				end = j + 1;
		}
		cr_expect_eq(v[i].end, end);
		cr_expect_eq(v[i].n_children, n_children);
		if (!i)
			continue;
		cr_assert_lt(v[i].parent, i);
		cr_expect_eq(other_end(t->p->f, v[i].cable, v[i].sw), v[v[i].parent].sw);
	}
}

/* A ring of eight, members 0, 2 and 4 by the cables between them; the path 2 - 4 out. */
Test(path_swap, halves_of_a_tree)
{
	struct fab_fabric *f = test_ring(8);
	const struct fab_mcast_problem p = {.f = f};
	const uint32_t member[] = {0, 2, 4};
	uint32_t sw[5], cable[5], at;
	struct fab_loose_edge path[4];
	struct fab_loose_tree t;

	for (uint32_t i = 0; i < 5; i++) {
		sw[i] = i + 1; /* 5 is an end for nobody */
		cable[i] = cable_between(f, i, i + 1);
	}
	fab_loose_init(&t, &p);
	fab_loose_take(&t, member, 3, 5, sw, cable);
	cr_assert_eq(t.node.n, 5);
	cr_assert_eq(fab_loose_find(&t, 5), FAB_NONE);
	fab_loose_measure(&t);
	for (uint32_t s = 0; s < 5; s++)
		cr_expect_eq(t.farthest.v[fab_loose_find(&t, s)], s > 2 ? s : 4 - s);
	at = fab_loose_find(&t, 4);
	cr_assert_neq(at, FAB_NONE);
	fab_loose_split(&t, at);
	fab_loose_measure(&t);
	cr_expect_eq(t.farthest.v[at], 0);
	cr_expect_eq(fab_loose_side(&t, fab_loose_find(&t, 3)), FAB_LOOSE_PATH);
	cr_expect_eq(t.farthest.v[fab_loose_find(&t, 2)], 2);
	cr_expect_eq(t.farthest.v[fab_loose_find(&t, 1)], 1);
	for (uint32_t i = 0; i < 4; i++) /* 4 - 5 - 6 - 7 - 0 */
		path[i] = (struct fab_loose_edge){{4 + i, (5 + i) % 8},
						  cable_between(f, 4 + i, (5 + i) % 8)};
	fab_loose_join(&t, path, 4);
	check_nodes(&t, 7);
	cr_expect_eq(fab_loose_find(&t, 3), FAB_NONE);
	fab_loose_measure(&t);
	cr_expect_eq(t.farthest.v[fab_loose_find(&t, 2)], 6);
	cr_expect_eq(t.farthest.v[fab_loose_find(&t, 7)], 3);
	fab_loose_hang(&t, 6);
	check_nodes(&t, 7);
	cr_expect_eq(t.node.v[0].sw, 6);
	fab_loose_fini(&t);
	fab_fabric_free(f);
}
