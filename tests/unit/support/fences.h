/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences of tests: by name, with default costs; second computations of their time. */
#pragma once

#include "launch/fence.h"
#include "sim/sim.h"

/* "bruck", "tree:16"; a test fails for other names. */
struct fab_fence_chosen test_fence(const char *name);
/* o = 1 us, L = 1.5 us, G = C = 0.1 ns/B. */
struct fab_fence_job test_fence_job(uint32_t n_nodes, const uint32_t *leaf,
				    uint64_t bytes);
/* `is` must be `should_be` up to the share. */
void test_near(double is, double should_be, double share);

/* Microseconds without contention: the plan followed with one cable in each direction for
 * each node. O(messages log messages). */
double test_fence_plan_us(const struct fab_fence_plan *plan,
			  const struct fab_fence_job *job);

struct test_packet_options {
	const struct fab_sim_switch *kind; /* NULL: oq */
	uint32_t mtu, buffer;		   /* 0: 2048 B, 1 MiB */
};
/* Microseconds of the fence in packets through the simulator of lib/sim. EINVAL: bytes
 * that take no time, messages that are too large. */
int test_fence_packets(const struct fab_fence_setup *setup,
		       const struct fab_launch_nodes *nodes,
		       const struct fab_routes *routes, uint64_t bytes,
		       const struct test_packet_options *options, double *us,
		       struct fab_err *err);
