/* SPDX-License-Identifier: BSD-2-Clause */
/* What dead parts cut off for good, which no routing brings back. */
#pragma once

#include "fabric/kfat.h"
#include "unicast/analysis.h"

struct fab_lost {
	uint64_t hosts;	     /* with no port left of those that they had */
	uint64_t rail_hosts; /* that lose a port and keep another one */
	uint64_t adapters;   /* ports of host adapters: rails of hosts */
	uint64_t pairs;	     /* ordered, of ends of which at least one is cut off */
};

/*
 * Against the fabric without faults. Pairs are of `ends`; a port with several LIDs is
 * that many targets. Leaf switches are those of `kfat`, or with NULL the switches
 * with hosts. O(ports).
 */
struct fab_lost fab_lost_count(const struct fab_faults *faults,
			       const struct fab_kfat *kfat, enum fab_ends ends);

/* A port of a host's adapter that is cut off. */
struct fab_lost_port {
	uint32_t port;
	bool is_host; /* and so is its host: no port of it is left */
};
struct fab_lost_ports {
	FAB_VEC(struct fab_lost_port) of;
};

/* All of them: first those of hosts that are cut off, then rails; by port. The caller
 * frees out->of.v. O(ports). */
void fab_lost_ports(const struct fab_faults *faults, struct fab_lost_ports *out);
