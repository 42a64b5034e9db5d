/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole fabrics in formats of other programs. Errors of the file are left to ferror(out).
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "fabric/fabric.h"

/*
 * The dump of ibnetdiscover(8): our reader reads it back as an equal fabric, ibsim loads
 * it. Equal fabrics give equal bytes: the heading names the program, not the date.
 * Control characters in descriptions become blanks, as in ibnetdiscover; aggregation
 * nodes keep the description that identifies them. EINVAL: two nodes have one GUID.
 * O(nodes + ports).
 */
int fab_export_ibnetdiscover(FILE *out, const struct fab_fabric *f,
			     struct fab_err *err) FAB_MUST_CHECK;

/*
 * opensm-subnet.lst: a line for each end of each cable, by port id, for our reader and
 * ibdmchk(1). Nodes without a cable, LMCs and revisions are not in such a file. A
 * description is cut to 64 bytes, its control characters become blanks, and a brace in it
 * that would end it early becomes a parenthesis. The lower 16 bits of device numbers are
 * written. EINVAL: two nodes have one GUID; there are cables, but none at a switch.
 * O(nodes + ports).
 */
int fab_export_subnet_lst(FILE *out, const struct fab_fabric *f,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Nodes, ports, cables and hosts, one record a line, with the numbers of the fabric: an
 * object with `schema`, `command`, `version`, `fabric` (as in every document), `format`,
 * `host_rule`, `warnings` and the arrays nodes   {id, kind, guid, system_guid, name,
 * ports, vendor, device, host} ports   {node, port, guid, lid, lmc, cable}: port 0 of
 * switches, every known port of other nodes, and any with a LID or GUID cables  {id,
 * class, a: {node, port, width, speed}, b: {...}} hosts   {id, name, adapters: [node
 * ids]} Only the current record is in memory. O(nodes + ports + cables).
 */
void fab_export_json(FILE *out, const struct fab_fabric *f, const char *command);

/*
 * The network file of BookSim2, topology anynet: a line `router I node J ... router K
 * ...` for each switch. Nodes are host adapters on switches in the order of struct
 * fab_flow_ends; a cable between switches is at its end of the lower id; of parallel
 * cables BookSim2 knows one (*n_parallel are left out). EINVAL: no host is on a switch.
 * O(ports).
 */
int fab_export_booksim(FILE *out, const struct fab_fabric *f, uint32_t *n_parallel,
		       struct fab_err *err) FAB_MUST_CHECK;

/*
 * Tables of minimum hops (Chen et al. 2022, definition 5), as OpenSM dumps them to
 * opensm-lid-matrix.dump: for each switch its GUID, then a line for each LID that it
 * reaches, ascending: the fewest hops, then those by each port, ff: none, and the GUID of
 * the target's port. A hop is a cable, that of a host too. EINVAL: there are no LIDs.
 * O(switches * LIDs * ports of a switch).
 */
int fab_export_min_hops(FILE *out, const struct fab_fabric *f, int n_threads,
			struct fab_err *err) FAB_MUST_CHECK;

/*
 * A cabling plan as fab_cabling_csv_read() reads it, by cable: switches by their short
 * name and `Port N`, chips of directors as `Blade BOARD_Port CHIP/PORT`, adapters as UFM
 * has them (`node1`, `node1 HCA-1`). A name that is not unique, or no text, is replaced
 * by the GUID. Cables inside directors and to aggregation nodes are no part of a plan.
 * EINVAL: a node without a name and a GUID of its own. O(nodes + cables) and names to
 * resolve.
 */
int fab_export_plan(FILE *out, const struct fab_fabric *f,
		    struct fab_err *err) FAB_MUST_CHECK;
