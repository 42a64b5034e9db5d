/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Balanced trees of minimal height: each group takes the cheapest tree of a few roots
 * (mcast/greedy.h) over the loads that are there; then those on the fullest cables
 * are routed again (mcast/negotiate.h), from the better trees of others where there are
 * any.
 */
#include "mcast/engines.h"

#include "mcast/greedy.h"
#include "mcast/negotiate.h"
#include "mcast/reroute.h"
#include "mcast/rivals.h"
#include "mcast/state.h"

enum { ROUNDS = 12 };

/* Cables looked at when trees are revised: so many for each edge of all trees (where
 * members lie far apart more), but at least and at most so many. */
enum { STEPS_EDGE = 120, STEPS_FAR = 240, STEPS_LEAST = 2000000, STEPS_MOST = 20000000 };

/* Trees revised and better ones of others alternately, while the largest load falls.
 * Where there is little to do, from each start in turn. */
static enum fab_mcast_ended search(struct fab_mcast_state *s,
				   const struct fab_mcast_options *o)
{
	struct fab_negotiation n = {.options = o,
				    .n_steps = STEPS_LEAST,
				    .n_rounds = ROUNDS,
				    .n_attempts = 1};
	uint64_t steps = (fab_reroute_is_far(s) ? STEPS_FAR : STEPS_EDGE) * s->n_edges;
	enum fab_mcast_ended ended;
	double max;

	for (; STEPS_EDGE * s->n_edges <= STEPS_LEAST && n.start < FAB_START_NEAR;
	     n.start++) {
		ended = fab_negotiate(s, &n);
		if (fab_mcast_was_stopped(ended))
			return ended;
	}
	n.is_hasty = n.start == FAB_START_THERE;
	n.n_steps = steps > n.n_steps ? steps : n.n_steps;
	n.n_steps = n.n_steps < STEPS_MOST ? n.n_steps : STEPS_MOST;
	n.start = n.start == FAB_START_NEAR ? n.start : FAB_START_CHOSEN;
	do {
		max = fab_mcast_max_level(s);
		ended = fab_negotiate(s, &n);
		if (fab_mcast_was_stopped(ended))
			return ended;
		n.start = FAB_START_THERE;
	} while (fab_mcast_take_rival(s->problem, s, o) && fab_mcast_max_level(s) < max);
	return FAB_ENDED_DONE;
}

/* Trees that may be higher start from those that may not: they are never worse. */
static int solve(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		 const struct fab_mcast_options *o)
{
	struct fab_mcast_options low = *o;

	(void)problem;
	low.height_slack = 0;
	if (o->start)
		fab_mcast_state_start(s, o->start);
	else
		s->ended = search(s, &low);
	if (o->height_slack && !fab_mcast_was_stopped(s->ended))
		s->ended = search(s, o);
	return s->ended == FAB_ENDED_FAILED;
}

const struct fab_mcast_engine fab_mcast_balanced = {
	.name = "balanced",
	.summary = "cheapest tree of several roots, then those on full cables again",
	.manual = "First, of the trees from several candidates the one whose "
		  "cables cost least, where a cable costs the more, the nearer "
		  "its load is to the largest, and a switch that several others "
		  "can hang on is cheap for each of them; where members lie more "
		  "than three hops from the root, as on a torus, then trees of few "
		  "cables whatever their loads. Then one group less on "
		  "the fullest cables is tried for, again and again: trees on "
		  "cables above that are grown anew around them, where members "
		  "may hang deeper than their distance from the root, or where "
		  "members lie far only single paths of them, and cables "
		  "that too many trees want for long become expensive; until the "
		  "largest load is that of a lower bound, several rounds bring "
		  "nothing, or an amount of work that goes with the size of all "
		  "trees is done. Where another algorithm of minimal height has a "
		  "smaller largest load, it goes on from that one's trees, so that "
		  "it is never above any of them. Trees are of minimal height. It takes "
		  "ten to some hundred times as long as `fulb`. With `--events` a "
		  "group takes the cheapest tree when its turn comes, and no "
		  "other is revised.",
	.takes_slack = true,
	.heeds_weights = true,
	.scratch_new = fab_greedy_new,
	.scratch_free = fab_greedy_free,
	.choose_root = fab_greedy_choose_root,
	.grow = fab_greedy_grow,
	.grow_many = fab_greedy_grow_many,
	.solve = solve,
};
