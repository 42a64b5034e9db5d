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
	char *name;	/* owned, NULL: made up */
	uint32_t owner; /* node: host; interface: server; of the fabric, or FAB_NONE */
	uint32_t port;	/* of a node or interface in the fabric, or FAB_NONE */
	uint8_t level, kind;
};

struct fab_machine_builder {
	FAB_VEC(struct fab_raw_vertex) raw; /* 0 is the root */
	uint32_t n_levels;
	struct fab_machine_level level[FAB_MACHINE_LEVELS_MAX];
	uint32_t n_servers; /* with owners; 0: every interface is a server of its own */
	uint32_t *server_host;
	uint32_t n_unnamed;
	struct fab_resolver *resolver; /* of the fabric; goes to the machine */
	FAB_VEC(char *) warnings;
};

void fab_machine_builder_init(struct fab_machine_builder *b);
/* Level number; singular and plural names are one. FAB_NONE: too many. */
uint32_t fab_machine_builder_level(struct fab_machine_builder *b, const char *unit,
				   size_t len, bool is_server);
void fab_machine_builder_fini(struct fab_machine_builder *b);
/*
 * Number the vertices in preorder. EINVAL: a vertex that the root does not reach (a
 * cycle), no node, no server. Ends the builder in any case. O(vertices).
 */
int fab_machine_builder_finish(struct fab_machine_builder *b, const char *source,
			       struct fab_machine **out, struct fab_err *err);
