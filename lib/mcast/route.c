/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/route.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/threads.h"
#include "mcast/grow.h"
#include "mcast/moves.h"
#include "mcast/state.h"

#include <errno.h>
#include <stdlib.h>

/* One engine at work. */
struct run {
	const struct fab_mcast_engine *engine;
	struct fab_mcast_state state;
	double seconds;
};

/* What the engines that grow trees have, side by side. */
static int grow(const struct fab_mcast_problem *problem, struct run *runs, size_t n_runs,
		const struct fab_mcast_options *options, double *roots_seconds)
{
	struct fab_mcast_grower *growers = FAB_NEW0(n_runs, struct fab_mcast_grower);
	size_t n = 0;
	int stopped;

	for (size_t i = 0; i < n_runs; i++)
		if (runs[i].engine->grow)
			growers[n++] = (struct fab_mcast_grower){.engine = runs[i].engine,
								 .state = &runs[i].state};
	stopped = fab_mcast_grow(problem, growers, n, options, roots_seconds);
	n = 0;
	for (size_t i = 0; i < n_runs; i++)
		if (runs[i].engine->grow)
			runs[i].seconds = growers[n++].seconds;
	free(growers);
	return stopped;
}

static int solve(const struct fab_mcast_problem *problem, struct run *r,
		 const struct fab_mcast_options *options)
{
	double start = fab_now();
	int stopped = 0;

	if (r->engine->solve)
		stopped = r->engine->solve(problem, &r->state, options);
	r->seconds += fab_now() - start;
	return stopped;
}

static double *weighted_loads(const struct fab_mcast_state *s)
{
	uint32_t n = s->problem->f->n_switch_links;
	double *load = s->units ? FAB_NEW(n, double) : NULL;

	for (uint32_t c = 0; load && c < n; c++)
		load[c] = fab_mcast_level(s, c);
	return load;
}

static void hand_over(struct run *r, unsigned slack, struct fab_mcast_result *out)
{
	*out = (struct fab_mcast_result){.engine = r->engine,
					 .forest = r->state.forest,
					 .load = r->state.load,
					 .trees_seconds = r->seconds,
					 .ended = r->state.ended,
					 .height_slack =
						 r->engine->takes_slack ? slack : 0};
	out->weighted = weighted_loads(&r->state);
	r->state.forest = (struct fab_forest){0};
	r->state.load = NULL;
	fab_mcast_state_fini(&r->state);
}

/* Bytes of candidate sets that are found once for all: as many as those who solve hold
 * anyway (mcast/moves.h), and none where nobody asks for them. */
static size_t shared_bytes(const struct fab_mcast_engine *const *engines, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++) {
		if (engines[i]->grow && engines[i]->solve)
			return FAB_MOVES_ROOTS_BYTES;
		if (engines[i]->grow)
			bytes = FAB_GROW_ROOTS_BYTES;
	}
	return bytes;
}

int fab_mcast_route(const struct fab_mcast_problem *problem,
		    const struct fab_mcast_engine *const *engines, size_t n_engines,
		    const struct fab_mcast_options *options,
		    struct fab_mcast_result *results, double *roots_seconds,
		    struct fab_err *err)
{
	struct run *runs = FAB_NEW0(n_engines, struct run);
	struct fab_mcast_problem p = *problem;
	struct fab_roots roots = {0};
	size_t bytes = shared_bytes(engines, n_engines);
	double start = fab_now();
	int stopped;

	*roots_seconds = 0;
	if (!p.roots && bytes &&
	    fab_roots_find_all(p.dist, p.groups, bytes, options->n_threads, &roots)) {
		p.roots = &roots;
		*roots_seconds = fab_now() - start;
	}
	for (size_t i = 0; i < n_engines; i++) {
		runs[i].engine = engines[i];
		fab_mcast_state_init(&runs[i].state, &p, engines[i]);
	}
	stopped = grow(&p, runs, n_engines, options, roots_seconds);
	if (!stopped && options->begin_search)
		options->begin_search();
	for (size_t i = 0; i < n_engines && !stopped; i++)
		stopped = solve(&p, &runs[i], options);
	for (size_t i = 0; i < n_engines; i++) {
		hand_over(&runs[i], options->height_slack, &results[i]);
		if (stopped)
			fab_mcast_result_fini(&results[i]);
	}
	fab_threads_rest(fab_threads(options->n_threads));
	fab_roots_fini(&roots);
	free(runs);
	return stopped ? fab_fail(err, ECANCELED, "stopped") : 0;
}

void fab_mcast_result_fini(struct fab_mcast_result *result)
{
	fab_forest_fini(&result->forest);
	free(result->load);
	free(result->weighted);
	result->load = NULL;
	result->weighted = NULL;
}
