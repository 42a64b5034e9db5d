/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics, multicast trees and loads of cables as pictures for Graphviz. Errors of the
 * file are left to ferror(out). */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "boot/batch.h"
#include "fabric/fabric.h"
#include "fabric/label.h"
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

/* Boxes of the picture of a fabric: which switches share one, and the hosts below. */

/* Points of a row of boxes: 3000 pixels of 96 an inch, without margins. */
enum { FAB_BOXES_ROW_POINTS = 2250 - 150 };

struct fab_box {
	uint32_t first, last; /* switches of its lowest rank, first and last by name */
	uint32_t rank;	      /* lowest of its switches; FAB_NONE: none has one */
	uint32_t n_lowest;    /* switches of that rank */
	uint32_t n_switches;
	uint32_t n_hosts;  /* cables to host adapters */
	const char *hosts; /* of a fold: their number and list, in lines; NULL: none */
};

struct fab_boxes {
	const struct fab_fabric *f;
	struct fab_box *v; /* [n] */
	uint32_t n;
	uint32_t *of_switch; /* [n_switches] */
	uint32_t *rank;	     /* [n_switches] FAB_NONE: in a part without hosts */
	bool has_ranks;	     /* there are roots */
	uint32_t *group_of;  /* [n_hosts] the first host that is cabled to the same
				switches; NULL: of a fold */
	struct fab_plain_names names;
	struct fab_arena
		arena; /* of all this, and of what the picture needs for a while */
};

/* How much is folded. */
enum fab_boxes_fold {
	FAB_BOXES_EACH,	   /* a box for each switch */
	FAB_BOXES_PICTURE, /* as few as make a picture of 3000 pixels */
	FAB_BOXES_PODS,	   /* pods and groups of a picture that can be enlarged: of more
			      than 64 switches at most 48 boxes a rank */
};
/* Free with fab_boxes_fini(). O(cables log cables). */
void fab_boxes_init(struct fab_boxes *boxes, const struct fab_fabric *f,
		    enum fab_boxes_fold fold);
void fab_boxes_fini(struct fab_boxes *boxes);

/* The boxes by rank, from the lowest, and name; of the arena. O(n log n). */
uint32_t *fab_boxes_sort(struct fab_boxes *boxes);

/* Width of a box, with the gap to the next one. O(its text). */
uint32_t fab_box_points(const struct fab_boxes *boxes, const struct fab_box *box);

/* "20 hosts" and their list in a few lines, cut at commas; of the arena. O(n log n). */
const char *fab_boxes_hosts(struct fab_boxes *boxes, const char *const *names,
			    uint32_t n);
