/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees as multicast forwarding tables in OpenSM's dump format (mcast/mcfdbs.h). */
#pragma once

#include <stdio.h>

#include "mcast/route.h"

/*
 * Write the tables of all switches that have an entry, in the order of the fabric; in
 * each by MLID, then port. mlid: [groups], one a group. As OpenSM does it, a group of
 * fewer than two members has none. EINVAL: two switches of the fabric have one GUID, by
 * which tables are told apart. Errors of the file are left to ferror(out). O(switches +
 * n log n) for n entries: two a tree link and one a member.
 */
int fab_export_mcfdbs(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_mcast_result *result, const uint16_t *mlid,
		      struct fab_err *err) FAB_MUST_CHECK;
