/* SPDX-License-Identifier: BSD-2-Clause */
/* The trees of `balanced`, and then as long a search for better ones as is asked for. */
#include "mcast/engines.h"

#include "base/clock.h"
#include "mcast/greedy.h"
#include "mcast/negotiate.h"
#include "mcast/state.h"

/* A target is given up after so many rounds without fewer groups in excess; and the
 * search after so many targets given up. */
enum { ROUNDS = 30, ATTEMPTS = 4 };

/* Bounds may take a quarter of the time that is left. */
static double quarter_to(double until)
{
	return until > 0 ? (3 * fab_now() + until) / 4 : 0;
}

static int solve(const struct fab_mcast_problem *problem, struct fab_mcast_state *s,
		 const struct fab_mcast_options *o)
{
	struct fab_mcast_options limited = *o;
	struct fab_negotiation n = {.options = &limited,
				    .n_rounds = ROUNDS,
				    .n_attempts = ATTEMPTS,
				    .has_swaps = true,
				    .is_told = true};

	if (o->time_limit_s > 0)
		limited.until = fab_now() + o->time_limit_s;
	if (fab_mcast_balanced.solve(problem, s, &limited))
		return 1;
	if (o->raise_bound && !problem->weights && fab_mcast_max_load(s) > o->bound)
		limited.bound =
			o->raise_bound(o->raise_bound_context, quarter_to(limited.until));
	s->ended = fab_negotiate(s, &n);
	return s->ended == FAB_ENDED_FAILED;
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
