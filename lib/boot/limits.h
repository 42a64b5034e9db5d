/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capacity model that shares, mappings, transfers and advice have in common: cables
 * carry their capacity times the efficiency of the protocol; a transfer, a server's disk
 * and a server's connections are limits beyond them. All rates count bytes of the image.
 */
#pragma once

#include <math.h>

#include "boot/batch.h"

enum fab_limit {
	FAB_LIMIT_DISK,	       /* of a server, for all its interfaces together */
	FAB_LIMIT_TRANSFER,    /* of one transfer: protocol window */
	FAB_LIMIT_CONNECTIONS, /* served at once, each with what one transfer gets */
	FAB_N_LIMITS,
};

/* Bit of a limit in a set of levels (struct fab_advice). O(1). */
static inline uint32_t fab_limit_bit(enum fab_limit limit)
{
	return 1U << (FAB_MACHINE_LEVELS_MAX + (unsigned)limit);
}

/* "disk", "transfer", "connections": names of segments. Borrowed static text. O(1). */
const char *fab_limit_name(enum fab_limit limit);

/* Does the machine have it? O(1). */
bool fab_limit_is_given(const struct fab_machine *m, enum fab_limit limit);

/*
 * Set the limits of a machine, and scale its cables to the part `efficiency` (above 0, at
 * most 1) of their bytes that is image. Once for each machine. O(vertices).
 */
void fab_limits_apply(struct fab_machine *m, const struct fab_limits *limits,
		      double efficiency);

/*
 * The machine with every level and limit whose bit is in `doubled` at twice its capacity.
 * *out borrows all but capacity_mbps, which the caller frees. O(vertices).
 */
void fab_limits_raise(const struct fab_machine *m, uint32_t doubled,
		      struct fab_machine *out);

/* Rate of one transfer to the fastest node of the batch, Mb/s; INFINITY: no limit.
 * O(batch). */
double fab_limits_transfer_mbps(const struct fab_machine *m,
				const struct fab_batch *batch);

/* Nodes that a capacity serves at a bandwidth each; 1e15 at most. Values that differ by
 * rounding only are equal. O(1). */
static inline uint64_t fab_limits_quota(double capacity_mbps, double bandwidth_mbps)
{
	double q = floor(capacity_mbps / bandwidth_mbps * (1 + 1e-12));

	return q < 1e15 ? (uint64_t)q : (uint64_t)1e15;
}

/* Nodes that the disk and the connections of a server serve at a bandwidth each;
 * transfer_mbps by fab_limits_transfer_mbps(). O(1). */
uint64_t fab_limits_server_quota(const struct fab_machine *m, double transfer_mbps,
				 double bandwidth_mbps);

/* Least bandwidth of n > 0 nodes of one server by its disk, by its connections (served in
 * rounds); INFINITY without the limit. O(1). */
double fab_limits_disk_share(const struct fab_machine *m, uint32_t n);
double fab_limits_connections_share(const struct fab_machine *m, double transfer_mbps,
				    uint32_t n);

/* Rate of each interface as weights for mappings, on the heap: its cable, and its part of
 * the disk and of the connections of its server; 0 if that is down. O(interfaces +
 * servers). */
double *fab_limits_interfaces(const struct fab_machine *m);
