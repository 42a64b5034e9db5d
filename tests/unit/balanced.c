/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees that are revised: never worse than others, never higher, the bound where it is
 * known to be reached. */
#include "mcast/engine/state.h"
#include "mcast/roots.h"
#include "mcast/route.h"
#include "mcast/search/search.h"
#include "support/routed.h"
#include "support/test.h"

/* Trees of minihop for all groups. */
static void grow_all(struct fab_mcast_state *s, const struct fab_mcast_problem *p)
{
	FAB_AUTO(fab_roots_fini) struct fab_roots roots;

	fab_mcast_state_init(s, p, &fab_mcast_minihop);
	fab_roots_find(p->dist, p->groups, 0, SIZE_MAX / 2, 1, 0, &roots);
	for (uint32_t g = 0; g < p->groups->n; g++)
		fab_mcast_state_grow(
			s, &fab_mcast_minihop, &roots, g,
			fab_roots_draw(fab_roots_bits(&roots, g), roots.words, g));
}

/* Are the trees sound, and no level above one? Returns the largest. */
static uint32_t check_trees(const struct fab_mcast_state *s, unsigned height_slack,
			    uint32_t most)
{
	const struct fab_mcast_result r = {.engine = &fab_mcast_minihop,
					   .forest = s->forest,
					   .load = s->load,
					   .height_slack = height_slack};
	uint32_t level = (uint32_t)fab_mcast_max_level(s);

	MUST(fab_mcast_verify(s->problem, &r, ERR));
	cr_expect_leq(level, most);
	return level;
}

/* More attempts, rounds or steps never leave more than fewer do. */
Test(balanced, rerouting_keeps_trees_sound_and_is_never_worse)
{
	static const char *const specs[] = {"fattree:radix=6,levels=3",
					    "torus:dims=5x4,hosts=2",
					    "dragonfly:a=4,p=2,h=2"};
	const struct fab_mcast_options options = {.n_threads = 1};
	unsigned n_less = 0;

	for (uint64_t seed = 0; seed < 3 + 15 / TEST_SHARE; seed++) {
		uint32_t last = UINT32_MAX;
		FAB_AUTO(routed_fini) struct routed s;

		routed_init(&s, test_gen_raw(specs[seed % 3]), 60, 9, seed);
		for (uint64_t steps = 1; steps <= 1000000; steps *= 10) {
			const struct fab_negotiation negotiation = {
				.options = &options,
				.n_rounds = 20,
				.n_attempts = 2,
				.n_steps = steps < 1000000 ? steps : 0};
			FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
			uint32_t level;

			grow_all(&state, &s.problem);
			fab_negotiate(&state, &negotiation);
			level = check_trees(&state, 0, last);
			n_less += level < last;
			last = level;
		}
	}
	cr_expect_geq(n_less, 36 / TEST_SHARE, "%u", n_less);
}

/* Levels that have been reached: with members near the root, and far from it; from other
 * trees than of few cables it ends with more of them. */
Test(balanced, levels)
{
	static const struct {
		const char *spec, *pattern;
		uint32_t most;
		uint64_t most_links;
		unsigned height_slack;
	} rows[] = {
		/* the bound, where trees may be a hop higher than the least */
		{"dragonfly:a=12,p=6,h=6", "grid:73x72", 3, 20000, 0},
		{"dragonfly:a=12,p=6,h=6", "grid:73x72", 2, 20000, 1},
		{"dragonfly:a=8,p=4,h=4", "grid:33x32", 3, 3000},
		{"fattree:radix=20,levels=3", "grid:25x8x10", 2, 9000},
		{"torus:dims=15x10x10,hosts=2", "grid:120x25", 2, 5149},
		{"torus:dims=8x7x6,hosts=1", "random:groups=400,size=8-24", 16, 20000},
		{"torus:dims=15x10x10,hosts=2", "grid:10x15x20", 5, 20000},
		{"mesh:dims=6x5x4,hosts=2", "random:groups=400,size=8-24", 47, 20000},
	};

	for (size_t i = 0; i < (TEST_SHARE > 1 ? 5 : FAB_COUNT(rows)); i++) {
		const struct fab_mcast_options options = {.n_threads = 1,
							  .bound = 1 + (i < 2),
							  .seed = i > 1,
							  .height_slack =
								  rows[i].height_slack};
		OWN(fab_mcast_result) r;
		FAB_AUTO(routed_fini) struct routed s;
		struct fab_efi efi;

		routed_init_pattern(&s, rows[i].spec, rows[i].pattern);
		r = routed_by(&s.problem, &fab_mcast_balanced, &options);
		efi = routed_efi(&s.problem, &r);
		cr_expect_leq(efi.max, rows[i].most);
		cr_expect_leq(efi.tree_links, rows[i].most_links, "%s %s: %lu",
			      rows[i].spec, rows[i].pattern, efi.tree_links);
	}
}

static int stop(void *context, uint64_t done, uint64_t total)
{
	++*(unsigned *)context;
	return done <= total;
}

/* What is at the bound stays as it is; what a caller stops stays sound. */
Test(balanced, stops_where_it_is_told)
{
	unsigned n_calls = 0;
	struct fab_mcast_options options = {.n_threads = 1};
	const struct fab_negotiation negotiation = {
		.options = &options, .n_rounds = 3, .n_attempts = 1};
	FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
	FAB_AUTO(routed_fini) struct routed s;
	uint32_t before;
	FAB_AUTOFREE uint32_t *load = NULL;
	size_t bytes;

	routed_init(&s, test_gen_raw("torus:dims=6x6,hosts=2"), 600, 6, 1);
	grow_all(&state, &s.problem);
	before = options.bound = (uint32_t)fab_mcast_max_level(&state);
	bytes = s.f->n_switch_links * sizeof(*load);
	load = memcpy(FAB_NEW(s.f->n_switch_links, uint32_t), state.load, bytes);
	cr_assert_eq(fab_negotiate(&state, &negotiation), FAB_ENDED_BOUND);
	cr_assert_arr_eq(load, state.load, bytes);
	options.bound = 0;
	options.progress = stop;
	options.progress_context = &n_calls;
	cr_assert_eq(fab_negotiate(&state, &negotiation), FAB_ENDED_FAILED);
	cr_assert_eq(n_calls, 1);
	check_trees(&state, 0, before);
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
		FAB_AUTO(routed_fini) struct routed s;
		uint32_t before;

		routed_init(&s, test_gen_raw(specs[seed % 3]), 30, 60, seed);
		cr_assert(fab_roots_find_all(s.dist, s.groups, SIZE_MAX / 2, 1, &roots));
		s.problem.roots = &roots;
		grow_all(&state, &s.problem);
		if (seed % 4 == 0) /* better than trees from hubs */
			(void)fab_negotiate(&state, &negotiation);
		before = (uint32_t)fab_mcast_max_level(&state);
		fab_hubs_try(&state, &options);
		n_less += check_trees(&state, options.height_slack, before) < before;
	}
	cr_expect_gt(n_less, 30 / TEST_SHARE, "%u", n_less);
}

/* Hash of the trees of many groups, with or without demands. */
static uint64_t trees_hash(const struct routed *s, const struct fab_weights *weights,
			   int n_threads)
{
	const struct fab_mcast_options options = {.n_threads = n_threads};
	struct fab_mcast_problem problem = s->problem;
	OWN(fab_mcast_result) r;
	const struct fab_forest *t = &r.forest;

	problem.weights = weights;
	r = routed_by(&problem, &fab_mcast_balanced, &options);
	(void)routed_efi(&problem, &r);
	return fab_hash_bytes(t->root, t->n * sizeof(*t->root),
			      fab_hash_bytes(t->cable, t->first[t->n] * 4, 1));
}

Test(balanced, same_trees_for_any_threads)
{
	static const char *const specs[] = {"fattree:radix=12,levels=3",
					    "torus:dims=5x6,hosts=4"};
	enum { GROUPS = 2600 };
	double demand[GROUPS];

	for (uint32_t g = 0; g < GROUPS; g++)
		demand[g] = 1 + g % 5;
	for (size_t i = test_step(2) > 1; i < FAB_COUNT(specs); i++) {
		struct fab_weights *weights = NULL;
		FAB_AUTO(routed_fini) struct routed s;

		routed_init(&s, test_gen_raw(specs[i]), GROUPS, 20, 1);
		MUST(fab_weights_new(s.f, s.groups, demand, false, &weights, ERR));
		for (int weighted = TEST_SHARE > 1; weighted < 2; weighted++) {
			const struct fab_weights *w = weighted ? weights : NULL;
			uint64_t hash = trees_hash(&s, w, 1);

			for (int n_threads = 2; n_threads <= 3 - weighted; n_threads++)
				cr_expect_eq(trees_hash(&s, w, n_threads), hash,
					     "%s, %d threads, %d", specs[i], n_threads,
					     weighted);
		}
		fab_weights_free(weights);
	}
}
