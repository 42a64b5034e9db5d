/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that pass the image on to others, instead of servers that give it to each. */
#pragma once

#include "boot/batch.h"
#include "boot/transfer.h"

/*
 * The nodes of a batch stand in the order of the machine, in as many ranges as servers
 * take part. A node passes on within its range only.
 *   chain     each node to the next one
 *   tree      each node to two: the first nodes of both halves of what follows it
 *   doubling  a holder gives the image to the node in the middle of its range, which sees
 *             to the upper half from then on: every holder sends in every step, so that
 *             n nodes have it after ceil(log2(n + 1)) steps, the fewest there are. As
 *             subtrees are consecutive, one range at most begins before a subtree and
 *             ends in it, and one begins in it and ends behind: a step takes each segment
 *             once in each direction, and no transfer waits for another (but those of
 *             several servers). Both is what the peer-to-peer deployment of KISTI aims at
 *             in a fat tree (Applied Sciences 16(3), 1565, 2026, of which the abstract
 *             alone was at hand).
 */
enum fab_relay_way { FAB_RELAY_CHAIN, FAB_RELAY_TREE, FAB_RELAY_DOUBLING };

struct fab_relay_hop {
	uint32_t from; /* node; is_from_server: interface */
	uint32_t to;   /* node */
	uint32_t step; /* from 0 */
	bool is_from_server;
};

struct fab_relay {
	uint32_t n_steps, n_servers;
	uint32_t n;
	struct fab_relay_hop *hop; /* [n] step by step: one to each node of the batch */
};

/* By the first n_servers interfaces that are up, spread over the machine; at most as many
 * as there are, and as nodes. The caller calls fini. O(batch). */
void fab_relay_make(const struct fab_machine *m, const struct fab_batch *batch,
		    enum fab_relay_way way, uint32_t n_servers, struct fab_relay *out);
void fab_relay_fini(struct fab_relay *relay);

/*
 * Seconds until all have the image, by equal shares of what the hops cross. chunk_mbit 0:
 * a node sends when it has booted, and a step begins after the one before. Else it
 * sends on chunk by chunk while it receives, and all hops run at once. O(batch * levels).
 */
double fab_relay_seconds(const struct fab_machine *m, const struct fab_relay *relay,
			 double image_mbit, double chunk_mbit);

/* The number of servers (1, 2, 4 ..., all) with which that is quickest, of equal ones the
 * fewest; returns the time. The caller calls fini. O(batch * levels * log servers). */
double fab_relay_best(const struct fab_machine *m, const struct fab_batch *batch,
		      enum fab_relay_way way, double image_mbit, double chunk_mbit,
		      struct fab_relay *out);

/* One multicast stream from the best connected server, which switches copy, at the rate
 * of the slowest segment of the path to any node; `repair` of the image is sent again.
 * O(batch * levels). */
double fab_relay_stream_seconds(const struct fab_machine *m,
				const struct fab_batch *batch, double image_mbit,
				double repair);

/* Services that nodes load from: what of a cable, and of a round trip, each can use. */

/*
 * A row of the table. Sizes are those of Ethernet with frames of 1500 bytes, which take
 * 1538 on the cable.
 */
struct fab_service {
	const char *name;
	uint32_t payload,
		wire;	       /* bytes of the image in a full frame, and all its bytes */
	uint32_t window_bytes; /* under way in one transfer */
	uint32_t trips;	       /* round trips of a file before its data */
	uint32_t n_files;      /* at least; of the image */
};
extern const struct fab_service fab_services[];
extern const size_t fab_n_services;

struct fab_service_time {
	double limit_mbps;     /* of one transfer: a window each round trip */
	double bandwidth_mbps; /* of the slowest node */
	double seconds;	       /* until it has its image */
	uint32_t n_files;
	bool is_limited; /* the window holds it back */
};

/* By the shares of a mapping, of cables that carry `efficiency` of their bytes as image
 * there; a limit of transfers is that of the service. O(levels). */
struct fab_service_time fab_service_time(const struct fab_service *service,
					 const struct fab_share *share,
					 const struct fab_transfer_options *options,
					 double efficiency, double round_trip_seconds);
