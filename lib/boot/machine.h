/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines that boot, and the names of their parts. */
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/lookup.h"
#include "fabric/fabric.h"

/*
 * The machine that boots: a tree whose leaves are compute nodes and server interfaces.
 *
 * A vertex is a switch, a board, an adapter ...; the stretch from a vertex up to its
 * parent is a segment with a capacity for each direction (full duplex). An image runs
 * from the server interface up to the lowest common ancestor and down to the node. The
 * machine of Gong et al. is the case of two subtrees under one core switch: nodes in the
 * one, servers in the other; in a fabric nodes and servers share leaf switches.
 *
 * Vertices are numbered so that parents come first; nodes, and likewise interfaces, so
 * that those of a subtree are consecutive.
 */
enum { FAB_MACHINE_LEVELS_MAX = 16 };

/* All vertices of one kind; level 0 is the root alone. */
struct fab_machine_level {
	const char *unit;    /* one of them, as in --boot first:20:board: "board" */
	const char *segment; /* the stretch up to the parent: "N2", "board" */
	bool is_server;	     /* between the top and servers only: traffic runs up */
	bool is_limited;     /* has a finite capacity anywhere */
};

/* Limits of transfers that are no segment (boot/share.h); 0: no such limit. */
struct fab_limits {
	double flow_mbps;     /* of one transfer: the window of its protocol */
	double disk_mbps;     /* of a server, all its interfaces together */
	uint32_t connections; /* that a server serves at once; others wait in order */
	/* by level: links of a segment that transfers are hashed onto, each staying on
	 * its own (0: one pipe); part of a segment, and Mb/s of it, that other traffic
	 * has */
	uint32_t links[FAB_MACHINE_LEVELS_MAX], most_links;
	double reserved[FAB_MACHINE_LEVELS_MAX], reserved_mbps[FAB_MACHINE_LEVELS_MAX];
	uint64_t hash_seed;
};

struct fab_machine {
	struct fab_arena arena;		 /* of all that it has, but the resolver */
	const char *source;		 /* text or file that it was made from */
	const struct fab_fabric *fabric; /* borrowed; NULL when described */
	struct fab_resolver *resolver;	 /* of its names; NULL when described */

	uint32_t n_levels;
	struct fab_machine_level level[FAB_MACHINE_LEVELS_MAX];

	/* vertices [n_vertices]; 0 is the root */
	uint32_t n_vertices;
	uint32_t *parent; /* < the vertex itself; FAB_NONE for the root */
	uint8_t *level_of;
	uint32_t *number;      /* among those of its level, from 0 */
	double *capacity_mbps; /* of the segment above, each direction; INFINITY: none */
	const char **name;     /* NULL: made from level and number */
	/* nodes below (itself, too): first_node .. end_node - 1; interfaces alike */
	uint32_t *first_node, *end_node;
	uint32_t *first_interface, *end_interface;

	uint32_t n_nodes;      /* compute nodes, servers not counted */
	uint32_t n_unnamed;    /* hosts of the fabric that have no name: not among them */
	uint32_t *node_vertex; /* [n_nodes] */
	uint32_t *node_host;   /* [n_nodes] host of the fabric; FAB_NONE without one */
	uint32_t *node_port;   /* [n_nodes] port it boots over; FAB_NONE */

	/* a server has one interface or more; each can be what a node boots from */
	uint32_t n_servers, n_interfaces;
	uint32_t *interface_vertex, *interface_server; /* [n_interfaces] */
	uint32_t *interface_port;		       /* [n_interfaces] FAB_NONE */
	uint32_t *server_host;			       /* [n_servers]; NULL */
	bool *server_is_down;			       /* [n_servers] */
	/* [ports of the fabric] vertex of the segment above that a switch's port sends
	 * up on; FAB_NONE; NULL when described */
	uint32_t *port_vertex;
	struct fab_limits limits;
	/* [n_nodes] image of a node as a part of the largest one, above 0 and at most 1;
	 * NULL: all are equal. Borrowed. */
	const double *image_part;

	char **warnings; /* [n_warnings] a line each */
	uint32_t n_warnings;
};

/* Image of a node as a part of the largest one. O(1). */
static inline double fab_machine_part(const struct fab_machine *m, uint32_t node)
{
	return m->image_part ? m->image_part[node] : 1;
}

/* The path between two vertices, segment by segment: each is that above `at`. */
struct fab_climb {
	uint32_t to, from; /* set before */
	uint32_t at;
	bool is_up; /* on the side of `from` */
};
/* The next segment; false: both sides have met. O(1). */
static inline bool fab_climb_next(struct fab_climb *c, const struct fab_machine *m)
{
	if (c->to == c->from)
		return false;
	c->is_up = c->to < c->from;
	if (c->is_up) {
		c->at = c->from;
		c->from = m->parent[c->at];
	} else {
		c->at = c->to;
		c->to = m->parent[c->at];
	}
	return true;
}

/* NULL is allowed. O(size of the machine). */
void fab_machine_free(struct fab_machine *machine);
FAB_AUTO_POINTER(fab_machine)

/*
 * A machine from the command line:
 *   preset:taihulight    that of Gong et al. (160 supernodes of 32 boards of 8 CPUs, 160
 *                        servers behind 8 cascade switches; segments N1 .. N5)
 *   LEVEL=N[@RATE],...[/LEVEL=N[@RATE],...]
 *                        levels from the core outwards, N of them in each of the level
 *                        before, RATE the capacity up to the level before (none: no
 *                        limit); behind the slash the levels of the servers, the last one
 *                        being the servers. `servers=N[@RATE]` may also end the first
 *                        list: servers right at the core. Plural and singular names are
 *                        the same level (boards, supernodes, cpus, switches).
 * EINVAL with one sentence: unknown preset, 0 or more than 2^24 of something, a level
 * twice, no servers. O(vertices).
 */
int fab_machine_parse(const char *spec, struct fab_machine **out,
		      struct fab_err *err) FAB_MUST_CHECK;

/*
 * A machine from a file (fabric-formats(5), "Machine files"): either level lines
 *     level supernode 160 20Gbps segment=N3
 *     servers
 *     level cascade 8 20Gbps
 *     level server 20 1Gbps
 * or vertices by name, for what is irregular
 *     NAME PARENT RATE [node|server]       (PARENT - : the root)
 * # begins a comment. EINVAL names file and line: capacity 0 or negative, a parent that
 * is never defined, a cycle, a vertex defined twice with other values, a node with
 * something below. O(bytes + vertices).
 */
int fab_machine_read(const char *file, const char *text, size_t len,
		     struct fab_machine **out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * The hierarchy of a fabric: its ranks of switches above the hosts. A vertex of rank t is
 * a part of the fabric that stays connected without the ranks above t; its capacity is
 * that of all its cables up together. A server is a host. Adapters do not forward, so
 * that all meet on one plane (fabric/planes.h): that on which most nodes, then most
 * servers are, then that of their first adapters. Each port of a server there is an
 * interface; a compute node boots over its first port there, by the names of its adapters
 * as people count. EINVAL,
 * ENOENT: a server that is no host, a server or node that is not on the plane (named,
 * with the planes), nothing left to boot. Warnings: bundles of different rates; nodes and
 * servers that share several planes. O(nodes + cables).
 */
struct fab_machine_servers {
	/* [n] hosts by any name, host lists, patterns (fabric/resolver.h), separated by
	 * commas */
	const char *const *patterns;
	size_t n;
	const uint32_t *hosts; /* [n_hosts] and these */
	size_t n_hosts;
	struct fab_resolver *resolver; /* taken over whatever happens; NULL: made */
	double default_mbps; /* for cables of unknown speed; 0: EINVAL for those */
	bool is_signalling;  /* rates with the line code (QDR 40 Gb/s), not those of data
			      */
};
int fab_machine_of_fabric(const struct fab_fabric *f,
			  const struct fab_machine_servers *servers,
			  struct fab_machine **out, struct fab_err *err) FAB_MUST_CHECK;

/* Kinds of things that have names; an interface also by its server, for its first one;
 * units are vertices that have nodes below. */
enum fab_machine_kind {
	FAB_MACHINE_NODES,
	FAB_MACHINE_SERVERS,
	FAB_MACHINE_INTERFACES,
	FAB_MACHINE_UNITS,
	FAB_MACHINE_N_KINDS,
};

/*
 * Mark those of a list (names, host lists and patterns, separated by commas) in
 * mark[servers, nodes ...]; `matches` (base/lookup.h) may be NULL. ENOENT, EINVAL: one is
 * none. O(vertices + names).
 */
int fab_machine_find(const struct fab_machine *m, enum fab_machine_kind kind,
		     const char *list, bool *mark, struct fab_matches *matches,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * A machine from which nodes are gone (is_gone[n_nodes]); all others and the servers have
 * the names that they had. old_node[nodes left] is the caller's: what each was before.
 * *out borrows the rest of `m`, whose resolver goes
 * over to it; EINVAL: no node is left. The caller frees
 * *out. O(vertices).
 */
int fab_machine_without(struct fab_machine *m, const bool *is_gone, uint32_t *old_node,
			struct fab_machine **out, struct fab_err *err) FAB_MUST_CHECK;

enum { FAB_MACHINE_NAME_BYTES = 256 };
/* Name of a vertex, node, server, interface into `out`; returns it. E.g. "board3.17",
 * a host name, "srv1/mlx5_0" where a server has several interfaces. O(1). */
char *fab_machine_vertex_name(const struct fab_machine *m, uint32_t vertex,
			      char out[FAB_MACHINE_NAME_BYTES]);
char *fab_machine_node_name(const struct fab_machine *m, uint32_t node,
			    char out[FAB_MACHINE_NAME_BYTES]);
char *fab_machine_server_name(const struct fab_machine *m, uint32_t server,
			      char out[FAB_MACHINE_NAME_BYTES]);
char *fab_machine_interface_name(const struct fab_machine *m, uint32_t interface,
				 char out[FAB_MACHINE_NAME_BYTES]);
/* Level whose unit is this name (singular or plural); FAB_NONE. O(levels). */
uint32_t fab_machine_find_level(const struct fab_machine *m, const char *unit,
				size_t len);

/*
 * Names of a machine, as people write them. Where the machine is a fabric a node or
 * server is a host, by any name that fabric/resolver.h knows; else its own name, whatever
 * their case. The machine is borrowed; the caller frees. O(vertices).
 */
struct fab_machine_names *fab_machine_names_new(const struct fab_machine *m);
/* NULL is allowed. O(size). */
void fab_machine_names_free(struct fab_machine_names *names);
FAB_AUTO_POINTER(fab_machine_names)
/* Ids of a kind by name; valid as long as `names`. O(1). */
struct fab_lookup fab_machine_lookup(const struct fab_machine_names *names,
				     enum fab_machine_kind kind);
