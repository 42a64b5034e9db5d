/* SPDX-License-Identifier: BSD-2-Clause */
/* Results of multicast routing as fabric-formats(5) describes them. All functions fail
 * with the errno of the write. */
#pragma once

#include <stdio.h>

#include "mcast/bounds.h"
#include "mcast/events.h"
#include "mcast/route.h"

/*
 * --trees-out: an object for each group: algorithm, group, root (GUID), height (switch
 * hops), links
 * [[switch GUID, port, switch GUID, port]...] with the end nearer to the root first, by
 * cable id, and hosts
 * [[switch GUID, port, port GUID]...] of the members in the order of the group (port 0
 * for a member that is a switch). O(tree links log of a tree's + members).
 */
int fab_export_trees(FILE *out, const struct fab_mcast_problem *problem,
		     const struct fab_mcast_result *result,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * --bound-out: lower bounds with their proofs: the fabric (GUIDs of its switches, and
 * cables as pairs of places in that list, without self-loops), a line for each group (its
 * switches), then each bound that exists, with its certificate. O(cables + members +
 * certificates).
 */
int fab_export_bounds(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_bound *bounds, size_t n_bounds,
		      struct fab_err *err) FAB_MUST_CHECK;

/*
 * --events-out: a line for each request, for fab_events_read(): times in seconds with
 * nine decimals, members by the GUID of their port, or without one by the name of their
 * node; names of groups in double quotes if they are not plain words. O(requests).
 */
int fab_export_events(FILE *out, const struct fab_fabric *f,
		      const struct fab_events *events,
		      struct fab_err *err) FAB_MUST_CHECK;
