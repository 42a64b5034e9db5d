/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `balanced`: each group takes the cheapest tree of a few roots over the loads so far
 * (search/greedy.c); then those on the fullest cables are routed again
 * (search/negotiate.c), from the better trees of other algorithms where there are any.
 * `optimal`: the same, and then a longer search, of large problems whose members lie far
 * apart from shorter trees (torus random below: 17 in 80 s of processor time).
 */
/* clang-format off */
/*
 * Stages, and the fullest cable of `balanced` with each one and without it:
 *
 * stage                                        where          fabric         with without
 * -------------------------------------------  -------------  -------------  ---- -------
 * cheapest tree of a few roots                 greedy.c       (first trees)
 * a hub each on a dragonfly, if better          hubs.c         dragonfly         3       4
 *                                                             1 hop higher      2       4
 * targets in turn, full cables routed again    negotiate.c    kfat 12x12       45      57
 *                                                             torus random     18      29
 * start from trees of few cables, and then     negotiate.c    torus random     18      25
 *                                                             torus 240x100     2       4
 * - deep ones where members lie far            trees.c        torus 60x20x20    4       8
 * - short ones where they have 7 % less        trees.c        torus random     18      22
 *   hops of a longer dimension cost more       trees.c        torus random     18      19
 *   other ways between the same branches       trees.c        torus random     18      19
 * factors of cables that stay too full         negotiate.c    mesh 12x12       28      29
 * the cheapest of all roots, two hops away     root_prices.c  fat tree          2       3
 * all roots, if they are few                   reroute.c      kfat 12x12       45      50
 * other paths, where members lie far           trees.c        torus random     18      19
 * better trees of others, branch and bound     route, exact   (none of these)
 * kfat 12x12: 600 random groups of 6 to 16 members. Fat tree: radix 40, 3 levels, grid
 * 25x32x20. Torus 30x20x20: grids 240x100 and 60x20x20, and 5000 random groups of 8
 * to 24; mesh 12x12: 150 such groups. Dragonfly: a=18, h=9, grid 163x162.
 */
/* clang-format on */
#include "base/progress.h"
#include "mcast/search/search.h"

/* Rounds without progress after which a target is given up, by `balanced` and `optimal`;
 * and targets given up after which `optimal`, and `balanced` on small problems, stop. */
enum { ROUNDS = 12, ROUNDS_OPTIMAL = 30, ATTEMPTS = 4 };

/* Cables looked at when trees are revised: for each edge of all trees, but at least (half
 * of it in the first searches where members lie far apart) and at most. */
enum { STEPS_EDGE = 120, STEPS_LEAST = 4000000, STEPS_MOST = 30000000 };

/* Problems of more edges are large; with fewer than a few, attempts take little time. */
enum { SMALL_EDGES = 16600, FEW_EDGES = 1000, ATTEMPTS_FEW = 24 };

/* Shares of the time that is left: for bounds; and, where trees may be higher, for those
 * of minimal height. */
static const double BOUNDS_SHARE = 0.25, LOW_SHARE = 0.5;

/* Trees revised and better ones of other algorithms alternately, while the largest load
 * falls. Small problems from the first trees, then from cheap trees, twice; large ones
 * once: from cheap trees where members lie far apart, else from the first. */
static enum fab_mcast_ended revise(struct fab_mcast_state *s,
				   const struct fab_mcast_options *o)
{
	struct fab_negotiation n = {.options = o,
				    .n_steps = STEPS_LEAST / 2,
				    .n_rounds = ROUNDS,
				    .n_attempts = 1};
	bool is_far = fab_mcast_is_far(s);
	uint64_t steps = STEPS_EDGE * s->n_edges;
	enum fab_mcast_ended ended;
	double max;

	fab_hubs_try(s, o);
	n.is_hasty = s->n_edges > SMALL_EDGES;
	if (!n.is_hasty && (!is_far || s->units)) {
		n.n_attempts = ATTEMPTS;
		n.n_steps = STEPS_LEAST;
	}
	for (int start = 0; start < 2 && !n.is_hasty; start++) {
		n.is_afresh = start;
		ended = fab_negotiate(s, &n);
		if (fab_mcast_was_stopped(ended))
			return ended;
	}
	n.n_steps = steps > STEPS_LEAST ? steps : STEPS_LEAST;
	n.n_steps = n.n_steps < STEPS_MOST ? n.n_steps : STEPS_MOST;
	n.is_afresh = !n.is_hasty || is_far;
	do {
		max = fab_mcast_max_level(s);
		ended = fab_negotiate(s, &n);
		if (fab_mcast_was_stopped(ended))
			return ended;
		n.is_afresh = false;
	} while (fab_mcast_adopt_baseline(s->problem, s, o) &&
		 fab_mcast_max_level(s) < max);
	return FAB_ENDED_DONE;
}

/* Trees that may be higher start from those that may not: they are never worse. */
static int balance(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		   const struct fab_mcast_options *o)
{
	struct fab_mcast_options low = *o;

	(void)problem;
	low.height_slack = 0;
	if (o->start)
		fab_mcast_state_start(s, o->start);
	else
		s->ended = revise(s, &low);
	if (o->height_slack && !fab_mcast_was_stopped(s->ended))
		s->ended = revise(s, o);
	return s->ended == FAB_ENDED_FAILED;
}

/* The time at which this share of what is left until then has passed; 0: no limit. */
static double share_of(double until, double share)
{
	double now = fab_now();

	return until > 0 ? now + share * (until - now) : 0;
}

/* The search for better trees from the present ones, after bounds. */
static enum fab_mcast_ended improve(struct fab_mcast_state *s,
				    struct fab_mcast_options *o)
{
	const struct fab_negotiation n = {
		.options = o,
		.n_rounds = ROUNDS_OPTIMAL,
		.n_attempts = s->n_edges < FEW_EDGES ? ATTEMPTS_FEW : ATTEMPTS,
		.is_afresh = s->n_edges > SMALL_EDGES && fab_mcast_is_far(s),
		.is_reported = true};

	if (o->raise_bound && !s->problem->weights && fab_mcast_max_level(s) > o->bound)
		o->bound = o->raise_bound(o->raise_bound_context,
					  share_of(o->until, BOUNDS_SHARE));
	o->raise_bound = NULL;
	return fab_negotiate(s, &n);
}

static int optimise(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		    const struct fab_mcast_options *o)
{
	struct fab_mcast_options own = *o;
	FAB_AUTO(fab_forest_fini) struct fab_forest first = {0};
	enum fab_mcast_ended exact;
	bool goes_on;

	if (o->time_limit_s > 0 && !(o->until > 0))
		own.until = fab_now() + o->time_limit_s;
	fab_mcast_state_copy_trees(s, &first);
	(void)balance(problem, s, &own);
	goes_on = !fab_mcast_was_stopped(s->ended);
	if (goes_on && o->height_slack && !o->start) {
		/* From the first trees as without height slack, too, and on from the
		 * better of both: only a time limit can make the result worse than that
		 * of the lower trees. */
		struct fab_mcast_options low = own;
		double level = fab_mcast_max_level(s);
		struct fab_forest higher = {0};

		low.height_slack = 0;
		low.until = share_of(own.until, LOW_SHARE);
		fab_mcast_state_copy_trees(s, &higher);
		fab_mcast_state_start(s, &first);
		(void)balance(s->problem, s, &low);
		if (!fab_mcast_was_stopped(s->ended))
			s->ended = improve(s, &low);
		own.bound = low.bound;
		own.raise_bound = low.raise_bound;
		if (level < fab_mcast_max_level(s))
			fab_mcast_state_start(s, &higher);
		fab_forest_fini(&higher);
		/* its time is a part of all */
		goes_on = !fab_mcast_was_stopped(s->ended) || s->ended == FAB_ENDED_TIME;
	}
	if (goes_on)
		s->ended = improve(s, &own);
	if (fab_mcast_was_stopped(s->ended) || s->ended == FAB_ENDED_BOUND)
		return s->ended == FAB_ENDED_FAILED;
	exact = fab_exact_solve(s, &own);
	s->ended = exact == FAB_ENDED_DONE ? s->ended : exact;
	return 0;
}

const struct fab_mcast_engine fab_mcast_balanced = {
	.name = "balanced",
	.summary = "cheapest tree of several roots, then those on full cables again",
	.manual =
		"First, of the trees from several candidates the one whose cables cost least: a cable costs the more, the nearer its load is to the largest, and a switch that several others can share is cheap for each of them; where members lie more than three hops from the root, as on a torus, trees of few cables whatever their loads: deep ones, or short ones where these have 7 % fewer cables. To a short tree members are added at the nearest place, some near each other are taken out and added in another order, and this stays if it is no longer; where a dimension is longer than others, its cables count more. Then the ways between its branches become others of as many hops. On a dragonfly groups with members in most groups of switches try trees from one of these, each from another one, with a cable to every other one. Then one group less on the fullest cables is tried for, repeatedly: trees on cables above that are replaced by cheaper ones, where members may be deeper than their distance from the root, or where members lie far only single paths of them, and cables that stay too full become expensive; until the largest load is that of a lower bound, several rounds bring nothing, or an amount of work in proportion to the size of all trees is done. Where another algorithm of minimal height has a smaller largest load, it goes on from that one's trees: it is never above any of them. It takes ten to some hundred times as long as `fulb`. With `--events` a group takes the cheapest tree when its turn comes, and no other is revised.",
	.takes_slack = true,
	.scratch_new = fab_greedy_new,
	.choose_root = fab_greedy_choose_root,
	.grow = fab_greedy_grow,
	.solve = balance,
};

const struct fab_mcast_engine fab_mcast_optimal = {
	.name = "optimal",
	.summary = "trees of balanced, then a search for better ones until the bound",
	.manual =
		"As `balanced`, then the same search again from other prices and roots, until `--time-limit`, or until four targets in a row were given up after thirty rounds without progress each. Never above `balanced`.",
	.takes_slack = true,
	.scratch_new = fab_greedy_new,
	.choose_root = fab_greedy_choose_root,
	.grow = fab_greedy_grow,
	.solve = optimise,
};
