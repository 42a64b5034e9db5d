/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/subnet_lst.h"

#include <errno.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "fabric/fabric.h"
#include "source/scan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DESCRIPTION = 64 };

static void put_name(FILE *out, const struct fab_fabric *f, uint32_t node)
{
	static const char end[] = " LID:";
	const char *name = fab_node_name(f, node);
	char *blanked;

	if (f->node_kind[node] == FAB_AGGREGATION &&
	    !fab_is_aggregation_name(name, strlen(name)))
		name = FAB_AGGREGATION_NAME;
	blanked = fab_strndup(name, strnlen(name, MAX_DESCRIPTION));
	fab_text_blank(blanked);
	putc_unlocked('{', out);
	for (const char *at = blanked; *at; at++)
		putc_unlocked(strncmp(at + 1, end, sizeof(end) - 1) || *at != '}' ? *at
										  : ')',
			      out);
	putc_unlocked('}', out);
	free(blanked);
}

static const char *kind_text(const struct fab_fabric *f, uint32_t node)
{
	if (fab_node_is_switch(f, node))
		return "SW";
	return f->node_kind[node] == FAB_ROUTER ? "Rt" : "CA";
}

/* Ports of a node; where that is not known, as many as have a number. */
static unsigned n_ports_of(const struct fab_fabric *f, uint32_t node)
{
	unsigned last = f->port_num[f->node_first_port[node + 1] - 1];

	return f->node_n_ports[node] > last ? f->node_n_ports[node] : last;
}

/* The port that LID and GUID of an end belong to: for a switch its port 0. */
static uint32_t own_port(const struct fab_fabric *f, uint32_t port)
{
	uint32_t node = f->port_node[port];

	return fab_node_is_switch(f, node) ? f->node_first_port[node] : port;
}

static void put_end(FILE *out, const struct fab_fabric *f, uint32_t port)
{
	uint32_t node = f->port_node[port], own = own_port(f, port);
	unsigned long long guid = f->node_guid[node], port_guid = f->port_guid[own];

	if (!port_guid && fab_node_is_switch(f, node))
		port_guid = guid;
	fprintf(out,
		"{ %s Ports:%02X SystemGUID:%016llx NodeGUID:%016llx PortGUID:%016llx "
		"VenID:%08X DevID:%04X Rev:%08X ",
		kind_text(f, node), n_ports_of(f, node),
		(unsigned long long)f->node_sys_guid[node], guid, port_guid,
		f->node_vendor[node], f->node_device[node] & 0xffff, 0u);
	put_name(out, f, node);
	fprintf(out, " LID:%04X PN:%02X }", f->port_lid[own], f->port_num[port]);
}

/* Gbit/s of a lane as OpenSM names the speeds. */
static const char *speed_text(uint8_t speed)
{
	static const char *const texts[] = {
		[FAB_SDR] = "2.5",     [FAB_DDR] = "5",	  [FAB_QDR] = "10",
		[FAB_FDR10] = "FDR10", [FAB_FDR] = "14",  [FAB_EDR] = "25",
		[FAB_HDR] = "50",      [FAB_NDR] = "100", [FAB_XDR] = "200",
	};

	return speed < FAB_COUNT(texts) && texts[speed] ? texts[speed] : "??";
}

/* Switches come first: has one of them a cable? */
static bool has_cabled_switch(const struct fab_fabric *f)
{
	for (uint32_t port = 0; port < f->node_first_port[f->n_switches]; port++)
		if (fab_port_peer(f, port) != FAB_NONE)
			return true;
	return false;
}

int fab_export_subnet_lst(FILE *out, const struct fab_fabric *f, struct fab_err *err)
{
	int rc = fab_guids_differ(f, f->n_nodes, "lists of links", err);

	if (rc)
		return rc;
	if (f->n_cables && !has_cabled_switch(f))
		return fab_fail(err, EINVAL,
				"no switch has a cable: a list of links would be one of "
				"adapters only, which nobody reads");
	for (uint32_t port = 0; port < f->n_ports; port++) {
		uint32_t peer = fab_port_peer(f, port);

		if (peer == FAB_NONE)
			continue;
		put_end(out, f, port);
		putc_unlocked(' ', out);
		put_end(out, f, peer);
		if (f->port_width[port])
			fprintf(out, " PHY=%ux", f->port_width[port]);
		else
			fputs(" PHY=??", out);
		fprintf(out, " LOG=ACT SPD=%s\n", speed_text(f->port_speed[port]));
	}
	return 0;
}
