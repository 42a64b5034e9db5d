/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that the tables do not know yet, rerouted locally as Liu et al. 2022 have it
 * (section 1): the switch of a row or column that finds a leaf dead hands the packet to
 * another leaf of its line, and it goes on by row - column - row or row - column - row -
 * column. A packet keeps to ascending channels, row and column on lane 0, then on lane 1,
 * so that it has four segments at most; where these do not suffice it is stuck. In plain
 * InfiniBand the service level is fixed at the source, so that this can be simulated
 * only.
 */
#pragma once

#include "unicast/engine.h"

enum { FAB_LOCAL_REROUTE_BURST_MAX = 2 };

struct fab_local_reroute {
	uint64_t bursts; /* sets of unknown faults */
	uint64_t cases;	 /* pairs and bursts that meet: the path leads to a dead leaf */
	uint64_t stuck;
	uint64_t segments_more; /* of all cases that are not stuck, against the tables'
				   path */
};

/*
 * For every set of `burst` sound leaves that die unknown (1 or 2) and every pair of other
 * sound leaves whose path by engine vtftr under the known faults leads through one of
 * them: reroute locally. EINVAL: more than two dimensions. O(pairs * leaves^(burst - 1) *
 * n^2).
 */
int fab_local_reroute_all(const struct fab_kfat *kfat, const struct fab_faults *known,
			  unsigned burst, int n_threads, struct fab_local_reroute *out,
			  struct fab_err *err) FAB_MUST_CHECK;
