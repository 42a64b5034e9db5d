/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric as a picture for Graphviz. */
#pragma once

#include <stdio.h>

#include "fabric/fabric.h"

struct fab_dot_options {
	bool without_hosts; /* switches and the cables between them only */
	bool fold;	    /* a box for each pod (export/dot_fold.h), and no hosts */
};

/*
 * Write an undirected graph: a box for each switch with its short name (fab_label_short),
 * an ellipse for each host, points for aggregation nodes, a diamond for each router; one
 * edge for all parallel cables of two nodes, labelled with their number if more than one.
 * Switches of equal names have their GUIDs below them. Ranks of switches are those of the
 * picture, the roots on top. A loop is an edge from a switch to itself. Errors are left
 * to ferror(out). O(n log n) in cables.
 */
void fab_export_dot(FILE *out, const struct fab_fabric *f,
		    const struct fab_dot_options *options);

/* Text inside quotes; what would steer a terminal or Graphviz becomes \xNN in words. At
 * most FAB_LABEL_SIZE bytes. O(length). */
void fab_dot_put_text(FILE *out, const char *text);
