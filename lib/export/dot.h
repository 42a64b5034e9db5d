/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics, multicast trees and loads of cables as pictures for Graphviz. Errors of the
 * file are left to ferror(out). */
#pragma once

#include <stdio.h>

#include "boot/batch.h"
#include "fabric/fabric.h"
#include "mcast/route.h"

struct fab_dot_options {
	bool without_hosts; /* switches and the cables between them only */
	bool fold; /* hosts as lists in their leaves, and boxes for several switches, as
		      far as a picture of 3000 pixels needs */
};

/*
 * Write an undirected graph: a box for each switch with its short name (fab_label_short),
 * an ellipse for a host, a box for hosts with cables to the same switches, points for
 * aggregation nodes, a diamond for each router; one edge for all parallel cables of two
 * nodes, labelled with their number if more than one. Switches of equal names have their
 * GUIDs below them. Ranks of switches are those of the picture, the roots on top. A loop
 * is an edge from a switch to itself. Errors are left to ferror(out). O(n log n) in
 * cables.
 */
void fab_export_dot(FILE *out, const struct fab_fabric *f,
		    const struct fab_dot_options *options);

/*
 * The tree of a group: its root on top, switches with members filled, each cable with the
 * number of groups on it. Errors are left to ferror(out). O(edges + members).
 */
void fab_export_tree_dot(FILE *out, const struct fab_mcast_problem *problem,
			 const struct fab_mcast_result *result, uint32_t group);
/*
 * All switches, and a line for each two that are cabled: as wide and red as the fullest
 * of their cables is in comparison with the fullest of all, grey where there is no tree.
 * O(cables).
 */
void fab_export_loads_dot(FILE *out, const struct fab_mcast_problem *problem,
			  const struct fab_mcast_result *result);
/*
 * The tree of a machine with the servers of a batch, servers on top. Segments have their
 * capacity, the nodes on them and the share of each, and are as wide and red as the share
 * is little. Siblings that are alike, with equal loads, are one box; of more than four
 * kinds the emptiest are one, drawn as the fullest of them. interface_of as
 * boot/mapping.h has it. O(vertices * log + batch * levels * boxes).
 */
void fab_export_machine_dot(FILE *out, const struct fab_machine *m,
			    const struct fab_batch *batch, const uint32_t *interface_of,
			    const char *algorithm);
