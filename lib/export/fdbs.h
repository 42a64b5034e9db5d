/* SPDX-License-Identifier: BSD-2-Clause */
/* Forwarding tables as OpenSM dumps them to opensm.fdbs and ibdmchk(1) reads them. */
#pragma once

#include <stdio.h>

#include "unicast/routes.h"

/*
 * Write the tables of all switches that are alive: for each LID the port, the hops of the
 * way (the last one to an adapter counts, as OpenSM counts), and whether no way in the
 * live fabric is shorter; or UNREACHABLE. LIDs and errors are those of
 * fab_export_lfts(). O(rows * cables + switches * LIDs); takes 2 bytes a row and switch,
 * where a row is a destination switch.
 */
int fab_export_fdbs(FILE *out, const struct fab_routes *routes,
		    struct fab_err *err) FAB_MUST_CHECK;
