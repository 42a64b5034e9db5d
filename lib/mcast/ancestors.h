/* SPDX-License-Identifier: BSD-2-Clause */
/* The switches on the shortest paths from a root to the members of a group, by level. */
#pragma once

#include "mcast/engine.h"

struct fab_ancestors {
	uint32_t first[FAB_HOPS_UNREACHABLE]; /* by hops from the root; FAB_NONE: none */
	uint32_t *next; /* [n_switches] the next one of the same level, FAB_NONE */
	uint32_t *mark; /* [n_switches] == stamp: listed */
	uint32_t stamp;
	/* [n_switches] of those listed: their arcs to switches one hop nearer to the root
	 * are arc[arc_first] .. arc[arc_first + n_arcs - 1] */
	uint32_t *arc_first, *n_arcs;
	uint32_t *arc;
	size_t room;
};

/* Room for a fabric of n switches. fab_ancestors_init: O(n), fab_ancestors_fini: O(size).
 */
void fab_ancestors_init(struct fab_ancestors *x, uint32_t n);
void fab_ancestors_fini(struct fab_ancestors *x);
/* List those of levels 1 to `height`; `row` has the hops from the root. O(cables of
 * them).
 */
void fab_ancestors_list(struct fab_ancestors *x, const struct fab_mcast_problem *problem,
			uint32_t group, const uint8_t *row, unsigned height);
