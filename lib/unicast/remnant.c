/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/remnant.h"

#include "base/mem.h"
#include "fabric/builder.h"

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

static uint32_t add_node(struct fab_builder *b, const struct fab_fabric *f, uint32_t node)
{
	const char *name = fab_node_name(f, node);
	uint32_t id =
		fab_builder_add_node(b, &(struct fab_node_spec){
						.kind = f->node_kind[node],
						.guid = f->node_guid[node],
						.sys_guid = f->node_sys_guid[node],
						.vendor = f->node_vendor[node],
						.device = f->node_device[node],
						.n_ports = f->node_n_ports[node],
						.is_enhanced = f->node_is_enhanced[node],
						.name = name,
						.name_len = strlen(name),
					});

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1]; p++)
		if (f->port_guid[p] || f->port_lid[p])
			fab_builder_set_port(b, id, f->port_num[p], f->port_guid[p],
					     f->port_lid[p], f->port_lmc[p]);
	return id;
}

static void add_end(struct fab_builder *b, const struct fab_fabric *f, const uint32_t *id,
		    uint32_t port, uint32_t peer)
{
	fab_builder_add_end(b, &(struct fab_end){
				       .node = id[f->port_node[port]],
				       .port = f->port_num[port],
				       .peer = id[f->port_node[peer]],
				       .peer_port = f->port_num[peer],
				       .width = f->port_width[port],
				       .speed = f->port_speed[port],
			       });
}

int fab_fabric_without(const struct fab_fabric *f, const struct fab_faults *faults,
		       struct fab_fabric **out, struct fab_err *err)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		id[i] = node_is_left(f, faults, i) ? add_node(b, f, i) : FAB_NONE;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t x = f->cable_a[c], y = f->cable_b[c];

		if (!cable_is_left(faults, c) || id[f->port_node[x]] == FAB_NONE ||
		    id[f->port_node[y]] == FAB_NONE)
			continue;
		add_end(b, f, id, x, y);
		add_end(b, f, id, y, x);
	}
	free(id);
	return fab_builder_finish(b, f->source, f->format, NULL, out, err);
}
