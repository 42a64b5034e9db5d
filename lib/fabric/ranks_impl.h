/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the rank finder: leaves (ranks.c) and roots (ranks_top.c). */
#pragma once

#include "fabric/ranks.h"

struct fab_rank_order {
	uint32_t *sw, n;	   /* switches that have a rank, lowest rank first */
	const uint32_t *component; /* [n_switches] as fab_fabric_components() */
	uint32_t n_components;
};

/* Fill is_root and n_roots of ranks that are there. O(leaves / 64 * cables * ranks). */
void fab_ranks_find_roots(struct fab_ranks *r, const struct fab_fabric *f,
			  const uint32_t *n_hosts, const struct fab_rank_order *order);
