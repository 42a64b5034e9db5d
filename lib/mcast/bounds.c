/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/bounds.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static uint32_t ceil_div(uint64_t a, uint64_t b)
{
	return (uint32_t)((a + b - 1) / b);
}

/* Groups with members in a part and outside it, for each part. */
static uint32_t *count_crossing(const struct fab_groups *g, const uint32_t *part,
				uint32_t n_parts)
{
	uint32_t *crossing = FAB_NEW0(n_parts, uint32_t);
	uint32_t *seen = FAB_NEW0(n_parts, uint32_t);

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t first = part[g->sw[g->sw_first[i]]];
		bool is_split = false;

		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1] && !is_split;
		     s++)
			is_split = part[g->sw[s]] != first;
		if (!is_split)
			continue;
		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++) {
			uint32_t p = part[g->sw[s]];

			if (p == FAB_NONE || seen[p] == i + 1)
				continue;
			seen[p] = i + 1;
			crossing[p]++;
		}
	}
	free(seen);
	return crossing;
}

uint32_t fab_mcast_cut_bound(const struct fab_mcast_problem *problem,
			     const uint32_t *part, uint32_t n_parts)
{
	const struct fab_fabric *f = problem->f;
	uint32_t *crossing = count_crossing(problem->groups, part, n_parts), bound = 0;
	uint32_t *cables = FAB_NEW0(n_parts, uint32_t);

	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
			if (part[s] != FAB_NONE && part[f->arc_peer[a]] != part[s])
				cables[part[s]]++;
	for (uint32_t p = 0; p < n_parts; p++)
		if (cables[p] && ceil_div(crossing[p], cables[p]) > bound)
			bound = ceil_div(crossing[p], cables[p]);
	free(crossing);
	free(cables);
	return bound;
}

/* All trees together need this many edges at least, and there are so many cables. */
static uint32_t size_bound(const struct fab_mcast_problem *problem)
{
	const struct fab_groups *g = problem->groups;
	uint64_t edges = g->sw_first[g->n] - g->n;
	uint32_t cables = problem->f->arc_first[problem->f->n_switches] / 2;

	return cables ? ceil_div(edges, cables) : 0;
}

static uint32_t switch_bound(const struct fab_mcast_problem *problem)
{
	uint32_t n = problem->f->n_switches, bound;
	uint32_t *part = FAB_NEW(n, uint32_t);

	for (uint32_t s = 0; s < n; s++)
		part[s] = s;
	bound = fab_mcast_cut_bound(problem, part, n);
	free(part);
	return bound;
}

/* May a step from switch `from` to its peer number `peer` stay within a part? */
typedef bool (*joins_fn)(const void *context, uint32_t from, uint32_t peer);

/* Parts = what is connected by the peers that `joins` lets through. Returns how many. */
static uint32_t split(const struct fab_fabric *f, joins_fn joins, const void *context,
		      uint32_t *part)
{
	uint32_t *stack = FAB_NEW(f->n_switches, uint32_t), n_parts = 0;

	memset(part, 0xff, f->n_switches * sizeof(*part));
	for (uint32_t root = 0; root < f->n_switches; root++) {
		uint32_t depth = 0;

		if (part[root] != FAB_NONE)
			continue;
		part[root] = n_parts;
		stack[depth++] = root;
		while (depth) {
			uint32_t s = stack[--depth];

			for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1];
			     i++) {
				uint32_t t = f->peer[i];

				if (part[t] != FAB_NONE || !joins(context, s, i))
					continue;
				part[t] = n_parts;
				stack[depth++] = t;
			}
		}
		n_parts++;
	}
	free(stack);
	return n_parts;
}

/* Levels counted from the switches that endpoints of the groups hang on. */
struct ranks {
	const struct fab_fabric *f;
	uint32_t *rank; /* [n_switches] */
	uint32_t max, limit;
};

static void find_ranks(const struct fab_mcast_problem *problem, struct ranks *r)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	uint32_t *queue = FAB_NEW(f->n_switches, uint32_t), head = 0, tail = 0;

	r->f = f;
	r->rank = FAB_NEW(f->n_switches, uint32_t);
	memset(r->rank, 0xff, f->n_switches * sizeof(*r->rank));
	for (uint64_t i = 0; i < g->sw_first[g->n]; i++)
		if (r->rank[g->sw[i]] == FAB_NONE) {
			r->rank[g->sw[i]] = 0;
			queue[tail++] = g->sw[i];
		}
	while (head < tail) {
		uint32_t s = queue[head++];

		r->max = r->rank[s];
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
			if (r->rank[f->peer[i]] == FAB_NONE) {
				r->rank[f->peer[i]] = r->rank[s] + 1;
				queue[tail++] = f->peer[i];
			}
	}
	free(queue);
}

static bool joins_below(const void *context, uint32_t from, uint32_t peer)
{
	const struct ranks *r = context;

	return r->rank[from] <= r->limit && r->rank[r->f->peer[peer]] <= r->limit;
}

/* Parts that remain when the levels above `limit` are taken away, for each limit. */
static uint32_t pod_bound(const struct fab_mcast_problem *problem, uint32_t *part)
{
	struct ranks r = {0};
	uint32_t bound = 0;

	find_ranks(problem, &r);
	for (r.limit = 0; r.limit < r.max; r.limit++) {
		uint32_t n = split(problem->f, joins_below, &r, part);
		uint32_t b = fab_mcast_cut_bound(problem, part, n);

		bound = b > bound ? b : bound;
	}
	free(r.rank);
	return bound;
}

/* Do the two switches have a neighbour in common? Both lists ascend. */
static bool share_peer(const struct fab_fabric *f, uint32_t s, uint32_t t)
{
	uint32_t i = f->peer_first[s], j = f->peer_first[t];

	while (i < f->peer_first[s + 1] && j < f->peer_first[t + 1]) {
		if (f->peer[i] == f->peer[j])
			return true;
		if (f->peer[i] < f->peer[j])
			i++;
		else
			j++;
	}
	return false;
}

static bool joins_cluster(const void *context, uint32_t from, uint32_t peer)
{
	const struct fab_fabric *f = context;

	return share_peer(f, from, f->peer[peer]);
}

/* Clusters: switches joined by links that are part of a triangle. */
static uint32_t cluster_bound(const struct fab_mcast_problem *problem, uint32_t *part)
{
	uint32_t n = split(problem->f, joins_cluster, problem->f, part);

	return fab_mcast_cut_bound(problem, part, n);
}

uint32_t fab_mcast_lower_bound(const struct fab_mcast_problem *problem)
{
	uint32_t *part = FAB_NEW(problem->f->n_switches, uint32_t);
	const uint32_t bounds[] = {
		size_bound(problem),
		switch_bound(problem),
		pod_bound(problem, part),
		cluster_bound(problem, part),
	};
	uint32_t best = 0;

	for (size_t i = 0; i < FAB_COUNT(bounds); i++)
		best = bounds[i] > best ? bounds[i] : best;
	free(part);
	return best;
}
