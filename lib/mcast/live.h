/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees of groups that come, change and go, by one engine. */
#pragma once

#include "mcast/route.h"

struct fab_live;

/*
 * No group has a tree yet. `f` and `dist` are borrowed until the end. Groups are known by
 * number, 0 .. n_groups-1. The engine has grow(). O(switches + cables + groups).
 */
struct fab_live *fab_live_new(const struct fab_fabric *f, const struct fab_dist *dist,
			      uint32_t n_groups, const struct fab_mcast_engine *engine,
			      enum fab_root_ties ties);
void fab_live_free(struct fab_live *live);

/*
 * From now on `group` consists of these n different endpoints, which are connected: take
 * its old tree out of the loads, then grow a new one under those of all other groups, as
 * the engine does. A group of fewer than two endpoints needs no tree. Returns the entries
 * of multicast tables that change: the switches whose set of ports for the group is not
 * what it was. O(members * switches + as the engine says + tree log tree).
 */
uint64_t fab_live_route(struct fab_live *live, uint32_t group, const fab_port_id *member,
			uint32_t n);

/*
 * Like the above, but keeps an existing tree where it can: branches of members that left
 * are cut, others are joined to it by the least loaded of the shortest paths
 * (mcast/graft.h). The group is routed where it has no tree, has become half as large
 * again as when it was routed, or half as large, or where the root would be more than
 * twice as far from a member as needed. O(members * switches + tree + cables
 * within reach of new members, or as fab_live_route()).
 */
uint64_t fab_live_change(struct fab_live *live, uint32_t group, const fab_port_id *member,
			 uint32_t n);

/*
 * From now on `group` consists of these n endpoints, and its tree is what these cables
 * make of it: branches without a member are cut, loops opened, members that are not
 * reached are joined. The group is routed where parts with members are not connected. As
 * fab_live_change().
 */
void fab_live_put(struct fab_live *live, uint32_t group, const fab_port_id *member,
		  uint32_t n, const uint32_t *cable, uint32_t n_cables);

/* A group and its present tree; borrowed until the group is routed again. */
struct fab_live_tree {
	fab_port_id *member;
	uint32_t n_members;
	uint32_t n_routed; /* members when the whole tree was made */
	uint32_t root;	   /* FAB_NONE: no tree */
	uint8_t height;
	uint32_t n_edges;
	uint32_t *sw, *cable; /* as in struct fab_forest */
};

/* O(1). */
struct fab_live_tree fab_live_tree_of(const struct fab_live *live, uint32_t group);
/*
 * From now on `group` has these members and this tree, which is copied: one of the same
 * fabric that joins the members. O(edges + members).
 */
void fab_live_adopt(struct fab_live *live, uint32_t group,
		    const struct fab_live_tree *tree);
/* Largest load of a switch-to-switch cable now. O(1). */
uint32_t fab_live_max_load(const struct fab_live *live);
/* Largest load that a switch-to-switch cable has had at any time. O(1). */
uint32_t fab_live_peak(const struct fab_live *live);

/*
 * The groups that have members now, under their names in `names` (groups by the same
 * numbers), with their trees and loads, in the form that fab_mcast_verify() and
 * fab_efi_of() take. The caller frees both; *groups is NULL when no group has a member,
 * and then the result has only the loads. O(members + edges + ports).
 */
int fab_live_result(const struct fab_live *live, const struct fab_groups *names,
		    struct fab_groups **groups, struct fab_mcast_result *result,
		    struct fab_err *err) FAB_MUST_CHECK;
