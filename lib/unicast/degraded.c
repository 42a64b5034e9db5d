/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/degraded.h"

#include "base/mem.h"
#include "fabric/builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool cable_is_left(const struct fab_faults *faults, uint32_t cable)
{
	return !faults || !faults->cable_is_dead[cable];
}

static bool node_is_left(const struct fab_fabric *f, const struct fab_faults *faults,
			 uint32_t node)
{
	bool had_cable = false;

	if (!faults)
		return true;
	if (fab_node_is_switch(f, node))
		return !faults->switch_is_dead[node];
	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		if (f->port_cable[p] == FAB_NONE)
			continue;
		if (cable_is_left(faults, f->port_cable[p]))
			return true;
		had_cable = true;
	}
	return !had_cable;
}

/* Does a switch keep a cable? What only joins adapters is no fabric. */
static bool has_cable_left(const struct fab_fabric *f, const struct fab_faults *faults)
{
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (cable_is_left(faults, c) &&
		    fab_node_is_switch(f, f->port_node[f->cable_a[c]]))
			return true;
	return false;
}

int fab_fabric_without(const struct fab_fabric *f, const struct fab_faults *faults,
		       struct fab_fabric **out, struct fab_err *err)
{
	struct fab_builder *b;
	uint32_t *id;

	if (!has_cable_left(f, faults))
		return fab_fail(err, EINVAL, "%s: no switch has a cable left", f->source);
	b = fab_builder_new();
	id = FAB_NEW(f->n_nodes, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		id[i] = node_is_left(f, faults, i) ? fab_builder_copy_node(b, f, i)
						   : FAB_NONE;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t x = f->cable_a[c], y = f->cable_b[c];

		if (!cable_is_left(faults, c) || id[f->port_node[x]] == FAB_NONE ||
		    id[f->port_node[y]] == FAB_NONE)
			continue;
		fab_builder_copy_cable(b, f, c, id);
	}
	free(id);
	return fab_builder_finish(b, f->source, f->format, NULL, out, err);
}
