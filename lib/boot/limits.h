/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds transfers back beside cables: the disks of servers, what one transfer gets
 * by its protocol, and how many a server serves at once. Each is a capacity of a node or
 * a server, so that shares, bounds and advice treat it as a path segment.
 */
#pragma once

#include "boot/share.h"
#include "boot/transfer.h"

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

/* Is it given in the options? O(1). */
bool fab_limit_is_given(const struct fab_transfer_options *options, enum fab_limit limit);

/*
 * capacity[n_vertices] of a machine with its limits for a batch: nodes get no more than a
 * transfer, interfaces no more than their disk and connections; every level and limit
 * whose bit is in `doubled` has twice its capacity. The disk of a server with several
 * interfaces counts in full for each: an upper bound. `options` NULL: no limits.
 * O(vertices).
 */
void fab_limits_capacities(const struct fab_machine *m, const struct fab_batch *batch,
			   const struct fab_transfer_options *options, uint32_t doubled,
			   double *capacity);

/*
 * Add the limits to the shares of a batch as segments without a level, and make
 * bottleneck, bandwidth and slowest node those with them. O(batch + servers).
 */
void fab_limits_share(const struct fab_machine *m, const struct fab_batch *batch,
		      const uint32_t *interface_of,
		      const struct fab_transfer_options *options,
		      struct fab_share *share);
