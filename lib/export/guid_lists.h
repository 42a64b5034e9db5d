/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of GUIDs for OpenSM: root_guid_file (roots, for updn and ftree) and cn_guid_file
 * (compute nodes, for ftree). A GUID a line, then its name; # begins a comment line.
 */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "fabric/fabric.h"

/*
 * Node GUIDs of the roots (fabric/ranks.h), by GUID, after updn has been tried with them.
 * EINVAL: the fabric has no ranks, such as a torus, or a pair of hosts would lose its
 * path, which is named; nothing is written then. Errors of writing are left to
 * ferror(out). O(switches with hosts * cables).
 */
int fab_export_root_guids(FILE *out, const struct fab_fabric *f, int n_threads,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Port GUIDs of the ports of host adapters on switches of the lowest rank that has any
 * (the most hops below the roots of fab_export_root_guids()), by GUID: ftree wants all
 * compute nodes on one rank. `n_left_out` counts ports of hosts on other switches;
 * aggregation nodes and routers do not count. Errors as those of the roots. O(cables +
 * ports log ports).
 */
int fab_export_cn_guids(FILE *out, const struct fab_fabric *f, uint32_t *n_left_out,
			struct fab_err *err) FAB_MUST_CHECK;
