/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The largest number of hops between two switches, in bounded work.
 *
 * Tori, meshes and HyperX say it by their sizes, trees by two searches. Where the
 * switches are few hops apart all of them are searched, many at once (fabric/dist.h).
 * Long graphs take one search after the other, each of which bounds the eccentricities of
 * all switches (Takes, Kosters: "Determining the diameter of small world networks", CIKM
 * 2011), until no switch can be farther from another than two that were seen, or the work
 * is spent: then it is known between bounds.
 */
#pragma once

#include "fabric/fabric.h"
#include "fabric/shape.h"

struct fab_diameter {
	uint32_t hops;	  /* two switches are that far apart */
	uint32_t at_most; /* none are farther; equal to `hops`: exact */
};

/*
 * Of a fabric whose switches are all joined. `shape` is that of the fabric, NULL when it
 * is not known; n_threads 0: as many as OpenMP gives. The same for any number of threads.
 * O(switches + cables) for the shapes named above, else at most about 2^32 steps of the
 * search of many at once or 2^28 of single searches.
 */
struct fab_diameter fab_fabric_diameter_bounds(const struct fab_fabric *f,
					       const struct fab_shape *shape,
					       int n_threads);
