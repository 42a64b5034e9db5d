/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables in the formats of OpenSM and ibdmchk(1).
 *
 * Unicast tables are those of all live switches, with all LIDs of live ports; a switch
 * without a live cable is in no list of links and has no table. LIDs of root switches,
 * for which engines have no column, take the path of a leaf switch next to them. Errors:
 * EINVAL before anything is written when ports have no LIDs or a subnet does not hold
 * them, or when two nodes of the file have one GUID; those of the file are left to
 * ferror(out).
 */
#pragma once

#include <stdio.h>

#include "mcast/route.h"
#include "unicast/routes.h"

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

/* opensm.mcfdbs (mcast/mcfdbs.h): trees as multicast tables of all switches that have an
 * entry, in the order of the fabric; in each by MLID, then port. mlid: [groups]. As in
 * OpenSM a group of fewer than two members has no entry. O(switches + n log n) for n
 * entries: two for each tree link, one for each member. */
int fab_export_mcfdbs(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_mcast_result *result, const uint16_t *mlid,
		      struct fab_err *err) FAB_MUST_CHECK;
