/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast trees of many groups in flat arrays. */
#pragma once

#include "base/macros.h"

/*
 * The tree of group i has the switch root[i] and fab_forest_size() more, each with the
 * cable to its parent: sw[e] and cable[e] for e in first[i] .. first[i+1]-1. The parent
 * is the switch at the other end of the cable. Edges come in no particular order.
 */
struct fab_forest {
	uint32_t n;
	uint32_t *root;	 /* [n] */
	uint8_t *height; /* [n] switch hops from the root to the farthest member's switch
			  */
	uint64_t *first; /* [n + 1] */
	uint32_t *sw, *cable;
	uint64_t cap;
};

/* An empty forest for n groups; trees are then added group by group. O(size). */
void fab_forest_init(struct fab_forest *forest, uint32_t n);
void fab_forest_fini(struct fab_forest *forest);

/* Make room for `more` edges behind those of the groups so far. Amortised O(1) an edge.
 */
void fab_forest_reserve(struct fab_forest *forest, uint64_t at, uint64_t more);

/* Cables of the tree of a group. O(1). */
static inline uint32_t fab_forest_size(const struct fab_forest *forest, uint32_t group)
{
	return (uint32_t)(forest->first[group + 1] - forest->first[group]);
}
