/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast trees, and how full cables are, as pictures for Graphviz. */
#pragma once

#include <stdio.h>

#include "mcast/route.h"

/*
 * The tree of a group: its root on top, switches with members filled, each cable with the
 * number of groups on it. Errors are left to ferror(out). O(edges + members).
 */
void fab_export_tree_dot(FILE *out, const struct fab_mcast_problem *problem,
			 const struct fab_mcast_result *result, uint32_t group);
/*
 * All switches, and a line for each two that are cabled: as wide and red as the fullest
 * of their cables is in comparison with the fullest of all, grey where there is no tree.
 * O(cables).
 */
void fab_export_loads_dot(FILE *out, const struct fab_mcast_problem *problem,
			  const struct fab_mcast_result *result);
