/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's view of the subnet: copied part by part, while its lock is held;
 * made a fabric afterwards.
 */
#include <string.h>

#include "base/map.h"
#include "base/progress.h"
#include "fabric/builder.h"
#include "opensm/plugin.h"

/* Ports or members that are copied between two looks at the clock. */
enum { LOOK_EVERY = 256 };

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

static void copy_node(struct fab_opensm_view *view, const osm_node_t *node)
{
	struct fab_opensm_node copy = {
		.kind = node->sw					   ? FAB_SWITCH
			: node->node_info.node_type == IB_NODE_TYPE_ROUTER ? FAB_ROUTER
									   : FAB_ADAPTER,
		.guid = cl_ntoh64(node->node_info.node_guid),
		.sys_guid = cl_ntoh64(node->node_info.sys_guid),
		.n_ports = node->node_info.num_ports};

	if (node->print_desc)
		strncpy(copy.name, node->print_desc, sizeof(copy.name) - 1);
	FAB_PUSH(&view->nodes, copy);
	for (uint32_t p = node->sw ? 0 : 1; p < node->physp_tbl_size; p++) {
		const osm_physp_t *port = &node->physp_table[p], *peer;
		struct fab_opensm_port own = {.num = (uint8_t)p};

		if (!port->p_node)
			continue;
		own.guid = node->sw && p ? 0 : cl_ntoh64(port->port_guid);
		own.lid = own.guid ? cl_ntoh16(port->port_info.base_lid) : 0;
		peer = p && fab_opensm_is_live(port) ? port->p_remote_physp : NULL;
		if (peer && !is_left_out(peer->p_node)) {
			own.peer = cl_ntoh64(peer->p_node->node_info.node_guid);
			own.peer_port = peer->port_num;
		}
		FAB_PUSH(&view->ports, own);
	}
	view->nodes.v[view->nodes.n - 1].end = view->ports.n;
}

void fab_opensm_add_members(const osm_mgrp_box_t *box, struct fab_opensm_guids *to)
{
	for (cl_list_item_t *i = cl_qlist_head(&box->mgrp_list);
	     i != cl_qlist_end(&box->mgrp_list); i = cl_qlist_next(i)) {
		const osm_mgrp_t *group = cl_item_obj(i, group, list_item);

		for (cl_map_item_t *m = cl_qmap_head(&group->mcm_port_tbl);
		     m != cl_qmap_end(&group->mcm_port_tbl); m = cl_qmap_next(m)) {
			const osm_mcm_port_t *member = cl_item_obj(m, member, map_item);

			FAB_PUSH(to, cl_ntoh64(member->port->guid));
		}
	}
}

const struct fab_mgid *fab_opensm_mgid(const osm_mgrp_box_t *box, struct fab_mgid *mgid)
{
	const cl_list_item_t *first = cl_qlist_head(&box->mgrp_list);
	const osm_mgrp_t *group = cl_item_obj(first, group, list_item);

	if (cl_qlist_count(&box->mgrp_list) != 1)
		return NULL;
	memcpy(mgid->raw, group->mcmember_rec.mgid.raw, sizeof(mgid->raw));
	return mgid;
}

/* The next node or group; false: none. */
static bool copy_next(struct osm_opensm *osm, struct fab_opensm_view *view)
{
	const cl_qmap_t *nodes = &osm->subn.node_guid_tbl;

	if (!view->has_nodes) {
		/* by the GUID of the last one, which may have gone meanwhile */
		const cl_map_item_t *i = view->nodes_seen
						 ? cl_qmap_get_next(nodes, view->last)
						 : cl_qmap_head(nodes);

		view->has_nodes = i == cl_qmap_end(nodes);
		if (view->has_nodes)
			return true;
		view->nodes_seen = true;
		view->last = cl_qmap_key(i);
		if (!is_left_out((const osm_node_t *)i))
			copy_node(view, (const osm_node_t *)i);
		return true;
	}
	if (!view->first.n) {
		FAB_RESERVE(&view->first, (size_t)fab_opensm_n_groups(osm) + 1);
		FAB_PUSH(&view->first, 0);
	}
	if (view->mgid.n >= fab_opensm_n_groups(osm))
		return false;
	{
		const osm_mgrp_box_t *box = osm->subn.mboxes[view->mgid.n];
		struct fab_mgid mgid = {{0}};

		if (box) {
			fab_opensm_add_members(box, &view->members);
			fab_opensm_mgid(box, &mgid);
		}
		FAB_PUSH(&view->mgid, mgid);
		FAB_PUSH(&view->first, view->members.n);
	}
	return true;
}

bool fab_opensm_view_copy(struct osm_opensm *osm, struct fab_opensm_view *view,
			  double seconds)
{
	double end = fab_now() + seconds;
	size_t looked = 0;

	for (;;) {
		size_t done = view->ports.n + view->members.n + view->mgid.n / 16;

		if (done - looked >= LOOK_EVERY) {
			if (fab_now() >= end)
				return true;
			looked = done;
		}
		if (!copy_next(osm, view))
			return false;
	}
}

int fab_opensm_view_fabric(const struct fab_opensm_view *view, struct fab_fabric **out,
			   struct fab_err *err)
{
	const struct fab_host_options hosts = {0};
	struct fab_builder *b = fab_builder_new();
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *id_of = fab_map64_new(view->nodes.n);
	size_t p = 0;

	for (size_t i = 0; i < view->nodes.n; i++) {
		const struct fab_opensm_node *node = &view->nodes.v[i];
		const struct fab_node_spec spec = {.kind = node->kind,
						   .guid = node->guid,
						   .sys_guid = node->sys_guid,
						   .n_ports = node->n_ports,
						   .name = node->name,
						   .name_len = strlen(node->name)};
		uint32_t id = fab_builder_add_node(b, &spec);

		fab_map64_set(id_of, spec.guid, id);
		for (; p < node->end; p++)
			if (view->ports.v[p].guid)
				fab_builder_set_port(b, id, view->ports.v[p].num,
						     view->ports.v[p].guid,
						     view->ports.v[p].lid, 0);
	}
	p = 0;
	for (size_t i = 0; i < view->nodes.n; i++)
		for (; p < view->nodes.v[i].end; p++) {
			const struct fab_opensm_port *port = &view->ports.v[p];
			struct fab_end end = {
				.node = fab_map64_get(id_of, view->nodes.v[i].guid),
				.port = port->num,
				.peer = fab_map64_get(id_of, port->peer),
				.peer_port = port->peer_port};

			if (port->peer && end.peer != FAB_NONE)
				fab_builder_add_end(b, &end);
		}
	return fab_builder_finish(b, "OpenSM", "opensm", &hosts, out, err);
}

void fab_opensm_view_fini(struct fab_opensm_view *view)
{
	FAB_FREE_ALL(view->nodes.v, view->ports.v, view->members.v, view->first.v,
		     view->mgid.v);
	*view = (struct fab_opensm_view){0};
}
