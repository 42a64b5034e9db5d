/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network made ready for runs: ports and tables as the simulator of packets has them
 * (sim/network.h), shortest paths, what an idle network takes. Nothing changes in a run.
 */
#pragma once

#include "fabric/dist.h"
#include "rdma/rdma.h"
#include "sim/network.h"

enum {
	RDMA_MASK_PORTS = 8, /* shortest paths as bits: switches of so many arcs */
	RDMA_ARCS_MAX = 256, /* outputs that are chosen from: the first ones */
};

struct fab_rdma_net {
	const struct fab_rdma_problem *problem;
	struct fab_rdma_params params; /* cables, routing and buffers of these count */
	struct fab_sim_problem sim_problem;
	struct fab_sim_params sim_params;
	struct sim_net sim;
	/* Adaptive and spray: hops between switches; both NULL: by table, or by masks. */
	struct fab_dist *dist;
	uint8_t *live_hops; /* [to * n_switches + sw] where something is dead */
	/* Arcs of a switch on shortest paths to another that has an endpoint: mask[to *
	 * n_switches + sw]; NULL: looked up in dist. */
	uint8_t *mask;
	uint32_t *sl_row; /* [n_nodes] as of fab_routes_sl_rows(); NULL: no tables */
	unsigned
		n_vls; /* lanes: those of the tables, and one more for adaptive packets */
	uint64_t round_trip; /* the longest of all transfers */
};

/* The arcs of a mask, ascending; returns how many. O(arcs). */
static inline uint32_t rdma_net_mask_arcs(unsigned mask, uint16_t *arc)
{
	uint32_t n = 0;

	for (; mask; mask &= mask - 1)
		arc[n++] = (uint16_t)__builtin_ctz(mask);
	return n;
}

/* Arcs of `sw` on shortest live paths to switch `to`, into arc[RDMA_ARCS_MAX] counted
 * from its first; returns how many. O(arcs). */
uint32_t rdma_net_productive(const struct fab_rdma_net *net, uint32_t sw, uint32_t to,
			     uint16_t *arc);

/*
 * The ports by which a packet goes from endpoint to endpoint: its own first, that of the
 * last switch at the end; of several shortest paths the one by lowest arcs. Returns how
 * many, at most FAB_RDMA_HOPS_MAX; 0: there is no path. O(hops).
 */
uint32_t rdma_net_path(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
		       uint32_t port[FAB_RDMA_HOPS_MAX]);

/* Time from the start of a packet of `bytes` on the wire to its delivery in an idle
 * network; 0: no path. ps. O(hops). */
uint64_t rdma_net_latency(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
			  uint32_t bytes);

/* Does a packet have a path from endpoint to endpoint? O(hops). */
bool rdma_net_has_path(const struct fab_rdma_net *net, uint32_t from, uint32_t to);

/* Packets of a transfer. O(1). */
static inline uint64_t rdma_packets(uint64_t bytes, uint32_t mtu)
{
	return (bytes + mtu - 1) / mtu;
}

/* Bytes of payload of packet `number` of them. O(1). */
static inline uint32_t rdma_payload(uint64_t bytes, uint32_t mtu, uint64_t number)
{
	uint64_t left = bytes - number * mtu;

	return left < mtu ? (uint32_t)left : mtu;
}

/* The endpoint that sends the data of a transfer. O(1). */
static inline uint32_t rdma_sender(const struct fab_rdma_transfer *t)
{
	return t->is_read ? t->target : t->source;
}

/* The one that gets it. O(1). */
static inline uint32_t rdma_receiver(const struct fab_rdma_transfer *t)
{
	return t->is_read ? t->source : t->target;
}
