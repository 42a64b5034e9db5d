/* SPDX-License-Identifier: BSD-2-Clause */
/* Which hosts a job should take: few leaf switches, near to each other; and what the
 * traffic of a choice does under forwarding tables. */
#pragma once

#include "unicast/routes.h"

/*
 * Choose n of the n_free hosts free[] (different ones) into chosen[n]: on the fewest leaf
 * switches that have them, of these on such that the sum of the hops between all hosts is
 * small, all in one part of the fabric. A host is on the switch of fab_host_endpoint().
 * Leaves are added one by one to each of them, always the nearest one with which the
 * fewest leaves still do; the best of these sets is kept, and improved by exchanging one
 * leaf at a time, so that it need not be the best of all. EINVAL: no part has that many,
 * or a host has no cable to a switch; errors of fab_dist_new(). Equal for any order of
 * free[]. O(leaves^2 * leaves of the choice), at most 2^27 steps: then fewer leaves are
 * begun with.
 */
int fab_placement_choose(const struct fab_fabric *f, const uint32_t *free,
			 uint32_t n_free, uint32_t n, int n_threads, uint32_t *chosen,
			 struct fab_err *err) FAB_MUST_CHECK;

/* Every host sends to every other one, between their fab_host_endpoint(). */
struct fab_placement_cost {
	uint32_t n_leaves;
	uint64_t pairs,
		unreachable; /* ordered pairs that were followed; without a path */
	double mean_hops;    /* between switches, of those with a path; 0: none */
	uint32_t max_hops;
	double max_load; /* pairs on the fullest direction of a cable between switches */
	uint32_t every;	 /* 1: all destinations were followed; else every n-th, and
			    max_load is scaled to all */
};

/*
 * The cost of hosts[n]. O(n * leaves * hops); of more than 2^26 pairs of destination and
 * leaf a part of the destinations is followed.
 */
void fab_placement_measure(const struct fab_routes *routes, const uint32_t *hosts,
			   uint32_t n, struct fab_placement_cost *out);
