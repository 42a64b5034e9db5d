/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "base/map.h"
#include "base/num.h"
#include "source/smp.h"

#include <errno.h>
#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

enum { PHYS_LINK_UP = 5, FDR10_ACTIVE = 1 };

struct local_port {
	char ca[UMAD_CA_NAME_LEN];
	int port; /* 0: any with a link */
};

/*
 * The port with a link that `where` names. libibnetdisc complains on standard error by
 * itself: all that it would complain about is asked first.
 */
static int find_port(struct local_port *at, const char *where, struct fab_err *err)
{
	const char *slash = strchr(where, '/');
	size_t len = slash ? (size_t)(slash - where) : strlen(where);
	const umad_port_t *found = NULL;
	uint64_t number = 0;
	umad_ca_t ca;
	int rc = 0, fd;

	if (len >= sizeof(at->ca) ||
	    (slash &&
	     (!len || !fab_parse_u64(slash + 1, strlen(slash + 1), 1, 254, &number))))
		return fab_fail(
			err, EINVAL,
			"ib:%s: expected ib:, ib:CA or ib:CA/PORT with a PORT from 1 to 254",
			where);
	memcpy(at->ca, where, len);
	at->ca[len] = '\0';
	at->port = (int)number;
	if (umad_init() < 0)
		return fab_fail(err, ENODEV, "ib:%s: libibumad does not start", where);
	if (umad_get_ca(*at->ca ? at->ca : NULL, &ca) < 0)
		return *at->ca ? fab_fail(err, ENODEV,
					  "ib:%s: no InfiniBand adapter of this name",
					  where)
			       : fab_fail(err, ENODEV,
					  "no InfiniBand adapter in this machine");
	for (int i = 0; i < UMAD_CA_MAX_PORTS && !rc; i++) {
		const umad_port_t *port = ca.ports[i];

		if (!port || found || (at->port && at->port != port->portnum))
			continue;
		if (port->phys_state == PHYS_LINK_UP)
			found = port;
		else if (at->port)
			rc = fab_fail(err, ENODEV,
				      "ib:%s: port %d of adapter %s has no link", where,
				      at->port, ca.ca_name);
	}
	if (!rc && !found && at->port)
		rc = fab_fail(err, ENODEV, "ib:%s: adapter %s has no port %d", where,
			      ca.ca_name, at->port);
	else if (!rc && !found)
		rc = fab_fail(err, ENODEV, "ib:%s: no port of adapter %s has a link",
			      where, ca.ca_name);
	if (found) {
		snprintf(at->ca, sizeof(at->ca), "%s", ca.ca_name);
		at->port = found->portnum;
	}
	umad_release_ca(&ca);
	if (rc)
		return rc;
	fd = umad_open_port(at->ca, at->port);
	if (fd < 0)
		return fab_fail(err, -fd,
				"ib:%s: port %d of adapter %s cannot be opened: %s",
				where, at->port, at->ca, strerror(-fd));
	umad_close_port(fd);
	return 0;
}

struct walk {
	struct fab_builder *b;
	struct fab_map64 *node_of; /* GUID -> node of the builder */
};

static void add_live_node(ibnd_node_t *node, void *to)
{
	struct walk *walk = to;
	struct fab_node_spec spec = {
		.guid = node->guid,
		.sys_guid = fab_smp_system_guid(node->info),
		.vendor = fab_smp_vendor(node->info),
		.device = fab_smp_device(node->info),
		.n_ports = (uint16_t)node->numports,
		.is_enhanced = node->smaenhsp0,
		.name = node->nodedesc,
		.name_len = strnlen(node->nodedesc, FAB_SMP_BYTES),
	};
	uint32_t id = fab_builder_n_nodes(walk->b);

	if (!fab_smp_kind((unsigned)node->type, spec.name, spec.name_len, &spec.kind) ||
	    fab_map64_put(walk->node_of, node->guid, id) != id)
		return;
	fab_builder_add_node(walk->b, &spec);
	if (spec.kind == FAB_SWITCH)
		fab_builder_set_port(walk->b, id, 0, fab_smp_port_guid(node->info),
				     node->smalid, node->smalmc);
}

static void add_live_port(struct walk *walk, uint32_t id, ibnd_port_t *port)
{
	const ibnd_node_t *node = port->node;
	bool is_switch = node->type == FAB_SMP_SWITCH;
	const ibnd_port_t *capable = is_switch ? node->ports[0] : port;
	bool is_fdr10 =
		mad_get_field(port->ext_info, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) &
		FDR10_ACTIVE;
	struct fab_end end = {.node = id, .port = (uint16_t)port->portnum};

	if (!is_switch)
		fab_builder_set_port(walk->b, id, (uint16_t)port->portnum, port->guid,
				     port->base_lid, port->lmc);
	if (!port->remoteport)
		return;
	end.peer = fab_map64_get(walk->node_of, port->remoteport->node->guid);
	if (end.peer == FAB_NONE)
		return;
	end.peer_port = (uint16_t)port->remoteport->portnum;
	fab_smp_rate(port->info, capable && fab_smp_has_ext_speeds(capable->info),
		     is_fdr10, &end.width, &end.speed);
	fab_builder_add_end(walk->b, &end);
}

static void add_live_ports(ibnd_node_t *node, void *to)
{
	struct walk *walk = to;
	uint32_t id = fab_map64_get(walk->node_of, node->guid);

	if (id == FAB_NONE)
		return;
	for (int i = 1; i <= node->numports; i++)
		if (node->ports[i])
			add_live_port(walk, id, node->ports[i]);
}

int fab_netdisc_read(struct fab_builder *b, const char *where, struct fab_err *err)
{
	struct ibnd_config config = {.flags = IBND_CONFIG_MLX_EPI};
	struct local_port at = {.port = 0};
	ibnd_fabric_t *fabric;
	int rc = find_port(&at, where, err);
	static const int types[] = {FAB_SMP_SWITCH, FAB_SMP_ADAPTER, FAB_SMP_ROUTER};
	struct walk walk;

	if (rc)
		return rc;
	fabric = ibnd_discover_fabric(at.ca, at.port, NULL, &config);
	if (!fabric)
		return fab_fail(err, EIO,
				"ib:%s: discovery from port %d of adapter %s failed",
				where, at.port, at.ca);
	/* In the order in which ibnetdiscover(8) would print it. */
	walk = (struct walk){.b = b, .node_of = fab_map64_new(1024)};
	for (size_t i = 0; i < FAB_COUNT(types); i++)
		ibnd_iter_nodes_type(fabric, add_live_node, types[i], &walk);
	for (size_t i = 0; i < FAB_COUNT(types); i++)
		ibnd_iter_nodes_type(fabric, add_live_ports, types[i], &walk);
	fab_map64_free(walk.node_of);
	ibnd_destroy_fabric(fabric);
	return 0;
}
