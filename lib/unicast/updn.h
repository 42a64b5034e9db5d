/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots of up/down paths: the ranks they give, and the pairs that have no path then. */
#pragma once

#include "unicast/routes.h"

/*
 * Hops from the nearest root (roots[n_roots], each once) over what is alive:
 * rank[n_switches]. In a part of the fabric without a root every path is legal (rank 0),
 * as OpenSM falls back to the fewest hops. Returns how many parts of several switches
 * these are. O(cables).
 */
uint32_t fab_updn_rank(const struct fab_fabric *f, const struct fab_faults *faults,
		       const uint32_t *roots, uint32_t n_roots, uint32_t *rank);

/*
 * For each part of what is alive where no switch has a rank (FAB_NONE) the one with the
 * fewest hops to all hosts together, of several the first: from one root all pairs have a
 * path, and none of them loops. Appends to roots[n], with room for all switches; returns
 * how many there are then. O(switches * cables).
 */
uint32_t fab_updn_fill_roots(const struct fab_fabric *f, const struct fab_faults *faults,
			     const uint32_t *rank, uint32_t *roots, uint32_t n);

/* Ordered pairs of ports of host adapters, those that --hca left out, too, that live
 * cables join. */
struct fab_updn_loss {
	uint64_t all, pairs; /* pairs: without a path up, then down */
	uint32_t from, to;   /* adapters of the first of them, or the switch of one that
				--hca left out; FAB_NONE: there is no such pair */
};

/*
 * Search the paths of updn from these roots (each once), as its engine does, to every
 * switch that has hosts. Faults NULL: nothing is dead. The same for any number of
 * threads. O(switches with hosts * cables).
 */
struct fab_updn_loss fab_updn_try_roots(const struct fab_fabric *f,
					const struct fab_faults *faults,
					const uint32_t *roots, uint32_t n_roots,
					int n_threads);
