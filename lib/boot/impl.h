/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interfaces of lib/boot: rules of mappings and their helpers, lists of places,
 * the builder of machines.
 */
#pragma once

#include "base/mem.h"
#include "boot/machine.h"
#include "boot/mapping.h"

/* The rules of the table in mappings.c. */
fab_map_nodes fab_map_scda, fab_map_bcda, fab_map_block, fab_map_local, fab_map_robust,
	fab_map_stable, fab_map_balanced, fab_map_keep, fab_map_loaded;

static inline bool fab_interface_is_up(const struct fab_machine *m, uint32_t interface)
{
	return !m->server_is_down[m->interface_server[interface]];
}

/* Interfaces of servers that are up, ascending, on the heap; *n of them, at least 1. */
uint32_t *fab_interfaces_up(const struct fab_machine *m, uint32_t *n);

/*
 * Interfaces that are up in an order in which neighbours are far apart: round by round
 * through the branches of the tree, each round beginning one branch further; faster
 * interfaces come more often in proportion. On the heap. O(interfaces * levels).
 */
uint32_t *fab_interfaces_spread(const struct fab_machine *m, uint32_t *n);

/* Climb from vertex `to` and vertex `from` to where they meet: vertices of a lower number
 * are higher up or aside. Count `more` transfers on each link, [n_vertices *
 * fab_links_most()] down and up. O(levels). */
void fab_share_count(const struct fab_machine *m, uint32_t *down, uint32_t *up,
		     uint32_t to, uint32_t from, uint32_t more);
/* The least share of the links by these counts. O(levels). */
double fab_share_least(const struct fab_machine *m, const uint32_t *down,
		       const uint32_t *up, uint32_t to, uint32_t from);

/* The best for equal images, by counts of nodes: an interface for each node of the batch
 * that has none (FAB_NONE). As fab_mapping_complete(). */
void fab_mapping_by_counts(const struct fab_machine *m, const struct fab_batch *batch,
			   uint32_t *interface_of);

/*
 * Give an interface to the nodes of the batch that have none (FAB_NONE), one by one, each
 * to where it is best then; in their order, or those with the largest images first.
 * O(nodes * levels * children of a vertex, and vertices * sizes of images).
 */
void fab_mapping_fill(const struct fab_machine *m, const struct fab_batch *batch,
		      bool largest_first, uint32_t *interface_of);

/* Lists that name nodes, servers and units of a machine alike. */

struct fab_places;
/* The machine is borrowed; the caller frees. O(vertices). */
struct fab_places *fab_places_new(const struct fab_machine *m);
/* NULL is allowed. O(size). */
void fab_places_free(struct fab_places *places);
FAB_AUTO_POINTER(fab_places)

/*
 * Give to `use` the nodes and server interfaces of a list of names, host lists and
 * patterns: nodes, servers for their interfaces, units (racks, switches) for the nodes
 * below them; a pattern means units only where it matches no node and no server. May
 * give one several times. ENOENT: there is no such node, server or unit; EINVAL: no list;
 * else what `use` returns. O(list + what it names).
 */
typedef int fab_use_place(void *context, bool is_node, uint32_t id, struct fab_err *err);
int fab_places_each(const struct fab_places *places, const char *list, size_t len,
		    fab_use_place *use, void *context,
		    struct fab_err *err) FAB_MUST_CHECK;

/* Inside of lib/boot: how a machine is put together. */

enum fab_vertex_kind { FAB_VERTEX_SWITCH, FAB_VERTEX_NODE, FAB_VERTEX_INTERFACE };

enum { FAB_MACHINE_VERTICES_MAX = 1 << 25 };

struct fab_raw_vertex {
	uint32_t parent; /* index of any raw vertex; FAB_NONE: the root */
	double capacity_mbps;
	const char *name; /* borrowed or of the machine's arena; NULL: made up */
	uint32_t owner;	  /* node: host; interface: server; of the fabric, or FAB_NONE */
	uint32_t port;	  /* of a node or interface in the fabric, or FAB_NONE */
	uint8_t level, kind;
};

struct fab_machine_builder {
	struct fab_machine *m; /* levels, servers with their hosts, resolver */
	FAB_VEC(struct fab_raw_vertex) raw; /* 0 is the root */
	FAB_VEC(char *) warnings;	    /* of the machine's arena */
};

void fab_machine_builder_init(struct fab_machine_builder *b, const char *source);
/* A vertex that has nothing yet but its place and capacity. */
struct fab_raw_vertex fab_raw_vertex(uint32_t parent, double capacity_mbps,
				     uint32_t level, enum fab_vertex_kind kind);
/* Level number; singular and plural names are one. FAB_NONE: too many. */
uint32_t fab_machine_builder_level(struct fab_machine_builder *b, const char *unit,
				   size_t len, bool is_server);
/*
 * Number the vertices in preorder, unless rc says that the builder has failed. EINVAL: a
 * vertex that the root does not reach (a cycle), no node, no server. Ends the builder in
 * any case; returns rc or the failure. O(vertices).
 */
int fab_machine_builder_finish(struct fab_machine_builder *b, int rc,
			       struct fab_machine **out, struct fab_err *err);
