/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"
#include "base/mem.h"
#include "source/reader.h"
#include "source/scan.h"
#include "source/smp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void fab_smp_rate(const uint8_t *port_info, bool has_ext, bool is_fdr10, uint8_t *width,
		  uint8_t *speed)
{
	static const uint8_t lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2};
	static const uint8_t plain[] = {[1] = FAB_SDR, [2] = FAB_DDR, [4] = FAB_QDR};
	static const uint8_t ext[] = {
		[1] = FAB_FDR, [2] = FAB_EDR, [4] = FAB_HDR, [8] = FAB_NDR};
	unsigned w = port_info[31], s = port_info[35] >> 4;
	unsigned e = has_ext ? port_info[62] >> 4 : 0;

	*width = w < sizeof(lanes) ? lanes[w] : 0;
	if (e)
		*speed = e < sizeof(ext) ? ext[e] : (uint8_t)FAB_SPEED_UNKNOWN;
	else if (is_fdr10 && s == 4)
		*speed = FAB_FDR10;
	else
		*speed = s < sizeof(plain) ? plain[s] : (uint8_t)FAB_SPEED_UNKNOWN;
}

bool fab_smp_kind(unsigned type, const char *name, size_t name_len,
		  enum fab_node_kind *kind)
{
	if (type == FAB_SMP_SWITCH)
		*kind = FAB_SWITCH;
	else if (type == FAB_SMP_ADAPTER)
		*kind = fab_is_aggregation_name(name, name_len) ? FAB_AGGREGATION
								: FAB_ADAPTER;
	else if (type == FAB_SMP_ROUTER)
		*kind = FAB_ROUTER;
	else
		return false;
	return true;
}

enum {
	MAGIC_BYTES = 4,
	HEADER_BYTES = 28,
	NODE_BYTES = 15 + 3 * FAB_SMP_BYTES,
	KEY_BYTES = 9, /* port GUID and number */
	PORT_BYTES = 31 + FAB_SMP_BYTES,
	/* within a node */
	NODE_SWITCH_INFO = 4,
	NODE_GUID = NODE_SWITCH_INFO + FAB_SMP_BYTES,
	NODE_TYPE = NODE_GUID + 8,
	NODE_N_PORTS,
	NODE_INFO,
	NODE_NAME = NODE_INFO + FAB_SMP_BYTES,
	NODE_STORED = NODE_NAME + FAB_SMP_BYTES,
	/* within a port */
	PORT_NUMBER = 8,
	PORT_LID = 10,
	PORT_LMC = 12,
	PORT_INFO = 13,
	PORT_NODE = PORT_INFO + FAB_SMP_BYTES,
	PORT_HAS_PEER = PORT_NODE + 8,
	PORT_PEER = PORT_HAS_PEER + 1,
};

struct cache {
	struct fab_builder *b;
	const char *name;
	struct fab_err *err;
	const uint8_t *bytes;
	size_t n, at;
	uint32_t n_nodes, n_ports;
	const uint8_t *ports;
	struct fab_map64 *node_of;  /* GUID -> node of the builder */
	struct fab_strmap *port_of; /* key bytes -> port of the file */
	uint32_t *port_node;	    /* [n_ports] node of the builder, FAB_NONE */
	uint8_t *has_ext;	    /* [nodes] extended speeds, by port 0 of a switch */
};

static uint64_t le(const uint8_t *p, int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | p[bytes];
	return value;
}

bool fab_is_cache(const char *bytes, size_t n)
{
	static const unsigned char magic[MAGIC_BYTES] = {0x2b, 0x83, 0xe7, 0x8f};

	return n >= MAGIC_BYTES && !memcmp(bytes, magic, MAGIC_BYTES);
}

static int cut_off(const struct cache *c, const char *what, uint32_t i, uint32_t n)
{
	return fab_fail(
		c->err, EINVAL,
		"%s: libibnetdisc cache ends at byte %zu within %s %u, expected %u",
		c->name, c->n, what, i + 1, n);
}

static int read_nodes(struct cache *c)
{
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const uint8_t *p = c->bytes + c->at;
		size_t keys;
		const uint8_t *info;
		uint64_t guid;
		const char *name;
		struct fab_node_spec spec;
		uint32_t node;

		if (c->n - c->at < NODE_BYTES)
			return cut_off(c, "node", i, c->n_nodes);
		keys = (size_t)p[NODE_STORED] * KEY_BYTES;
		if (c->n - c->at - NODE_BYTES < keys)
			return cut_off(c, "node", i, c->n_nodes);
		info = p + NODE_INFO;
		guid = le(p + NODE_GUID, 8);
		name = (const char *)p + NODE_NAME;
		spec = (struct fab_node_spec){
			.guid = guid,
			.sys_guid = fab_smp_system_guid(info),
			.vendor = fab_smp_vendor(info),
			.device = fab_smp_device(info),
			.n_ports = p[NODE_N_PORTS],
			.is_enhanced = p[3],
			.name = name,
			.name_len = strnlen(name, FAB_SMP_BYTES),
		};
		node = fab_builder_n_nodes(c->b);
		if (!fab_smp_kind(p[NODE_TYPE], name, spec.name_len, &spec.kind))
			return fab_fail(
				c->err, EINVAL,
				"%s: node %u of the libibnetdisc cache has type %u, expected 1, 2 or 3",
				c->name, i + 1, p[NODE_TYPE]);
		if (fab_map64_put(c->node_of, guid, node) != node)
			return fab_fail(
				c->err, EINVAL,
				"%s: node %u of the libibnetdisc cache has GUID 0x%016llx, which an earlier one has, expected one node a GUID",
				c->name, i + 1, (unsigned long long)guid);
		fab_builder_add_node(c->b, &spec);
		if (spec.kind == FAB_SWITCH)
			fab_builder_set_port(c->b, node, 0, fab_smp_port_guid(info),
					     (uint16_t)le(p, 2), p[2] & 7);
		c->at += NODE_BYTES + keys;
	}
	return 0;
}

/* Which node each port belongs to, and what each switch's port 0 says. */
static int index_ports(struct cache *c)
{
	if ((c->n - c->at) / PORT_BYTES < c->n_ports)
		return cut_off(c, "port", (uint32_t)((c->n - c->at) / PORT_BYTES),
			       c->n_ports);
	c->ports = c->bytes + c->at;
	c->port_node = FAB_NEW(c->n_ports, uint32_t);
	c->has_ext = FAB_NEW0(c->n_nodes, uint8_t);
	c->port_of = fab_strmap_new(c->n_ports);
	for (uint32_t i = 0; i < c->n_ports; i++) {
		const uint8_t *p = c->ports + (size_t)i * PORT_BYTES;
		uint64_t guid = le(p + PORT_NODE, 8);
		uint32_t node = fab_map64_get(c->node_of, guid);

		if (node == FAB_NONE)
			return fab_fail(
				c->err, EINVAL,
				"%s: port %u of the libibnetdisc cache belongs to node 0x%016llx, expected one of the %u nodes",
				c->name, i + 1, (unsigned long long)guid, c->n_nodes);
		c->port_node[i] = node;
		if (fab_strmap_put(c->port_of, (const char *)p, KEY_BYTES, i) != i) {
			fab_builder_warn(c->b, "duplicate-guid", 0,
					 "port %u with GUID 0x%016llx is there twice",
					 p[PORT_NUMBER], (unsigned long long)le(p, 8));
			fab_builder_warn_about(c->b, "0x%016llx/%u",
					       (unsigned long long)le(p, 8),
					       p[PORT_NUMBER]);
		}
		if (!p[PORT_NUMBER])
			c->has_ext[node] = fab_smp_has_ext_speeds(p + PORT_INFO);
	}
	return 0;
}

static void add_cached_port(struct cache *c, const uint8_t *p, uint32_t node)
{
	bool is_switch = fab_builder_node(c->b, node)->kind == FAB_SWITCH;
	bool has_ext =
		is_switch ? c->has_ext[node] : fab_smp_has_ext_speeds(p + PORT_INFO);
	struct fab_end end = {.node = node, .port = p[PORT_NUMBER]};
	uint32_t peer;

	if (!is_switch && p[PORT_NUMBER])
		fab_builder_set_port(c->b, node, p[PORT_NUMBER], le(p, 8),
				     (uint16_t)le(p + PORT_LID, 2), p[PORT_LMC] & 7);
	if (!p[PORT_HAS_PEER])
		return;
	peer = fab_strmap_get(c->port_of, (const char *)p + PORT_PEER, KEY_BYTES);
	if (peer == FAB_NONE) {
		fab_builder_warn(c->b, "unknown-peer", 0,
				 "the peer of port %u of \"%s\" is not in the cache",
				 p[PORT_NUMBER], fab_builder_name(c->b, node));
		fab_builder_warn_about(
			c->b, "0x%016llx/%u",
			(unsigned long long)fab_builder_node(c->b, node)->guid,
			p[PORT_NUMBER]);
		return;
	}
	end.peer = c->port_node[peer];
	end.peer_port = p[PORT_PEER + 8];
	fab_smp_rate(p + PORT_INFO, has_ext, false, &end.width, &end.speed);
	fab_builder_add_end(c->b, &end);
}

int fab_cache_read(struct fab_builder *b, const char *name, const char *bytes, size_t n,
		   struct fab_err *err)
{
	struct cache c = {
		.b = b,
		.name = name,
		.err = err,
		.bytes = (const uint8_t *)bytes,
		.n = n,
	};
	int rc;
	size_t rest = c.n - HEADER_BYTES;
	uint64_t version;

	if (c.n < HEADER_BYTES)
		return fab_fail(
			c.err, EINVAL,
			"%s: libibnetdisc cache of %zu bytes, expected at least %d of a header",
			c.name, c.n, HEADER_BYTES);
	version = le(c.bytes + 4, 4);
	if (version != 1)
		return fab_fail(c.err, EINVAL,
				"%s: libibnetdisc cache of version %llu, expected 1",
				c.name, (unsigned long long)version);
	c.n_nodes = (uint32_t)le(c.bytes + 8, 4);
	c.n_ports = (uint32_t)le(c.bytes + 12, 4);
	if (c.n_nodes > rest / NODE_BYTES || c.n_ports > rest / PORT_BYTES)
		return fab_fail(
			c.err, EINVAL,
			"%s: libibnetdisc cache with %u nodes and %u ports in %zu bytes, expected more bytes",
			c.name, c.n_nodes, c.n_ports, c.n);
	c.at = HEADER_BYTES;
	c.node_of = fab_map64_new(c.n_nodes);
	rc = read_nodes(&c);
	if (!rc)
		rc = index_ports(&c);
	for (uint32_t i = 0; !rc && i < c.n_ports; i++)
		add_cached_port(&c, c.ports + (size_t)i * PORT_BYTES, c.port_node[i]);
	fab_map64_free(c.node_of);
	fab_strmap_free(c.port_of);
	free(c.port_node);
	free(c.has_ext);
	return rc;
}
