/* SPDX-License-Identifier: BSD-2-Clause */
/* Static load: how many flows share a direction of a cable between switches. */
#pragma once

#include "traffic/permutation.h"
#include "unicast/engine.h"

struct fab_flow_load {
	uint64_t flows, lost; /* between different switches or not; without a path */
	uint64_t max;	      /* flows on the fullest direction of a cable */
	double mean;	      /* over the directions of live cables between switches */
};
/* Walk every flow. O(flows * hops). */
void fab_permutation_load(const struct fab_routes *routes,
			  const struct fab_flow_ends *ends, const uint32_t *to,
			  struct fab_flow_load *out);
