/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortest legal paths for each LID, spread over ports by the LIDs that these serve. */
#pragma once

#include "unicast/engine.h"

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
