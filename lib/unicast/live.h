/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph of switches without what is dead, ready for searches against the traffic. */
#pragma once

#include "unicast/routes.h"

struct fab_live {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	bool *arc_is_live; /* [arcs] */
	uint16_t
		*back; /* [arcs] arc of the peer that goes back, counted from its first */
};

/* The caller ends it; fabric and faults (NULL: none) are borrowed. O(arcs). */
void fab_live_init(struct fab_live *live, const struct fab_fabric *f,
		   const struct fab_faults *faults);
void fab_live_fini(struct fab_live *live);

static inline bool fab_switch_is_live(const struct fab_live *live, uint32_t sw)
{
	return !live->faults || !live->faults->switch_is_dead[sw];
}

/*
 * Hops from every switch to `to` over what is alive: dist[n_switches], FAB_NONE where
 * there is no way; order[] gets the switches by distance. Returns how many. O(arcs).
 */
uint32_t fab_live_search(const struct fab_live *live, uint32_t to, uint32_t *dist,
			 uint32_t *order);

/*
 * Destinations of an engine: sound leaf switches of a kfat, or without one the sound
 * switches with hosts, ascending; [n_switches]. Returns how many.
 */
struct fab_kfat;
uint32_t fab_live_columns(const struct fab_live *live, const struct fab_kfat *kfat,
			  uint32_t *columns);
