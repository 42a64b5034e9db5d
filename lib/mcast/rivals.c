/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/rivals.h"

#include "base/mem.h"
#include "mcast/grow.h"
#include "mcast/state.h"

#include <math.h>
#include <stdlib.h>

static bool is_rival(const struct fab_mcast_engine *engine,
		     const struct fab_mcast_problem *problem, int n_threads)
{
	return (engine->is_in_all && engine->grow) ||
	       (engine->is_rival && engine->is_rival(problem, n_threads));
}

/* The one with the smallest largest load, of equal ones the first; n: all are over. */
static size_t best_of(const struct fab_mcast_grower *rivals, size_t n)
{
	double least = HUGE_VAL;
	size_t best = n;

	for (size_t i = 0; i < n; i++) {
		double max = rivals[i].is_over ? HUGE_VAL
					       : fab_mcast_max_level(rivals[i].state);

		if (max < least) {
			least = max;
			best = i;
		}
	}
	return best;
}

/* Grow the best rival again, to keep its trees; false: the time was over. */
static bool take(const struct fab_mcast_problem *problem, struct fab_mcast_state *state,
		 const struct fab_mcast_engine *engine,
		 const struct fab_mcast_options *options)
{
	struct fab_mcast_state own;
	struct fab_mcast_grower grower = {
		.engine = engine, .state = &own, .may_stop = true};
	double seconds = 0;

	fab_mcast_state_init(&own, problem, engine);
	(void)fab_mcast_grow(problem, &grower, 1, options, &seconds);
	if (!grower.is_over)
		fab_mcast_state_take(state, &own);
	fab_mcast_state_fini(&own);
	return !grower.is_over;
}

bool fab_mcast_take_rival(const struct fab_mcast_problem *problem,
			  struct fab_mcast_state *state,
			  const struct fab_mcast_options *options)
{
	const struct fab_mcast_options quiet = {.n_threads = options->n_threads,
						.root_ties = options->root_ties,
						.until = options->until,
						.is_over = options->is_over,
						.is_over_context =
							options->is_over_context};
	struct fab_mcast_state *own =
		FAB_NEW(fab_mcast_n_engines, struct fab_mcast_state);
	struct fab_mcast_grower *rivals =
		FAB_NEW(fab_mcast_n_engines, struct fab_mcast_grower);
	double max = fab_mcast_max_level(state);
	double bound = fab_mcast_bound_of(problem, options);
	double seconds = 0;
	size_t n = 0, best;
	bool is_taken;

	for (size_t i = 0; i < fab_mcast_n_engines && max > bound; i++) {
		if (!is_rival(fab_mcast_engines[i], problem, options->n_threads))
			continue;
		fab_mcast_state_init(&own[n], problem, fab_mcast_engines[i]);
		rivals[n] = (struct fab_mcast_grower){.engine = fab_mcast_engines[i],
						      .state = &own[n],
						      .cap = max,
						      .is_trial = true,
						      .may_stop = true};
		n++;
	}
	(void)fab_mcast_grow(problem, rivals, n, &quiet, &seconds);
	best = best_of(rivals, n);
	for (size_t i = 0; i < n; i++)
		fab_mcast_state_fini(&own[i]);
	is_taken = best < n && take(problem, state, rivals[best].engine, &quiet);
	free(own);
	free(rivals);
	return is_taken;
}
