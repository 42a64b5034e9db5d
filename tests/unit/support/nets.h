/* SPDX-License-Identifier: BSD-2-Clause */
/* Small fabrics for tests. */
#pragma once

#include "fabric/fabric.h"

/*
 * A connected random fabric: n_switches switches with a random spanning tree, `extra`
 * more random cables (parallel ones may happen), and hosts_per_switch adapters on each.
 * The same seed gives the same fabric.
 */
struct fab_fabric *test_random_fabric(uint32_t n_switches, uint32_t extra,
				      uint32_t hosts_per_switch, uint64_t seed);

/* A ring of n switches with one adapter each. */
struct fab_fabric *test_ring(uint32_t n);
