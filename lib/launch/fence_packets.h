/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fence as packets: the same plan and the same work of processors as in fence_sim.h,
 * with fab_sim_run() for the network: switches with queues, buffers, lanes and credits.
 * Slow, and for small cases: what the faster simulation leaves out can be seen. All
 * cables are as fast as those of the adapters, packets have no headers, switches and
 * cables no delays of their own (they are in L).
 */
#pragma once

#include "launch/fence.h"
#include "launch/nodes.h"
#include "sim/sim.h"

struct fab_fence_packet_options {
	const struct fab_sim_switch *kind; /* NULL: output queues (oq) */
	uint32_t mtu;			   /* bytes of a packet at most; 0: 2048 */
	uint32_t buffer;		   /* bytes of an input port; 0: 1 MiB */
};

struct fab_fence_packets {
	double us; /* until the last node has all */
	uint64_t packets, packet_hops;
	bool is_deadlocked;
};

/*
 * Messages have at most 1 GiB. EINVAL: larger ones, no cost of a byte, a fence that
 * stalled (it says why); EHOSTUNREACH: a node without a path; errors of fab_sim_run().
 * O(packets * hops).
 */
int fab_fence_as_packets(const struct fab_fence_plan *plan,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes, const struct fab_fence_job *job,
			 const struct fab_fence_packet_options *options,
			 struct fab_fence_packets *out,
			 struct fab_err *err) FAB_MUST_CHECK;
