/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All groups by some engines: first all engines that grow trees, side by side, over
 * chunks of groups whose root candidates are held at a time; then those that solve, one
 * after the other, each on all threads.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "mcast/engine/state.h"

/* Elementary steps of growing a tree, for each switch with members. */
enum { STEPS_MEMBER = 64 };

#define ADDRESS(row) &fab_mcast_##row,
const struct fab_mcast_engine *const fab_mcast_engines[] = {FAB_MCAST_ENGINES(ADDRESS)};
const size_t fab_mcast_n_engines = FAB_COUNT(fab_mcast_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_mcast_engine *e = fab_mcast_engines[i];

	return (struct fab_choice){e->name, e->summary, e->manual, e->is_in_all};
}

const struct fab_choices fab_mcast_choices = {"algorithm", FAB_COUNT(fab_mcast_engines),
					      choice_at};

const struct fab_mcast_engine *fab_mcast_engine_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_mcast_choices, name, len);

	return i == FAB_NONE ? NULL : fab_mcast_engines[i];
}

const char *fab_mcast_ended_name(enum fab_mcast_ended ended)
{
	static const char *const names[] = {
		[FAB_ENDED_DONE] = "done",     [FAB_ENDED_BOUND] = "bound",
		[FAB_ENDED_EXACT] = "exact",   [FAB_ENDED_STALL] = "stall",
		[FAB_ENDED_TIME] = "time",     [FAB_ENDED_STOPPED] = "interrupt",
		[FAB_ENDED_FAILED] = "failed",
	};

	return names[ended];
}

/* The groups whose candidates are at hand. */
static void grow_chunk(struct fab_mcast_grower *r, const struct fab_roots *roots,
		       const struct fab_mcast_options *options)
{
	struct fab_mcast_state *s = r->state;
	double start = fab_now();

	for (uint32_t i = 0; i < roots->n && !r->is_over; i++) {
		uint32_t group = roots->first_group + i, root;

		fab_progress_report("trees", "groups", group, s->problem->groups->n);
		r->is_over = r->may_stop && fab_mcast_is_over(options);
		if (r->is_over)
			break;
		root = fab_mcast_choose_root(s, r->engine, roots, options->root_ties,
					     group);
		fab_mcast_state_grow(s, r->engine, roots, group, root);
		for (uint64_t e = s->forest.first[group]; r->cap > 0 && e < s->n_edges;
		     e++)
			r->is_over |= fab_mcast_level(s, s->forest.cable[e]) >= r->cap;
		if (r->is_trial)
			s->n_edges = 0; /* the next tree takes its place */
	}
	r->seconds += fab_now() - start;
}

int fab_mcast_grow(const struct fab_mcast_problem *problem,
		   struct fab_mcast_grower *growers, size_t n_growers,
		   const struct fab_mcast_options *options, double *roots_seconds)
{
	uint32_t n = problem->groups->n;
	int n_workers =
		fab_threads_for(options->n_threads,
				n_growers * STEPS_MEMBER * problem->groups->sw_first[n]);
	size_t n_over = n_growers ? 0 : SIZE_MAX;
	int stopped = 0;

	/* one grower stays with this thread, whose progress is reported */
	if ((size_t)n_workers > n_growers)
		n_workers = (int)n_growers;
	for (uint32_t done = 0; done < n && !stopped && n_over < n_growers;) {
		FAB_AUTO(fab_roots_fini) struct fab_roots own = {0};
		const struct fab_roots *roots = problem->roots ? problem->roots : &own;
		double start = fab_now();

		if (!problem->roots)
			fab_roots_find(problem->dist, problem->groups, done,
				       FAB_GROW_ROOTS_BYTES, options->n_threads, 0, &own);
		*roots_seconds += fab_now() - start;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_workers) if (n_workers > 1)
		for (size_t i = n_growers; i > 0; i--) /* the last take longest */
			grow_chunk(&growers[i - 1], roots, options);
		done += roots->n;
		n_over = 0;
		for (size_t i = 0; i < n_growers; i++)
			n_over += growers[i].is_over;
		if (options->progress)
			stopped = options->progress(options->progress_context, done, n);
	}
	return stopped;
}

bool fab_mcast_adopt_baseline(const struct fab_mcast_problem *problem,
			      struct fab_mcast_state *state,
			      const struct fab_mcast_options *options)
{
	struct fab_mcast_options quiet = *options;
	FAB_AUTOFREE struct fab_mcast_state *own =
		FAB_NEW(fab_mcast_n_engines, struct fab_mcast_state);
	FAB_AUTOFREE struct fab_mcast_grower *growers =
		FAB_NEW(fab_mcast_n_engines, struct fab_mcast_grower);
	double max = fab_mcast_max_level(state), least = HUGE_VAL, seconds = 0;
	double bound = fab_mcast_bound_of(problem, options);
	struct fab_mcast_grower best = {.is_over = true};
	size_t n = 0;

	quiet.progress = NULL;
	for (size_t i = 0; i < fab_mcast_n_engines && max > bound; i++) {
		const struct fab_mcast_engine *e = fab_mcast_engines[i];

		if (!(e->is_in_all && e->grow) &&
		    !(e->is_baseline && e->is_baseline(problem)))
			continue;
		fab_mcast_state_init(&own[n], problem, e);
		growers[n] = (struct fab_mcast_grower){.engine = e,
						       .state = &own[n],
						       .cap = max,
						       .is_trial = true,
						       .may_stop = true};
		n++;
	}
	(void)fab_mcast_grow(problem, growers, n, &quiet, &seconds);
	for (size_t i = 0; i < n; i++) {
		double level =
			growers[i].is_over ? HUGE_VAL : fab_mcast_max_level(&own[i]);

		if (level < least)
			best = growers[i];
		least = fmin(least, level);
		fab_mcast_state_fini(&own[i]);
	}
	if (!best.is_over) { /* once more, with its trees */
		fab_mcast_state_init(own, problem, best.engine);
		best = (struct fab_mcast_grower){
			.engine = best.engine, .state = own, .may_stop = true};
		(void)fab_mcast_grow(problem, &best, 1, &quiet, &seconds);
		if (!best.is_over)
			fab_mcast_state_start(state, &own->forest);
		fab_mcast_state_fini(own);
	}
	return !best.is_over;
}

int fab_mcast_route(const struct fab_mcast_problem *problem,
		    const struct fab_mcast_engine *const *engines, size_t n_engines,
		    const struct fab_mcast_options *options,
		    struct fab_mcast_result *results, double *roots_seconds,
		    struct fab_err *err)
{
	FAB_AUTOFREE struct fab_mcast_state *states =
		FAB_NEW0(n_engines, struct fab_mcast_state);
	FAB_AUTOFREE struct fab_mcast_grower *growers =
		FAB_NEW0(n_engines, struct fab_mcast_grower);
	struct fab_mcast_problem p = *problem;
	FAB_AUTO(fab_roots_fini) struct fab_roots roots = {0};
	size_t bytes = 0, n = 0;
	double start = fab_now();
	int stopped;

	*roots_seconds = 0;
	for (size_t i = 0; i < n_engines; i++) {
		size_t own =
			engines[i]->solve ? FAB_MOVES_ROOTS_BYTES : FAB_GROW_ROOTS_BYTES;

		if (engines[i]->grow && own > bytes)
			bytes = own;
	}
	if (!p.roots && bytes &&
	    fab_roots_find_all(p.dist, p.groups, bytes, options->n_threads, &roots)) {
		p.roots = &roots;
		*roots_seconds = fab_now() - start;
	}
	for (size_t i = 0; i < n_engines; i++) {
		fab_mcast_state_init(&states[i], &p, engines[i]);
		results[i] = (struct fab_mcast_result){
			.height_slack =
				engines[i]->takes_slack ? options->height_slack : 0};
		if (engines[i]->grow)
			growers[n++] = (struct fab_mcast_grower){.engine = engines[i],
								 .state = &states[i]};
	}
	stopped = fab_mcast_grow(&p, growers, n, options, roots_seconds);
	for (size_t i = 0; i < n; i++)
		results[growers[i].state - states].trees_seconds = growers[i].seconds;
	if (!stopped && options->begin_search)
		options->begin_search();
	for (size_t i = 0; i < n_engines && !stopped; i++) {
		start = fab_now();
		if (engines[i]->solve)
			stopped = engines[i]->solve(&p, &states[i], options);
		results[i].trees_seconds += fab_now() - start;
	}
	for (size_t i = 0; i < n_engines; i++) {
		struct fab_mcast_state *state = &states[i];
		struct fab_mcast_result *out = &results[i];
		uint32_t n_cables = p.f->n_switch_links;

		out->engine = engines[i];
		out->forest = state->forest;
		out->load = FAB_NEW(n_cables, uint32_t);
		memcpy(out->load, state->load, n_cables * sizeof(*out->load));
		out->ended = state->ended;
		out->weighted = state->units ? FAB_NEW(n_cables, double) : NULL;
		for (uint32_t c = 0; out->weighted && c < n_cables; c++)
			out->weighted[c] = fab_mcast_level(state, c);
		state->forest = (struct fab_forest){0};
		fab_mcast_state_fini(state);
		if (stopped)
			fab_mcast_result_fini(&results[i]);
	}
	fab_threads_rest(fab_threads(options->n_threads));
	return stopped ? fab_fail(err, ECANCELED, "stopped") : 0;
}

void fab_mcast_result_fini(struct fab_mcast_result *result)
{
	fab_forest_fini(&result->forest);
	FAB_FREE_ALL(result->load, result->weighted);
	result->load = NULL;
	result->weighted = NULL;
}
