/* SPDX-License-Identifier: BSD-2-Clause */
/* A cabling plan against the fabric that was built: by names and ports. */
#pragma once

#include "base/err.h"
#include "fabric/fabric.h"

/* Is the fabric a cabling plan? Then its GUIDs and LIDs are invented. O(1). */
bool fab_fabric_is_plan(const struct fab_fabric *f);

enum fab_wiring {
	FAB_WIRING_MISSING, /* a planned cable that is not there and has no similar one */
	FAB_WIRING_MISWIRED, /* a planned cable of which an end is elsewhere */
	FAB_WIRING_EXTRA,    /* a cable that no plan contains */
};

/* A difference: cables of the plan and of the fabric, FAB_NONE: none. */
struct fab_wiring_change {
	enum fab_wiring kind;
	bool is_swap; /* two planned cables, of which two ends are swapped */
	fab_cable_id planned[2], found[2];
	/* Miswired: the end that is where it was planned, of planned[i] and found[i];
	 * FAB_NONE: none of them, both nodes are or the adapter is. */
	fab_port_id kept_planned[2], kept_found[2];
};

struct fab_plan_diff {
	struct fab_wiring_change *changes; /* missing, miswired, extra */
	uint32_t n_changes, n_of[FAB_WIRING_EXTRA + 1];
	uint32_t n_planned, n_as_planned; /* cables */
	uint32_t n_inside;		  /* cables of the fabric inside of directors: not
					     compared, plans do not contain them */
	uint32_t *node_of; /* [nodes of the plan] node of the fabric, FAB_NONE */
	/* [ports of the plan] the port of the fabric that it is: its node, FAB_NONE if
	 * that is not there, and its number */
	uint32_t *end_node;
	uint16_t *end_port;
	bool *is_unknown; /* [nodes of the plan] it has cables, and is not in the fabric
			   */
	uint32_t n_unknown;
	uint32_t n_unnamed; /* adapters of the plan that are taken for one without a name
			       at their place */
	uint32_t n_by_host; /* adapters of the plan that are called otherwise in the
			       fabric, found by host and place or order */
	uint32_t first_by_host; /* one of these, FAB_NONE */
	struct fab_arena arena;
};

/*
 * Compare. Nodes of the plan are, whatever kind the plan gives them,
 *   1. those that the resolver finds by name, in upper or lower case: a host stands
 *      for its only adapter, port K of a host for its Kth connected port,
 *   2. of the rest, those of the same name but for a domain that only one side writes,
 *   3. adapters of the same host if none of them is found by name ("HCA-1" of the plan is
 *      "mlx5_0"): at the place that was planned, then in natural order if both sides have
 *      equally many left,
 *   4. adapters without a name at the place that was planned.
 * Cables inside of a director (between two of NAME/L../U.., NAME/S../U..) and those to
 * aggregation nodes are left out. Two planned cables a-b, c-d that were found as a-d, c-b
 * are one change; else a planned cable is miswired if one of its ends, that of the
 * adapter first, has a cable that no plan contains, or one joins the same nodes.
 * EINVAL: two nodes of the plan are one of the fabric, none is in it, or a planned port
 * is beyond those that the switch has. O(nodes + cables) and names to resolve.
 */
int fab_plan_diff_new(const struct fab_fabric *plan, const struct fab_fabric *found,
		      struct fab_plan_diff **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_plan_diff_free(struct fab_plan_diff *diff);

struct fab_resolver;

/* The node that a plan means by a name: a switch, an adapter, or the only adapter of a
 * host; FAB_NONE: none. `names` is of the fabric. O(len). */
fab_node_id fab_plan_find_node(const struct fab_fabric *found,
			       const struct fab_resolver *names, const char *name);

/* Is the cable one that plans contain: not to an aggregation node and not inside of a
 * director? O(len). */
bool fab_cable_is_planned(const struct fab_fabric *f, fab_cable_id cable);

/* Is the cable inside of a director, between two of its modules? O(len). */
bool fab_cable_is_inside(const struct fab_fabric *f, fab_cable_id cable);
