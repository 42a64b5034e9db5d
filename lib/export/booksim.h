/* SPDX-License-Identifier: BSD-2-Clause */
/* The network file of the simulator BookSim2, topology anynet. */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "fabric/fabric.h"

/*
 * A line a switch: `router I node J ... router K ...`. Routers are switches by id, nodes
 * host adapters on switches in the order of struct fab_flow_ends; a cable between
 * switches is named once, by its end of the lower id, and of parallel ones BookSim2 knows
 * one (*n_parallel are left out). EINVAL: no host is on a switch. Errors of writing are
 * left to ferror(out). O(ports).
 */
int fab_export_booksim(FILE *out, const struct fab_fabric *f, uint32_t *n_parallel,
		       struct fab_err *err) FAB_MUST_CHECK;
