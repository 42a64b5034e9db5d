/* SPDX-License-Identifier: BSD-2-Clause */
/* A fabric in a few numbers. */
#pragma once

#include "base/arena.h"
#include "fabric/check.h"
#include "fabric/fabric.h"
#include "fabric/planes.h"
#include "fabric/shape.h"

/* Cables that are alike: of one class, width and speed (the lower of both ends). */
struct fab_link_count {
	enum fab_cable_class class;
	uint8_t width; /* lanes, 0 unknown */
	uint8_t speed; /* enum fab_speed */
	uint32_t n;
};

/*
 * Switches of equal height above the hosts, 0 for leaves (fabric/ranks.h). Rates down
 * are those to hosts and lower levels.
 */
struct fab_level {
	uint32_t n_switches;
	uint32_t n_adapters;		      /* cables to host adapters */
	uint32_t n_down, n_up, n_side;	      /* cables to lower, higher, equal levels */
	double rate_down, rate_up;	      /* Gbit/s of the switches below the top */
	uint32_t n_blocking;		      /* switches that have a blocking factor */
	double least_blocking, most_blocking; /* rate down / rate up of a switch */
};

/* Hosts with the same number of adapters that have a cable. */
struct fab_rail_count {
	uint32_t n_adapters, n_hosts;
};

/* One part of the graph of switches; what is counted stands in struct fab_plane. */
struct fab_part_summary {
	struct fab_shape *shape; /* without its arrays; NULL: not a cable in it */
	uint32_t diameter, diameter_at_most;
};

struct fab_summary {
	struct fab_arena arena;
	uint32_t n_components;	   /* parts of the graph of switches */
	struct fab_planes *planes; /* these parts, and which of them are planes */
	/* switch hops, the largest of any part: exact when both are equal, else bounds */
	uint32_t diameter, diameter_at_most;
	/* of all parts together, or that of every plane where these are alike */
	struct fab_shape *shape;
	struct fab_part_summary *parts; /* [n_components] */
	uint32_t *level_of;		/* [n_switches], FAB_NONE: no host in its part */
	struct fab_level *levels;
	uint32_t n_levels;
	struct fab_link_count *links; /* by class, then fastest first */
	uint32_t n_links;
	struct fab_rail_count *rails; /* by number of adapters */
	uint32_t n_rails;
	uint32_t n_unnamed_adapters;
	uint32_t n_unattached; /* adapters without a cable to a switch */
};

/*
 * Never NULL; the caller frees with fab_summary_free(). n_threads 0: as many as OpenMP
 * gives. O(size), and the time of fab_fabric_diameter_bounds() and fab_shape_recognize().
 */
struct fab_summary *fab_summary_new(const struct fab_fabric *f, int n_threads);
void fab_summary_free(struct fab_summary *summary);

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
