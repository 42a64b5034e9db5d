/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees that are revised: never worse than others, never higher, the bound where it is
 * known to be reached. */
#include "base/mem.h"
#include "base/rng.h"
#include "mcast/engine/state.h"
#include "mcast/roots.h"
#include "mcast/route.h"
#include "mcast/search/search.h"
#include "support/gen.h"
#include "support/routed.h"
#include "support/trees.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A generated fabric with so many groups by chance, of at most so many members. */
struct instance {
	const char *spec;
	uint32_t n_groups, most;
};

static uint32_t index_of(const struct fab_mcast_engine *engine)
{
	for (uint32_t i = 0; i < fab_mcast_n_engines; i++)
		if (fab_mcast_engines[i] == engine)
			return i;
	return FAB_NONE;
}

/* Every shape, groups by chance: no algorithm of minimal height is below it. */
static void check_shape(const char *spec, uint32_t n_groups, uint32_t most, uint64_t seed)
{
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	uint32_t own = index_of(&fab_mcast_balanced);
	uint32_t optimal = index_of(&fab_mcast_optimal);
	struct routed s;

	routed_init(&s, test_gen_raw(spec), n_groups, most, seed);
	routed_all(&s, results, efi);
	for (uint32_t e = 0; e < fab_mcast_n_engines; e++)
		cr_expect(fab_mcast_engines[e]->may_be_higher ||
				  efi[own].max <= efi[e].max || e == optimal,
			  "%s, seed %llu: balanced %u, %s %u", spec,
			  (unsigned long long)seed, efi[own].max,
			  fab_mcast_engines[e]->name, efi[e].max);
	cr_expect_leq(efi[optimal].max, efi[own].max, "%s", spec);
	cr_expect_leq(efi[own].max_height, efi[index_of(&fab_mcast_fulb)].max_height);
	routed_end(results);
	routed_fini(&s);
}

Test(balanced, never_above_another)
{
	static const struct instance cases[] = {
		{"fattree:radix=8,levels=3", 60, 12},
		{"fattree:radix=4,levels=3", 40, 16},
		{"pgft:h=2,m=6/5,w=1/3,p=1/2", 40, 8},
		{"torus:dims=6x5,hosts=1", 40, 6},
		{"torus:dims=4x4x4,hosts=2", 60, 10},
		{"mesh:dims=8x4,hosts=1", 60, 3},
		{"dragonfly:a=4,p=2,h=2", 60, 9},
		{"hyperx:dims=4x4,hosts=2", 40, 8},
		{"random:switches=30,degree=4,hosts=2,seed=5", 60, 7},
		{"kfat:dims=4x4,hosts=2", 40, 8},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		for (uint64_t seed = 0; seed < 6; seed++)
			check_shape(cases[i].spec, cases[i].n_groups, cases[i].most,
				    seed);
	/* where those that are not in `all` can be below those that are */
	for (uint64_t seed = 0; seed < 200; seed++)
		check_shape("torus:dims=7,hosts=1", 31, 7, seed);
}

/* Trees of `engine` for all groups. */
static void grow_all(struct fab_mcast_state *s, const struct fab_mcast_problem *p,
		     const struct fab_mcast_engine *engine)
{
	struct fab_roots roots;

	fab_mcast_state_init(s, p, engine);
	fab_roots_find(p->dist, p->groups, 0, SIZE_MAX / 2, 1, 0, &roots);
	for (uint32_t g = 0; g < p->groups->n; g++)
		fab_mcast_state_grow(
			s, engine, &roots, g,
			fab_roots_draw(fab_roots_bits(&roots, g), roots.words, g));
	fab_roots_fini(&roots);
}

/* What hangs on a state as a result, which borrows it. */
static struct fab_mcast_result result_of(const struct fab_mcast_state *s,
					 const struct fab_mcast_engine *engine)
{
	return (struct fab_mcast_result){
		.engine = engine, .forest = s->forest, .load = s->load};
}

Test(balanced, rerouting_keeps_trees_sound)
{
	static const char *const specs[] = {"fattree:radix=6,levels=3",
					    "torus:dims=5x4,hosts=2",
					    "dragonfly:a=4,p=2,h=2"};
	unsigned n_less = 0;

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		for (uint64_t seed = 0; seed < 5; seed++) {
			const struct fab_mcast_options options = {.n_threads = 1};
			const struct fab_negotiation negotiation = {
				.options = &options, .n_rounds = 3, .n_attempts = 1};
			struct fab_mcast_state state;
			struct fab_mcast_result r;
			struct fab_err err = {""};
			struct routed s;
			uint32_t before;

			routed_init(&s, test_gen_raw(specs[i]), 50, 9, seed);
			grow_all(&state, &s.problem, &fab_mcast_minihop);
			before = fab_mcast_max_load(&state);
			cr_expect_eq(fab_negotiate(&state, &negotiation),
				     FAB_ENDED_STALL);
			r = result_of(&state, &fab_mcast_minihop);
			cr_expect_eq(fab_mcast_verify(&s.problem, &r, &err), 0,
				     "%s, seed %llu: %s", specs[i],
				     (unsigned long long)seed, err.text);
			cr_expect_leq(fab_mcast_max_load(&state), before);
			n_less += fab_mcast_max_load(&state) < before;
			fab_mcast_state_fini(&state);
			routed_fini(&s);
		}
	cr_assert_geq(n_less, 12, "%u of 15", n_less);
}

/* More attempts, rounds or steps never leave more than fewer do. */
Test(balanced, more_work_is_never_worse)
{
	const struct fab_mcast_options options = {.n_threads = 1};
	unsigned n_less = 0;

	for (uint64_t seed = 0; seed < 12; seed++) {
		uint32_t last = FAB_NONE;
		struct routed s;

		routed_init(&s, test_gen_raw("torus:dims=5x4,hosts=2"), 60, 9, seed);
		for (uint64_t steps = 1; steps < 1000000; steps *= 10) {
			const struct fab_negotiation negotiation = {.options = &options,
								    .n_rounds = 20,
								    .n_attempts = 2,
								    .n_steps = steps};
			struct fab_mcast_state state;

			grow_all(&state, &s.problem, &fab_mcast_minihop);
			fab_negotiate(&state, &negotiation);
			cr_expect_leq(fab_mcast_max_load(&state), last);
			n_less += fab_mcast_max_load(&state) < last;
			last = fab_mcast_max_load(&state);
			fab_mcast_state_fini(&state);
		}
		routed_fini(&s);
	}
	cr_expect_geq(n_less, 24, "%u", n_less);
}

/* Cables of all trees, and the largest load, after a negotiation. */
static uint64_t negotiated(const struct routed *s, struct fab_negotiation how,
			   uint32_t *max)
{
	const struct fab_mcast_options options = {.n_threads = 1};
	struct fab_mcast_state state;
	struct fab_mcast_result r;
	struct fab_err err = {""};
	uint64_t n;

	how.options = &options;
	how.n_rounds = 2;
	how.n_attempts = 1;
	grow_all(&state, &s->problem, &fab_mcast_minihop);
	fab_negotiate(&state, &how);
	r = result_of(&state, &fab_mcast_minihop);
	cr_expect_eq(fab_mcast_verify(&s->problem, &r, &err), 0, "%s", err.text);
	n = state.n_edges;
	*max = fab_mcast_max_load(&state);
	fab_mcast_state_fini(&state);
	return n;
}

/* Trees that start afresh have fewer cables in all where members lie far apart. */
Test(balanced, few_cables_at_first)
{
	uint64_t plain_sum = 0, fresh_sum = 0;
	unsigned fresh_lower = 0;
	struct routed s;
	uint32_t max, fresh_max;

	for (uint64_t seed = 0; seed < 24; seed++) {
		routed_init(&s, test_gen_raw("torus:dims=8x8,hosts=1"), 60, 9, seed);
		plain_sum += negotiated(&s, (struct fab_negotiation){0}, &max);
		fresh_sum += negotiated(&s, (struct fab_negotiation){.is_afresh = true},
					&fresh_max);
		fresh_lower += fresh_max <= max;
		routed_fini(&s);
	}
	cr_expect_lt(fresh_sum, plain_sum);
	cr_expect_geq(fresh_lower, 20, "%u of 24", fresh_lower);
}

/* From other trees than of few cables it ends with more of them. */
Test(balanced, few_cables_on_a_torus)
{
	struct fab_efi efi =
		routed_balanced("torus:dims=15x10x10,hosts=2", "grid:120x25");

	cr_expect_leq(efi.max, 2);
	cr_expect_lt(efi.tree_links, 5150, "%llu", (unsigned long long)efi.tree_links);
}

/* An empty cable costs little more than 1, one that gets the largest load 11; it is the
 * load with one group more that counts. */
Test(balanced, smooth_prices)
{
	uint32_t load[] = {0, 1, 4, 7, 8, 9};
	struct fab_mcast_problem p = {0};
	struct fab_prices prices;
	double last = 1;

	fab_prices_init(&prices, &(struct fab_mcast_state){.problem = &p, .load = load});
	fab_prices_set_smooth(&prices, 8);
	cr_expect_float_eq(fab_price(&prices, 0), 1 + 10 / 262144.0, 1e-12);
	cr_expect_float_eq(fab_price(&prices, 3), 11, 1e-12);
	for (uint32_t c = 0; c < FAB_COUNT(load); c++) {
		cr_expect_gt(fab_price(&prices, c), last, "cable %u", c);
		last = fab_price(&prices, c);
	}
	fab_prices_fini(&prices);
}

/* What is at the bound stays as it is; what a caller stops stays sound. */
static int stop(void *context, uint64_t done, uint64_t total)
{
	++*(unsigned *)context;
	return done <= total;
}

Test(balanced, stops_where_it_is_told)
{
	unsigned n_calls = 0;
	struct fab_mcast_options options = {.n_threads = 1};
	const struct fab_negotiation negotiation = {
		.options = &options, .n_rounds = 3, .n_attempts = 1};
	struct fab_mcast_state state;
	struct fab_mcast_result r;
	struct fab_err err = {""};
	struct routed s;
	uint32_t before, *load;
	size_t bytes;

	routed_init(&s, test_gen_raw("torus:dims=6x6,hosts=2"), 600, 6, 1);
	grow_all(&state, &s.problem, &fab_mcast_minihop);
	before = fab_mcast_max_load(&state);
	bytes = s.f->n_switch_links * sizeof(*load);
	load = malloc(bytes);
	memcpy(load, state.load, bytes);
	options.bound = before;
	cr_assert_eq(fab_negotiate(&state, &negotiation), FAB_ENDED_BOUND);
	cr_assert_eq(memcmp(load, state.load, bytes), 0);
	options.bound = 0;
	options.progress = stop;
	options.progress_context = &n_calls;
	cr_assert_eq(fab_negotiate(&state, &negotiation), FAB_ENDED_FAILED);
	cr_assert_eq(n_calls, 1);
	r = result_of(&state, &fab_mcast_minihop);
	cr_assert_eq(fab_mcast_verify(&s.problem, &r, &err), 0, "%s", err.text);
	cr_assert_leq(fab_mcast_max_load(&state), before);
	free(load);
	fab_mcast_state_fini(&state);
	routed_fini(&s);
}

/* Two leaf switches, two roots of one load each: the third group takes the idle cable. */
Test(balanced, cheap_trees_share_and_avoid)
{
	struct fab_fabric *f = test_gen_raw("pgft:h=2,m=1/3,w=1/2,p=1/1");
	uint32_t load[6] = {0}, root = FAB_NONE, leaf[3], n = 0;
	struct fab_mcast_problem p = {.f = f};
	struct fab_prices prices;
	struct fab_cheap_tree *t;
	struct fab_dist *dist;
	struct fab_grown tree;

	cr_assert_eq(f->n_switch_links, 6);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (f->arc_first[sw + 1] - f->arc_first[sw] == 2)
			leaf[n++] = sw;
		else
			root = sw;
	cr_assert_eq(n, 3);
	cr_assert_eq(fab_dist_new(f, 1, &dist, NULL), 0);
	p.dist = dist;
	t = fab_cheap_tree_new(&p);
	fab_prices_init(&prices, &(struct fab_mcast_state){.problem = &p, .load = load});
	fab_prices_set_limit(&prices, 2);
	tree = fab_cheap_tree_grow(t, &prices, leaf, 3, root, 1e9);
	cr_assert_eq(tree.n, 3);
	cr_assert_float_eq(tree.price, 3 * 0.25, 1e-12);
	cr_assert_float_eq(tree.price, fab_prices_sum(&prices, tree.cable, 3), 1e-12);
	/* of parents that cost the same it is the one behind the lowest port */
	tree = fab_cheap_tree_grow(t, &prices, leaf, 3, leaf[0], 1e9);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t sw = tree.sw[i];

		if (f->arc_first[sw + 1] - f->arc_first[sw] == 2)
			cr_expect_eq(tree.cable[i], f->arc_cable[f->arc_first[sw]]);
	}
	/* from a leaf: two hops to the others, both over one root, the idle one */
	for (uint32_t a = f->arc_first[leaf[0]]; a < f->arc_first[leaf[0] + 1]; a++)
		load[f->arc_cable[a]] = f->arc_peer[a] == root;
	tree = fab_cheap_tree_grow(t, &prices, leaf, 3, leaf[0], 1e9);
	cr_assert_eq(tree.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_neq(tree.sw[i], root);
	cr_assert_float_eq(tree.price, 3 * 0.25, 1e-12);
	/* what is above the largest load already outweighs any tree that reaches it */
	for (uint32_t c = 0; c < 6; c++)
		load[c] = c ? 2 : 3;
	cr_assert_gt(fab_prices_sum(&prices, (const uint32_t[]){0}, 1),
		     1e6 * fab_prices_sum(&prices, (const uint32_t[]){1}, 1));
	for (uint32_t a = f->arc_first[leaf[0]]; a < f->arc_first[leaf[0] + 1]; a++)
		load[f->arc_cable[a]] = f->arc_peer[a] == root;
	/* a tree that costs too much is not finished */
	cr_assert_geq(fab_cheap_tree_grow(t, &prices, leaf, 3, leaf[0], 0.1).price, 0.1);
	fab_prices_fini(&prices);
	fab_cheap_tree_free(t);
	fab_dist_free(dist);
	fab_fabric_free(f);
}

Test(balanced, roots_drawn_are_candidates)
{
	uint64_t bits[3] = {0, (uint64_t)1 << 5 | (uint64_t)1 << 63, 0};
	unsigned seen[192] = {0};

	for (uint64_t i = 0; i < 4096; i++) {
		uint32_t sw = fab_roots_draw(bits, 3, i * 0x9e3779b97f4a7c15);

		cr_assert(sw == 69 || sw == 127, "%u", sw);
		seen[sw]++;
	}
	cr_assert_gt(seen[69], 0);
	cr_assert_gt(seen[127], 0);
}

/* Every root of a fat tree: the estimate is what the tree from there costs. */
Test(balanced, cheapest_of_all_roots)
{
	struct fab_fabric *f = test_gen_raw("fattree:radix=6,levels=3");
	uint32_t *load = calloc(f->n_switch_links, sizeof(*load));
	struct fab_mcast_problem p = {.f = f};
	struct fab_root_prices *all;
	struct fab_cheap_tree *tree;
	struct fab_roots_one *one;
	struct fab_prices prices;
	struct fab_dist *dist;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		load[c] = (uint32_t)(fab_mix64(c) % 5);
	cr_assert_eq(fab_dist_new(f, 1, &dist, NULL), 0);
	p.dist = dist;
	fab_prices_init(&prices, &(struct fab_mcast_state){.problem = &p, .load = load});
	fab_prices_set_target(&prices, 4, 10);
	all = fab_root_prices_new(&p);
	tree = fab_cheap_tree_new(&p);
	one = fab_roots_one_new(dist);
	for (uint32_t g = 0; g < 50; g++) {
		uint32_t sw[4], root[64], n, n_sw = 0;
		double last = 0;

		for (uint32_t i = 0; i < 4; i++) {
			uint32_t leaf = (uint32_t)(fab_mix64(g * 4 + i) % f->n_switches);

			while (f->node_n_ports[leaf] ==
			       f->arc_first[leaf + 1] - f->arc_first[leaf])
				leaf = (leaf + 1) % f->n_switches;
			for (n = 0; n < n_sw && sw[n] != leaf;)
				n++;
			if (n == n_sw)
				sw[n_sw++] = leaf;
		}
		n = fab_root_prices_best(all, &prices, sw, n_sw, one->bits,
					 fab_roots_one_find(one, sw, n_sw), g, 64, root);
		cr_assert_gt(n, 0);
		for (uint32_t i = 0; i < n; i++) {
			double price =
				fab_cheap_tree_grow(tree, &prices, sw, n_sw, root[i], 1e9)
					.price;

			cr_expect_geq(price, last - 1e-9, "group %u root %u", g, i);
			last = price;
		}
	}
	fab_root_prices_free(all);
	fab_cheap_tree_free(tree);
	fab_roots_one_free(one);
	fab_prices_fini(&prices);
	fab_dist_free(dist);
	fab_fabric_free(f);
	free(load);
}

/* Higher trees are sound, no higher than they may be, sometimes higher, and told from
 * those that are too high. */
Test(balanced, height_slack)
{
	unsigned n_higher = 0, n_less = 0;

	for (uint64_t seed = 0; seed < 12; seed++) {
		const struct fab_mcast_engine *engine =
			seed % 2 ? &fab_mcast_balanced : &fab_mcast_optimal;
		uint32_t max[3];
		struct routed s;

		routed_init(&s, test_gen_raw("torus:dims=5x4,hosts=1"), 40, 5, seed);
		for (unsigned slack = 0; slack < 3; slack++) {
			const struct fab_mcast_options options = {.n_threads = 1,
								  .height_slack = slack};
			struct fab_mcast_result r;
			struct fab_err err = {""};
			struct fab_efi efi;
			double seconds;

			cr_assert_eq(fab_mcast_route(&s.problem, &engine, 1, &options, &r,
						     &seconds, &err),
				     0);
			cr_expect_eq(r.height_slack, slack);
			cr_expect_eq(fab_mcast_verify(&s.problem, &r, &err), 0, "%s",
				     err.text);
			fab_efi_of(&s.problem, &r, &efi);
			max[slack] = efi.max;
			r.height_slack = 0;
			n_higher += fab_mcast_verify(&s.problem, &r, &err) != 0;
			fab_mcast_result_fini(&r);
		}
		cr_expect_leq(max[1], max[0]);
		cr_expect_leq(max[2], max[0]);
		n_less += max[2] < max[0];
		routed_fini(&s);
	}
	cr_expect_gt(n_higher, 12);
	cr_expect_gt(n_less, 2, "%u", n_less);
}

static uint64_t forest_hash(const struct fab_forest *trees)
{
	uint64_t hash = fab_hash_bytes(trees->cable, trees->first[trees->n] * 4, 1);

	return fab_hash_bytes(trees->root, trees->n * 4ul, hash);
}

/* Trees of many groups on so many threads, as a hash; maybe demands differ. */
static uint64_t trees_hash(const struct routed *s, const struct fab_weights *weights,
			   int n_threads, uint32_t *max)
{
	const struct fab_mcast_engine *engine = &fab_mcast_balanced;
	const struct fab_mcast_options options = {.n_threads = n_threads};
	struct fab_mcast_problem problem = s->problem;
	struct fab_mcast_result r;
	struct fab_err err = {""};
	struct fab_efi efi;
	double seconds;
	uint64_t hash;

	problem.weights = weights;
	cr_assert_eq(fab_mcast_route(&problem, &engine, 1, &options, &r, &seconds, &err),
		     0);
	cr_expect_eq(fab_mcast_verify(&problem, &r, &err), 0, "%s", err.text);
	fab_efi_of(&problem, &r, &efi);
	*max = efi.max;
	hash = forest_hash(&r.forest);
	fab_mcast_result_fini(&r);
	return hash;
}

Test(balanced, same_trees_for_any_threads)
{
	static const struct instance cases[] = {
		{"fattree:radix=12,levels=3", 6500, 20},
		{"torus:dims=5x6,hosts=4", 6500, 20},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		double *demand = FAB_NEW(cases[i].n_groups, double);
		struct fab_weights *weights = NULL;
		struct routed s;
		uint32_t max, max_of_many;

		routed_init(&s, test_gen_raw(cases[i].spec), cases[i].n_groups,
			    cases[i].most, 1);
		for (uint32_t g = 0; g < cases[i].n_groups; g++)
			demand[g] = 1 + g % 5;
		cr_assert_eq(
			fab_weights_new(s.f, s.groups, demand, false, &weights, NULL), 0);
		for (int weighted = 0; weighted < 2; weighted++) {
			const struct fab_weights *w = weighted ? weights : NULL;
			uint64_t hash = trees_hash(&s, w, 1, &max);

			for (int n_threads = 2; n_threads <= 3 - weighted; n_threads++) {
				cr_expect_eq(trees_hash(&s, w, n_threads, &max_of_many),
					     hash, "%s, %d threads, %d: %u, %u",
					     cases[i].spec, n_threads, weighted, max,
					     max_of_many);
			}
		}
		fab_weights_free(weights);
		free(demand);
		routed_fini(&s);
	}
}

static uint32_t max_of(const char *spec, const char *pattern)
{
	return routed_balanced(spec, pattern).max;
}

/* Levels that have been reached: with members near the root, and far from it. */
Test(balanced, levels)
{
	cr_expect_leq(max_of("dragonfly:a=8,p=4,h=4", "grid:33x32"), 3);
	cr_expect_leq(max_of("fattree:radix=20,levels=3", "grid:25x8x10"), 2);
	cr_expect_leq(max_of("torus:dims=8x7x6,hosts=1", "random:groups=400,size=8-24"),
		      16);
	cr_expect_leq(max_of("torus:dims=15x10x10,hosts=2", "grid:10x15x20"), 5);
	cr_expect_leq(max_of("mesh:dims=6x5x4,hosts=2", "random:groups=400,size=8-24"),
		      47);
}

/* Swapped paths: trees stay trees and low, their price never rises, and falls often. */
Test(balanced, swapped_paths)
{
	static const char *const specs[] = {"torus:dims=6x6", "torus:dims=4x4x4",
					    "mesh:dims=7x5", "dragonfly:a=4,p=2,h=2",
					    "random:switches=30,degree=4,hosts=1,seed=2"};
	enum { MOST = 12, TREES = 60 };
	unsigned n_cheaper = 0;

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		struct fab_fabric *f = test_gen_raw(specs[i]);
		uint32_t *load = FAB_NEW(f->n_switch_links, uint32_t), sw[MOST];
		struct fab_mcast_problem p = {.f = f};
		const struct fab_mcast_state state = {.problem = &p, .load = load};
		struct fab_prices prices;
		struct fab_cheap_tree *cheap;
		struct fab_roots_one *one;
		struct fab_paths *paths;
		struct fab_dist *dist;

		cr_assert_eq(fab_dist_new(f, 1, &dist, NULL), 0);
		p.dist = dist;
		for (uint32_t c = 0; c < f->n_switch_links; c++)
			load[c] = (uint32_t)(fab_mix64(i * 1000 + c) % 6);
		fab_prices_init(&prices, &state);
		fab_prices_set_smooth(&prices, 6);
		cheap = fab_cheap_tree_new(&p);
		one = fab_roots_one_new(dist);
		paths = fab_paths_new(&p);
		for (uint64_t seed = 0; seed < TREES; seed++) {
			uint32_t n = trees_draw_switches(f, MOST, seed, sw), root;
			unsigned height = fab_roots_one_find(one, sw, n) + seed % 3;
			uint32_t first = fab_roots_draw(one->bits, one->words, seed);
			struct fab_grown tree = fab_cheap_tree_grow(cheap, &prices, sw, n,
								    first, __DBL_MAX__);
			const struct fab_paths_job job = {.member = sw,
							  .n_members = n,
							  .n_edges = tree.n,
							  .root = first,
							  .sw = tree.sw,
							  .cable = tree.cable,
							  .height = height,
							  .seed = seed};
			struct fab_grown swapped =
				fab_paths_swap(paths, &prices, &job, &root);

			free(trees_check(f, root, &swapped, sw, n, height));
			cr_expect_float_eq(
				fab_prices_sum(&prices, swapped.cable, swapped.n),
				swapped.price, 1e-9);
			cr_expect_leq(swapped.price, tree.price + 1e-9);
			cr_expect(root == first || swapped.price < tree.price - 1e-9);
			n_cheaper += swapped.price < tree.price - 1e-9;
		}
		fab_paths_free(paths);
		fab_roots_one_free(one);
		fab_cheap_tree_free(cheap);
		fab_prices_fini(&prices);
		fab_dist_free(dist);
		fab_fabric_free(f);
		free(load);
	}
	cr_expect_gt(n_cheaper, 100, "%u", n_cheaper);
}
