/* SPDX-License-Identifier: BSD-2-Clause */
/* What would make booting faster: servers, capacities, other ways to distribute. */
#pragma once

#include "boot/mapping.h"

/*
 * The fewest of the servers that are up, taken in an order that spreads them over the
 * branches, with which the best mapping boots the batch in `seconds`; 0 when not even all
 * of them can. Equal shares. O(vertices * log servers).
 */
uint32_t fab_advice_servers(const struct fab_machine *m, const struct fab_batch *batch,
			    double image_mbit, double seconds);

struct fab_advice {
	uint32_t levels;       /* bit l: level l */
	double bandwidth_mbps; /* of the slowest node by the best mapping */
};

/*
 * Each level with a capacity: what the best mapping gives when all its segments are twice
 * as fast. Where none alone helps, also the levels that have to be raised together. out:
 * [FAB_MACHINE_LEVELS_MAX]; returns how many, the greatest gain first, of equal ones the
 * level with the fewest segments. O(levels * vertices).
 */
uint32_t fab_advice_raise(const struct fab_machine *m, const struct fab_batch *batch,
			  struct fab_advice *out);

/* Times of other ways to get one image to all nodes of a batch. */
struct fab_alternatives {
	/* one stream that switches copy, at the rate of the slowest segment on the way to
	 * any node; `repair` of the image is sent again */
	double multicast_seconds;
	/* every server sends to one node, that to the next one while it receives, chunk
	 * by chunk; chains are consecutive nodes; equal shares of what they cross */
	double chain_seconds;
	/* who has the image gives it to one that has not: servers and finished nodes,
	 * round by round at the rate of the slowest node; assumes partners nearby */
	double peer_seconds;
};
/* O(batch * levels). */
void fab_alternatives_of(const struct fab_machine *m, const struct fab_batch *batch,
			 double image_mbit, double chunk_mbit, double repair,
			 struct fab_alternatives *out);
