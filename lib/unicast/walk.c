/* SPDX-License-Identifier: BSD-2-Clause */
/* All paths to one destination, in the order of their distances. */
#include "unicast/path.h"

#include <string.h>

void fab_walk_init(struct fab_walk *w, const struct fab_fabric *f,
		   const struct fab_faults *faults)
{
	size_t n = (size_t)f->n_switches + 1;

	*w = (struct fab_walk){.f = f, .faults = faults};
	w->hops = FAB_ARENA_NEW(&w->arena, n, uint16_t);
	w->order = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->arc = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->to = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->turns = FAB_ARENA_NEW0(&w->arena, n, uint8_t);
	w->path = FAB_ARENA_NEW(&w->arena, n, uint32_t);
}

void fab_walk_fini(struct fab_walk *w)
{
	fab_arena_free(&w->arena);
}

bool fab_walk_begin(struct fab_walk *w, const uint16_t *next, uint32_t root)
{
	w->next = next;
	memset(w->hops, 0xff, w->f->n_switches * sizeof(*w->hops));
	w->hops[root] = 0;
	w->turns[root] = 0;
	w->order[0] = root;
	w->n_order = 1;
	return next[root] == FAB_ARC_HERE;
}

/* The arc by which the packets of `sw` go on, FAB_NONE: they are not sent on. */
static inline uint32_t walk_arc(const struct fab_walk *w, uint32_t sw)
{
	const struct fab_fabric *f = w->f;
	uint32_t arc = f->arc_first[sw] + w->next[sw];

	return arc < f->arc_first[sw + 1] && fab_arc_is_live(w->faults, arc) ? arc
									     : FAB_NONE;
}

/* A switch that sends by an arc to one that is led to the root, as the i-th. */
static inline void settle(struct fab_walk *w, uint32_t sw, uint32_t arc, uint32_t i)
{
	uint32_t to = w->f->arc_peer[arc];
	uint16_t hops = w->hops[to];

	w->hops[sw] = hops < FAB_HOPS_NEVER - 1 ? (uint16_t)(hops + 1) : hops;
	w->order[i] = sw;
	w->arc[i] = arc;
	w->to[i] = to;
	if (w->direction) {
		unsigned direction = w->direction[arc], turns = w->turns[to];

		w->turns[sw] =
			(uint8_t)(turns | (direction & 1) | (direction & turns << 1 & 2));
	}
}

void fab_walk_from(struct fab_walk *w, uint32_t sw)
{
	uint32_t n = 0, at = sw;

	while (at != FAB_NONE && w->hops[at] == FAB_HOPS_UNSET) {
		uint32_t arc = walk_arc(w, at);

		w->hops[at] = FAB_HOPS_PENDING;
		w->path[n++] = at;
		at = arc != FAB_NONE ? w->f->arc_peer[arc] : FAB_NONE;
	}
	if (at != FAB_NONE && w->hops[at] < FAB_HOPS_NEVER)
		for (; n; n--)
			settle(w, w->path[n - 1], walk_arc(w, w->path[n - 1]),
			       w->n_order++);
	while (n)
		w->hops[w->path[--n]] = FAB_HOPS_NEVER;
}

bool fab_walk_all(struct fab_walk *w, const uint16_t *next, uint32_t root)
{
	struct fab_walk here; /* a copy without aliases, kept in registers */
	uint32_t i = 1;

	if (!fab_walk_begin(w, next, root)) {
		w->hops[root] = FAB_HOPS_UNSET;
		w->n_order = 0;
		return false;
	}
	/* Mostly the next switch is known already: no path to keep. */
	here = *w;
	for (uint32_t s = 0; s < here.f->n_switches; s++) {
		uint32_t arc;

		if (here.hops[s] != FAB_HOPS_UNSET)
			continue;
		arc = walk_arc(&here, s);
		if (arc != FAB_NONE &&
		    here.hops[here.f->arc_peer[arc]] < FAB_HOPS_NEVER) {
			settle(&here, s, arc, i++);
			continue;
		}
		w->n_order = i;
		fab_walk_from(w, s);
		i = w->n_order;
	}
	w->n_order = i;
	return true;
}
