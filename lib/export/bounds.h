/* SPDX-License-Identifier: BSD-2-Clause */
/* Lower bounds with what proves them: what --bound-out writes (fabric-formats(5)). */
#pragma once

#include <stdio.h>

#include "mcast/bounds.h"

/*
 * JSON lines: the fabric (GUIDs of its switches, and cables as pairs of places in that
 * list), a group a line (its switches), then each bound that there is, with its
 * certificate. Self-loops are left out. Fails with the errno of the write. O(cables +
 * members + certificates).
 */
int fab_export_bounds(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_bound *bounds, size_t n_bounds,
		      struct fab_err *err) FAB_MUST_CHECK;
