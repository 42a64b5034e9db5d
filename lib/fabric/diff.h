/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences between two fabrics, whatever their sources. */
#pragma once

#include "fabric/fabric.h"

enum fab_change_kind {
	FAB_CHANGE_MISSING,  /* node or cable of the old fabric that the new one lacks */
	FAB_CHANGE_NEW,	     /* the reverse */
	FAB_CHANGE_MOVED,    /* cable that now ends elsewhere */
	FAB_CHANGE_RENAMED,  /* node with another description */
	FAB_CHANGE_REPLACED, /* node with another GUID in the place of the old one */
	FAB_CHANGE_SPEED,    /* cable that runs faster or slower */
	FAB_CHANGE_WIDTH,    /* cable with more or fewer lanes */
};

/*
 * One change: of a node (cable ids FAB_NONE) or of a cable (node ids FAB_NONE). What only
 * one fabric has is FAB_NONE on the other side.
 */
struct fab_change {
	enum fab_change_kind kind;
	fab_node_id old_node, new_node;
	fab_cable_id old_cable, new_cable;
};

struct fab_diff {
	struct fab_change *changes; /* nodes first; each by kind, then old and new id */
	uint32_t n_changes;
	uint32_t *new_of; /* [n_nodes of the old fabric] its node in the new one or
			     FAB_NONE */
	uint32_t *old_of; /* [n_nodes of the new fabric] the reverse */
	bool by_guid; /* the fabrics share GUIDs; else nodes were matched by name only */
};

/*
 * Compare two fabrics. Nodes are the same
 *   1. that have the same GUID (one of each on both sides) and are both switches or both
 *      not,
 *   2. of the rest, those with the same short name (fab_label_short), upper and lower
 * case ignored, if no other node left over has it,
 *   3. of the rest, that sit at the same port of the same neighbours, if the fabrics
 *      share no GUID or the names are equal.
 * Cables are the same that join the same ports of the same nodes. A lost and a gained
 * cable with an end or both nodes in common are one that moved. Cables of nodes that are
 * missing or new are not listed. LIDs do not count, speeds and widths only if both
 * sides know them; QDR of a cache equals FDR10, which a cache cannot express.
 *
 * Never NULL; the caller frees with fab_diff_free(). O(n log n) in nodes and ports.
 */
struct fab_diff *fab_diff_new(const struct fab_fabric *old, const struct fab_fabric *new);
void fab_diff_free(struct fab_diff *diff);

/* "missing", "new", "moved", "renamed", "replaced", "speed", "width". Static text. O(1).
 */
const char *fab_change_name(enum fab_change_kind kind);
