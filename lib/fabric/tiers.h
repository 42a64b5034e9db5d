/* SPDX-License-Identifier: BSD-2-Clause */
/* How far above the hosts a switch stands, told from the cables alone. */
#pragma once

#include "fabric/fabric.h"

/*
 * tier[switch] = hops to the nearest switch that has a host adapter: 0 for those, 1 for
 * their neighbours, ...; FAB_NONE where no host can be reached. `tier` is the caller's,
 * [n_switches]. Aggregation nodes and routers are no hosts. Returns the number of tiers,
 * 0 for a fabric without hosts. O(switches + cables).
 */
uint32_t fab_tiers(const struct fab_fabric *f, uint32_t *tier);

/* Host adapters cabled to each switch, every cable counted; [n_switches]. O(cables). */
void fab_tiers_count_hosts(const struct fab_fabric *f, uint32_t *n_host_links);
