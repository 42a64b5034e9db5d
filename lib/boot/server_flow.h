/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of each interface where servers have several and limits in common, by a maximum
 * flow: nodes up and down the tree to interfaces, from these to their servers.
 */
#pragma once

#include "boot/machine.h"

struct fab_server_flow {
	const struct fab_machine *m;
	const uint32_t *inner; /* [n_inner] vertices of the tree that count, ascending */
	uint32_t n_inner;
	const uint64_t *below; /* [n_vertices] nodes right below, which want a server */
	uint64_t n_nodes;      /* all of them */
	const uint64_t *down, *up; /* [n_vertices] nodes that the segment above takes */
	const uint64_t *room;	   /* [n_servers] nodes that a server takes; down: 0 */
};

/*
 * Do all nodes find a server? Then of_interface[n_interfaces] are the nodes of each.
 * Dinic 1970: O(levels of the graph * arcs) a phase, a few phases on trees.
 */
bool fab_server_flow_find(const struct fab_server_flow *problem, uint64_t *of_interface);
