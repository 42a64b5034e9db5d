/* SPDX-License-Identifier: BSD-2-Clause */
/* Service levels of paths, as ibdmchk(1) reads them (option -c). */
#pragma once

#include <stdio.h>

#include "unicast/routes.h"

/*
 * Write a line for each adapter that is alive and each LID of the fabric: `0xGUID LID
 * SL`, node GUID and decimal numbers. The format knows nodes, no ports: of an adapter
 * with several cables the first that is alive counts. Where the tables have no service
 * level it is 0. EINVAL also: a pair has none
 * and must not send. Errors are those of fab_export_lfts(). O(adapters * LIDs), a line at
 * a time.
 */
int fab_export_path_sl(FILE *out, const struct fab_routes *routes,
		       struct fab_err *err) FAB_MUST_CHECK;
