/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes by their GUID: what forwarding tables, dumps and lists name them by. Of a fabric
 * with damaged or invented GUIDs two nodes may have the same; then such a name means
 * neither.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "fabric/fabric.h"

/*
 * Node ids of the first n_nodes nodes by GUID (0 as any other), FAB_SHARED where several
 * of them have it. fab_map64_free() frees it. O(n_nodes).
 */
struct fab_map64 *fab_guids_new(const struct fab_fabric *f, uint32_t n_nodes);

/*
 * Does every one of the first n_nodes nodes (n_switches: all switches) have a GUID of
 * its own? -EINVAL and a sentence that names two of one GUID, for files in which `what`
 * ("forwarding tables") are told apart by it. O(n_nodes).
 */
int fab_guids_differ(const struct fab_fabric *f, uint32_t n_nodes, const char *what,
		     struct fab_err *err) FAB_MUST_CHECK;
