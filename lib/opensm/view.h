/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenSM's own view of the subnet as a fabric and its groups. */
#pragma once

#include "opensm/osm.h"

#include "fabric/fabric.h"
#include "opensm/keeper.h"

struct fab_builder;

/* Copy made while OpenSM's lock was held. */
struct fab_opensm_view {
	struct fab_builder *builder;
	struct fab_membership members;
};

/*
 * Nodes and the healthy cables between them, but for switches that do no multicast, and
 * the members of all groups. The caller holds OpenSM's lock, shared will do, and frees
 * with fab_opensm_view_fini(). O(ports + members, times log).
 */
void fab_opensm_view_copy(struct osm_opensm *osm, struct fab_opensm_view *view);
/* The fabric of it, once; the caller frees. Without the lock. As fab_builder_finish(). */
int fab_opensm_view_fabric(struct fab_opensm_view *view, struct fab_fabric **out,
			   struct fab_err *err) FAB_MUST_CHECK;
void fab_opensm_view_fini(struct fab_opensm_view *view);

/*
 * GUIDs of the different member ports of all groups that share the box, host byte order;
 * the caller frees *guid. Returns how many. The caller holds OpenSM's lock. O(members log
 * members).
 */
uint32_t fab_opensm_members(const osm_mgrp_box_t *box, uint64_t **guid);
/* Groups that there can be: MLIDs from 0xc000 on. O(1). */
uint32_t fab_opensm_n_groups(const struct osm_opensm *osm);
/* The cable of a physical port leads to a port that says so, too, and both are healthy.
 * O(1). */
bool fab_opensm_is_live(const osm_physp_t *port);
