/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees that are revised: never worse than others, never higher, the bound where it is
 * known to be reached. */
#include "mcast/engine/state.h"
#include "mcast/roots.h"
#include "mcast/route.h"
#include "mcast/search/search.h"
#include "support/routed.h"
#include "support/test.h"

/* Where those that are not in `all` can be below those that are. */
Test(balanced, never_above_another)
{
	for (uint64_t seed = 0; seed < test_some(40, 4, 1); seed++) {
		struct fab_mcast_result results[ROUTED_MAX_ENGINES];
		struct fab_efi efi[ROUTED_MAX_ENGINES];
		FAB_AUTO(routed_fini) struct routed s;

		routed_init(&s, test_gen_raw("torus:dims=7,hosts=1"), 31, 7, seed);
		routed_all(&s, results, efi);
		routed_end(results);
	}
}

/* Trees of `engine` for all groups. */
static void grow_all(struct fab_mcast_state *s, const struct fab_mcast_problem *p,
		     const struct fab_mcast_engine *engine)
{
	FAB_AUTO(fab_roots_fini) struct fab_roots roots;

	fab_mcast_state_init(s, p, engine);
	fab_roots_find(p->dist, p->groups, 0, SIZE_MAX / 2, 1, 0, &roots);
	for (uint32_t g = 0; g < p->groups->n; g++)
		fab_mcast_state_grow(
			s, engine, &roots, g,
			fab_roots_draw(fab_roots_bits(&roots, g), roots.words, g));
}

/* The trees of a state as a result, which borrows it. */
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
		for (uint64_t seed = 0; seed < 1 + 4 / TEST_SHARE; seed++) {
			const struct fab_mcast_options options = {.n_threads = 1};
			const struct fab_negotiation negotiation = {
				.options = &options, .n_rounds = 3, .n_attempts = 1};
			FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
			struct fab_mcast_result r;
			FAB_AUTO(routed_fini) struct routed s;
			uint32_t before;

			routed_init(&s, test_gen_raw(specs[i]), 50, 9, seed);
			grow_all(&state, &s.problem, &fab_mcast_minihop);
			before = fab_mcast_max_level(&state);
			cr_expect_eq(fab_negotiate(&state, &negotiation),
				     FAB_ENDED_STALL);
			r = result_of(&state, &fab_mcast_minihop);
			cr_expect_eq(fab_mcast_verify(&s.problem, &r, ERR), 0,
				     "%s, seed %llu: %s", specs[i],
				     (unsigned long long)seed, test_err.text);
			cr_expect_leq(fab_mcast_max_level(&state), before);
			n_less += fab_mcast_max_level(&state) < before;
		}
	cr_assert_geq(n_less, 12 / TEST_SHARE, "%u", n_less);
}

/* More attempts, rounds or steps never leave more than fewer do. */
Test(balanced, more_work_is_never_worse)
{
	const struct fab_mcast_options options = {.n_threads = 1};
	unsigned n_less = 0;

	for (uint64_t seed = 0; seed < 1 + 11 / TEST_SHARE; seed++) {
		uint32_t last = FAB_NONE;
		FAB_AUTO(routed_fini) struct routed s;

		routed_init(&s, test_gen_raw("torus:dims=5x4,hosts=2"), 60, 9, seed);
		for (uint64_t steps = 1; steps < 1000000; steps *= 10) {
			const struct fab_negotiation negotiation = {.options = &options,
								    .n_rounds = 20,
								    .n_attempts = 2,
								    .n_steps = steps};
			FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;

			grow_all(&state, &s.problem, &fab_mcast_minihop);
			fab_negotiate(&state, &negotiation);
			cr_expect_leq(fab_mcast_max_level(&state), last);
			n_less += fab_mcast_max_level(&state) < last;
			last = fab_mcast_max_level(&state);
		}
	}
	cr_expect_geq(n_less, 24 / TEST_SHARE, "%u", n_less);
}

/* From other trees than of few cables it ends with more of them. */
Test(balanced, few_cables_on_a_torus)
{
	struct fab_efi efi =
		routed_balanced("torus:dims=15x10x10,hosts=2", "grid:120x25");

	cr_expect_leq(efi.max, 2);
	cr_expect_lt(efi.tree_links, 5150, "%llu", (unsigned long long)efi.tree_links);
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
	FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
	struct fab_mcast_result r;
	FAB_AUTO(routed_fini) struct routed s;
	uint32_t before;
	FAB_AUTOFREE uint32_t *load = NULL;
	size_t bytes;

	routed_init(&s, test_gen_raw("torus:dims=6x6,hosts=2"), 600, 6, 1);
	grow_all(&state, &s.problem, &fab_mcast_minihop);
	before = fab_mcast_max_level(&state);
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
	MUST(fab_mcast_verify(&s.problem, &r, ERR));
	cr_assert_leq(fab_mcast_max_level(&state), before);
}

/* Higher trees are sound, no higher than they may be, sometimes higher, and told from
 * those that are too high. */
Test(balanced, height_slack)
{
	unsigned n_higher = 0, n_less = 0;

	for (uint64_t seed = 0; seed < (TEST_SHARE > 1 ? 2 : 4); seed++) {
		const struct fab_mcast_engine *engine =
			seed % 2 ? &fab_mcast_balanced : &fab_mcast_optimal;
		uint32_t max[3];
		FAB_AUTO(routed_fini) struct routed s;

		routed_init(&s, test_gen_raw("torus:dims=5x4,hosts=1"), 40, 5, seed);
		for (unsigned slack = 0; slack < 3; slack++) {
			const struct fab_mcast_options options = {.n_threads = 1,
								  .height_slack = slack};
			FAB_AUTO(fab_mcast_result_fini)
			struct fab_mcast_result r =
				routed_by(&s.problem, engine, &options);

			cr_expect_eq(r.height_slack, slack);
			max[slack] = routed_efi(&s.problem, &r).max;
			r.height_slack = 0;
			n_higher += fab_mcast_verify(&s.problem, &r, ERR) != 0;
		}
		cr_expect_leq(max[1], max[0]);
		cr_expect_leq(max[2], max[0]);
		n_less += max[2] < max[0];
	}
	cr_expect_gt(n_higher, 1);
	cr_expect_gt(n_less, 0, "%u", n_less);
}

/* Trees from hubs are sound for groups of several members in a part, too, and stay only
 * where they are better. */
Test(balanced, hubs_keep_trees_sound)
{
	static const char *const specs[] = {"dragonfly:a=4,p=2,h=2",
					    "dragonfly:a=6,p=2,h=3,wiring=random",
					    "dragonfly:a=4,p=2,h=4,g=8"};
	unsigned n_less = 0;

	for (uint64_t seed = 0; seed < 60 / TEST_SHARE; seed++) {
		const struct fab_mcast_options options = {
			.n_threads = 1, .bound = 1, .height_slack = seed / 3 % 3};
		const struct fab_negotiation negotiation = {
			.options = &options, .n_rounds = 5, .n_attempts = 1};
		FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
		FAB_AUTO(fab_roots_fini) struct fab_roots roots;
		struct fab_mcast_result r;
		FAB_AUTO(routed_fini) struct routed s;
		uint32_t before;

		routed_init(&s, test_gen_raw(specs[seed % 3]), 30, 60, seed);
		cr_assert(fab_roots_find_all(s.dist, s.groups, SIZE_MAX / 2, 1, &roots));
		s.problem.roots = &roots;
		grow_all(&state, &s.problem, &fab_mcast_minihop);
		if (seed % 4 == 0) /* better than trees from hubs */
			(void)fab_negotiate(&state, &negotiation);
		before = fab_mcast_max_level(&state);
		fab_hubs_try(&state, &options);
		r = result_of(&state, &fab_mcast_minihop);
		r.height_slack = options.height_slack;
		cr_expect_eq(fab_mcast_verify(&s.problem, &r, ERR), 0, "seed %llu: %s",
			     (unsigned long long)seed, test_err.text);
		cr_expect_leq(fab_mcast_max_level(&state), before);
		n_less += fab_mcast_max_level(&state) < before;
	}
	cr_expect_gt(n_less, 30 / TEST_SHARE, "%u", n_less);
}

/* The bound, where trees may be a hop higher than the least. */
Test(balanced, hubs_reach_the_bound)
{
	const char *const patterns[] = {"grid:73x72", NULL};
	FAB_AUTO(routed_fini) struct routed s;

	routed_init_patterns(&s, test_gen_raw("dragonfly:a=12,p=6,h=6"), patterns, 1);
	for (unsigned slack = 0; slack < 2; slack++) {
		const struct fab_mcast_options options = {
			.n_threads = 1, .bound = 2, .height_slack = slack};
		FAB_AUTO(fab_mcast_result_fini)
		struct fab_mcast_result r =
			routed_by(&s.problem, &fab_mcast_balanced, &options);

		cr_expect_eq(routed_efi(&s.problem, &r).max, 3 - slack);
	}
}

static uint64_t forest_hash(const struct fab_forest *trees)
{
	uint64_t hash = fab_hash_bytes(trees->cable, trees->first[trees->n] * 4, 1);

	return fab_hash_bytes(trees->root, trees->n * 4ul, hash);
}

/* Hash of the trees of many groups on n_threads threads, with or without demands. */
static uint64_t trees_hash(const struct routed *s, const struct fab_weights *weights,
			   int n_threads, uint32_t *max)
{
	const struct fab_mcast_options options = {.n_threads = n_threads};
	struct fab_mcast_problem problem = s->problem;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r;

	problem.weights = weights;
	r = routed_by(&problem, &fab_mcast_balanced, &options);
	*max = routed_efi(&problem, &r).max;
	return forest_hash(&r.forest);
}

Test(balanced, same_trees_for_any_threads)
{
	static const struct {
		const char *spec;
		uint32_t n_groups, most;
	} cases[] = {
		{"fattree:radix=12,levels=3", 2600, 20},
		{"torus:dims=5x6,hosts=4", 2600, 20},
	};

	for (size_t i = test_step(2) > 1; i < FAB_COUNT(cases); i++) {
		FAB_AUTOFREE double *demand = FAB_NEW(cases[i].n_groups, double);
		struct fab_weights *weights = NULL;
		FAB_AUTO(routed_fini) struct routed s;
		uint32_t max, max_of_many;

		routed_init(&s, test_gen_raw(cases[i].spec), cases[i].n_groups,
			    cases[i].most, 1);
		for (uint32_t g = 0; g < cases[i].n_groups; g++)
			demand[g] = 1 + g % 5;
		MUST(fab_weights_new(s.f, s.groups, demand, false, &weights, ERR));
		for (int weighted = TEST_SHARE > 1; weighted < 2; weighted++) {
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
	if (TEST_SHARE > 1)
		return;
	cr_expect_leq(max_of("torus:dims=8x7x6,hosts=1", "random:groups=400,size=8-24"),
		      16);
	cr_expect_leq(max_of("torus:dims=15x10x10,hosts=2", "grid:10x15x20"), 5);
	cr_expect_leq(max_of("mesh:dims=6x5x4,hosts=2", "random:groups=400,size=8-24"),
		      47);
}
