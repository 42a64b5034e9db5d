/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics made from a formula: what the FABRIC argument `gen:KIND:PARAMS` means. */
#pragma once

#include "base/err.h"
#include "fabric/builder.h"

/*
 * Make the fabric that `spec` (what follows `gen:`, such as `torus:dims=4x4x4,hosts=2`)
 * describes; the grammar and all kinds are in fabric-topologies(7). The same spec gives
 * the same fabric, down to GUIDs, LIDs and port numbers. The caller frees *out.
 * Warning of the fabric: lids-exhausted, when there are more nodes than unicast LIDs.
 * Errors: EINVAL with a sentence that names kind, key and what is allowed; a fabric of
 * more than 2^21 cables or 2^21 nodes is refused before anything is allocated.
 * O(nodes + cables), for `random` O(cables + degree^3) expected.
 */
int fab_gen_fabric(const char *spec, struct fab_fabric **out,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Only add the nodes and cables to a builder, for callers that finish it themselves.
 * Errors as above; the builder is then only good for fab_builder_free().
 */
int fab_gen_fill(struct fab_builder *b, const char *spec,
		 struct fab_err *err) FAB_MUST_CHECK;
