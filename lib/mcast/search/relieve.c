/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets one below the other. In a round, trees that have moved already are tried first,
 * which interrupts no other group; then those on most of the cables above the target, in
 * the first round only by trees that leave all of these cables. When the target is
 * reached, trees that fit where they were before all moves go back there.
 */
#include "mcast/relief.h"

#include "base/mem.h"
#include "mcast/search/search.h"

#include <stdlib.h>
#include <string.h>

/* Price of a cable above the target: no tree below it is as expensive. */
static const double EXCESS = 1e6;

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
	bool has_part;
	struct fab_forest part; /* the trees when max_moved had moved, if more have */
	struct fab_forest old;	/* the tree of the group at hand */
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

/* Cables of the tree that are above the target; UINT32_MAX: one has even more than the
 * fullest had. */
static uint32_t above(const struct relief *x, uint32_t group)
{
	const uint32_t *cable = fab_revision_cables(&x->revision, group);
	uint32_t n = 0;

	for (uint32_t i = 0; i < fab_revision_size(&x->revision, group); i++) {
		uint32_t load = x->revision.s->load[cable[i]];

		if (load > x->target + 1)
			return UINT32_MAX;
		n += load > x->target;
	}
	return n;
}

/* Remember the tree of a group: number 0 in `old`. */
static void remember(struct relief *x, uint32_t group)
{
	const struct fab_forest *forest = &x->revision.s->forest;
	uint32_t n = fab_revision_size(&x->revision, group);

	x->old.root[0] = forest->root[group];
	x->old.height[0] = forest->height[group];
	x->old.first[1] = n;
	memcpy(x->old.sw, fab_revision_switches(&x->revision, group),
	       n * sizeof(*x->old.sw));
	memcpy(x->old.cable, fab_revision_cables(&x->revision, group),
	       n * sizeof(*x->old.cable));
}

/* Replace the tree of a group by one of another forest. */
static void put(struct relief *x, uint32_t group, const struct fab_forest *from,
		uint32_t number)
{
	fab_revision_take_out(&x->revision, group);
	fab_revision_put(&x->revision, group, from->root[number], from->height[number],
			 fab_forest_size(from, number), from->sw + from->first[number],
			 from->cable + from->first[number]);
}

/* Another tree for the group with fewer cables above the target, with `most` at most. */
static bool move(struct relief *x, uint32_t group, uint32_t most)
{
	const struct fab_reroute_try how = {
		.how = FAB_REROUTE_ROOTS, .least = __DBL_MAX__, .turn = x->round};
	uint32_t before = above(x, group), after;

	x->tried[group] = x->round;
	remember(x, group);
	fab_reroute_find(x->reroute, &group, 1, &how);
	if (!x->is_moved[group] && x->n_moved == x->max_moved && !x->has_part) {
		fab_revision_copy(&x->revision, &x->part);
		x->has_part = true;
	}
	fab_reroute_take(x->reroute, 0);
	after = above(x, group);
	if (after >= before || after > most) {
		put(x, group, &x->old, 0);
		return false;
	}
	x->n_moved += !x->is_moved[group];
	x->is_moved[group] = true;
	return true;
}

/* Try all trees above the target once; false: none has moved. */
static bool run_round(struct relief *x, uint32_t most)
{
	uint32_t n = x->first->n, level = 0;
	bool has_moved = false;

	x->round++;
	for (uint32_t g = 0; g < n; g++) {
		uint32_t own = above(x, g);

		if (own && x->is_moved[g])
			has_moved |= move(x, g, most);
		level = own > level ? own : level;
	}
	for (; level; level--)
		for (uint32_t g = 0; g < n && !fab_mcast_is_over(x->options); g++)
			if (x->tried[g] != x->round && above(x, g) >= level)
				has_moved |= move(x, g, most);
	fab_revision_tidy(&x->revision);
	return has_moved && !fab_mcast_is_over(x->options);
}

/* Move trees until no cable is above the target; false: these moves do not reach it. */
static bool reach(struct relief *x)
{
	const struct fab_mcast_state *s = x->revision.s;

	fab_prices_set_target(&x->prices, x->target, EXCESS);
	while (run_round(x, 0) || run_round(x, UINT32_MAX))
		if (fab_mcast_max_level(s) <= x->target)
			break;
	if (fab_mcast_max_level(s) > x->target)
		return false;
	for (uint32_t g = 0; g < x->first->n; g++) {
		if (!x->is_moved[g])
			continue;
		remember(x, g);
		put(x, g, x->first, g);
		x->is_moved[g] = above(x, g) > 0;
		x->n_moved -= !x->is_moved[g];
		if (x->is_moved[g])
			put(x, g, &x->old, 0);
	}
	return true;
}

/* Reach one target after the other; the trees of the last one, or on the way to it. */
static void descend(struct relief *x, struct fab_forest *trees, struct fab_relief *out)
{
	while (out->after > x->options->bound && out->after > 1) {
		x->target = out->after - 1;
		x->has_part = false;
		if (!reach(x))
			return;
		out->n_needed = x->n_moved;
		if (x->n_moved > x->max_moved) {
			struct fab_forest whole = *trees;

			*trees = x->part;
			x->part = whole;
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
	struct fab_mcast_state s;
	struct fab_forest first = {0};
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
	fab_forest_init(&x.old, 1);
	fab_forest_reserve(&x.old, 0, problem->f->n_switches);
	fab_prices_init(&x.prices, &s);
	x.reroute = fab_reroute_new(&x.revision, &x.prices, options, 1);
	descend(&x, trees, out);
	out->is_out_of_time = fab_mcast_is_over(options);
	for (uint32_t g = 0; g < trees->n; g++)
		out->n_moved += !fab_forest_is_same(&first, trees, g);
	fab_reroute_free(x.reroute);
	fab_prices_fini(&x.prices);
	fab_revision_end(&x.revision);
	fab_mcast_state_fini(&s);
	fab_forest_fini(&x.old);
	fab_forest_fini(&x.part);
	fab_forest_fini(&first);
	free(x.tried);
	free(x.is_moved);
}
