/* SPDX-License-Identifier: BSD-2-Clause */
/* The trees of `balanced`, and then as long a search for better ones as is asked for. */
#include "mcast/engines.h"

#include "base/clock.h"
#include "mcast/exact.h"
#include "mcast/greedy.h"
#include "mcast/negotiate.h"
#include "mcast/state.h"

/* A target is given up after so many rounds without fewer groups in excess; and the
 * search after so many targets given up. */
enum { ROUNDS = 30, ATTEMPTS = 4 };

/* Shares of the time that is left: for bounds; and, where trees may be higher, for those
 * of minimal height. */
static const double BOUNDS_SHARE = 0.25, LOW_SHARE = 0.5;

/* The time at which this share of what is left until then has passed; 0: no limit. */
static double share_of(double until, double share)
{
	double now = fab_now();

	return until > 0 ? now + share * (until - now) : 0;
}

/* The search for better trees from those that there are, after bounds. */
static enum fab_mcast_ended improve(struct fab_mcast_state *s,
				    struct fab_mcast_options *o)
{
	const struct fab_negotiation n = {.options = o,
					  .n_rounds = ROUNDS,
					  .n_attempts = ATTEMPTS,
					  .has_swaps = true,
					  .is_told = true};

	if (o->raise_bound && !s->problem->weights && fab_mcast_max_load(s) > o->bound)
		o->bound = o->raise_bound(o->raise_bound_context,
					  share_of(o->until, BOUNDS_SHARE));
	o->raise_bound = NULL;
	return fab_negotiate(s, &n);
}

/* From the first trees as without height slack, too, and on from the better of both:
 * only a time limit can make the result worse than that of the lower trees. */
static void search_low(struct fab_mcast_state *s, struct fab_mcast_options *own,
		       const struct fab_forest *first)
{
	struct fab_mcast_options low = *own;
	double level = fab_mcast_max_level(s);
	struct fab_forest higher = {0};

	low.height_slack = 0;
	low.until = share_of(own->until, LOW_SHARE);
	fab_mcast_state_copy_trees(s, &higher);
	fab_mcast_state_start(s, first);
	(void)fab_mcast_balanced.solve(s->problem, s, &low);
	if (!fab_mcast_was_stopped(s->ended))
		s->ended = improve(s, &low);
	own->bound = low.bound;
	own->raise_bound = low.raise_bound;
	if (level < fab_mcast_max_level(s))
		fab_mcast_state_start(s, &higher);
	fab_forest_fini(&higher);
}

static int solve(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		 const struct fab_mcast_options *o)
{
	struct fab_mcast_options own = *o;
	struct fab_forest first = {0};
	enum fab_mcast_ended exact;
	bool goes_on;

	if (o->time_limit_s > 0 && !(o->until > 0))
		own.until = fab_now() + o->time_limit_s;
	fab_mcast_state_copy_trees(s, &first);
	(void)fab_mcast_balanced.solve(problem, s, &own);
	goes_on = !fab_mcast_was_stopped(s->ended);
	if (goes_on && o->height_slack && !o->start) {
		search_low(s, &own, &first);
		/* its time is a part of all */
		goes_on = !fab_mcast_was_stopped(s->ended) || s->ended == FAB_ENDED_TIME;
	}
	if (goes_on)
		s->ended = improve(s, &own);
	fab_forest_fini(&first);
	if (fab_mcast_was_stopped(s->ended) || s->ended == FAB_ENDED_BOUND)
		return s->ended == FAB_ENDED_FAILED;
	exact = fab_exact_solve(s, &own);
	s->ended = exact == FAB_ENDED_DONE ? s->ended : exact;
	return 0;
}

const struct fab_mcast_engine fab_mcast_optimal = {
	.name = "optimal",
	.summary = "trees of balanced, then a search for better ones until the bound",
	.manual = "What `balanced` does; then single paths of all trees swapped for "
		  "cheaper ones while that helps; and then the same search again "
		  "from other prices and roots, until the largest load is that of a "
		  "lower bound, "
		  "four targets in a row were given up after thirty rounds without "
		  "progress each, `--time-limit` is over, or it is interrupted: then "
		  "the trees are the best that there were. `ended` says which. Never "
		  "above `balanced`.",
	.takes_slack = true,
	.heeds_weights = true,
	.scratch_new = fab_greedy_new,
	.scratch_free = fab_greedy_free,
	.choose_root = fab_greedy_choose_root,
	.grow = fab_greedy_grow,
	.grow_many = fab_greedy_grow_many,
	.solve = solve,
};
