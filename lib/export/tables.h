/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables and lists of GUIDs in the formats of OpenSM and ibdmchk(1), and
 * results of multicast routing.
 *
 * Unicast tables are those of all live switches, with all LIDs of live ports; a switch
 * without a live cable is in no list of links and has no table. LIDs of root switches,
 * for which engines have no column, take the path of a leaf switch next to them. Errors:
 * EINVAL before anything is written when ports have no LIDs or a subnet does not hold
 * them, or when two nodes of the file have one GUID; those of the file are left to
 * ferror(out).
 */
#pragma once

#include "base/err.h"
#include "fabric/fabric.h"
#include "mcast/bounds.h"
#include "mcast/events.h"
#include "mcast/route.h"
#include "unicast/routes.h"

#include <stdio.h>

/* opensm-lfts.dump, which OpenSM loads with -R file -U: an entry for each LID that a
 * switch can send to. O(switches * LIDs). */
int fab_export_lfts(FILE *out, const struct fab_routes *routes,
		    struct fab_err *err) FAB_MUST_CHECK;

/* opensm.fdbs: for each LID the port, the hops of the path (the last one to an adapter
 * counts, as OpenSM counts), and whether no path of the live fabric is shorter; or
 * UNREACHABLE. O(rows * cables + switches
 * * LIDs); takes 2 bytes for each row and switch. */
int fab_export_fdbs(FILE *out, const struct fab_routes *routes,
		    struct fab_err *err) FAB_MUST_CHECK;

/* Service levels for ibdmchk -c: a line `0xGUID LID SL` for each live adapter and each
 * LID, by node GUID. Of an adapter with several cables the first live one counts. Where
 * tables have no service level it is 0. EINVAL also: a pair has none and must not send.
 * O(adapters * LIDs). */
int fab_export_path_sl(FILE *out, const struct fab_routes *routes,
		       struct fab_err *err) FAB_MUST_CHECK;

/* Lanes of service levels for ibdmchk -d: a line `0xGUID IN OUT 0xNN 0xNN ...` for each
 * pair of ports with live cables of each live switch, port 0 among the inputs, and for
 * each port of an adapter; one digit for each of 16 service levels. Adapters send on the
 * lane of the service level where lanes follow from it, else on lane 0. O(nodes + sum
 * over switches of ports squared). */
int fab_export_sl2vl(FILE *out, const struct fab_routes *routes,
		     struct fab_err *err) FAB_MUST_CHECK;

/* opensm.mcfdbs (mcast/tables.h): trees as multicast tables of all switches that have an
 * entry, in the order of the fabric; in each by MLID, then port. mlid: [groups]. As in
 * OpenSM a group of fewer than two members has no entry. O(switches + n log n) for n
 * entries: two for each tree link, one for each member. */
int fab_export_mcfdbs(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_mcast_result *result, const uint16_t *mlid,
		      struct fab_err *err) FAB_MUST_CHECK;

/* Results of multicast routing as fabric-formats(5) describes them. All functions fail
 * with the errno of the write. */

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

/*
 * Files of GUIDs for OpenSM: root_guid_file (roots, for updn and ftree) and cn_guid_file
 * (compute nodes, for ftree). A GUID a line, then its name; # begins a comment line.
 */

/*
 * Node GUIDs of the roots (fabric/ranks.h), by GUID, after updn has been tried with them.
 * EINVAL: the fabric has no ranks, such as a torus, or a pair of hosts would lose its
 * path, which is named; nothing is written then. Errors of writing are left to
 * ferror(out). O(switches with hosts * cables).
 */
int fab_export_root_guids(FILE *out, const struct fab_fabric *f, int n_threads,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Port GUIDs of the ports of host adapters on switches of the lowest rank that has any
 * (the most hops below the roots of fab_export_root_guids()), by GUID: ftree wants all
 * compute nodes on one rank. `n_left_out` counts ports of hosts on other switches;
 * aggregation nodes and routers do not count. Errors as those of the roots. O(cables +
 * ports log ports).
 */
int fab_export_cn_guids(FILE *out, const struct fab_fabric *f, uint32_t *n_left_out,
			struct fab_err *err) FAB_MUST_CHECK;
