/* SPDX-License-Identifier: BSD-2-Clause */
/* `optimal` on at most 8 switches and 8 groups against all trees, cable by cable: other
 * trees, another order and another bound than in the engine. Then all engines and bounds
 * against what it reaches. */
#include "mcast/bounds.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "mcast/search/search.h"
#include "support/routed.h"
#include "support/test.h"

enum { SWITCHES = 8, CABLES = 12, GROUPS = 8, FAR = 99 };

/* More choices than this are not compared. */
enum { CHOICES_MOST = 1000000 };

struct oracle {
	const struct fab_mcast_problem *p;
	uint32_t slack;
	uint32_t n_trees[GROUPS], tree[GROUPS][1 << CABLES]; /* cables, bits */
	uint64_t demand[GROUPS], capacity[CABLES], sum[CABLES];
	/* the least largest level that is looked for, as a fraction */
	uint64_t best, best_capacity;
	uint64_t n_choices;
};

static uint32_t end_of(const struct oracle *o, uint32_t c, int end)
{
	const struct fab_fabric *f = o->p->f;

	return f->port_node[end ? f->cable_b[c] : f->cable_a[c]];
}

/* Hops from a switch to all along the cables of a set. */
static void walk(const struct oracle *o, uint32_t set, uint32_t from, uint32_t *hops)
{
	for (uint32_t i = 0; i < SWITCHES; i++)
		hops[i] = i == from ? 0 : FAR;
	for (uint32_t round = 0; round < SWITCHES; round++)
		for (uint32_t c = 0; c < o->p->f->n_switch_links; c++)
			for (int end = 0; end < 2 && set >> c & 1; end++) {
				uint32_t a = end_of(o, c, end), b = end_of(o, c, !end);

				hops[b] = hops[a] + 1 < hops[b] ? hops[a] + 1 : hops[b];
			}
}

/* The least height of a set of cables over the members of a group; FAR: no such tree. */
static uint32_t height_of(const struct oracle *o, uint32_t g, uint32_t set)
{
	const struct fab_groups *groups = o->p->groups;
	uint32_t hops[SWITCHES], best = FAR, n_in = 0;

	if ((uint32_t)__builtin_popcount(set) >= o->p->f->n_switches)
		return FAR;
	walk(o, set, groups->sw[groups->sw_first[g]], hops);
	for (uint32_t i = 0; i < SWITCHES; i++)
		n_in += hops[i] < FAR;
	if (n_in != 1 + (uint32_t)__builtin_popcount(set))
		return FAR;
	for (uint32_t root = 0; root < o->p->f->n_switches; root++) {
		uint32_t height = 0;

		walk(o, set, root, hops);
		for (uint64_t i = groups->sw_first[g]; i < groups->sw_first[g + 1]; i++)
			if (hops[groups->sw[i]] > height)
				height = hops[groups->sw[i]];
		best = height < best ? height : best;
	}
	return best;
}

/* Of all sets of cables, for each group. */
static uint8_t height[GROUPS][1 << CABLES];

static void measure(const struct fab_mcast_problem *p)
{
	const struct oracle o = {.p = p};

	for (uint32_t g = 0; g < p->groups->n; g++)
		for (uint32_t set = 0; set < 1u << p->f->n_switch_links; set++)
			height[g][set] = (uint8_t)height_of(&o, g, set);
}

/* The trees of a group that are not too high, without those that have all cables of
 * another. */
static void list_trees(struct oracle *o, uint32_t g)
{
	uint32_t all = 1u << o->p->f->n_switch_links, least = FAR;

	for (uint32_t set = 0; set < all; set++)
		least = height[g][set] < least ? height[g][set] : least;
	for (uint32_t set = 0; set < all; set++) {
		bool is_new = height[g][set] <= least + o->slack;

		for (uint32_t i = 0; i < o->n_trees[g]; i++)
			is_new &= (o->tree[g][i] & ~set) != 0;
		if (is_new)
			o->tree[g][o->n_trees[g]++] = set;
	}
}

/* Is a load smaller than the best level on the cable? */
static bool is_below(const struct oracle *o, uint32_t c)
{
	return o->sum[c] * o->best_capacity < o->best * o->capacity[c];
}

/* Can the groups from g on have trees below the best level? */
static bool has_better(struct oracle *o, uint32_t g)
{
	if (!o->best) /* no load is less than none */
		return false;
	if (g == o->p->groups->n || ++o->n_choices > CHOICES_MOST)
		return g == o->p->groups->n;
	for (uint32_t i = 0; i < o->n_trees[g]; i++) {
		uint32_t tree = o->tree[g][i];
		uint32_t rest = tree; /* of which the load is not in the sums */
		bool is_low = true, is_done;

		for (; rest && is_low; rest &= rest - 1) {
			uint32_t c = (uint32_t)__builtin_ctz(rest);

			o->sum[c] += o->demand[g];
			is_low = is_below(o, c);
		}
		is_done = is_low && has_better(o, g + 1);
		for (uint32_t left = tree ^ rest; left; left &= left - 1)
			o->sum[__builtin_ctz(left)] -= o->demand[g];
		if (is_done)
			return true;
	}
	return false;
}

/* 2 to 8 connected switches with two adapters each; cables between them by chance, some
 * parallel. */
static struct fab_fabric *draw_fabric(struct fab_rng *rng)
{
	struct plan plan = {0};
	uint32_t n = 2 + test_below(rng, SWITCHES - 1);
	uint32_t most = n > 6 ? CABLES - 1 : CABLES;
	uint32_t n_cables = n - 1 + test_below(rng, most - n + 2);

	plan_switches(&plan, n, "s", 36);
	for (uint32_t c = 0; c < n_cables; c++) {
		uint32_t a = c + 1 < n ? c + 1 : test_below(rng, n);
		uint32_t b = test_below(rng, c + 1 < n ? c + 1 : n);

		plan_join(&plan, a, a == b ? (a + 1) % n : b);
	}
	for (uint32_t i = 0; i < 2 * n; i++)
		plan_host(&plan, i / 2, "n HCA-1");
	return plan_end(&plan);
}

/* Demands: small ones, zeros, all equal, or one that is far larger than all others.
 * Capacities 1 to 4. */
static struct fab_weights *draw_weights(struct oracle *o, struct fab_rng *rng)
{
	const struct fab_mcast_problem *p = o->p;
	uint32_t kind = test_below(rng, 4);
	struct fab_weights *w;
	double demand[GROUPS];

	for (uint32_t g = 0; g < p->groups->n; g++) {
		o->demand[g] = kind == 1 ? 3 : fab_rng_below(rng, kind == 2 ? 3 : 9);
		if (kind == 3 && g == 0)
			o->demand[g] = 1000000000;
		demand[g] = (double)o->demand[g];
	}
	MUST(fab_weights_new(p->f, p->groups, demand, false, &w, ERR));
	w->even = 0;
	for (uint32_t c = 0; c < p->f->n_switch_links; c++) {
		double unit = w->per_unit[c] * w->capacity[c];

		o->capacity[c] = 1u << fab_rng_below(rng, 3);
		w->capacity[c] = (double)o->capacity[c];
		w->per_unit[c] = unit / w->capacity[c];
	}
	return w;
}

/* The largest level of a result as a fraction, by its own sums. */
static void set_best(struct oracle *o, const struct fab_forest *t)
{
	uint64_t sum[CABLES] = {0};

	for (uint32_t g = 0; g < t->n; g++)
		for (uint64_t e = t->first[g]; e < t->first[g + 1]; e++)
			sum[t->cable[e]] += o->demand[g];
	o->best = 0;
	o->best_capacity = 1;
	for (uint32_t c = 0; c < o->p->f->n_switch_links; c++)
		if (sum[c] * o->best_capacity > o->best * o->capacity[c]) {
			o->best = sum[c];
			o->best_capacity = o->capacity[c];
		}
}

/* Trees that were only grown, by an engine that heeds no loads of the whole: the search
 * itself finds the best. */
static enum fab_mcast_ended solve_grown(struct oracle *o, uint32_t slack)
{
	const struct fab_mcast_options options = {.n_threads = 1, .height_slack = slack};
	FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state state;
	struct fab_mcast_grower grower = {.engine = &fab_mcast_minihop, .state = &state};
	enum fab_mcast_ended ended;
	double seconds = 0;

	fab_mcast_state_init(&state, o->p, &fab_mcast_minihop);
	cr_assert_eq(fab_mcast_grow(o->p, &grower, 1, &options, &seconds), 0);
	ended = fab_exact_solve(&state, &options);
	set_best(o, &state.forest);
	return ended;
}

struct reached {
	unsigned n, exact, bound, unknown, slack_helps, balanced, natural, dual, low,
		forced;
};

/* Between the bounds and what engines reach lies the optimum: `low` of trees of minimal
 * height, `any` of all. */
static void check_engines(const struct routed *s, uint64_t seed, double low, double any,
			  struct reached *reached)
{
	const struct fab_mcast_options work = {.n_threads = 1};
	bool has_weights = s->problem.weights;
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	struct fab_bound dual, forced;

	routed_all(s, results, efi);
	for (size_t e = 0; e < fab_mcast_n_engines; e++) {
		const struct fab_mcast_engine *engine = results[e].engine;
		double level = has_weights ? efi[e].max_load : efi[e].max;

		cr_expect_geq(level * (1 + 1e-9), engine->may_be_higher ? any : low,
			      "seed %lu: %s", (unsigned long)seed, engine->name);
		if (engine == &fab_mcast_balanced)
			reached->balanced += level <= low * (1 + 1e-9);
	}
	routed_end(results);
	if (has_weights) {
		reached->natural += fab_mcast_load_bound(&s->problem) >= any * (1 - 1e-9);
		return;
	}
	fab_mcast_dual_bound(&s->problem, &work, 1000000, &dual);
	cr_expect_leq(dual.value, any, "seed %lu", (unsigned long)seed);
	cr_expect_leq(fab_mcast_height_bound(&s->problem), low);
	reached->dual += dual.value == any;
	fab_mcast_forced_bound(&s->problem, 0, &forced);
	cr_expect_leq(forced.value, low, "seed %lu", (unsigned long)seed);
	reached->forced += forced.value == low;
	fab_bound_fini(&forced);
	reached->natural += fab_mcast_lower_bound(&s->problem) == any;
	reached->low += fab_mcast_height_bound(&s->problem) > any;
	fab_bound_fini(&dual);
}

/* Route with every slack; nothing that the oracle knows is better, no bound is above it,
 * and more slack is never worse. */
static void check(uint64_t seed, bool has_weights, struct reached *reached)
{
	const struct fab_mcast_engine *engine = &fab_mcast_optimal;
	FAB_AUTOFREE struct oracle *o = FAB_NEW(1, struct oracle);
	struct fab_weights *w = NULL;
	double last = 1e300, low = 0;
	struct fab_rng rng = test_rng(seed);
	FAB_AUTO(routed_fini) struct routed s;

	routed_init(&s, draw_fabric(&rng), 1 + test_below(&rng, GROUPS), 6, seed);
	measure(&s.problem);
	for (uint32_t slack = 0; slack <= SWITCHES;
	     slack = slack ? SWITCHES * slack : 1) {
		struct fab_mcast_options options = {
			.n_threads = 1, .height_slack = slack, .seed = seed};
		FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r = {0};
		double level;

		*o = (struct oracle){.p = &s.problem, .slack = slack};
		fab_rng_init(&rng, seed);
		for (uint32_t g = 0; g < GROUPS; g++)
			o->demand[g] = 1;
		for (uint32_t c = 0; c < CABLES; c++)
			o->capacity[c] = 1;
		if (has_weights)
			s.problem.weights = w = draw_weights(o, &rng);
		options.bound = has_weights ? 0 : fab_mcast_lower_bound(&s.problem);
		if (!slack && !has_weights &&
		    fab_mcast_height_bound(&s.problem) > options.bound)
			options.bound = fab_mcast_height_bound(&s.problem);
		options.load_bound = has_weights ? fab_mcast_load_bound(&s.problem) : 0;
		r = routed_by(&s.problem, engine, &options);
		cr_expect_eq(fab_mcast_verify(&s.problem, &r, ERR), 0, "seed %lu: %s",
			     (unsigned long)seed, test_err.text);
		for (uint32_t g = 0; g < s.groups->n; g++)
			list_trees(o, g);
		set_best(o, &r.forest);
		cr_expect_not(has_better(o, 0), "seed %lu, slack %u: %lu/%lu, ended %s",
			      (unsigned long)seed, slack, (unsigned long)o->best,
			      (unsigned long)o->best_capacity,
			      fab_mcast_ended_name(r.ended));
		cr_expect(r.ended == FAB_ENDED_EXACT || r.ended == FAB_ENDED_BOUND,
			  "seed %lu: ended %s", (unsigned long)seed,
			  fab_mcast_ended_name(r.ended));
		level = (double)o->best / (double)o->best_capacity;
		cr_expect_eq(solve_grown(o, slack), FAB_ENDED_EXACT);
		cr_expect_float_eq((double)o->best / (double)o->best_capacity, level,
				   1e-12 * level, "seed %lu, slack %u: from grown trees",
				   (unsigned long)seed, slack);
		cr_expect_leq(has_weights ? options.load_bound : options.bound,
			      level * (1 + 1e-12), "seed %lu", (unsigned long)seed);
		cr_expect_leq(level, last, "seed %lu: slack %u is worse",
			      (unsigned long)seed, slack);
		reached->slack_helps += level < last && slack;
		last = level;
		low = slack ? low : level;
		if (slack == SWITCHES)
			check_engines(&s, seed, low, level, reached);
		reached->n++;
		reached->exact += r.ended == FAB_ENDED_EXACT;
		reached->bound += r.ended == FAB_ENDED_BOUND;
		reached->unknown += o->n_choices > CHOICES_MOST;
		fab_weights_free(w);
		w = NULL;
	}
}

static void check_many(bool has_weights)
{
	struct reached reached = {0};

	for (uint64_t seed = 200 - test_some(50, 2, 12); seed < 200; seed++)
		check(seed, has_weights, &reached);
	cr_expect_gt(reached.exact, reached.n / 20, "%u of %u", reached.exact, reached.n);
	cr_expect_gt(reached.bound, reached.n / 2, "%u of %u", reached.bound, reached.n);
	/* a bound that says nothing would be sound, too */
	cr_expect_gt(reached.natural, reached.n / 3 / 2, "%u", reached.natural);
	cr_expect_gt(reached.balanced, reached.n / 3 * 85 / 100, "%u", reached.balanced);
	cr_expect(has_weights || reached.dual > reached.n / 3 / 2, "%u", reached.dual);
	/* rare: not among the fewer cases under sanitizers */
	cr_expect(reached.slack_helps || TEST_SHARE > 1, "%u", reached.slack_helps);
	cr_expect(has_weights || reached.low || TEST_SHARE > 1, "%u", reached.low);
	cr_expect(has_weights || reached.forced > reached.n / 3 / 3, "%u",
		  reached.forced);
	cr_expect_leq(reached.unknown, reached.n / 20, "%u of %u", reached.unknown,
		      reached.n);
}

Test(exact, fewest_trees_on_a_cable, .timeout = 300)
{
	check_many(false);
}

Test(exact, least_weighted_load, .timeout = 300)
{
	check_many(true);
}
