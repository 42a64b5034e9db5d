/* SPDX-License-Identifier: BSD-2-Clause */
/* How far above the hosts a switch stands, told from the cables alone. */
#pragma once

#include "fabric/fabric.h"
#include "fabric/shape.h"

/*
 * rank[switch] = hops to the nearest switch that has a host adapter: 0 for those, 1 for
 * their neighbours, ...; FAB_NONE where no host can be reached. `rank` is the caller's,
 * [n_switches]. Aggregation nodes and routers are no hosts. Returns the number of ranks,
 * 0 for a fabric without hosts. O(switches + cables).
 */
uint32_t fab_ranks(const struct fab_fabric *f, uint32_t *rank);

/*
 * The same, but by the levels of a recognised shape where it has such: a few management
 * nodes on a spine do not make it a leaf there. O(switches + cables).
 */
uint32_t fab_ranks_of_shape(const struct fab_fabric *f, const struct fab_shape *shape,
			    uint32_t *rank);

/* Host adapters cabled to each switch, every cable counted; [n_switches]. O(cables). */
void fab_ranks_count_hosts(const struct fab_fabric *f, uint32_t *n_host_links);

/*
 * The top rank of a tree: the lowest rank with which the cables join all switches of rank
 * 0 that they join at all; what stands above it hangs on it (a few management switches).
 * Fills rank[n_switches] as fab_ranks_of_shape(). FAB_NONE: there are no ranks, because
 * the shape has none or all switches have hosts. O(ranks * cables).
 */
uint32_t fab_ranks_top(const struct fab_fabric *f, const struct fab_shape *shape,
		       uint32_t *rank);
