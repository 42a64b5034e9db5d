/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees into OpenSM's multicast tables, and out of them. OpenSM's lock is held. */
#pragma once

#include "opensm/osm.h"

#include "fabric/fabric.h"
#include "mcast/live.h"

/*
 * Check the tree against what OpenSM knows now, by its own objects: every cable is there
 * and healthy, the cables join the switches without a loop, every member is joined to one
 * of them; then set its ports in the tables of the MLID, which were empty. EPROTO with a
 * sentence: nothing is set. `tree` is of `f`. O(tree * log switches).
 */
int fab_opensm_write_tree(struct osm_opensm *osm, const struct fab_fabric *f,
			  const struct fab_live_tree *tree, uint16_t mlid,
			  struct fab_err *err) FAB_MUST_CHECK;
/* No ports for the MLID in any switch. O(switches). */
void fab_opensm_clear(struct osm_opensm *osm, uint16_t mlid);

/*
 * The tree that OpenSM itself makes: the root that osm_mcast_mgr_find_root_switch()
 * gives, and each member by osm_switch_recommend_mcast_path(). As OpenSM's
 * mcast_mgr_build_spanning_tree().
 */
ib_api_status_t fab_opensm_own_tree(struct osm_opensm *osm, osm_mgrp_box_t *box);

/*
 * Largest number of MLIDs whose packets use one cable between switches, by the tables as
 * they are; *n_trees: MLIDs in any table. O(switches * (MLIDs + ports)).
 */
uint32_t fab_opensm_max_efi(const struct osm_opensm *osm, uint32_t *n_trees);
