/* SPDX-License-Identifier: BSD-2-Clause */
/* The ports by which each switch reaches a destination with the fewest (legal) hops. */
#pragma once

#include "unicast/engine.h"
#include "unicast/routes.h"

struct fab_min_hops {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	const uint32_t *rank; /* [n_switches] 0 the roots; NULL: every path is legal */
	/* of the destination that was searched last */
	uint32_t n_order;
	uint32_t *order; /* [n_order] switches that have a path, the destination first */
	uint32_t *hops;	 /* [n_switches] FAB_NONE: no path */
	uint32_t *port_first; /* [n_switches + 1] into port */
	uint16_t *port;	      /* arcs of fewest hops, counted from arc_first, ascending */
	/* scratch */
	uint32_t *arc_hops; /* [arcs] */
	bool *goes_down, *is_queued;
};

/*
 * f, faults and rank are borrowed. With ranks a path goes up (to a lower rank, or to an
 * equal one of higher GUID; between roots in both directions) and then down, and is found
 * as OpenSM's engine updn finds it. The caller frees it. O(arcs).
 */
void fab_min_hops_init(struct fab_min_hops *m, const struct fab_fabric *f,
		       const struct fab_faults *faults, const uint32_t *rank);
void fab_min_hops_fini(struct fab_min_hops *m);
/* Search towards a live switch. O(arcs); with ranks a switch may be looked at again. */
void fab_min_hops_to(struct fab_min_hops *m, uint32_t to);

/* Shortest legal paths for each LID, spread over ports by the LIDs that these serve. */

/*
 * Tables by LID for everything alive that has one or will get one: switches, adapters of
 * hosts, aggregation nodes, routers. `rank` NULL: any path is legal, else see
 * unicast/min_hops.h. Each switch sends a LID by the port of fewest hops that serves the
 * fewest LIDs of adapters so far, the lowest of equal ones, in the order of
 * unicast/destinations.h. Further LIDs of a port (LMC) begin after the port of the one
 * before and prefer neighbours of other systems, then other neighbours. One lane. The
 * caller frees. O(switches * arcs + LIDs * shortest ports); columns that are alike share
 * a row. Source: OpenSM 3.3, its unicast manager.
 */
struct fab_routes *fab_balance_route(const struct fab_unicast_problem *problem,
				     const uint32_t *rank)
	__attribute__((returns_nonnull));
