/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds and engines against the true optimum: all trees of tiny fabrics are tried. */
#include "base/mem.h"
#include "base/rng.h"
#include "mcast/bounds.h"
#include "mcast/engine/state.h"
#include "support/plan.h"
#include "support/routed.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { TINY_CABLES = 7, TINY_SETS = 1 << TINY_CABLES, TINY_GROUPS = 4, TINY_FAR = 99 };

/* A tree is a set of cables, a bit each. */
struct tiny {
	struct routed s;
	uint32_t n, trees[TINY_GROUPS][TINY_SETS], n_trees[TINY_GROUPS];
	uint32_t height[TINY_GROUPS][TINY_SETS], least[TINY_GROUPS];
	bool low_only;
	uint32_t load[TINY_CABLES];
	double demand[TINY_GROUPS], capacity[TINY_CABLES], sum[TINY_CABLES];
};

static uint32_t end_a(const struct tiny *t, uint32_t c)
{
	return t->s.f->port_node[t->s.f->cable_a[c]];
}

static uint32_t end_b(const struct tiny *t, uint32_t c)
{
	return t->s.f->port_node[t->s.f->cable_b[c]];
}

/* Hops from a switch to all along the cables of a set. */
static void walk(const struct tiny *t, uint32_t set, uint32_t from, uint32_t *hops)
{
	for (uint32_t i = 0; i < t->n; i++)
		hops[i] = i == from ? 0 : TINY_FAR;
	for (uint32_t round = 0; round < t->n; round++)
		for (uint32_t c = 0; c < t->s.f->n_switch_links; c++) {
			uint32_t a = end_a(t, c), b = end_b(t, c);

			if (!(set >> c & 1))
				continue;
			if (hops[a] + 1 < hops[b])
				hops[b] = hops[a] + 1;
			if (hops[b] + 1 < hops[a])
				hops[a] = hops[b] + 1;
		}
}

/* The height of the least root's tree; TINY_FAR: the set is no tree over the group. */
static uint32_t height_of(const struct tiny *t, uint32_t g, uint32_t set)
{
	const struct fab_groups *groups = t->s.groups;
	uint32_t first = groups->sw[groups->sw_first[g]], n_touched = 0, best = TINY_FAR;
	uint32_t hops[16];

	walk(t, set, first, hops);
	for (uint32_t i = 0; i < t->n; i++)
		n_touched += hops[i] < TINY_FAR;
	if (n_touched != 1 + (uint32_t)__builtin_popcount(set))
		return TINY_FAR;
	for (uint32_t root = 0; root < t->n; root++) {
		uint32_t height = 0;

		walk(t, set, root, hops);
		for (uint64_t i = groups->sw_first[g]; i < groups->sw_first[g + 1]; i++)
			if (hops[groups->sw[i]] > height)
				height = hops[groups->sw[i]];
		best = height < best ? height : best;
	}
	return best;
}

static void list_trees(struct tiny *t)
{
	for (uint32_t g = 0; g < t->s.groups->n; g++) {
		t->n_trees[g] = 0;
		t->least[g] = TINY_FAR;
		for (uint32_t set = 0; set < 1u << t->s.f->n_switch_links; set++) {
			uint32_t height = height_of(t, g, set);

			if (height == TINY_FAR)
				continue;
			t->height[g][t->n_trees[g]] = height;
			t->trees[g][t->n_trees[g]++] = set;
			t->least[g] = height < t->least[g] ? height : t->least[g];
		}
	}
}

/* Can the groups from g on be given trees with at most `limit` on each cable? */
static bool fits(struct tiny *t, uint32_t g, uint32_t limit)
{
	if (g >= TINY_GROUPS || g == t->s.groups->n)
		return true;
	for (uint32_t i = 0; i < t->n_trees[g]; i++) {
		bool is_low = true, is_done;

		if (t->low_only && t->height[g][i] > t->least[g])
			continue;
		for (uint32_t c = 0; c < TINY_CABLES; c++) {
			t->load[c] += t->trees[g][i] >> c & 1;
			is_low &= t->load[c] <= limit;
		}
		is_done = is_low && fits(t, g + 1, limit);
		for (uint32_t c = 0; c < TINY_CABLES; c++)
			t->load[c] -= t->trees[g][i] >> c & 1;
		if (is_done)
			return true;
	}
	return false;
}

static uint32_t optimum(struct tiny *t, bool low_only)
{
	uint32_t limit = 0;

	t->low_only = low_only;
	while (!fits(t, 0, limit))
		limit++;
	return limit;
}

/* The least largest weighted load of trees of the groups from g on, if less than `best`.
 */
static double least_load(struct tiny *t, uint32_t g, double best)
{
	double max = 0;

	for (uint32_t c = 0; c < t->s.f->n_switch_links; c++)
		if (t->sum[c] / t->capacity[c] > max)
			max = t->sum[c] / t->capacity[c];
	if (max >= best || g == t->s.groups->n)
		return max < best ? max : best;
	for (uint32_t i = 0; i < t->n_trees[g]; i++) {
		if (t->low_only && t->height[g][i] > t->least[g])
			continue;
		for (uint32_t c = 0; c < TINY_CABLES; c++)
			t->sum[c] += t->trees[g][i] >> c & 1 ? t->demand[g] : 0;
		best = least_load(t, g + 1, best);
		for (uint32_t c = 0; c < TINY_CABLES; c++)
			t->sum[c] -= t->trees[g][i] >> c & 1 ? t->demand[g] : 0;
	}
	return best;
}

/* 2 to 5 switches with two adapters each, connected, cables by chance. */
static struct fab_fabric *tiny_fabric(struct fab_rng *rng)
{
	struct plan plan = {0};
	uint32_t n = 2 + (uint32_t)fab_rng_below(rng, 4);
	uint32_t n_cables = n - 1 + (uint32_t)fab_rng_below(rng, TINY_CABLES - n + 2);
	uint16_t used[8] = {0};
	struct fab_fabric *f;

	for (uint32_t i = 0; i < n; i++)
		plan_switch(&plan, "s", 36);
	for (uint32_t c = 0; c < n_cables; c++) {
		uint32_t a = c + 1 < n ? c + 1 : (uint32_t)fab_rng_below(rng, n);
		uint32_t b = (uint32_t)fab_rng_below(rng, c + 1 < n ? c + 1 : n);

		if (a == b)
			b = (a + 1) % n;
		plan_cable(&plan, a, (uint16_t)(++used[a]), b, (uint16_t)(++used[b]));
	}
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t adapter = plan_adapter(&plan, "n HCA-1");

		plan_cable(&plan, i / 2, ++used[i / 2], adapter, 1);
	}
	f = plan_build(&plan, 0);
	plan_free(&plan);
	return f;
}

/* How often bounds and the best engine are the optimum. */
struct reached {
	unsigned bound, low_bound, balanced, optimal, low_only, dual, weighted;
};

/* Bounds that take long: none is above the optimum, whatever cables weigh. */
static void check_deep(const struct tiny *t, uint64_t seed, uint32_t best,
		       uint32_t low_best, struct reached *reached)
{
	const struct fab_bound_work work = {.steps = 1000000, .n_threads = 1};
	const uint32_t n = t->s.f->n_switch_links;
	struct fab_bound bound;
	uint32_t dual;

	fab_mcast_dual_bound(&t->s.problem, &work, &bound);
	cr_expect_leq(bound.value, best, "seed %llu", (unsigned long long)seed);
	cr_expect_eq(bound.kind, FAB_BOUND_DUAL);
	dual = bound.value;
	reached->dual += dual == best;
	fab_bound_fini(&bound);
	fab_mcast_reach_bound(&t->s.problem, &work, &bound);
	cr_expect_leq(bound.value, low_best, "seed %llu", (unsigned long long)seed);
	cr_expect_eq(bound.kind, FAB_BOUND_REACH);
	cr_expect(fab_bound_is_low_only(bound.kind));
	fab_bound_fini(&bound);
	for (uint64_t turn = 0; turn < 4; turn++) {
		uint32_t *weight = FAB_NEW((size_t)n + 1, uint32_t);

		for (uint32_t c = 0; c < n; c++)
			weight[c] =
				turn ? (uint32_t)(fab_mix64(seed * 64 + turn * 16 + c) %
						  4)
				     : 5;
		fab_mcast_dual_bound_of(&t->s.problem, &work, weight, &bound);
		cr_expect_leq(bound.value, best, "seed %llu, weights %llu",
			      (unsigned long long)seed, (unsigned long long)turn);
		cr_expect_eq(bound.kind, FAB_BOUND_WEIGHTED);
		cr_expect(turn || bound.value == dual, "five of each are as one of each");
		reached->weighted += turn && bound.value > dual;
		fab_bound_fini(&bound);
	}
}

/* Between the bound and what engines reach lies the optimum. */
static void check_tiny(uint64_t seed, struct reached *reached)
{
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	struct tiny *t = FAB_NEW0(1, struct tiny);
	uint32_t bound, low_bound, best, best_low;
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	routed_init(&t->s, tiny_fabric(&rng), 1 + (uint32_t)fab_rng_below(&rng, 4), 4,
		    seed);
	t->n = t->s.f->n_switches;
	list_trees(t);
	bound = fab_mcast_lower_bound(&t->s.problem);
	low_bound = fab_mcast_height_bound(&t->s.problem);
	best = optimum(t, false);
	best_low = optimum(t, true);
	routed_all(&t->s, results, efi);
	cr_expect_leq(bound, best, "seed %llu: %u trees on a cable, bound %u",
		      (unsigned long long)seed, best, bound);
	check_deep(t, seed, best, best_low, reached);
	cr_expect_leq(low_bound, best_low, "seed %llu: %u trees on a cable, bound %u",
		      (unsigned long long)seed, best_low, low_bound);
	for (size_t e = 0; e < fab_mcast_n_engines; e++) {
		bool may_be_higher = results[e].engine->may_be_higher;

		cr_expect_geq(efi[e].max, may_be_higher ? best : best_low, "seed %llu",
			      (unsigned long long)seed);
		for (uint32_t g = 0; g < t->s.groups->n; g++)
			cr_expect(results[e].forest.height[g] == t->least[g] ||
					  (may_be_higher &&
					   results[e].forest.height[g] > t->least[g]),
				  "seed %llu: %s is %u high, not %u",
				  (unsigned long long)seed, results[e].engine->name,
				  results[e].forest.height[g], t->least[g]);
		if (results[e].engine == &fab_mcast_balanced)
			reached->balanced += efi[e].max == best_low;
		if (results[e].engine == &fab_mcast_optimal)
			reached->optimal += efi[e].max == best_low;
	}
	routed_end(results);
	routed_fini(&t->s);
	free(t);
	reached->bound += bound == best;
	reached->low_bound += (low_bound > bound ? low_bound : bound) == best_low;
	reached->low_only += low_bound > bound;
}

Test(optimum, below_the_optimum_of_all_trees)
{
	enum { N = 300 };
	struct reached reached = {0};

	for (uint64_t seed = 0; seed < N; seed++)
		check_tiny(seed, &reached);
	/* a bound that says nothing would be sound, too */
	cr_assert_gt(reached.bound, N * 3 / 4, "%u of %u", reached.bound, N);
	cr_assert_gt(reached.low_bound, N * 3 / 4, "%u of %u", reached.low_bound, N);
	cr_assert_gt(reached.low_only, 0, "%u of %u", reached.low_only, N);
	cr_assert_gt(reached.dual, N / 2, "%u of %u", reached.dual, N);
	cr_assert_gt(reached.weighted, 3, "%u of %u", reached.weighted, N);
	cr_assert_gt(reached.balanced, N * 9 / 10, "%u of %u", reached.balanced, N);
	cr_assert_geq(reached.optimal, N * 98 / 100, "%u of %u", reached.optimal, N);
}

/* Demands and capacities by chance, all sums of them exact. */
static struct fab_weights *draw_weights(struct tiny *t, struct fab_rng *rng)
{
	struct fab_weights *w;
	struct fab_err err;
	bool is_even = fab_rng_below(rng, 2);

	for (uint32_t g = 0; g < t->s.groups->n; g++)
		t->demand[g] = (double)fab_rng_below(rng, 9) / 2;
	cr_assert_eq(fab_weights_new(t->s.f, t->s.groups, t->demand, false, &w, &err), 0);
	for (uint32_t c = 0; c < t->s.f->n_switch_links; c++) {
		double share = w->per_unit[c] * w->capacity[c];

		w->capacity[c] = is_even ? 2 : 1 << fab_rng_below(rng, 3);
		w->per_unit[c] = share / w->capacity[c];
		t->capacity[c] = w->capacity[c];
	}
	w->even = is_even ? 2 : 0;
	return w;
}

struct weighted {
	unsigned n, bound, balanced, optimal, less;
};

static void check_weighted(uint64_t seed, struct weighted *reached)
{
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	struct tiny *t = FAB_NEW0(1, struct tiny);
	double best, best_low, bound, least = HUGE_VAL, fewest = HUGE_VAL;
	struct fab_weights *w;
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	routed_init(&t->s, tiny_fabric(&rng), 1 + (uint32_t)fab_rng_below(&rng, 4), 4,
		    seed);
	t->n = t->s.f->n_switches;
	t->s.problem.weights = w = draw_weights(t, &rng);
	list_trees(t);
	best = least_load(t, 0, HUGE_VAL);
	t->low_only = true;
	best_low = least_load(t, 0, HUGE_VAL);
	bound = fab_mcast_load_bound(&t->s.problem);
	cr_expect_leq(bound, best * (1 + 1e-9), "seed %llu: load %g, bound %g",
		      (unsigned long long)seed, best, bound);
	routed_all(&t->s, results, efi);
	for (size_t e = 0; e < fab_mcast_n_engines; e++) {
		const struct fab_mcast_engine *engine = results[e].engine;

		cr_expect_geq(efi[e].max_load,
			      (engine->may_be_higher ? best : best_low) * (1 - 1e-9),
			      "seed %llu: %s", (unsigned long long)seed, engine->name);
		if (!engine->uses_weights && !engine->may_be_higher)
			fewest = fmin(fewest, efi[e].max_load);
		if (engine->uses_weights)
			least = efi[e].max_load;
		if (engine == &fab_mcast_balanced) {
			cr_expect_leq(least, fewest * (1 + 1e-9), "seed %llu",
				      (unsigned long long)seed);
			reached->balanced += least <= best_low * (1 + 1e-9);
			reached->less += least < fewest * (1 - 1e-9);
		}
		if (engine == &fab_mcast_optimal)
			reached->optimal += least <= best_low * (1 + 1e-9);
	}
	reached->bound += bound >= best * (1 - 1e-9);
	reached->n++;
	routed_end(results);
	fab_weights_free(w);
	routed_fini(&t->s);
	free(t);
}

Test(optimum, weighted_loads)
{
	struct weighted reached = {0};

	for (uint64_t seed = 0; seed < 300; seed++)
		check_weighted(seed, &reached);
	cr_assert_gt(reached.bound, reached.n / 2, "%u of %u", reached.bound, reached.n);
	cr_assert_gt(reached.balanced, reached.n * 85 / 100, "%u of %u", reached.balanced,
		     reached.n);
	cr_assert_gt(reached.optimal, reached.n * 95 / 100, "%u of %u", reached.optimal,
		     reached.n);
	cr_assert_gt(reached.less, reached.n / 20, "%u of %u", reached.less, reached.n);
}
