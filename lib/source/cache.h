/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache file of libibnetdisc (`ibnetdiscover --cache FILE`), version 1, little
 * endian:
 *
 *   header  magic 4, version 4, nodes 4, ports 4, GUID of the first node 8, hops 4
 *   node    LID 2, LMC 1, enhanced port 0 1, SwitchInfo 64, GUID 8, type 1, ports 1,
 *           NodeInfo 64, description 64, stored ports 1, for each: port GUID 8, number 1
 *   port    GUID 8, number 1, external number 1, LID 2, LMC 1, PortInfo 64, node GUID 8,
 *           has peer 1, port GUID of the peer 8, its number 1
 *
 * The library's own loader takes quadratic time, and believes every count.
 */
#pragma once

#include <stdbool.h>

#include "fabric/builder.h"

/* Do the bytes begin like a cache file? */
bool fab_is_cache(const char *bytes, size_t n);

/*
 * Read a cache file into a builder. Warnings: duplicate-guid, unknown-peer. Errors:
 * EINVAL when the sizes do not add up or a node has an unknown type. O(bytes).
 */
int fab_cache_read(struct fab_builder *b, const char *name, const char *bytes, size_t n,
		   struct fab_err *err) FAB_MUST_CHECK;
