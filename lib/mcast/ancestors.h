/* SPDX-License-Identifier: BSD-2-Clause */
/* The switches on the shortest paths from a root to the members of a group, by level. */
#pragma once

#include "mcast/engine.h"

struct fab_ancestors {
	uint32_t *sw; /* [n] but for the root, the farthest from it first */
	uint32_t n;
	/* [n + 1] arcs of sw[i] to switches one hop nearer to the root are
	 * arc[arc_first[i]] .. arc[arc_first[i + 1] - 1] */
	uint32_t *arc_first;
	uint32_t *arc;
	size_t room;	/* in `arc` */
	uint32_t *mark; /* [n_switches] == stamp: listed */
	uint32_t stamp;
	uint32_t *next; /* [n_switches] the next member of the same level, FAB_NONE */
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
