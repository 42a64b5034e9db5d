/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of few cables, by distances alone (sound, low, and never more than twice as large
 * as can be) and by searches. */
#include "mcast/near_tree.h"
#include "base/mem.h"
#include "base/rng.h"
#include "mcast/cheap_tree.h"
#include "mcast/deep_tree.h"
#include "mcast/hops.h"
#include "support/gen.h"
#include "support/trees.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

struct tried {
	struct fab_fabric *f;
	struct fab_dist *dist;
	struct fab_mcast_problem p;
	uint32_t *load, *parent; /* as trees_check() has it, of the tree grown last */
	struct fab_prices prices;
	struct fab_hops hops;
	struct fab_near_tree *tree;
	uint32_t sw[MOST], n, root;
	unsigned height; /* hops to the farthest member */
};

static void set_up(struct tried *t, const char *spec)
{
	*t = (struct tried){.f = test_gen_raw(spec)};
	t->load = FAB_NEW0(t->f->n_switch_links, uint32_t);
	for (uint32_t c = 0; c < t->f->n_switch_links; c++)
		t->load[c] = (uint32_t)(fab_mix64(c) % 6);
	cr_assert_eq(fab_dist_new(t->f, 1, &t->dist, NULL), 0);
	t->p = (struct fab_mcast_problem){.f = t->f, .dist = t->dist};
	fab_prices_init(&t->prices, t->load);
	fab_prices_set_smooth(&t->prices, 6);
	fab_hops_init(&t->hops, &t->p);
	t->tree = fab_near_tree_new(&t->p, &t->hops);
}

static void tear_down(struct tried *t)
{
	fab_near_tree_free(t->tree);
	fab_hops_fini(&t->hops);
	fab_prices_fini(&t->prices);
	fab_dist_free(t->dist);
	fab_fabric_free(t->f);
	free(t->load);
	free(t->parent);
}

static void draw_group(struct tried *t, uint32_t most, uint64_t seed)
{
	t->n = trees_draw_switches(t->f, most, seed, t->sw);
	t->root = (uint32_t)(fab_mix64(~seed) % t->f->n_switches);
	t->height = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		unsigned hops = fab_dist_row(t->dist, t->root)[t->sw[i]];

		t->height = hops > t->height ? hops : t->height;
	}
}

/* Grown, and no deeper than `height`; every switch has something to do. */
static struct fab_grown grow(struct tried *t, unsigned height, uint64_t seed)
{
	struct fab_grown tree = fab_near_tree_grow(t->tree, &t->prices, t->sw, t->n,
						   t->root, height, seed);

	free(t->parent);
	t->parent = trees_check(t->f, t->root, &tree, t->sw, t->n, height);
	cr_expect_float_eq(tree.price, fab_prices_sum(&t->prices, tree.cable, tree.n),
			   1e-9);
	return tree;
}

Test(near_tree, is_sound_and_low)
{
	static const char *const specs[] = {"torus:dims=6x5x4,hosts=1",
					    "mesh:dims=7x4,hosts=1",
					    "hyperx:dims=4x4x4,hosts=1",
					    "fattree:radix=4,levels=4",
					    "dragonfly:a=4,p=2,h=2",
					    "random:switches=60,degree=3,hosts=2,seed=5"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		struct tried t;

		set_up(&t, specs[i]);
		for (uint64_t g = 0; g < 200; g++) {
			struct fab_grown tree;
			uint32_t n, *cables;

			draw_group(&t, MOST, g);
			tree = grow(&t, t.height + g % 3, g);
			n = tree.n;
			cables = FAB_NEW(n, uint32_t);
			memcpy(cables, tree.cable, n * sizeof(*cables));
			tree = grow(&t, t.height + g % 3, g);
			cr_assert_eq(tree.n, n);
			cr_expect_arr_eq(cables, tree.cable, n * sizeof(*cables),
					 "not the same again");
			free(cables);
		}
		tear_down(&t);
	}
}

static void offer(unsigned *least, unsigned other)
{
	*least = other < *least ? other : *least;
}

/* The fewest cables that join root and members: of[set * n + s] of each set of members
 * and switch s; two sets meet at a switch, which a path leads to (Dreyfus and Wagner,
 * "The Steiner problem in graphs", 1971). */
static unsigned least_cables(const struct tried *t)
{
	uint32_t n = t->f->n_switches, all = 1u << t->n;
	unsigned *of = FAB_NEW(all * n, unsigned), least;

	memset(of, 0x3f, all * n * sizeof(*of));
	for (uint32_t i = 0; i < t->n; i++)
		of[(1u << i) * n + t->sw[i]] = 0;
	for (uint32_t set = 1; set < all; set++) {
		unsigned *own = &of[set * n];

		for (uint32_t sub = (set - 1) & set; sub; sub = (sub - 1) & set)
			for (uint32_t s = 0; s < n; s++)
				offer(&own[s], of[sub * n + s] + of[(set ^ sub) * n + s]);
		for (uint32_t s = 0; s < n; s++)
			for (uint32_t m = 0; m < n; m++)
				offer(&own[s], own[m] + fab_dist_row(t->dist, m)[s]);
	}
	least = of[(all - 1) * n + t->root];
	free(of);
	return least;
}

/* Where height is no matter: no more than twice the least, mostly near to it. */
Test(near_tree, is_small)
{
	unsigned sum = 0, least_sum = 0, n_least = 0;
	struct tried t;

	set_up(&t, "torus:dims=6x5,hosts=1");
	for (uint64_t g = 0; g < 150; g++) {
		unsigned least, n;

		draw_group(&t, 5, g);
		n = grow(&t, 100, g).n;
		least = least_cables(&t);
		cr_assert_geq(n, least);
		cr_assert_leq(n, 2 * least);
		sum += n;
		least_sum += least;
		n_least += n == least;
	}
	cr_expect_gt(n_least, 100, "%u of 150", n_least);
	cr_expect_lt(100 * sum, 106 * least_sum, "%u, %u", sum, least_sum);
	tear_down(&t);
}

/* Of parallel cables the cheapest one. */
Test(near_tree, takes_the_cheapest_of_parallel_cables)
{
	struct tried t;

	set_up(&t, "pgft:h=2,m=6/5,w=1/3,p=1/2");
	for (uint64_t g = 0; g < 100; g++) {
		const struct fab_fabric *f = t.f;
		struct fab_grown tree;

		draw_group(&t, 8, g);
		tree = grow(&t, t.height, g);
		for (uint32_t i = 0; i < tree.n; i++) {
			uint32_t sw = tree.sw[i];
			double price = fab_price(&t.prices, tree.cable[i]);

			for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
				cr_expect(f->arc_peer[a] != t.parent[sw] ||
					  fab_price(&t.prices, f->arc_cable[a]) >= price);
		}
	}
	tear_down(&t);
}

/* Hops from coordinates and from rows are the distances; lists of any length. */
Test(near_tree, hops_are_distances)
{
	static const char *const specs[] = {
		"torus:dims=6x5x4,hosts=1",  "torus:dims=2x2x7,hosts=1",
		"torus:dims=16x9,hosts=1",   "mesh:dims=7x4x3,hosts=1",
		"hyperx:dims=4x5x3,hosts=1", "dragonfly:a=4,p=2,h=2"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		struct fab_hops_list list;
		struct fab_hops hops;
		struct tried t;

		set_up(&t, specs[i]);
		fab_hops_init(&hops, &t.p);
		cr_expect_eq(hops.shape != NULL, i < 5);
		fab_hops_list_init(&list, &hops);
		for (uint32_t s = 0; s < t.f->n_switches; s++) {
			const uint8_t *row = fab_dist_row(t.dist, s);
			uint32_t n = (s * 7) % t.f->n_switches + 1;
			const uint16_t *out;

			fab_hops_list_clear(&list);
			for (uint32_t j = 0; j < n; j++)
				fab_hops_list_add(&list,
						  (s + 3 * j + 1) % t.f->n_switches);
			out = fab_hops_from(&list, s);
			for (uint32_t j = 0; j < n; j++)
				cr_assert_eq(out[j], row[list.sw.v[j]], "%s: %u to %u",
					     specs[i], s, list.sw.v[j]);
		}
		fab_hops_list_fini(&list);
		fab_hops_fini(&hops);
		tear_down(&t);
	}
}

/* Whether hops are found from coordinates or read: the same trees. */
Test(near_tree, same_trees_from_rows)
{
	struct fab_hops rows;
	struct fab_near_tree *other;
	struct tried t;

	set_up(&t, "torus:dims=9x8x3,hosts=1");
	cr_assert_not_null(t.hops.shape);
	rows = (struct fab_hops){.dist = t.dist};
	other = fab_near_tree_new(&t.p, &rows);
	for (uint64_t g = 0; g < 100; g++) {
		struct fab_grown a, b;

		draw_group(&t, MOST, g);
		a = grow(&t, t.height + g % 3, g);
		b = fab_near_tree_grow(other, &t.prices, t.sw, t.n, t.root,
				       t.height + g % 3, g);
		cr_assert_eq(a.n, b.n, "group %llu: %u, %u", (unsigned long long)g, a.n,
			     b.n);
		cr_expect_arr_eq(a.cable, b.cable, a.n * sizeof(*a.cable));
	}
	fab_near_tree_free(other);
	tear_down(&t);
}

/* Deep trees hold their members, are no higher than they may be, and where all cables
 * cost the same more often smaller than larger beside those of shortest paths. */
Test(near_tree, deep_trees_are_small)
{
	struct fab_fabric *f = test_gen_raw("torus:dims=8x8,hosts=1");
	uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t), less = 0, more = 0;
	struct fab_mcast_problem p = {.f = f};
	struct fab_cheap_tree *cheap;
	struct fab_deep_tree *deep;
	struct fab_prices prices;
	struct fab_dist *dist;

	cr_assert_eq(fab_dist_new(f, 1, &dist, NULL), 0);
	p.dist = dist;
	fab_prices_init(&prices, load);
	cheap = fab_cheap_tree_new(&p);
	deep = fab_deep_tree_new(&p);
	for (uint32_t g = 0; g < 200; g++) {
		uint32_t sw[10], n = trees_draw_switches(f, FAB_COUNT(sw), g, sw);
		uint32_t root = (uint32_t)(fab_mix64(~(uint64_t)g) % f->n_switches);
		struct fab_grown of_deep, of_cheap;
		unsigned height = 0;

		for (uint32_t i = 0; i < n; i++)
			if (fab_dist_row(dist, root)[sw[i]] > height)
				height = fab_dist_row(dist, root)[sw[i]];
		height += g % 3;
		of_cheap = fab_cheap_tree_grow(cheap, &prices, sw, n, root, 1e9);
		of_deep = fab_deep_tree_grow(deep, &prices, sw, n, root, height, g);
		free(trees_check(f, root, &of_deep, sw, n, height));
		less += of_deep.n < of_cheap.n;
		more += of_deep.n > of_cheap.n;
	}
	cr_expect_gt(less, 3 * more / 2, "%u smaller, %u larger", less, more);
	fab_cheap_tree_free(cheap);
	fab_deep_tree_free(deep);
	fab_prices_fini(&prices);
	fab_dist_free(dist);
	fab_fabric_free(f);
	free(load);
}
