/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/plugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "fabric/builder.h"

uint32_t fab_opensm_n_groups(const struct osm_opensm *osm)
{
	return osm->subn.max_mcast_lid_ho < IB_LID_MCAST_START_HO
		       ? 0
		       : osm->subn.max_mcast_lid_ho - IB_LID_MCAST_START_HO + 1u;
}

bool fab_opensm_is_live(const osm_physp_t *port)
{
	const osm_physp_t *peer = port ? port->p_remote_physp : NULL;

	return peer && peer->p_remote_physp == port && port->healthy && peer->healthy;
}

static bool is_left_out(const osm_node_t *node)
{
	return node->sw && !osm_switch_supports_mcast(node->sw);
}

/* `priv` of a node is OpenSM's: ids are found by GUID. */
static void add_node(struct fab_builder *b, struct fab_map64 *id_of,
		     const osm_node_t *node)
{
	const char *name = node->print_desc ? node->print_desc : "";
	const struct fab_node_spec spec = {
		.kind = node->sw					   ? FAB_SWITCH
			: node->node_info.node_type == IB_NODE_TYPE_ROUTER ? FAB_ROUTER
									   : FAB_ADAPTER,
		.guid = cl_ntoh64(node->node_info.node_guid),
		.sys_guid = cl_ntoh64(node->node_info.sys_guid),
		.n_ports = node->node_info.num_ports,
		.name = name,
		.name_len = strlen(name)};
	uint32_t id = fab_builder_add_node(b, &spec);

	fab_map64_set(id_of, spec.guid, id);
	for (uint32_t p = node->sw ? 0 : 1; p < node->physp_tbl_size; p++) {
		const osm_physp_t *port = &node->physp_table[p];

		if (!port->p_node || (node->sw && p))
			continue;
		fab_builder_set_port(b, id, (uint16_t)p, cl_ntoh64(port->port_guid),
				     cl_ntoh16(port->port_info.base_lid), 0);
	}
}

uint32_t fab_opensm_members(const osm_mgrp_box_t *box, uint64_t **guid)
{
	FAB_VEC(uint64_t) all = {0};

	for (cl_list_item_t *i = cl_qlist_head(&box->mgrp_list);
	     i != cl_qlist_end(&box->mgrp_list); i = cl_qlist_next(i)) {
		const osm_mgrp_t *group = cl_item_obj(i, group, list_item);

		for (cl_map_item_t *m = cl_qmap_head(&group->mcm_port_tbl);
		     m != cl_qmap_end(&group->mcm_port_tbl); m = cl_qmap_next(m)) {
			const osm_mcm_port_t *member = cl_item_obj(m, member, map_item);

			FAB_PUSH(&all, cl_ntoh64(member->port->guid));
		}
	}
	*guid = all.v;
	return (uint32_t)all.n;
}

void fab_opensm_view_copy(struct osm_opensm *osm, struct fab_opensm_view *view)
{
	const cl_qmap_t *nodes = &osm->subn.node_guid_tbl;
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *id_of = fab_map64_new(cl_qmap_count(nodes));
	FAB_VEC(uint64_t) guids = {0};

	view->builder = fab_builder_new();
	for (cl_map_item_t *i = cl_qmap_head(nodes); i != cl_qmap_end(nodes);
	     i = cl_qmap_next(i)) {
		const osm_node_t *node = (const osm_node_t *)i;

		if (!is_left_out(node))
			add_node(view->builder, id_of, node);
	}
	for (cl_map_item_t *i = cl_qmap_head(nodes); i != cl_qmap_end(nodes);
	     i = cl_qmap_next(i)) {
		const osm_node_t *node = (const osm_node_t *)i;

		if (!is_left_out(node)) {
			uint32_t id = fab_map64_get(id_of,
						    cl_ntoh64(node->node_info.node_guid));

			for (uint32_t p = 1; p < node->physp_tbl_size; p++) {
				const osm_physp_t *port = &node->physp_table[p], *peer;
				struct fab_end end = {.node = id, .port = (uint16_t)p};

				if (!port->p_node || !fab_opensm_is_live(port))
					continue;
				peer = port->p_remote_physp;
				if (is_left_out(peer->p_node))
					continue;
				end.peer = fab_map64_get(
					id_of,
					cl_ntoh64(peer->p_node->node_info.node_guid));
				end.peer_port = peer->port_num;
				if (end.peer != FAB_NONE)
					fab_builder_add_end(view->builder, &end);
			}
		}
	}
	view->members.n = fab_opensm_n_groups(osm);
	view->members.first = FAB_NEW0((size_t)view->members.n + 1, uint64_t);
	for (uint32_t g = 0; g < view->members.n; g++) {
		const osm_mgrp_box_t *box = osm->subn.mboxes[g];
		FAB_AUTOFREE uint64_t *guid = NULL;
		uint32_t n = box ? fab_opensm_members(box, &guid) : 0;

		for (uint32_t k = 0; k < n; k++)
			FAB_PUSH(&guids, guid[k]);
		view->members.first[g + 1] = guids.n;
	}
	view->members.guid = guids.v;
}

int fab_opensm_view_fabric(struct fab_opensm_view *view, struct fab_fabric **out,
			   struct fab_err *err)
{
	const struct fab_host_options hosts = {0};
	struct fab_builder *b = view->builder;

	view->builder = NULL;
	return fab_builder_finish(b, "OpenSM", "opensm", &hosts, out, err);
}

void fab_opensm_view_fini(struct fab_opensm_view *view)
{
	fab_builder_free(view->builder);
	free(view->members.first);
	free(view->members.guid);
	*view = (struct fab_opensm_view){0};
}
