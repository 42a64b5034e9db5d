/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/grow.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "mcast/choose.h"
#include "mcast/state.h"

/* What a group costs a grower, for each switch with members. */
enum { STEPS_MEMBER = 64 };

static bool reaches(const struct fab_mcast_state *s, uint32_t group, double cap)
{
	for (uint64_t e = s->forest.first[group]; e < s->n_edges; e++)
		if (fab_mcast_level(s, s->forest.cable[e]) >= cap)
			return true;
	return false;
}

static void route_group(struct fab_mcast_grower *r,
			const struct fab_candidates *candidates,
			struct fab_cursor *cursors, uint32_t group)
{
	struct fab_mcast_state *s = r->state;
	uint32_t root = r->engine->choose_root
				? r->engine->choose_root(s, candidates->roots, group)
				: fab_candidates_choose(
					  candidates, cursors, group,
					  fab_mcast_root_value(s, r->engine->root_rule));

	fab_mcast_state_grow(s, r->engine, candidates->roots, group, root);
	r->is_over = r->cap > 0 && reaches(s, group, r->cap);
	if (r->is_trial)
		s->n_edges = 0; /* the next tree takes its place */
}

/* Does it grow all trees at once, on all threads? */
static bool is_whole(const struct fab_mcast_grower *r)
{
	return r->engine->grow_many && !r->cap && !r->is_trial;
}

static void grow_whole(struct fab_mcast_grower *r, const struct fab_roots *roots,
		       int n_threads)
{
	double start = fab_now();

	r->engine->grow_many(r->state, r->engine, roots, n_threads);
	r->seconds += fab_now() - start;
}

/* The groups whose candidates are at hand. */
static void route_chunk(struct fab_mcast_grower *r,
			const struct fab_candidates *candidates,
			const struct fab_mcast_options *options)
{
	double start = fab_now();
	struct fab_cursor *cursors = FAB_NEW0(candidates->n_lists, struct fab_cursor);

	for (uint32_t i = 0; i < candidates->roots->n && !r->is_over; i++) {
		uint32_t group = candidates->roots->first_group + i;

		fab_progress_report("trees", "groups", group,
				    r->state->problem->groups->n);
		if (r->may_stop && fab_mcast_is_over(options))
			r->is_over = true;
		else
			route_group(r, candidates, cursors, group);
	}
	free(cursors);
	r->seconds += fab_now() - start;
}

static int report(const struct fab_mcast_options *o, uint64_t done, uint64_t total)
{
	return o->progress ? o->progress(o->progress_context, done, total) : 0;
}

static bool all_over(const struct fab_mcast_grower *growers, size_t n_growers)
{
	for (size_t i = 0; i < n_growers; i++)
		if (!growers[i].is_over)
			return false;
	return true;
}

/* Do all choose roots by themselves? */
static bool all_choose(const struct fab_mcast_grower *growers, size_t n_growers)
{
	for (size_t i = 0; i < n_growers; i++)
		if (!growers[i].engine->choose_root)
			return false;
	return true;
}

const struct fab_roots *fab_grow_candidates(const struct fab_mcast_problem *p,
					    uint32_t first, int n_threads,
					    struct fab_roots *own)
{
	if (p->roots)
		return p->roots;
	fab_roots_find(p->dist, p->groups, first, FAB_GROW_ROOTS_BYTES, n_threads, own);
	return own;
}

int fab_mcast_grow(const struct fab_mcast_problem *problem,
		   struct fab_mcast_grower *growers, size_t n_growers,
		   const struct fab_mcast_options *options, double *roots_seconds)
{
	uint32_t n = problem->groups->n;
	int n_workers =
		fab_threads_for(options->n_threads,
				n_growers * STEPS_MEMBER * problem->groups->sw_first[n]);
	int stopped = 0;

	if (!n_growers)
		return 0;

	/* one grower stays with this thread, whose progress is heard */
	if ((size_t)n_workers > n_growers)
		n_workers = (int)n_growers;
	for (uint32_t done = 0; done < n && !stopped && !all_over(growers, n_growers);) {
		struct fab_roots own = {0};
		struct fab_candidates candidates = {0};
		double start = fab_now();

		candidates.roots =
			fab_grow_candidates(problem, done, options->n_threads, &own);
		if (!all_choose(growers, n_growers))
			fab_candidates_init(&candidates, candidates.roots,
					    problem->f->n_switches, options->root_ties);
		*roots_seconds += fab_now() - start;
		for (size_t i = 0; i < n_growers; i++)
			if (is_whole(&growers[i]))
				grow_whole(&growers[i], candidates.roots,
					   options->n_threads);
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_workers) if (n_workers > 1)
		for (size_t i = n_growers; i > 0; i--) /* the last take longest */
			if (!is_whole(&growers[i - 1]))
				route_chunk(&growers[i - 1], &candidates, options);
		done += candidates.roots->n;
		fab_candidates_fini(&candidates);
		fab_roots_fini(&own);
		stopped = report(options, done, n);
	}
	return stopped;
}
