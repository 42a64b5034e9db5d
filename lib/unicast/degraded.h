/* SPDX-License-Identifier: BSD-2-Clause */
/* What is left of a fabric when parts of it are dead. */
#pragma once

#include "unicast/routes.h"

/*
 * A fabric of its own without the dead parts: the same GUIDs, LIDs, names and port
 * numbers, numbered anew. Adapters, aggregation nodes and routers that lost their last
 * cable go, too; switches stay, cabled or not. Dead parts are those of `faults`, NULL:
 * none. The caller frees *out. EINVAL: no switch has a cable left. O(ports).
 */
int fab_fabric_without(const struct fab_fabric *f, const struct fab_faults *faults,
		       struct fab_fabric **out, struct fab_err *err) FAB_MUST_CHECK;
