/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/rivals.h"

#include "mcast/grow.h"
#include "mcast/state.h"

/* Does it have trees that stay at `most` or below? Then they are taken. */
static bool take_from(const struct fab_mcast_engine *engine, uint32_t most,
		      const struct fab_mcast_problem *problem,
		      struct fab_mcast_state *state,
		      const struct fab_mcast_options *options)
{
	const struct fab_mcast_options quiet = {.n_threads = options->n_threads,
						.root_ties = options->root_ties};
	struct fab_mcast_state own;
	struct fab_mcast_grower rival = {.engine = engine, .state = &own, .cap = most};
	double seconds = 0;

	fab_mcast_state_init(&own, problem, engine);
	(void)fab_mcast_grow(problem, &rival, 1, &quiet, &seconds);
	if (!rival.is_over)
		fab_mcast_state_take(state, &own);
	fab_mcast_state_fini(&own);
	return !rival.is_over;
}

bool fab_mcast_take_rival(const struct fab_mcast_problem *problem,
			  struct fab_mcast_state *state,
			  const struct fab_mcast_options *options)
{
	uint32_t max = fab_mcast_max_load(state);

	for (size_t i = 0; i < fab_mcast_n_engines && max > options->bound; i++)
		if (fab_mcast_engines[i]->is_in_all && fab_mcast_engines[i]->grow &&
		    take_from(fab_mcast_engines[i], max - 1, problem, state, options))
			return true;
	return false;
}
