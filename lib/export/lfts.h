/* SPDX-License-Identifier: BSD-2-Clause */
/* Forwarding tables as OpenSM dumps them to opensm-lfts.dump and loads with -R file -U.
 */
#pragma once

#include <stdio.h>

#include "unicast/routes.h"

/*
 * Write a table for each switch that is alive, an entry for each LID it can send to:
 * switches, and ports whose cable is alive. LIDs of root switches, for which engines
 * have no column, take the path of a leaf switch next to them. Errors: EINVAL when ports
 * have no LIDs or a subnet does not hold them, before anything is written; those of the
 * file are left to ferror(out). O(switches * LIDs), a line at a time.
 */
int fab_export_lfts(FILE *out, const struct fab_routes *routes,
		    struct fab_err *err) FAB_MUST_CHECK;
