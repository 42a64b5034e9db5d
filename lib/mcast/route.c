/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/route.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/threads.h"
#include "mcast/choose.h"
#include "mcast/state.h"

#include <errno.h>
#include <stdlib.h>

/* Candidate sets held at a time, and how many groups are routed between two reports. */
enum { ROOTS_BYTES = 16 << 20 };

static void route_group(struct fab_mcast_state *s, const struct fab_mcast_engine *engine,
			const struct fab_ballot *ballot, struct fab_cursor *cursors,
			uint32_t group)
{
	uint32_t root =
		engine->choose_root
			? engine->choose_root(s, ballot->roots, group)
			: fab_ballot_choose(ballot, cursors, group,
					    fab_mcast_root_value(s, engine->root_rule));

	fab_mcast_state_grow(s, engine, ballot->roots, group, root);
}

/* The groups whose candidates are at hand, by one engine. Returns the seconds. */
static double route_chunk(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_ballot *ballot)
{
	double start = fab_now();
	struct fab_cursor *cursors = FAB_NEW0(ballot->n_lists, struct fab_cursor);

	for (uint32_t i = 0; i < ballot->roots->n; i++)
		route_group(s, engine, ballot, cursors, ballot->roots->first_group + i);
	free(cursors);
	return fab_now() - start;
}

static int report(const struct fab_mcast_options *o, uint64_t done, uint64_t total)
{
	return o->progress ? o->progress(o->progress_context, done, total) : 0;
}

int fab_mcast_route(const struct fab_mcast_problem *problem,
		    const struct fab_mcast_engine *const *engines, size_t n_engines,
		    const struct fab_mcast_options *options,
		    struct fab_mcast_result *results, double *roots_seconds,
		    struct fab_err *err)
{
	struct fab_mcast_state *states = FAB_NEW(n_engines, struct fab_mcast_state);
	uint32_t n = problem->groups->n;
	int n_workers = fab_threads_for(options->n_threads,
					n_engines * 16 * problem->groups->sw_first[n]);
	int stopped = 0;

	(void)n_workers; /* without OpenMP */
	*roots_seconds = 0;
	for (size_t i = 0; i < n_engines; i++) {
		fab_mcast_state_init(&states[i], problem, engines[i]);
		results[i] = (struct fab_mcast_result){.engine = engines[i]};
	}
	for (uint32_t done = 0; done < n && !stopped;) {
		struct fab_ballot ballot;
		struct fab_roots roots;
		double start = fab_now();

		fab_roots_find(problem->dist, problem->groups, done, ROOTS_BYTES,
			       options->n_threads, &roots);
		fab_ballot_init(&ballot, &roots, problem->f->n_switches,
				options->root_ties);
		*roots_seconds += fab_now() - start;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_workers)
		for (size_t i = 0; i < n_engines; i++)
			results[i].trees_seconds +=
				route_chunk(&states[i], engines[i], &ballot);
		done += roots.n;
		fab_ballot_fini(&ballot);
		fab_roots_fini(&roots);
		stopped = report(options, done, n);
	}
	for (size_t i = 0; i < n_engines; i++) {
		results[i].forest = states[i].forest;
		results[i].load = states[i].load;
		states[i].forest = (struct fab_forest){0};
		states[i].load = NULL;
		fab_mcast_state_fini(&states[i]);
		if (stopped)
			fab_mcast_result_fini(&results[i]);
	}
	free(states);
	return stopped ? fab_fail(err, ECANCELED, "stopped") : 0;
}

void fab_mcast_result_fini(struct fab_mcast_result *result)
{
	fab_forest_fini(&result->forest);
	free(result->load);
	result->load = NULL;
}
