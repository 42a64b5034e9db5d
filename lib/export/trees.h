/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast trees as JSON lines: what --trees-out writes (fabric-formats(5)). */
#pragma once

#include <stdio.h>

#include "mcast/route.h"

/*
 * One object a group: algorithm, group, root (GUID), height (switch hops), links
 * [[switch GUID, port, switch GUID, port]...] with the end nearer to the root first,
 * hosts
 * [[switch GUID, port, port GUID]...] of the members (port 0 for a member that is a
 * switch). Links ascend by cable id, hosts stand in the order of the group. Fails with
 * the errno of the write. O(tree links log of a tree's + members).
 */
int fab_export_trees(FILE *out, const struct fab_mcast_problem *problem,
		     const struct fab_mcast_result *result,
		     struct fab_err *err) FAB_MUST_CHECK;
