/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the kinds of graphs of peers and the reader of files. */
#pragma once

#include "launch/peers.h"

/* Sizes, checked; no peers yet. EINVAL, ERANGE. O(1). */
int peers_begin(struct fab_peers *p, enum fab_peers_kind kind, uint32_t n_nodes,
		uint32_t ppn, struct fab_err *err) FAB_MUST_CHECK;
