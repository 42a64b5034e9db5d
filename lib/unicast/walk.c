/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/walk.h"

#include <stdlib.h>
#include <string.h>

void fab_walk_init(struct fab_walk *w, const struct fab_fabric *f,
		   const struct fab_faults *faults)
{
	size_t n = (size_t)f->n_switches + 1;

	*w = (struct fab_walk){.f = f, .faults = faults};
	w->own = w->hops = FAB_NEW(n, uint16_t);
	w->order = FAB_NEW(n, uint32_t);
	w->path = FAB_NEW(n, uint32_t);
}

void fab_walk_fini(struct fab_walk *w)
{
	free(w->own);
	free(w->order);
	free(w->path);
}

bool fab_walk_begin(struct fab_walk *w, const uint16_t *next, uint32_t root)
{
	w->next = next;
	memset(w->hops, 0xff, w->f->n_switches * sizeof(*w->hops));
	w->hops[root] = 0;
	w->order[0] = root;
	w->n_order = 1;
	return next[root] == FAB_ARC_HERE;
}

/* The switch that the packets of `sw` come to, FAB_NONE: they are not sent on. */
static inline uint32_t peer_of(const struct fab_walk *w, uint32_t sw)
{
	const struct fab_fabric *f = w->f;
	uint32_t arc = f->arc_first[sw] + w->next[sw];

	return arc < f->arc_first[sw + 1] && fab_arc_is_live(w->faults, arc)
		       ? f->arc_peer[arc]
		       : FAB_NONE;
}

/* A switch that sends to one that is `hops` from the root. */
static inline uint16_t settle(struct fab_walk *w, uint32_t sw, uint16_t hops)
{
	hops = hops < FAB_HOPS_NEVER - 1 ? (uint16_t)(hops + 1) : hops;
	w->hops[sw] = hops;
	w->order[w->n_order++] = sw;
	return hops;
}

static inline void follow(struct fab_walk *w, uint32_t sw)
{
	uint32_t n = 0, at = sw;
	uint16_t hops;

	while (at != FAB_NONE && w->hops[at] == FAB_HOPS_UNSET) {
		w->hops[at] = FAB_HOPS_PENDING;
		w->path[n++] = at;
		at = peer_of(w, at);
	}
	hops = at != FAB_NONE ? w->hops[at] : FAB_HOPS_NEVER;
	if (hops < FAB_HOPS_NEVER)
		while (n)
			hops = settle(w, w->path[--n], hops);
	while (n)
		w->hops[w->path[--n]] = FAB_HOPS_NEVER;
}

void fab_walk_from(struct fab_walk *w, uint32_t sw)
{
	follow(w, sw);
}

bool fab_walk_all(struct fab_walk *w, const uint16_t *next, uint32_t root)
{
	if (!fab_walk_begin(w, next, root)) {
		w->hops[root] = FAB_HOPS_UNSET;
		w->n_order = 0;
		return false;
	}
	for (uint32_t s = 0; s < w->f->n_switches; s++) {
		uint32_t peer;

		if (w->hops[s] != FAB_HOPS_UNSET)
			continue;
		/* mostly the next switch is known already: no path to keep */
		peer = peer_of(w, s);
		if (peer != FAB_NONE && w->hops[peer] < FAB_HOPS_NEVER)
			settle(w, s, w->hops[peer]);
		else
			follow(w, s);
	}
	return true;
}
