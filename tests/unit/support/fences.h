/* SPDX-License-Identifier: BSD-2-Clause */
/* Fences of tests: by name, with default costs; second computations of their time. */
#pragma once

#include "launch/fence.h"

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

/* Microseconds of the fence in packets of 2048 bytes through the simulator of lib/sim,
 * with 1 MiB of buffer. Bytes take time, messages are not too large. */
double test_fence_packets(const struct fab_fence_setup *setup,
			  const struct fab_launch_nodes *nodes,
			  const struct fab_routes *routes, uint64_t bytes);
