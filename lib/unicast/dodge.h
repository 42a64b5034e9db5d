/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that the tables do not know yet, dodged on the spot as the paper has it (section
 * 1): the switch of a row or column that finds a leaf dead hands the packet to another
 * leaf of its line, and it goes on by row - column - row or row - column - row - column.
 * A packet keeps to ascending channels, row and column on lane 0, then on lane 1, so that
 * it has four legs at most; where these do not suffice it is stuck. In plain InfiniBand
 * the service level is fixed at the source, so that this can be simulated only.
 */
#pragma once

#include "unicast/engine.h"

enum { FAB_DODGE_BURST_MAX = 2 };

struct fab_dodge {
	uint64_t bursts; /* sets of unknown faults */
	uint64_t cases;	 /* pairs and bursts that meet: the way leads to a dead leaf */
	uint64_t stuck;
	uint64_t legs_more; /* of all cases that are not stuck, against the tables' way */
};

/*
 * For every set of `burst` sound leaves that die unknown (1 or 2) and every pair of other
 * sound leaves whose way by engine vtftr under the known faults leads through one of
 * them: dodge. EINVAL: more than two dimensions. O(pairs * leaves^(burst - 1) * n^2).
 */
int fab_dodge_all(const struct fab_kfat *kfat, const struct fab_faults *known,
		  unsigned burst, int n_threads, struct fab_dodge *out,
		  struct fab_err *err) FAB_MUST_CHECK;
