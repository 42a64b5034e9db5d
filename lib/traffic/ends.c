/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/ends.h"

#include <stdlib.h>

#include "base/mem.h"

void fab_flow_ends_init(struct fab_flow_ends *ends, const struct fab_fabric *f,
			const bool *switch_is_dead, const bool *cable_is_dead)
{
	ends->n = 0;
	ends->port = FAB_NEW(f->n_ports + 1, uint32_t);
	ends->sw = FAB_NEW(f->n_ports + 1, uint32_t);
	for (uint32_t p = f->node_first_port[f->n_switches]; p < f->n_ports; p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (f->node_kind[f->port_node[p]] != FAB_ADAPTER || sw == FAB_NONE ||
		    (switch_is_dead && switch_is_dead[sw]) ||
		    (cable_is_dead && cable_is_dead[f->port_cable[p]]))
			continue;
		ends->port[ends->n] = p;
		ends->sw[ends->n++] = sw;
	}
}

void fab_flow_ends_fini(struct fab_flow_ends *ends)
{
	free(ends->port);
	free(ends->sw);
}
