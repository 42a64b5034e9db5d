/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to nodes and servers when servers are down. */
#pragma once

#include "boot/mapping.h"

/* A server that is up and serves more nodes of the batch than before. */
struct fab_failover_server {
	uint32_t server;
	uint32_t nodes_before, nodes;
};

struct fab_failover {
	uint32_t
		n_moved; /* nodes of the batch that have another interface; orphans: no */
	uint32_t n;
	struct fab_failover_server *grown; /* [n] most growth first, then by number */
};

/*
 * Compare two mappings of a batch; nodes without an interface (FAB_NONE) count for no
 * server. The caller frees *out. O(batch + servers log servers).
 */
void fab_failover_of(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *before, const uint32_t *after,
		     struct fab_failover *out);
void fab_failover_fini(struct fab_failover *failover);
