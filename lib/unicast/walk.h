/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The paths of all switches to one, as a row of tables leads: each switch is looked at
 * once, however many paths it is on.
 */
#pragma once

#include "unicast/routes.h"

enum {
	/* hops of a switch: not asked for, on the path being followed, not led there */
	FAB_HOPS_UNSET = 0xffff,
	FAB_HOPS_PENDING = 0xfffe,
	FAB_HOPS_NEVER = 0xfffd,
};

/* Of a row at a time; fabric, faults and row are borrowed. */
struct fab_walk {
	const struct fab_fabric *f;
	const struct fab_faults *faults; /* NULL: nothing is dead */
	const uint16_t *next;
	/* [n_switches] to the root, at most FAB_HOPS_NEVER - 1; a caller may point it
	 * elsewhere between two rows */
	uint16_t *hops;
	/* [n_order] switches that are led to the root: that first, every other one after
	 * the switch that it sends to */
	uint32_t *order;
	uint32_t n_order;
	/* [n_order] the arc by which each of these sends, and the switch at its end; of
	 * the root nothing */
	uint32_t *arc, *to;
	/* [arcs] 1: up, 2: down, 0: neither; borrowed. NULL: turns are not asked for */
	const uint8_t *direction;
	uint8_t *turns; /* [n_switches] of those led to the root: the path from there goes
			   1 up at some point, 2 up after it went down */
	uint32_t *path; /* [n_switches] scratch */
	uint16_t *own;	/* hops, unless pointed elsewhere */
};

/* The caller frees it. At most FAB_HOPS_NEVER switches. O(1) besides the memory: 19 bytes
 * a switch. */
void fab_walk_init(struct fab_walk *w, const struct fab_fabric *f,
		   const struct fab_faults *faults);
void fab_walk_fini(struct fab_walk *w);

/*
 * From now on the row `next` (fab_routes_next()) that leads to switch `root`; nobody but
 * the root is asked for yet. False: the root itself has no right entry, so that packets
 * come there and no further. O(switches).
 */
bool fab_walk_begin(struct fab_walk *w, const uint16_t *next, uint32_t root);

/* Follow from a switch that was not asked for yet. Amortised O(1). */
void fab_walk_from(struct fab_walk *w, uint32_t sw);

/* Hops from a switch to the root, FAB_HOPS_NEVER: not led there. Amortised O(1). */
static inline uint16_t fab_walk_hops(struct fab_walk *w, uint32_t sw)
{
	if (w->hops[sw] == FAB_HOPS_UNSET)
		fab_walk_from(w, sw);
	return w->hops[sw];
}

/*
 * The same for all switches at once: then hops and order are those of all. False: the
 * root has no right entry; nobody is led there then, and hops are FAB_HOPS_UNSET.
 * O(switches).
 */
bool fab_walk_all(struct fab_walk *w, const uint16_t *next, uint32_t root);
