/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of a switched fabric: nodes, ports, cables, hosts and the graph of switches.
 *
 * A fabric is made once by a builder (fabric/builder.h) and never changes afterwards: all
 * algorithms take `const struct fab_fabric *`. Everything is a flat array over dense
 * 32-bit ids, so the struct is open for reading; only the builder writes it.
 *
 * Ids
 *   node   0 .. n_nodes-1: all switches first (0 .. n_switches-1), in the order in which
 *          they were added, then adapters, aggregation nodes and routers in that order.
 *   port   0 .. n_ports-1: node by node, ascending port number. Only ports that matter
 *          are kept: port 0 of every switch (its management port), and every port with a
 *          cable or an attribute of its own. node_n_ports says how many a node has.
 *   cable  0 .. n_cables-1: first the switch_links (switch to switch, self-loops too),
 *          then the host_links (switch to anything else), then adapter to adapter. In
 *          each part by ascending port id of the lower end. port_a < port_b, except that
 *          for a host link port_a is the port of the switch (which is lower anyway).
 *   host   0 .. n_hosts-1 in order of their first adapter.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"

struct fab_err;
struct fab_map64;

typedef uint32_t fab_node_id;
typedef uint32_t fab_port_id;
typedef uint32_t fab_cable_id;
typedef uint32_t fab_host_id;

enum fab_node_kind {
	FAB_SWITCH,
	FAB_ADAPTER,
	FAB_AGGREGATION, /* SHARP aggregation node: a channel adapter, no host */
	FAB_ROUTER,
};

/* Link widths as a count of lanes; 0 is unknown ("??"). */
/* Link speeds, ascending; the order is that of the rates. */
enum fab_speed {
	FAB_SPEED_UNKNOWN,
	FAB_SDR,
	FAB_DDR,
	FAB_QDR,
	FAB_FDR10,
	FAB_FDR,
	FAB_EDR,
	FAB_HDR,
	FAB_NDR,
	FAB_XDR,
};

enum { FAB_LID_NONE = 0, FAB_HOPS_UNREACHABLE = 255 };

/*
 * Something in the input or the fabric that deserves a word but does not stop the work.
 * `code` is stable and machine-readable (`one-sided-cable`), `message` says it in full,
 * `line` is the line of the input (0: none).
 */
struct fab_warning {
	const char *code;
	char *message;
	uint64_t line;
	char *about; /* GUID or GUID/PORT ... as in findings (fabric/check.h), NULL:
			unknown */
};

struct fab_fabric {
	struct fab_arena arena, texts; /* arrays; messages of warnings */
	char *source;		       /* the FABRIC argument it came from */
	char *format; /* "ibnetdiscover", "ibnetdiscover-ports", "cache", "subnet-lst",
			 "generated", "live" */

	uint32_t n_nodes, n_switches;
	uint32_t n_adapters;	      /* channel adapters, aggregation nodes included */
	uint32_t n_aggregation_nodes; /* of these: SHARP aggregation nodes */
	uint32_t n_routers;
	uint32_t n_left_out_switches; /* of rails that --hca did not choose: not in it */
	uint32_t n_ports;
	uint32_t n_cables, n_switch_links, n_host_links;
	uint32_t n_hosts;

	/* nodes [n_nodes] */
	uint8_t *node_kind;	   /* enum fab_node_kind */
	uint8_t *node_is_enhanced; /* switch: "enhanced port 0" */
	uint16_t *node_n_ports;	   /* ports that the hardware has, port 0 not counted */
	uint32_t *node_first_port; /* [n_nodes + 1] */
	uint32_t *node_name; /* offset into names: the description, or the mapped name */
	uint32_t *node_host; /* host of an adapter, else FAB_NONE */
	uint32_t *node_vendor, *node_device;
	uint32_t *switch_n_left_out; /* [n_switches] cables to host adapters that --hca
					left out */
	uint64_t *node_guid, *node_sys_guid; /* 0: none */

	/* ports [n_ports] */
	uint64_t *port_guid; /* adapters: the port's own; switches: on port 0; else 0 */
	uint32_t *port_node;
	uint32_t *port_cable; /* FAB_NONE: no cable */
	uint16_t *port_num;
	uint16_t *port_lid; /* switches: on port 0 */
	uint8_t *port_lmc;
	uint8_t *port_width; /* lanes: 1 2 4 8 12, 0 unknown; what this end says */
	uint8_t *port_speed; /* enum fab_speed */

	/* cables [n_cables] */
	uint32_t *cable_a, *cable_b; /* port ids */

	/* hosts [n_hosts] */
	uint32_t *host_name;	      /* offset into names */
	uint32_t *host_first_adapter; /* [n_hosts + 1] into host_adapter */
	uint32_t *host_adapter;	      /* node ids */
	const char *host_rule;	      /* the rule that grouped them, in words; begins with
					 "name map" if there was one */

	/*
	 * Graph of switches in compressed rows, self-loops left out. Arcs: one for each
	 * cable end, by ascending port number. Neighbours: each once, ascending by
	 * switch.
	 */
	uint32_t *arc_first; /* [n_switches + 1] */
	uint32_t *arc_peer;  /* switch at the other end */
	uint32_t *arc_cable;
	uint16_t *arc_reverse; /* the same cable from the peer, counted from its arc_first
				*/
	uint32_t *peer_first;  /* [n_switches + 1] */
	uint32_t *peer;

	char *names; /* all names, each closed by NUL */
	size_t names_bytes;

	struct fab_warning *warnings;
	uint32_t n_warnings;
	uint64_t n_warnings_total; /* those beyond the stored ones, too */
};

/*
 * Loops over the ports of a node, the arcs and the neighbours of a switch, and the
 * adapters of a host (places in host_adapter):
 *   FAB_EACH_ARC(f, sw, a)
 *           n += f->arc_peer[a] == to;
 */
#define FAB_EACH_OF(first, of, i)                                                        \
	for (uint32_t i = (first)[of]; i < (first)[(of) + 1]; i++)
#define FAB_EACH_PORT(f, node, p) FAB_EACH_OF((f)->node_first_port, node, p)
#define FAB_EACH_ARC(f, sw, a) FAB_EACH_OF((f)->arc_first, sw, a)
#define FAB_EACH_PEER(f, sw, i) FAB_EACH_OF((f)->peer_first, sw, i)
#define FAB_EACH_ADAPTER(f, host, i) FAB_EACH_OF((f)->host_first_adapter, host, i)
/* All ports of a host's adapters; `break` ends those of one adapter. */
#define FAB_EACH_HOST_PORT(f, host, p)                                                   \
	FAB_EACH_ADAPTER(f, host, p##_adapter)                                           \
		FAB_EACH_PORT(f, (f)->host_adapter[p##_adapter], p)

/* Arcs of a switch: cables to other switches. O(1). */
static inline uint32_t fab_degree(const struct fab_fabric *f, uint32_t sw)
{
	return f->arc_first[sw + 1] - f->arc_first[sw];
}

/* LIDs of a port, by its LMC; 1 where it has none. Each LID of an end is a destination of
 * its own: pairs of ends count the source port with every LID of the target. O(1). */
static inline uint32_t fab_port_n_lids(const struct fab_fabric *f, uint32_t port)
{
	return 1u << (f->port_lmc[port] & 7);
}

/* Frees everything; NULL is allowed. O(size). */
void fab_fabric_free(struct fab_fabric *fabric);
FAB_AUTO_POINTER(fab_fabric)

/* Borrowed: the name of a node or host, valid as long as the fabric. O(1). */
static inline const char *fab_node_name(const struct fab_fabric *f, fab_node_id node)
{
	return f->names + f->node_name[node];
}

/* Borrowed, not escaped: for a terminal see fab_text_safe(). O(1). */
static inline const char *fab_host_name(const struct fab_fabric *f, fab_host_id host)
{
	return f->names + f->host_name[host];
}

/* Switches have the ids below n_switches. O(1). */
static inline bool fab_node_is_switch(const struct fab_fabric *f, fab_node_id node)
{
	return node < f->n_switches;
}

/* The port at the other end of a port's cable, FAB_NONE without a cable. O(1). */
static inline fab_port_id fab_port_peer(const struct fab_fabric *f, fab_port_id port)
{
	uint32_t c = f->port_cable[port];

	if (c == FAB_NONE)
		return FAB_NONE;
	return f->cable_a[c] == port ? f->cable_b[c] : f->cable_a[c];
}

/* The arc of the same cable from its other end. O(1). */
static inline uint32_t fab_arc_back(const struct fab_fabric *f, uint32_t arc)
{
	return f->arc_first[f->arc_peer[arc]] + f->arc_reverse[arc];
}

/* The port by which an arc of a switch leaves it. O(1). */
static inline fab_port_id fab_arc_port(const struct fab_fabric *f, uint32_t sw,
				       uint32_t arc)
{
	uint32_t c = f->arc_cable[arc], a = f->cable_a[c];

	return f->port_node[a] == sw ? a : f->cable_b[c];
}

/* The port of a switch that a cable is in, and the switch at its other end; of a cable
 * between two different ones. O(1). */
static inline fab_port_id fab_cable_port(const struct fab_fabric *f, uint32_t cable,
					 uint32_t sw)
{
	uint32_t a = f->cable_a[cable];

	return f->port_node[a] == sw ? a : f->cable_b[cable];
}
static inline uint32_t fab_cable_peer(const struct fab_fabric *f, uint32_t cable,
				      uint32_t sw)
{
	uint32_t a = f->port_node[f->cable_a[cable]];

	return a == sw ? f->port_node[f->cable_b[cable]] : a;
}

/* Port `num` of a node, FAB_NONE when it is not kept. O(log ports of the node). */
fab_port_id fab_port_find(const struct fab_fabric *f, fab_node_id node, unsigned num);

/* Has the node this port, and can a cable be put into it? The last of 37, 41 or 65 ports
 * leads to the aggregation node inside of the switch. O(log ports of the node). */
bool fab_port_is_free(const struct fab_fabric *f, fab_node_id node, unsigned num);

/* The first port of a node with a cable, else FAB_NONE. */
fab_port_id fab_node_first_connected_port(const struct fab_fabric *f, fab_node_id node);

/*
 * The switch of a port: its own node for a switch's port, the peer for an adapter's.
 * FAB_NONE when the port has no cable to a switch. O(1).
 */
uint32_t fab_port_switch(const struct fab_fabric *f, fab_port_id port);

/*
 * A 64-bit digest of what is cabled to what: node GUIDs, kinds and cable ends, whatever
 * their order in the input. Names, LIDs, widths and speeds do not count. O(nodes +
 * cables).
 */
uint64_t fab_fabric_fingerprint(const struct fab_fabric *f);

/* Identity of a fabric, in every document and every stored run. */
struct fab_brief {
	const char *source; /* borrowed from the fabric */
	uint64_t fingerprint;
	uint64_t switches, adapters, aggregation_nodes, hosts, switch_links, host_links;
};
/* O(1), plus the fingerprint. */
struct fab_brief fab_fabric_brief(const struct fab_fabric *f);

/*
 * Parts of the graph of switches: component[switch] = its number, numbered by lowest
 * switch. Adapters do not forward, so that one with ports in two parts joins nothing.
 * Returns how many. `component` is the caller's, [n_switches]. O(switches + cables).
 */
uint32_t fab_fabric_components(const struct fab_fabric *f, uint32_t *component);

/* "HDR", "???" for unknown: as ibnetdiscover writes it. Borrowed static text. O(1). */
const char *fab_speed_name(enum fab_speed speed);
/* Gbit/s of one lane as the rates are named (4xEDR 100, 4xHDR 200); 0 unknown. O(1). */
double fab_speed_lane_gbps(enum fab_speed speed);
/* Lower rate of the two ends of a cable in Gbit/s, 0 unknown. O(1). */
double fab_cable_gbps(const struct fab_fabric *f, fab_cable_id cable);
/* Gbit/s of data of one lane, without the line code (QDR 8, FDR 13.64, EDR 25); 0
 * unknown. IBA volume 2, link rates. O(1). */
double fab_speed_data_gbps(enum fab_speed speed);
/* Lower data rate of the two ends of a cable in Gbit/s (4xQDR 32), 0 unknown. O(1). */
double fab_cable_data_gbps(const struct fab_fabric *f, fab_cable_id cable);

/* Do cables have one rate, several, and one that is known? What counts loads asks this.
 */

struct fab_rates {
	uint32_t n, n_unknown;	      /* cables; of these without speed or width */
	fab_cable_id first_unknown;   /* FAB_NONE */
	double least_gbps, most_gbps; /* of those that are known; 0: none is */
};

/* Of the cables first .. first + n - 1. O(n). */
struct fab_rates fab_rates_of(const struct fab_fabric *f, fab_cable_id first, uint32_t n);
/* "the rate of 3 of 47 is not known (the first: port 21 of "ib5")"; NULL: all are. The
 * caller frees. */
char *fab_rates_unknown_text(const struct fab_fabric *f, const struct fab_rates *rates);

/*
 * Nodes by their GUID: what forwarding tables, dumps and lists name them by. Of a fabric
 * with damaged or invented GUIDs two nodes may have the same; then such a name means
 * neither.
 */

/*
 * Node ids of the first n_nodes nodes by GUID (0 as any other), FAB_SHARED where several
 * of them have it. fab_map64_free() frees it. O(n_nodes).
 */
struct fab_map64 *fab_guids_new(const struct fab_fabric *f, uint32_t n_nodes);

/*
 * Does every one of the first n_nodes nodes (n_switches: all switches) have a GUID of
 * its own? -EINVAL and a sentence that names two of one GUID, for files in which `what`
 * ("forwarding tables") are identified by it. O(n_nodes).
 */
int fab_guids_differ(const struct fab_fabric *f, uint32_t n_nodes, const char *what,
		     struct fab_err *err) FAB_MUST_CHECK;

enum fab_cable_class {
	FAB_CABLE_SWITCH,      /* switch to switch, self-loops left out */
	FAB_CABLE_HOST,	       /* switch to adapter or router */
	FAB_CABLE_AGGREGATION, /* switch to aggregation node */
	FAB_CABLE_OTHER,       /* self-loops, adapter to adapter */
	FAB_N_CABLE_CLASSES,
};

/* Between what nodes the cable is. O(1). */
enum fab_cable_class fab_cable_class(const struct fab_fabric *f, fab_cable_id cable);

/* Lower width (lanes) and speed of the two ends; an unknown end does not count, 0 when
   both are unknown. O(1). */
uint8_t fab_cable_width(const struct fab_fabric *f, fab_cable_id cable);
uint8_t fab_cable_speed(const struct fab_fabric *f, fab_cable_id cable);
