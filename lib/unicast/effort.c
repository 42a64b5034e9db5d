/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/effort.h"

#include "unicast/faults.h"

/* Nanoseconds of a core for each switch and each arc of a destination: radix 32, 3 levels
 * took 0.64 s by minhop and a torus 24x24x24 21 s, with the analysis. */
static const double SWITCH_NS = 45, ARC_NS = 1.5;

/* LIDs of live ends: ports of adapters and switches' port 0. */
static uint64_t count_lids(const struct fab_fabric *f, const struct fab_faults *faults)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t node = f->port_node[p], sw = node;

		if (!fab_node_is_switch(f, node))
			sw = fab_port_switch(f, p);
		else if (f->port_num[p])
			continue;
		if (sw != FAB_NONE && fab_switch_is_live(faults, sw) &&
		    (sw == node || fab_cable_is_live(faults, f->port_cable[p])))
			n += UINT64_C(1) << (f->port_lmc[p] & 7);
	}
	return n;
}

struct fab_effort fab_unicast_effort(const struct fab_unicast_engine *engine,
				     const struct fab_unicast_problem *problem)
{
	const struct fab_fabric *f = problem->f;
	uint64_t n = engine->needs_kfat && problem->kfat ? problem->kfat->n_leaves
							 : count_lids(f, problem->faults);
	double per_destination =
		SWITCH_NS * f->n_switches + ARC_NS * f->arc_first[f->n_switches];

	return (struct fab_effort){
		.destinations = n,
		.table_bytes = n * f->n_switches * sizeof(uint16_t),
		.cpu_seconds = (double)n * per_destination / 1e9,
	};
}
