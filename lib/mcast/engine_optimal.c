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

/* What balanced does by these options, then the search for better trees; neither begins
 * when the options end the one before. */
static int search(struct fab_mcast_state *s, struct fab_mcast_options *o)
{
	const struct fab_negotiation n = {.options = o,
					  .n_rounds = ROUNDS,
					  .n_attempts = ATTEMPTS,
					  .has_swaps = true,
					  .is_told = true};

	if (fab_mcast_balanced.solve(s->problem, s, o))
		return 1;
	if (o->raise_bound && !s->problem->weights && fab_mcast_max_load(s) > o->bound)
		o->bound = o->raise_bound(o->raise_bound_context,
					  share_of(o->until, BOUNDS_SHARE));
	if (!fab_mcast_was_stopped(s->ended))
		s->ended = fab_negotiate(s, &n);
	return s->ended == FAB_ENDED_FAILED;
}

/* Trees that may be higher start from those that may not: only a time limit can make them
 * worse than those would have become. */
static int solve(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		 const struct fab_mcast_options *o)
{
	struct fab_mcast_options own = *o, low;
	struct fab_forest first = {0};
	enum fab_mcast_ended exact;

	(void)problem;
	if (o->time_limit_s > 0 && !(o->until > 0))
		own.until = fab_now() + o->time_limit_s;
	low = own;
	low.height_slack = 0;
	if (o->height_slack && !o->start) {
		low.until = share_of(own.until, LOW_SHARE);
		if (search(s, &low))
			return 1;
		own.bound = low.bound;
		own.raise_bound = NULL;
		fab_mcast_state_copy_trees(s, &first);
		own.start = &first;
	}
	if (search(s, &own)) {
		fab_forest_fini(&first);
		return 1;
	}
	fab_forest_fini(&first);
	if (fab_mcast_was_stopped(s->ended) || s->ended == FAB_ENDED_BOUND)
		return 0;
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
