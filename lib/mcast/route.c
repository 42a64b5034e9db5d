/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/route.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "mcast/choose.h"
#include "mcast/state.h"

#include <errno.h>
#include <stdlib.h>

/* Candidate sets held at a time, and how many groups are routed between two reports. */
enum { ROOTS_BYTES = 16 << 20 };

/* One engine at work. */
struct run {
	const struct fab_mcast_engine *engine;
	struct fab_mcast_state state;
	uint32_t cap; /* trees of a larger load are of no use */
	bool is_over; /* there is one: the rest is not routed */
	double seconds;
};

static bool exceeds(const struct fab_mcast_state *s, uint32_t group, uint32_t cap)
{
	for (uint64_t e = s->forest.first[group]; e < s->n_edges; e++)
		if (s->load[s->forest.cable[e]] > cap)
			return true;
	return false;
}

static void route_group(struct run *r, const struct fab_ballot *ballot,
			struct fab_cursor *cursors, uint32_t group)
{
	struct fab_mcast_state *s = &r->state;
	uint32_t root = r->engine->choose_root
				? r->engine->choose_root(s, ballot->roots, group)
				: fab_ballot_choose(
					  ballot, cursors, group,
					  fab_mcast_root_value(s, r->engine->root_rule));

	fab_mcast_state_grow(s, r->engine, ballot->roots, group, root);
	r->is_over = r->cap != UINT32_MAX && exceeds(s, group, r->cap);
}

/* The groups whose candidates are at hand. */
static void route_chunk(struct run *r, const struct fab_ballot *ballot)
{
	double start = fab_now();
	struct fab_cursor *cursors = FAB_NEW0(ballot->n_lists, struct fab_cursor);

	for (uint32_t i = 0; i < ballot->roots->n && !r->is_over; i++) {
		uint32_t group = ballot->roots->first_group + i;

		fab_progress_report("trees", "groups", group,
				    r->state.problem->groups->n);
		route_group(r, ballot, cursors, group);
	}
	free(cursors);
	r->seconds += fab_now() - start;
}

static int report(const struct fab_mcast_options *o, uint64_t done, uint64_t total)
{
	return o->progress ? o->progress(o->progress_context, done, total) : 0;
}

static bool all_over(const struct run *runs, size_t n_runs)
{
	for (size_t i = 0; i < n_runs; i++)
		if (!runs[i].is_over)
			return false;
	return n_runs > 0;
}

/* The trees of all groups, by every run; non-zero: progress stopped it. */
static int grow_all(const struct fab_mcast_problem *problem, struct run *runs,
		    size_t n_runs, const struct fab_mcast_options *options,
		    double *roots_seconds)
{
	uint32_t n = problem->groups->n;
	int n_workers = fab_threads_for(options->n_threads,
					n_runs * 16 * problem->groups->sw_first[n]);
	int stopped = 0;

	/* one run stays with this thread, whose progress is heard */
	if ((size_t)n_workers > n_runs)
		n_workers = (int)n_runs;
	for (uint32_t done = 0; done < n && !stopped && !all_over(runs, n_runs);) {
		struct fab_ballot ballot;
		struct fab_roots roots;
		double start = fab_now();

		fab_roots_find(problem->dist, problem->groups, done, ROOTS_BYTES,
			       options->n_threads, &roots);
		fab_ballot_init(&ballot, &roots, problem->f->n_switches,
				options->root_ties);
		*roots_seconds += fab_now() - start;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_workers)
		for (size_t i = 0; i < n_runs; i++)
			route_chunk(&runs[i], &ballot);
		fab_threads_rest(n_workers);
		done += roots.n;
		fab_ballot_fini(&ballot);
		fab_roots_fini(&roots);
		stopped = report(options, done, n);
	}
	return stopped;
}

static void improve(struct run *r, const struct fab_mcast_options *o)
{
	const struct fab_mcast_improvement how = {.bound = o->bound,
						  .progress = o->progress,
						  .context = o->progress_context};
	double start = fab_now();

	r->engine->improve(&r->state, &how);
	r->seconds += fab_now() - start;
}

/*
 * The first trees of minimal height of another engine with a smaller largest load than
 * those of `r`, which take their place. Engines stop at the first tree that shows they
 * have none. Returns whether there were any.
 */
static bool take_better(struct run *r, const struct fab_mcast_problem *problem,
			const struct fab_mcast_options *options)
{
	const struct fab_mcast_options quiet = {.n_threads = options->n_threads,
						.root_ties = options->root_ties};
	uint32_t max = fab_mcast_max_load(&r->state);
	bool is_better = false;
	double start = fab_now();

	for (size_t i = 0; i < fab_mcast_n_engines && !is_better; i++) {
		struct run rival = {.engine = fab_mcast_engines[i], .cap = max - 1};
		double seconds = 0;

		if (!rival.engine->is_in_all || max <= options->bound || !max)
			continue;
		fab_mcast_state_init(&rival.state, problem, rival.engine);
		grow_all(problem, &rival, 1, &quiet, &seconds);
		is_better = !rival.is_over;
		if (is_better)
			fab_mcast_state_take(&r->state, &rival.state);
		fab_mcast_state_fini(&rival.state);
	}
	r->seconds += fab_now() - start;
	return is_better;
}

/* Improved trees and better ones by turns, for as long as the largest load falls. */
static void improve_all(struct run *r, const struct fab_mcast_problem *problem,
			const struct fab_mcast_options *options)
{
	uint32_t max;

	do {
		max = fab_mcast_max_load(&r->state);
		improve(r, options);
	} while (take_better(r, problem, options) && fab_mcast_max_load(&r->state) < max);
}

static void hand_over(struct run *r, struct fab_mcast_result *out)
{
	*out = (struct fab_mcast_result){.engine = r->engine,
					 .forest = r->state.forest,
					 .load = r->state.load,
					 .trees_seconds = r->seconds};
	r->state.forest = (struct fab_forest){0};
	r->state.load = NULL;
	fab_mcast_state_fini(&r->state);
}

int fab_mcast_route(const struct fab_mcast_problem *problem,
		    const struct fab_mcast_engine *const *engines, size_t n_engines,
		    const struct fab_mcast_options *options,
		    struct fab_mcast_result *results, double *roots_seconds,
		    struct fab_err *err)
{
	struct run *runs = FAB_NEW0(n_engines, struct run);
	int stopped;

	*roots_seconds = 0;
	for (size_t i = 0; i < n_engines; i++) {
		runs[i].engine = engines[i];
		runs[i].cap = UINT32_MAX;
		fab_mcast_state_init(&runs[i].state, problem, engines[i]);
	}
	stopped = grow_all(problem, runs, n_engines, options, roots_seconds);
	for (size_t i = 0; i < n_engines && !stopped; i++)
		if (engines[i]->improve)
			improve_all(&runs[i], problem, options);
	for (size_t i = 0; i < n_engines; i++) {
		hand_over(&runs[i], &results[i]);
		if (stopped)
			fab_mcast_result_fini(&results[i]);
	}
	free(runs);
	return stopped ? fab_fail(err, ECANCELED, "stopped") : 0;
}

void fab_mcast_result_fini(struct fab_mcast_result *result)
{
	fab_forest_fini(&result->forest);
	free(result->load);
	result->load = NULL;
}
