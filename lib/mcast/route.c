/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/route.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Candidate sets held at a time, and how many groups are routed between two reports. */
enum { ROOTS_BYTES = 16 << 20 };

/* 2^32 by the golden section: multiples of it lie evenly. */
#define SHUFFLE 2654435769u

/*
 * Least value seen in a set of candidates and where. Neither uses nor loads ever fall, so
 * that no candidate before `at` can be as good as `value`, and none is better.
 */
struct cursor {
	uint32_t value, at;
};

static void state_init(struct fab_mcast_state *s, const struct fab_mcast_problem *problem,
		       const struct fab_mcast_engine *engine)
{
	const struct fab_fabric *f = problem->f;

	*s = (struct fab_mcast_state){.problem = problem};
	s->load = FAB_NEW0(f->n_switch_links, uint32_t);
	s->root_use = FAB_NEW0(f->n_switches, uint32_t);
	s->adjacent = FAB_NEW0(f->n_switches, uint32_t);
	s->mark = FAB_NEW0(f->n_switches, uint32_t);
	s->scratch = engine->scratch_new ? engine->scratch_new(problem) : NULL;
	fab_forest_init(&s->forest, problem->groups->n);
}

static void state_fini(struct fab_mcast_state *s)
{
	free(s->load);
	free(s->root_use);
	free(s->adjacent);
	free(s->mark);
	free(s->scratch);
	fab_forest_fini(&s->forest);
}

static uint32_t first_root(const uint64_t *bits)
{
	uint32_t w = 0;

	while (!bits[w])
		w++;
	return w * 64 + (uint32_t)__builtin_ctzll(bits[w]);
}

/*
 * Least value[] among the candidates from cursor->at on, lowest id; stops at the first
 * that is no more than cursor->value.
 */
static void scan(const uint64_t *bits, size_t words, const uint32_t *value,
		 struct cursor *cursor)
{
	uint32_t floor = cursor->value, from = cursor->at;
	struct cursor best = {UINT32_MAX, 0};

	for (size_t w = from / 64; w < words; w++) {
		uint64_t left = bits[w];

		if (w == from / 64)
			left &= ~(uint64_t)0 << (from % 64);
		for (; left; left &= left - 1) {
			uint32_t s = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);

			if (value[s] >= best.value)
				continue;
			best = (struct cursor){value[s], s};
			if (best.value <= floor) {
				*cursor = best;
				return;
			}
		}
	}
	*cursor = best;
}

static uint32_t least_root(const uint64_t *bits, size_t words, const uint32_t *value,
			   struct cursor *cursor)
{
	struct cursor old = *cursor;

	scan(bits, words, value, cursor);
	/* Nothing as low from the cursor on: now those before it may be the least. */
	if (cursor->value > old.value && old.at) {
		*cursor = (struct cursor){old.value + 1, 0};
		scan(bits, words, value, cursor);
	}
	return cursor->at;
}

/*
 * Least value[] among the candidates; ties go by a fixed shuffle of the ids, so that
 * roots of one value are spread over the fabric instead of crowding where the ids are
 * low.
 */
static uint32_t spread_root(const uint64_t *bits, size_t words, const uint32_t *value)
{
	uint64_t best = UINT64_MAX;
	uint32_t root = 0;

	for (size_t w = 0; w < words; w++)
		for (uint64_t left = bits[w]; left; left &= left - 1) {
			uint32_t s = (uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);
			uint64_t key = (uint64_t)value[s] << 32 | (uint32_t)(s * SHUFFLE);

			if (key < best) {
				best = key;
				root = s;
			}
		}
	return root;
}

static uint32_t choose_root(const struct fab_mcast_state *s, enum fab_root_rule rule,
			    const uint64_t *bits, size_t words, struct cursor *cursor)
{
	const uint32_t *value =
		rule == FAB_ROOT_LEAST_ADJACENT ? s->adjacent : s->root_use;

	if (rule == FAB_ROOT_FIRST)
		return first_root(bits);
	if (s->root_ties == FAB_TIES_SPREAD)
		return spread_root(bits, words, value);
	return least_root(bits, words, value, cursor);
}

/* Count the edges of the new tree. */
static void add_loads(struct fab_mcast_state *s, uint64_t first)
{
	const struct fab_fabric *f = s->problem->f;

	for (uint64_t e = first; e < s->n_edges; e++) {
		uint32_t c = s->forest.cable[e];

		s->load[c]++;
		s->adjacent[f->port_node[f->cable_a[c]]]++;
		s->adjacent[f->port_node[f->cable_b[c]]]++;
	}
}

static void route_group(struct fab_mcast_state *s, const struct fab_mcast_engine *engine,
			const struct fab_roots *roots, struct cursor *cursors,
			uint32_t group)
{
	struct cursor *cursor = &cursors[roots->set[group - roots->first_group]];
	uint32_t root = choose_root(s, engine->root_rule, fab_roots_bits(roots, group),
				    roots->words, cursor);
	uint64_t first = s->n_edges;

	s->forest.root[group] = root;
	s->forest.height[group] = fab_roots_radius(roots, group);
	s->forest.first[group] = first;
	fab_forest_reserve(&s->forest, first, s->problem->f->n_switches);
	s->mark[root] = ++s->stamp;
	engine->grow(s, group);
	s->forest.first[group + 1] = s->n_edges;
	s->root_use[root]++;
	add_loads(s, first);
}

/* The groups whose candidates are at hand, by one engine. Returns the seconds. */
static double route_chunk(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots)
{
	double start = fab_now();
	struct cursor *cursors = FAB_NEW0(roots->n_sets, struct cursor);

	for (uint32_t i = 0; i < roots->n; i++)
		route_group(s, engine, roots, cursors, roots->first_group + i);
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
	int stopped = 0;

	*roots_seconds = 0;
	for (size_t i = 0; i < n_engines; i++) {
		state_init(&states[i], problem, engines[i]);
		states[i].root_ties = options->root_ties;
		results[i] = (struct fab_mcast_result){.engine = engines[i]};
	}
	for (uint32_t done = 0; done < n && !stopped;) {
		struct fab_roots roots;
		double start = fab_now();

		fab_roots_find(problem->dist, problem->groups, done, ROOTS_BYTES,
			       options->n_threads, &roots);
		*roots_seconds += fab_now() - start;
#pragma omp parallel for schedule(dynamic, 1) num_threads(fab_threads(options->n_threads))
		for (size_t i = 0; i < n_engines; i++)
			results[i].trees_seconds +=
				route_chunk(&states[i], engines[i], &roots);
		done += roots.n;
		fab_roots_fini(&roots);
		stopped = report(options, done, n);
	}
	for (size_t i = 0; i < n_engines; i++) {
		results[i].forest = states[i].forest;
		results[i].load = states[i].load;
		states[i].forest = (struct fab_forest){0};
		states[i].load = NULL;
		state_fini(&states[i]);
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
