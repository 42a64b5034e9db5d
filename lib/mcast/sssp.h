/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two forms of SSSP-MC share: paths kept as parent arcs, members hung on them.
 */
#pragma once

#include "mcast/engine.h"

/*
 * Cost of a switch: least sum of loads over the paths of fewest hops from the root.
 * parent[sw]: the switch's own arc towards the root, on a path of that cost; among equals
 * the lowest port. Both forms give the same numbers and so the same trees.
 */
struct fab_sssp {
	uint64_t *cost;	  /* [n_switches] */
	uint32_t *parent; /* [n_switches] */
};

/* Keep the part of the shortest-path tree that the members need. */
void fab_sssp_keep(struct fab_mcast_state *s, uint32_t group, const uint32_t *parent);
