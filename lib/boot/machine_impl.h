/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/boot: how a machine is put together. */
#pragma once

#include "base/mem.h"
#include "boot/machine.h"

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
