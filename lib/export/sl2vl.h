/* SPDX-License-Identifier: BSD-2-Clause */
/* Lanes of service levels, as ibdmchk(1) reads them (option -d). */
#pragma once

#include <stdio.h>

#include "unicast/routes.h"

/*
 * Write a line for each pair of ports with a cable that is alive of each switch that is,
 * port 0 among the ports that packets come in by, and for each port of an adapter:
 * `0xGUID IN OUT 0xNN 0xNN ...`, node GUID, and a digit a lane for the service levels 0
 * to 15. Adapters send on the lane of the service level where lanes follow from it, else
 * on lane 0. EINVAL: two nodes have one GUID. Errors of the file are left to ferror(out).
 * O(nodes + sum over switches of ports squared).
 */
int fab_export_sl2vl(FILE *out, const struct fab_routes *routes,
		     struct fab_err *err) FAB_MUST_CHECK;
