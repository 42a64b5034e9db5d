/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/gen/net.h"

#include "base/human.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SWITCH_GUID 0x02fab00000000001u
#define ADAPTER_GUID 0x02fab10000000010u

enum { LID_LAST = 49151, VENDOR = 0x02fab0, DEVICE_SWITCH = 1, DEVICE_ADAPTER = 2 };

uint64_t fab_gen_mul(uint64_t a, uint64_t b)
{
	uint64_t c;

	return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

uint64_t fab_gen_add(uint64_t a, uint64_t b)
{
	uint64_t c;

	return __builtin_add_overflow(a, b, &c) ? UINT64_MAX : c;
}

/* Bytes of a fabric while it is built, about; measured. */
static uint64_t bytes_of(const struct fab_gen_size *size)
{
	enum { NODE_BYTES = 220, CABLE_BYTES = 130 };
	uint64_t nodes = fab_gen_add(size->switches, size->adapters);

	return fab_gen_add(fab_gen_mul(nodes, NODE_BYTES),
			   fab_gen_mul(size->cables, CABLE_BYTES));
}

int fab_gen_check_size(const struct fab_gen_net *net, const struct fab_gen_size *size,
		       struct fab_err *err)
{
	static const char more[] = "more than the";
	uint64_t bytes = bytes_of(size), available = fab_memory_bytes();
	char takes[FAB_HUMAN_BYTES], has[FAB_HUMAN_BYTES];

	if (size->ports > FAB_GEN_PORTS_MAX)
		return fab_fail(
			err, EINVAL,
			"gen:%s: a switch would have %s %d ports that are allowed",
			net->kind, more, FAB_GEN_PORTS_MAX);
	fab_human_bytes(bytes, takes);
	if (fab_gen_add(size->switches, size->adapters) > FAB_GEN_NODES_MAX)
		return fab_fail(err, EINVAL,
				"gen:%s: the fabric would have %s %d switches and "
				"adapters that can be numbered (and take %s of memory)",
				net->kind, more, FAB_GEN_NODES_MAX, takes);
	if (size->cables > FAB_GEN_CABLES_MAX)
		return fab_fail(err, EINVAL,
				"gen:%s: the fabric would have %s %d cables that can be "
				"numbered (and take %s of memory)",
				net->kind, more, FAB_GEN_CABLES_MAX, takes);
	if (bytes > available)
		return fab_fail(err, ENOMEM,
				"gen:%s: the fabric would take about %s of memory, there "
				"are %s",
				net->kind, takes, fab_human_bytes(available, has));
	return 0;
}

/* LIDs are given in the order of the nodes; said once when they have run out. */
static uint16_t next_lid(struct fab_gen_net *net)
{
	uint32_t lid = net->n_switches + net->n_adapters;

	if (lid == LID_LAST + 1)
		fab_builder_warn(net->builder, "lids-exhausted", 0,
				 "there are only %d unicast LIDs: node %" PRIu32
				 " and all after it have none",
				 LID_LAST, lid);
	return lid <= LID_LAST ? (uint16_t)lid : FAB_LID_NONE;
}

uint32_t fab_gen_switch(struct fab_gen_net *net, uint32_t n_ports, const char *format,
			...)
{
	char name[FAB_GEN_PREFIX_MAX + FAB_GEN_NAME_MAX];
	uint64_t guid = SWITCH_GUID + net->n_switches;
	uint32_t id;
	va_list ap;
	int n;

	memcpy(name, net->prefix, net->prefix_len);
	va_start(ap, format);
	n = vsnprintf(name + net->prefix_len, FAB_GEN_NAME_MAX, format, ap);
	va_end(ap);
	id = fab_builder_add_node(net->builder,
				  &(struct fab_node_spec){
					  .kind = FAB_SWITCH,
					  .guid = guid,
					  .sys_guid = guid,
					  .vendor = VENDOR,
					  .device = DEVICE_SWITCH,
					  .n_ports = (uint16_t)n_ports,
					  .is_enhanced = true,
					  .name = name,
					  .name_len = net->prefix_len + (size_t)n,
				  });
	net->n_switches++;
	fab_builder_set_port(net->builder, id, 0, guid, next_lid(net), 0);
	return id;
}

void fab_gen_host(struct fab_gen_net *net)
{
	net->host_guid = ADAPTER_GUID + 16 * (uint64_t)net->n_adapters;
	net->rail = 0;
	net->n_hosts++;
}

/* Decimal digits of a number in front of `end`; returns where they begin. */
static char *digits_before(char *end, uint32_t number)
{
	do
		*--end = (char)('0' + number % 10);
	while (number /= 10);
	return end;
}

/* "PREFIXhI HCA-R", without printf: there are as many adapters as anything. */
static size_t adapter_name(const struct fab_gen_net *net, char *name)
{
	static const char adapter[] = {' ', 'H', 'C', 'A', '-'};
	char digits[12], *end = digits + sizeof(digits), *from;
	size_t n = net->prefix_len;

	memcpy(name, net->prefix, n);
	name[n++] = 'h';
	from = digits_before(end, net->n_hosts - 1);
	memcpy(name + n, from, (size_t)(end - from));
	n += (size_t)(end - from);
	memcpy(name + n, adapter, sizeof(adapter));
	n += sizeof(adapter);
	from = digits_before(end, net->rail);
	memcpy(name + n, from, (size_t)(end - from));
	return n + (size_t)(end - from);
}

void fab_gen_adapter(struct fab_gen_net *net, uint32_t sw, uint32_t port)
{
	char name[FAB_GEN_PREFIX_MAX + FAB_GEN_NAME_MAX];
	uint64_t guid = ADAPTER_GUID + 16 * (uint64_t)net->n_adapters;
	uint32_t id;

	net->rail++;
	id = fab_builder_add_node(net->builder,
				  &(struct fab_node_spec){
					  .kind = FAB_ADAPTER,
					  .guid = guid,
					  .sys_guid = net->host_guid,
					  .vendor = VENDOR,
					  .device = DEVICE_ADAPTER,
					  .n_ports = 1,
					  .name = name,
					  .name_len = adapter_name(net, name),
				  });
	net->n_adapters++;
	fab_builder_set_port(net->builder, id, 1, guid + 1, next_lid(net), 0);
	fab_builder_add_cable(net->builder, sw, (uint16_t)port, id, 1, net->width,
			      net->speed);
}

void fab_gen_hosts(struct fab_gen_net *net, uint32_t sw, uint32_t n)
{
	for (uint32_t port = 1; port <= n; port++) {
		fab_gen_host(net);
		fab_gen_adapter(net, sw, port);
	}
}

void fab_gen_cable(struct fab_gen_net *net, uint32_t a, uint32_t port_a, uint32_t b,
		   uint32_t port_b)
{
	fab_builder_add_cable(net->builder, a, (uint16_t)port_a, b, (uint16_t)port_b,
			      net->width, net->speed);
}

void fab_gen_coords(uint32_t index, const uint32_t *dims, uint32_t n, uint32_t *v)
{
	for (uint32_t d = n; d-- > 0;) {
		v[d] = index % dims[d];
		index /= dims[d];
	}
}

const char *fab_gen_coords_text(const uint32_t *v, uint32_t n, uint32_t skip,
				char text[FAB_GEN_NAME_MAX])
{
	size_t at = 0;

	for (uint32_t d = 0; d < n && at < FAB_GEN_NAME_MAX; d++) {
		const char *dot = d ? "." : "";

		if (d == skip)
			at += (size_t)snprintf(text + at, FAB_GEN_NAME_MAX - at, "%sx",
					       dot);
		else
			at += (size_t)snprintf(text + at, FAB_GEN_NAME_MAX - at,
					       "%s%" PRIu32, dot, v[d]);
	}
	return text;
}
