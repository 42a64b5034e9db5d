/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SSSP-MC (Chen et al. 2022) as published: Dijkstra from the root over the whole fabric
 * with a priority queue, link weight = a constant above any sum of loads + the load.
 */
#include "support/sssp_heap.h"

#include "base/mem.h"

#include <string.h>

/* One hop weighs more than all loads of a path: 255 hops of 2^32 groups each. */
#define HOP ((uint64_t)1 << 40)

/*
 * Cost of a switch: least sum of loads over the paths of fewest hops from the root.
 * parent[sw]: the switch's own arc towards the root, on a path of that cost; among equals
 * the lowest port. Both forms give the same numbers and so the same trees.
 */
struct scratch {
	uint64_t *cost;	  /* [n_switches] */
	uint32_t *parent; /* [n_switches] */
	uint32_t *heap;	  /* [n_switches] switches, least cost on top */
	uint32_t *slot;	  /* [n_switches] where a switch is in the heap, FAB_NONE */
	uint32_t n;
};

static void *scratch_new(const struct fab_mcast_problem *problem, struct fab_arena *a)
{
	size_t n = problem->f->n_switches;
	struct scratch *x = FAB_ARENA_NEW(a, 1, struct scratch);

	x->cost = FAB_ARENA_NEW(a, n, uint64_t);
	x->parent = FAB_ARENA_NEW(a, n, uint32_t);
	x->heap = FAB_ARENA_NEW(a, n, uint32_t);
	x->slot = FAB_ARENA_NEW(a, n, uint32_t);
	return x;
}

static void put(struct scratch *x, uint32_t at, uint32_t sw)
{
	x->heap[at] = sw;
	x->slot[sw] = at;
}

/* Move `sw`, which belongs at `at` or above, up. */
static void sift_up(struct scratch *x, uint32_t at, uint32_t sw)
{
	while (at) {
		uint32_t up = (at - 1) / 2;

		if (x->cost[x->heap[up]] <= x->cost[sw])
			break;
		put(x, at, x->heap[up]);
		at = up;
	}
	put(x, at, sw);
}

static uint32_t pop(struct scratch *x)
{
	uint32_t top = x->heap[0], sw = x->heap[--x->n], at = 0;

	for (uint32_t down; (down = 2 * at + 1) < x->n; at = down) {
		if (down + 1 < x->n &&
		    x->cost[x->heap[down + 1]] < x->cost[x->heap[down]])
			down++;
		if (x->cost[sw] <= x->cost[x->heap[down]])
			break;
		put(x, at, x->heap[down]);
	}
	if (x->n)
		put(x, at, sw);
	return top;
}

static void relax(const struct fab_fabric *f, struct scratch *x, uint32_t sw,
		  uint32_t arc, uint32_t load)
{
	uint32_t peer = f->arc_peer[arc], back = fab_arc_back(f, arc);
	uint64_t cost = x->cost[sw] + HOP + load;

	if (cost == x->cost[peer] && back < x->parent[peer])
		x->parent[peer] = back; /* the lowest port of the peer */
	if (cost >= x->cost[peer])
		return;
	x->cost[peer] = cost;
	x->parent[peer] = back;
	sift_up(x, x->slot[peer] == FAB_NONE ? x->n++ : x->slot[peer], peer);
}

/* Keeps the part of the shortest-path tree that the members need. */
static void grow(struct fab_mcast_state *s, uint32_t group)
{
	const struct fab_fabric *f = s->problem->f;
	const struct fab_groups *g = s->problem->groups;
	struct scratch *x = s->scratch;
	uint32_t root = s->forest.root[group];

	memset(x->cost, 0xff, f->n_switches * sizeof(*x->cost));
	memset(x->slot, 0xff, f->n_switches * sizeof(*x->slot));
	x->cost[root] = 0;
	x->n = 1;
	put(x, 0, root);
	while (x->n) {
		uint32_t sw = pop(x);

		FAB_EACH_ARC(f, sw, a)
			relax(f, x, sw, a, s->load[f->arc_cable[a]]);
	}
	for (uint64_t i = g->sw_first[group]; i < g->sw_first[group + 1]; i++)
		for (uint32_t at = g->sw[i]; !fab_mcast_is_joined(s, at);) {
			uint32_t arc = x->parent[at];

			fab_mcast_join(s, at, f->arc_cable[arc]);
			at = f->arc_peer[arc];
		}
}

const struct fab_mcast_engine sssp_heap = {
	.name = "sssp-heap",
	.root_rule = FAB_ROOT_FIRST,
	.scratch_new = scratch_new,
	.grow = grow,
};

const struct fab_mcast_engine sssp_heap_new = {
	.name = "sssp-heap-new",
	.root_rule = FAB_ROOT_LEAST_USED,
	.scratch_new = scratch_new,
	.grow = grow,
};
