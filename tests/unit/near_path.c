/* SPDX-License-Identifier: BSD-2-Clause */
/* Near paths between the halves of a tree, beside all pairs of switches. */
#include "mcast/near_path.h"
#include "base/mem.h"
#include "mcast/cheap_tree.h"
#include "mcast/engines.h"
#include "mcast/state.h"
#include "support/gen.h"
#include "support/routed.h"
#include "support/trees.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { MOST = 14, HEIGHT = 40 };

struct tried {
	struct routed s;
	struct fab_weights *weights; /* NULL: none */
	struct fab_mcast_state state;
	struct fab_prices prices;
	struct fab_hops hops;
	struct fab_cheap_tree *grower;
	struct fab_near_path *path;
	struct fab_loose_tree tree;
};

static void set_up(struct tried *t, const char *spec, bool is_weighted)
{
	static const double demand[] = {3};

	*t = (struct tried){0};
	routed_init(&t->s, test_gen_raw(spec), 1, MOST, 3);
	if (is_weighted)
		cr_assert_eq(fab_weights_new(t->s.f, t->s.groups, demand, false,
					     &t->weights, NULL),
			     0);
	t->s.problem.weights = t->weights;
	fab_mcast_state_init(&t->state, &t->s.problem, &fab_mcast_balanced);
	fab_prices_of(&t->prices, &t->state);
	fab_hops_init(&t->hops, &t->s.problem);
	t->grower = fab_cheap_tree_new(&t->s.problem);
	t->path = fab_near_path_new(&t->s.problem, &t->hops);
	fab_loose_init(&t->tree, &t->s.problem);
}

static void tear_down(struct tried *t)
{
	fab_loose_fini(&t->tree);
	fab_near_path_free(t->path);
	fab_cheap_tree_free(t->grower);
	fab_hops_fini(&t->hops);
	fab_prices_fini(&t->prices);
	fab_mcast_state_fini(&t->state);
	fab_weights_free(t->weights);
	routed_fini(&t->s);
}

/* Hops between the nearest two switches of the halves that a path may join; as many as
 * there are at most, if none. */
static unsigned least_hops(const struct tried *t, int most_hops, unsigned most)
{
	const struct fab_loose_tree *tree = &t->tree;
	unsigned least = most;

	for (uint32_t i = 0; i < tree->node.n; i++)
		for (uint32_t j = 0; j < tree->node.n; j++) {
			unsigned hops = fab_dist_row(
				t->s.dist, tree->node.v[i].sw)[tree->node.v[j].sw];

			if (fab_loose_side(tree, i) != FAB_LOOSE_LOWER ||
			    fab_loose_side(tree, j) != FAB_LOOSE_UPPER ||
			    (int)hops + tree->farthest.v[i] + tree->farthest.v[j] >
				    most_hops)
				continue;
			least = hops < least ? hops : least;
		}
	return least;
}

static unsigned hops_up(const struct fab_loose_tree *t, uint32_t at)
{
	unsigned hops = 1;

	while (!fab_loose_is_key(&t->node.v[at = t->node.v[at].parent]))
		hops++;
	return hops;
}

/* Where every cable costs the same, the nearest switches are joined, by as many cables as
 * there are hops, unless the tree becomes too high; else nothing is found that costs
 * less. Returns whether there was a nearer path. */
static bool check_path(struct tried *t, uint32_t at, int most_hops, double price)
{
	struct fab_near_path_limit limit = {most_hops, hops_up(&t->tree, at), 0};
	unsigned least;
	bool found;

	limit.price = limit.hops * price * (1 - 1e-9);
	fab_loose_split(&t->tree, at);
	fab_loose_measure(&t->tree);
	least = least_hops(t, most_hops, limit.hops);
	found = fab_near_path_find(t->path, &t->tree, at, &t->prices, &limit, at);
	cr_expect_eq(found, least < limit.hops, "%u of %u", least, limit.hops);
	if (found)
		cr_expect_eq(fab_near_path_n_edges(t->path), least);
	fab_loose_unite(&t->tree);
	return found;
}

/* Trees of shortest paths from anywhere: many paths of these have a nearer one. */
static void check_fabric(struct tried *t, double price, unsigned *n_found)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		uint32_t sw[MOST];
		uint32_t n = trees_draw_switches(t->s.f, MOST, seed, sw);
		struct fab_grown grown = fab_cheap_tree_grow(
			t->grower, &t->prices, sw, n, seed % t->s.f->n_switches, 1e9);

		fab_loose_take(&t->tree, sw, n, grown.n, grown.sw, grown.cable);
		for (uint32_t at = 1; at < t->tree.node.n; at++)
			if (fab_loose_is_key(&t->tree.node.v[at]))
				for (int most = 4; most <= 2 * HEIGHT; most += most)
					*n_found += check_path(t, at, most, price);
	}
}

Test(near_path, joins_the_nearest)
{
	static const char *const specs[] = {"torus:dims=6x5x4,hosts=1",
					    "mesh:dims=7x5,hosts=1",
					    "hyperx:dims=4x4x4,hosts=1",
					    "random:switches=60,degree=3,hosts=2,seed=5"};
	unsigned n_found = 0;

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		struct tried t;

		set_up(&t, specs[i], false);
		fab_prices_set_smooth(&t.prices, 1000);
		check_fabric(&t, 1, &n_found);
		tear_down(&t);
	}
	cr_expect_gt(n_found, 100, "%u", n_found);
}

/* With weights cables that are far below the target cost next to nothing. */
Test(near_path, joins_the_nearest_with_weights)
{
	unsigned n_found = 0;
	double price;
	struct tried t;

	set_up(&t, "torus:dims=6x5x4,hosts=1", true);
	fab_prices_set_target(&t.prices, 1000, 100);
	fab_prices_set_group(&t.prices, 0);
	price = fab_price(&t.prices, 0);
	cr_assert_lt(price, 0.01);
	check_fabric(&t, price, &n_found);
	cr_expect_gt(n_found, 100, "%u", n_found);
	tear_down(&t);
}
