/* SPDX-License-Identifier: BSD-2-Clause */
/* Where traffic begins and ends. */
#pragma once

#include "fabric/fabric.h"

/* Live host ports, in the order of the fabric. */
struct fab_flow_ends {
	uint32_t n;
	uint32_t *port, *sw;
};

/* Of switches and cables that are not dead ([n_switches], [n_cables]; both NULL: all
 * live). The caller frees. O(ports). */
void fab_flow_ends_init(struct fab_flow_ends *ends, const struct fab_fabric *f,
			const bool *switch_is_dead, const bool *cable_is_dead);
void fab_flow_ends_fini(struct fab_flow_ends *ends);
