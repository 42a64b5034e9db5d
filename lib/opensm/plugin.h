/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of the plug-in that know OpenSM: its view of the subnet and its tables. */
#pragma once

/* OpenSM's configuration comes first: the layout of its structs depends on it, and its
 * own headers do not include it in time. */
#include <opensm/osm_config.h>

#include <opensm/osm_opensm.h>

#include "base/mem.h"
#include "fabric/fabric.h"
#include "mcast/live.h"
#include "opensm/keeper.h"

/* OpenSM's own view of the subnet as a fabric and its groups. */

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
 * GUIDs of the member ports of all groups that share the box, host byte order, some
 * perhaps twice; the caller frees *guid. Returns how many. The caller holds OpenSM's
 * lock. O(members).
 */
uint32_t fab_opensm_members(const osm_mgrp_box_t *box, uint64_t **guid);
/* Groups that there can be: MLIDs from 0xc000 on. O(1). */
uint32_t fab_opensm_n_groups(const struct osm_opensm *osm);
/* The cable of a physical port leads to a port that says so, too, and both are healthy.
 * O(1). */
bool fab_opensm_is_live(const osm_physp_t *port);

/* Trees into OpenSM's multicast tables, and out of them. OpenSM's lock is held. */

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
 * Trees that OpenSM's tables are to hold, copied so that no lock of the keeper is needed
 * while they are compared.
 */
struct fab_opensm_entry {
	uint64_t guid; /* of a switch, host byte order */
	uint8_t port;
};
struct fab_opensm_ends {
	uint32_t group;
	size_t end; /* its entries begin where those of the group before end */
};
struct fab_opensm_expected {
	FAB_VEC(struct fab_opensm_entry) entries;
	FAB_VEC(struct fab_opensm_ends) groups;
};

/* Those of the groups from .. end-1, until there are n_entries or more. Returns the first
 * group that was not looked at. *out is ended by fab_opensm_expected_fini(). O(entries +
 * groups). */
uint32_t fab_opensm_expect(const struct fab_keeper *k, uint32_t from, uint32_t end,
			   uint32_t n_entries, struct fab_opensm_expected *out);
void fab_opensm_expected_fini(struct fab_opensm_expected *e);
/* Do the tables hold the i-th tree and nothing else for its group, or has the group gone?
 * OpenSM's lock is held, shared will do. O(switches + entries * log switches). */
bool fab_opensm_is_held(const struct osm_opensm *osm, const struct fab_opensm_expected *e,
			size_t i);

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
