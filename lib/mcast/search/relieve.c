/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets one below the other. In a round, trees that have moved already are tried first,
 * which interrupts no other group; then those on most of the cables above the target.
 * Where the target is not reached, trees may push others off their cables for some
 * rounds (as in negotiate.c). When it is reached, trees that fit where they were before
 * go back there.
 */
#include "mcast/relief.h"

#include "base/mem.h"
#include "mcast/search/search.h"

#include <stdlib.h>
#include <string.h>

/* Price of a cable above the target: no tree below it is as expensive. */
static const double EXCESS = 1e6;

/* Where trees push others: rounds; the price of a cable above the target at first and its
 * growth a round, and the growth of the factor of each. */
enum { PUSHES = 30 };
static const double FIRST_EXCESS = 64, EXCESS_GROWTH = 1.3, FACTOR_STEP = 1;

struct relief {
	const struct fab_mcast_options *options;
	const struct fab_forest *first; /* the trees before all moves */
	struct fab_revision revision;
	struct fab_prices prices;
	struct fab_reroute *reroute;
	uint32_t target, max_moved, n_moved;
	bool *is_moved;	 /* [groups] */
	uint32_t *tried; /* [groups] == round */
	uint32_t round;
};

bool fab_forest_is_same(const struct fab_forest *a, const struct fab_forest *b,
			uint32_t g)
{
	uint32_t n = fab_forest_size(a, g);
	uint64_t i = a->first[g], j = b->first[g];

	return n == fab_forest_size(b, g) && a->root[g] == b->root[g] &&
	       memcmp(a->sw + i, b->sw + j, n * sizeof(*a->sw)) == 0 &&
	       memcmp(a->cable + i, b->cable + j, n * sizeof(*a->cable)) == 0;
}

/* Cables that are above the target, where `more` trees come; UINT32_MAX: one has even
 * more than the fullest had. */
static uint32_t count_above(const struct relief *x, const uint32_t *cable, uint32_t n,
			    uint32_t more)
{
	uint32_t n_above = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t load = x->revision.s->load[cable[i]] + more;

		if (load > x->target + 1)
			return UINT32_MAX;
		n_above += load > x->target;
	}
	return n_above;
}

/* The same of the tree of a group, and of another one in its place. */
static uint32_t above(const struct relief *x, uint32_t group)
{
	return count_above(x, fab_revision_cables(&x->revision, group),
			   fab_revision_size(&x->revision, group), 0);
}

static uint32_t above_if(struct relief *x, uint32_t group, const uint32_t *cable,
			 uint32_t n)
{
	uint32_t n_above;

	fab_revision_take_out(&x->revision, group);
	n_above = count_above(x, cable, n, 1);
	fab_revision_put_back(&x->revision, group);
	return n_above;
}

static uint32_t above_as(struct relief *x, uint32_t group, const struct fab_forest *trees)
{
	return above_if(x, group, trees->cable + trees->first[group],
			fab_forest_size(trees, group));
}

static void note_moved(struct relief *x, uint32_t group, bool is_moved)
{
	x->n_moved += (uint32_t)is_moved - (uint32_t)x->is_moved[group];
	x->is_moved[group] = is_moved;
}

/* Another tree for the group with fewer cables above the target. */
static bool move(struct relief *x, uint32_t group)
{
	const struct fab_reroute_try how = {
		.how = FAB_REROUTE_ROOTS, .least = __DBL_MAX__, .turn = x->round};
	const uint32_t *cable;
	uint32_t n;

	x->tried[group] = x->round;
	fab_reroute_find(x->reroute, &group, 1, &how);
	cable = fab_reroute_found(x->reroute, 0, &n);
	if (!cable || above_if(x, group, cable, n) >= above(x, group))
		return false;
	fab_reroute_take(x->reroute, 0);
	note_moved(x, group, true);
	return true;
}

/* Try all trees above the target once; false: none has moved. */
static bool run_round(struct relief *x)
{
	uint32_t n = x->first->n, level = 0;
	bool has_moved = false;

	x->round++;
	for (uint32_t g = 0; g < n; g++) {
		uint32_t own = above(x, g);

		if (own && x->is_moved[g])
			has_moved |= move(x, g);
		level = own > level ? own : level;
	}
	for (; level; level--)
		for (uint32_t g = 0; g < n && !fab_mcast_is_over(x->options); g++)
			if (x->tried[g] != x->round && above(x, g) >= level)
				has_moved |= move(x, g);
	fab_revision_tidy(&x->revision);
	return has_moved && !fab_mcast_is_over(x->options);
}

static bool is_reached(const struct relief *x)
{
	return fab_mcast_max_level(x->revision.s) <= x->target;
}

/* Trees push others off their cables: every tree above the target takes the cheapest one
 * at prices that rise where cables stay above it. */
static bool push(struct relief *x)
{
	double excess = FIRST_EXCESS;

	for (int round = 0; round < PUSHES && !is_reached(x); round++) {
		const struct fab_reroute_try how = {
			.how = FAB_REROUTE_ROOTS, .least = excess, .turn = ++x->round};

		fab_prices_set_target(&x->prices, x->target, excess);
		for (uint32_t g = 0; g < x->first->n; g++) {
			if (!above(x, g) || fab_mcast_is_over(x->options))
				continue;
			fab_reroute_find(x->reroute, &g, 1, &how);
			fab_reroute_take(x->reroute, 0);
			note_moved(x, g, true);
		}
		fab_prices_raise_factors(&x->prices, x->target, FACTOR_STEP);
		excess *= EXCESS_GROWTH;
		fab_revision_tidy(&x->revision);
	}
	fab_prices_reset_factors(&x->prices);
	return is_reached(x);
}

/* Trees that fit where they were go back there. */
static void go_back(struct relief *x)
{
	bool has_changed = true;

	while (has_changed) {
		has_changed = false;
		for (uint32_t g = 0; g < x->first->n; g++) {
			if (!x->is_moved[g] || above_as(x, g, x->first) > 0)
				continue;
			fab_revision_restore(&x->revision, g, x->first);
			note_moved(x, g, false);
			has_changed = true;
		}
		fab_revision_tidy(&x->revision);
	}
}

/* Move trees until no cable is above the target; false: this does not reach it. */
static bool reach(struct relief *x)
{
	fab_prices_set_target(&x->prices, x->target, EXCESS);
	while (!is_reached(x) && run_round(x))
		;
	if (!is_reached(x) && !push(x))
		return false;
	go_back(x);
	return true;
}

/* From `trees` as far to the trees of now as max_moved moves go, in an order in which no
 * cable gets more than the fullest had. */
static void take_part(struct relief *x, struct fab_forest *trees)
{
	FAB_AUTO(fab_forest_fini) struct fab_forest target = {0};
	bool has_moved = true;

	fab_revision_copy(&x->revision, &target);
	x->round++;
	x->n_moved = 0;
	for (uint32_t g = 0; g < trees->n; g++) {
		fab_revision_restore(&x->revision, g, trees);
		x->is_moved[g] = !fab_forest_is_same(x->first, trees, g);
		x->n_moved += x->is_moved[g];
	}
	while (has_moved) {
		has_moved = false;
		for (uint32_t g = 0; g < trees->n; g++) {
			uint32_t before = above(x, g);

			if (!before || x->tried[g] == x->round ||
			    (!x->is_moved[g] && x->n_moved >= x->max_moved) ||
			    above_as(x, g, &target) >= before)
				continue;
			fab_revision_restore(&x->revision, g, &target);
			note_moved(x, g, true);
			x->tried[g] = x->round;
			has_moved = true;
		}
	}
	fab_revision_copy(&x->revision, trees);
}

/* Reach one target after the other; the trees of the last one, or on the way to it. */
static void descend(struct relief *x, struct fab_forest *trees, struct fab_relief *out)
{
	while (out->after > x->options->bound && out->after > 1) {
		x->target = out->after - 1;
		if (!reach(x))
			return;
		out->n_needed = x->n_moved;
		if (x->n_moved > x->max_moved) {
			take_part(x, trees);
			return;
		}
		fab_revision_copy(&x->revision, trees);
		out->after = (uint32_t)fab_mcast_max_level(x->revision.s);
	}
}

void fab_mcast_relieve(const struct fab_mcast_problem *problem, struct fab_forest *trees,
		       const struct fab_mcast_options *options, uint32_t max_moved,
		       struct fab_relief *out)
{
	static const struct fab_mcast_engine moves = {
		.name = "moves", .root_rule = FAB_ROOT_LEAST_ADJACENT};
	FAB_AUTO(fab_mcast_state_fini) struct fab_mcast_state s;
	FAB_AUTO(fab_forest_fini) struct fab_forest first = {0};
	struct relief x = {.options = options, .first = &first, .max_moved = max_moved};

	fab_mcast_state_init(&s, problem, &moves);
	x.revision = fab_revision_begin(&s);
	for (uint32_t g = 0; g < trees->n; g++)
		fab_revision_put(&x.revision, g, trees->root[g], trees->height[g],
				 fab_forest_size(trees, g), trees->sw + trees->first[g],
				 trees->cable + trees->first[g]);
	fab_revision_copy(&x.revision, &first);
	*out = (struct fab_relief){.before = (uint32_t)fab_mcast_max_level(&s)};
	out->after = out->before;
	x.is_moved = FAB_NEW0(trees->n, bool);
	x.tried = FAB_NEW0(trees->n, uint32_t);
	fab_prices_init(&x.prices, &s);
	fab_prices_reset_factors(&x.prices);
	x.reroute = fab_reroute_new(&x.revision, &x.prices, options, 1);
	descend(&x, trees, out);
	out->is_out_of_time = fab_mcast_is_over(options);
	for (uint32_t g = 0; g < trees->n; g++)
		out->n_moved += !fab_forest_is_same(&first, trees, g);
	fab_reroute_free(x.reroute);
	fab_prices_fini(&x.prices);
	fab_revision_end(&x.revision);
	FAB_FREE_ALL(x.tried, x.is_moved);
}
