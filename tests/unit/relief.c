/* SPDX-License-Identifier: BSD-2-Clause */
/* Few trees move: loads counted plainly, and every prefix of a relief. */
#include "mcast/relief.h"
#include "mcast/bounds.h"
#include "support/routed.h"
#include "support/test.h"

static void setting_init(struct routed *s, uint64_t seed)
{
	static const char *const patterns[] = {"random:groups=80,size=2-10", "grid:6x10",
					       NULL};

	routed_init_patterns(s, test_random_fabric(20 + 9 * (uint32_t)seed, 60, 3, seed),
			     patterns, seed);
}

/* Trees by a rule that looks at no load. */
static struct fab_mcast_result crowd(const struct routed *s)
{
	const struct fab_mcast_options o = {.n_threads = 1, .root_ties = FAB_TIES_LOWEST};

	return routed_by(&s->problem, fab_mcast_engine_find("minihop", 7), &o);
}

static uint32_t max_load(const struct routed *s, const struct fab_forest *trees,
			 uint32_t *load)
{
	uint32_t max = 0;

	memset(load, 0, s->f->n_switch_links * sizeof(*load));
	for (uint64_t e = 0; e < trees->first[trees->n]; e++)
		load[trees->cable[e]]++;
	for (uint32_t c = 0; c < s->f->n_switch_links; c++)
		max = load[c] > max ? load[c] : max;
	return max;
}

/* Would a group's old tree, back among the new ones, need more than `max`? */
static bool is_too_much(const struct routed *s, const struct fab_forest *old,
			const struct fab_forest *new, uint32_t g, uint32_t max,
			uint32_t *load)
{
	bool is_above = false;

	max_load(s, new, load);
	for (uint64_t e = new->first[g]; e < new->first[g + 1]; e++)
		load[new->cable[e]]--;
	for (uint64_t e = old->first[g]; e < old->first[g + 1]; e++)
		is_above |= load[old->cable[e]] + 1 > max;
	return is_above;
}

/* Relieve the crowded trees by at most max_moved moves; all that is promised holds. */
static struct fab_relief relieve(const struct routed *s, uint32_t max_moved)
{
	FAB_AUTO(fab_mcast_result_fini)
	struct fab_mcast_result before = crowd(s), after = crowd(s);
	struct fab_mcast_options o = {.n_threads = 1,
				      .bound = fab_mcast_lower_bound(&s->problem)};
	struct fab_relief r;
	uint32_t n = 0;

	fab_mcast_relieve(&s->problem, &after.forest, &o, max_moved, &r);
	cr_expect_eq(r.before, max_load(s, &before.forest, before.load));
	cr_expect_eq(r.after, max_load(s, &after.forest, after.load));
	cr_expect(r.after <= r.before && r.after >= o.bound);
	for (uint32_t g = 0; g < s->groups->n; g++)
		n += !fab_forest_is_same(&before.forest, &after.forest, g);
	cr_expect(n == r.n_moved && n <= max_moved && r.n_needed >= n);
	cr_expect_not(r.is_out_of_time);
	MUST(fab_mcast_verify(&s->problem, &after, ERR));
	/* no tree has moved that could have stayed */
	for (uint32_t g = 0; g < s->groups->n && r.n_needed == n && r.after < r.before;
	     g++)
		if (!fab_forest_is_same(&before.forest, &after.forest, g))
			cr_expect(is_too_much(s, &before.forest, &after.forest, g,
					      r.after, after.load));
	return r;
}

Test(relief, few_trees_move)
{
	static const uint32_t limits[] = {0, 1, 5, 20, 60, UINT32_MAX};
	uint32_t n_better = 0, n_by_one = 0, n_part = 0;

	for (uint64_t seed = 0; seed < 4; seed++) {
		uint32_t last = UINT32_MAX;
		FAB_AUTO(routed_fini) struct routed s;

		setting_init(&s, seed);
		for (size_t i = 0; i < FAB_COUNT(limits); i++) {
			struct fab_relief r = relieve(&s, limits[i]);

			cr_expect_leq(r.after, last, "more moves, worse trees");
			last = r.after;
			if (limits[i] == 0)
				cr_expect(r.n_moved == 0 && r.after == r.before);
			n_better += r.after < r.before;
			n_by_one += limits[i] == 1 && r.n_moved == 1;
			n_part += r.n_needed > r.n_moved && r.n_moved > 0;
		}
	}
	cr_assert(n_better >= 8 && n_by_one >= 2 && n_part >= 2);
}

static bool is_over(void *context)
{
	(void)context;
	return true;
}

/* Small steps come as far as one large step, nearly, and then stay. Without time nothing
 * moves, and that is said. */
Test(relief, steps_and_time_end)
{
	FAB_AUTO(routed_fini) struct routed s;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result before, r;
	struct fab_mcast_options o = {.n_threads = 1, .is_over = is_over};
	struct fab_relief step, all;
	uint32_t n = 0;

	setting_init(&s, 3);
	o.bound = fab_mcast_lower_bound(&s.problem);
	all = relieve(&s, UINT32_MAX);
	before = crowd(&s);
	r = crowd(&s);
	fab_mcast_relieve(&s.problem, &r.forest, &o, UINT32_MAX, &step);
	cr_expect(step.is_out_of_time && step.n_moved == 0);
	for (uint32_t g = 0; g < s.groups->n; g++)
		cr_expect(fab_forest_is_same(&before.forest, &r.forest, g));
	o.is_over = NULL;
	do {
		fab_mcast_relieve(&s.problem, &r.forest, &o, 7, &step);
		cr_assert_leq(step.n_moved, 7);
	} while (step.n_moved && ++n < 1000);
	cr_assert_lt(n, 1000);
	cr_expect_leq(step.after, all.after + 1);
}
