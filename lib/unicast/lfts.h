/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forwarding tables, service levels and lanes as files have them: what OpenSM programmed
 * in a real cluster, or what export/ wrote.
 */
#pragma once

#include "unicast/routes.h"

/*
 * Read forwarding tables from a file, and service levels and lanes when paths are not
 * NULL. "-" is standard input; packed files are unpacked. The caller frees *out. Errors:
 * those of reading files; EINVAL: `file:line: ` and what was expected. See below. O(bytes
 * + columns * switches).
 */
int fab_routes_read(const struct fab_fabric *f, const struct fab_faults *faults,
		    const char *lfts_path, const char *path_sl_path,
		    const char *sl2vl_path, struct fab_routes **out,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * Tables in any of these forms, recognised line by line:
 *   opensm-lfts.dump, dump_fts, ibroute:
 *     Unicast lids [0-56] of switch Lid 4 guid 0x0002c90200417670 ('NAME'):
 *     0x0001 036 # Channel Adapter portguid 0x0002c90300080d59: 'NAME'
 *     56 lids dumped
 *   opensm.fdbs:
 *     dump_ucast_routes: Switch 0x0002c90200417670
 *     0x0001 : 036  : 02   : yes
 *     0x0002 : UNREACHABLE
 * There is a column for each LID, ascending. A LID is that of the port whose GUID a line
 * names; where none does, of the port that has it in the fabric (LMC counts). LIDs of
 * ports that are not in the fabric, or on no switch, and tables of switches that are
 * not in the fabric are left out: r->files names them, and the switches without a table
 * or with one that lacks lines of the second form. Tables none of which is of a switch of
 * the fabric, a port that a switch does not have, a LID twice in a switch or of two
 * ports, and a table of the first form without its end are errors. O(lines + LIDs *
 * switches).
 */
int fab_routes_from_lfts(const struct fab_fabric *f, const struct fab_faults *faults,
			 const char *file, const char *text, size_t len,
			 struct fab_routes **out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Service levels for tables by LID, in any of these forms, recognised line by line:
 *   as ibdmchk reads them:
 *     0xNODEGUID LID SL
 *   of a port, with the levels of the next LIDs, as the plug-in fabkit-path-sl writes:
 *     0xNODEGUID LID: SL SL - SL
 *   what saquery -p prints, of which three fields count:
 *     PathRecord dump:
 *       dlid....................2
 *       slid....................3
 *       sl......................0x1
 * A node whose ports have different levels in the last two forms has an unknown one
 * (note); in the first form that is an error. So is a record with LID 0: the answer was
 * cut off. A pair without a line has FAB_SL_UNKNOWN; nodes and LIDs that are not known
 * are left out (note). Lanes are service levels from then on. A switch without a line of
 * its own counts as its first adapter. Rows that are equal on a switch are kept once.
 * O(lines + nodes * LIDs).
 */
int fab_routes_add_path_sl(struct fab_routes *r, const char *file, const char *text,
			   size_t len, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Lanes: lines `0xNODEGUID IN OUT 0xAB 0xCD ...`, eight times two lanes for the service
 * levels 0 to 15; or opensm-sl2vl.dump, where lines `IN OUT : LANE LANE ...` stand under
 * `Switch 0xGUID, base LID 1, "NAME"`. Without a line, the lane is FAB_VL_UNKNOWN;
 * r->files says for which ports. Lines of adapters and those for packets that leave to an
 * adapter are checked (of the latter the first is kept), but no lane between switches
 * follows from them. Ports of adapters on a switch must agree; port 0 yields to them.
 * O(lines + arcs of each switch squared).
 */
int fab_routes_add_sl2vl(struct fab_routes *r, const char *file, const char *text,
			 size_t len, struct fab_err *err) FAB_MUST_CHECK;
