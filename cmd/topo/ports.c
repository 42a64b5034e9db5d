/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --ports: every cabled port and what it leads to. */
#include "base/units.h"
#include "topo.h"

struct record {
	const char *node, *kind, *speed, *host, *peer, *peer_kind;
	uint64_t guid, port, port_guid, lid, lmc, width, peer_guid, peer_port;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(node, TEXT, "name of the node"),
	FAB_COLUMN_AS(kind, TEXT, "switch, adapter, aggregation-node or router",
		      FAB_COL_EXTRA),
	FAB_COLUMN_AS(guid, GUID, "GUID of the node", FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN(port, UINT, "number of the port"),
	FAB_COLUMN_AS(port_guid, GUID, "GUID of the port; switches: of the switch port 0",
		      FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(lid, UINT, "LID of the port; switches: of the switch",
		      FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(lmc, UINT, "LMC of the port; switches: of the switch",
		      FAB_COL_EXTRA),
	FAB_COLUMN_AS(width, UINT, "lanes, as this end says", FAB_COL_NULL_ZERO),
	FAB_COLUMN(speed, TEXT, "speed, as this end says"),
	FAB_COLUMN_AS(host, TEXT, "host of the adapter", FAB_COL_EXTRA),
	FAB_COLUMN(peer, TEXT, "name of the node at the other end"),
	FAB_COLUMN_AS(peer_kind, TEXT, "kind of the node at the other end",
		      FAB_COL_EXTRA),
	FAB_COLUMN_AS(peer_guid, GUID, "GUID of the node at the other end",
		      FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(peer_port, UINT, "number of the port at the other end",
		      FAB_COL_NULL_ZERO),
};

static const char *kind_name(const struct fab_fabric *f, uint32_t node)
{
	static const char *const names[] = {
		[FAB_SWITCH] = "switch",
		[FAB_ADAPTER] = "adapter",
		[FAB_AGGREGATION] = "aggregation-node",
		[FAB_ROUTER] = "router",
	};

	return names[f->node_kind[node]];
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct fab_fabric *f = w->f;
	uint64_t n = 0, n_cabled = 0;
	char ports[FAB_HUMAN_BYTES], cabled[FAB_HUMAN_BYTES];

	if (fab_report_how(r)->format == FAB_FORMAT_TABLE)
		fab_report_without_fabric(r);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		n += f->port_num[p] != 0;
		n_cabled += f->port_num[p] && fab_port_peer(f, p) != FAB_NONE;
	}
	fab_report_answer(r, FAB_TONE_PLAIN, "%s ports, of these %s with a cable.",
			  fab_human_count(n, ports), fab_human_count(n_cabled, cabled));
	FAB_TABLE_BEGIN(r, "ports", NULL, columns);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t node = f->port_node[p], host = f->node_host[node];
		uint32_t peer = fab_port_peer(f, p);
		/* a switch is addressed by its port 0, which is always kept and comes
		 * first */
		uint32_t own = fab_node_is_switch(f, node) ? f->node_first_port[node] : p;
		struct record row = {
			.node = fab_node_name(f, node),
			.kind = kind_name(f, node),
			.guid = f->node_guid[node],
			.port = f->port_num[p],
			.port_guid = f->port_guid[own],
			.lid = f->port_lid[own],
			.lmc = f->port_lmc[own],
			.width = f->port_width[p],
			.speed = f->port_speed[p] ? fab_speed_name(f->port_speed[p])
						  : NULL,
			.host = host == FAB_NONE ? NULL : fab_host_name(f, host),
		};

		if (peer != FAB_NONE) {
			node = f->port_node[peer];
			row.peer = fab_node_name(f, node);
			row.peer_kind = kind_name(f, node);
			row.peer_guid = f->node_guid[node];
			row.peer_port = f->port_num[peer];
		}
		if (f->port_num[p])
			fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

const struct fab_task topo_ports = {
	.primary = "ports",
	FAB_TASK_COLUMNS(columns),
	.report = report,
};
