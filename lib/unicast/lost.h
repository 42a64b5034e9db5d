/* SPDX-License-Identifier: BSD-2-Clause */
/* What dead parts cut off for good, which no routing brings back. */
#pragma once

#include "fabric/kfat.h"
#include "unicast/analysis.h"

struct fab_lost {
	uint64_t hosts;	   /* with no port left of those that they had */
	uint64_t adapters; /* ports of host adapters: rails of hosts */
	uint64_t pairs;	   /* ordered, of ends of which at least one is cut off */
};

/*
 * Against the fabric without faults. Pairs are of `ends`; a port with several LIDs is
 * that many targets. Leaf switches are those of `kfat`, or with NULL the switches
 * with hosts. O(ports).
 */
struct fab_lost fab_lost_count(const struct fab_faults *faults,
			       const struct fab_kfat *kfat, enum fab_ends ends);
