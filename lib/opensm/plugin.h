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
#include "opensm/announced.h"
#include "opensm/audit.h"
#include "opensm/keeper.h"

/* OpenSM's own view of the subnet as a fabric and its groups. */

struct fab_opensm_node {
	enum fab_node_kind kind;
	uint16_t n_ports;
	uint64_t guid, sys_guid;
	char name[IB_NODE_DESCRIPTION_SIZE + 1];
	size_t end; /* its ports begin where those of the node before end */
};
struct fab_opensm_port {
	uint64_t guid, peer; /* of the node it is connected with; 0: none */
	uint16_t lid;
	uint8_t num, peer_port;
};
struct fab_opensm_guids {
	uint64_t *v;
	size_t n, cap;
};

/* Copied while OpenSM's lock was held, in one part or several. All zero: nothing yet. */
struct fab_opensm_view {
	FAB_VEC(struct fab_opensm_node) nodes;
	FAB_VEC(struct fab_opensm_port) ports;
	FAB_VEC(uint64_t) first; /* [groups + 1] in `members` */
	struct fab_opensm_guids members;
	FAB_VEC(struct fab_mgid) mgid; /* [groups] zero: none, or several */
	bool has_nodes, nodes_seen;    /* all of them; one */
	uint64_t last;		       /* key of the node that was copied last */
};

/*
 * Nodes and the healthy cables between them, but for switches that do no multicast, and
 * the members of all groups. The caller holds OpenSM's lock, shared will do. True: the
 * time was over; go on with another call, after the lock was free. The caller frees with
 * fab_opensm_view_fini(). O(ports + members, times log nodes).
 */
bool fab_opensm_view_copy(struct osm_opensm *osm, struct fab_opensm_view *view,
			  double seconds);
/* The fabric of it; the caller frees. Without the lock. As fab_builder_finish(). */
int fab_opensm_view_fabric(const struct fab_opensm_view *view, struct fab_fabric **out,
			   struct fab_err *err) FAB_MUST_CHECK;
void fab_opensm_view_fini(struct fab_opensm_view *view);

/* Add the GUIDs of the member ports of all groups that share the box, host byte order,
 * some perhaps twice. OpenSM's lock is held. O(members). */
void fab_opensm_add_members(const osm_mgrp_box_t *box, struct fab_opensm_guids *to);
/* The MGID of the only group of the box into *mgid; NULL: it has several. OpenSM's lock
 * is held. O(groups of the box). */
const struct fab_mgid *fab_opensm_mgid(const osm_mgrp_box_t *box, struct fab_mgid *mgid);
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
 * Have OpenSM send the block of this MLID to every switch, also to those that no tree in
 * the block uses: it sends no block above the highest that it has entries in, and another
 * OpenSM, or this one before it was started again, may have left a tree there.
 * O(switches).
 */
void fab_opensm_cover(struct osm_opensm *osm, uint16_t mlid);

/* The tables of all switches; `context` is the struct osm_opensm. */
extern const struct fab_audit_tables fab_opensm_tables;

/*
 * The tree that OpenSM itself makes: the root that osm_mcast_mgr_find_root_switch()
 * gives, and each member by osm_switch_recommend_mcast_path(). As OpenSM's
 * mcast_mgr_build_spanning_tree().
 */
ib_api_status_t fab_opensm_own_tree(struct osm_opensm *osm, osm_mgrp_box_t *box);

/*
 * Largest number of MLIDs whose packets use one cable between switches, by the tables as
 * they are. Takes OpenSM's lock, shared, for one switch after the other. O(switches *
 * (MLIDs + ports)).
 */
uint32_t fab_opensm_max_efi(struct osm_opensm *osm);
