/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortest legal ways, spread over ports by the destinations that these serve. */
#pragma once

#include "unicast/engine.h"

/*
 * Tables for all sound leaf switches (kfat), else switches with hosts. `rank` NULL: any
 * way is legal; else [n_switches], 0 the roots: up (to a lower rank, or an equal rank of
 * lower GUID) first, down afterwards, from root to root in both senses, found as OpenSM's
 * updn does, where a switch is visited once. Each switch takes the arc with the least
 * hosts behind it so far, the lowest of equal ones. One lane. The caller frees.
 * O(columns * arcs).
 */
struct fab_routes *fab_balance_route(const struct fab_unicast_problem *problem,
				     const uint32_t *rank)
	__attribute__((returns_nonnull));
