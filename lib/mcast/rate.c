/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/rate.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double fab_mcast_slowest_mbps(const struct fab_mcast_problem *problem,
			      const uint32_t *load, double default_mbps,
			      bool is_signalling)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	uint32_t *trees = FAB_NEW0((size_t)f->n_cables + 1, uint32_t);
	double least = INFINITY;

	memcpy(trees, load, f->n_switch_links * sizeof(*load));
	for (uint64_t i = 0; i < g->first[g->n]; i++)
		trees[f->port_cable[g->member[i]]]++;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		double gbps =
			is_signalling ? fab_cable_gbps(f, c) : fab_cable_data_gbps(f, c);
		double mbps = gbps * 1000;

		if (trees[c])
			least = fmin(least, (mbps > 0 ? mbps : default_mbps) / trees[c]);
	}
	free(trees);
	return least;
}
