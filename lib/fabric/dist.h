/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hop distances between switches: the one place that holds or makes them.
 *
 * One byte a pair. The search is breadth first from many sources at once, one bit a
 * source (Then et al., "The more the merrier", VLDB 2014), with the levels kept as bit
 * planes and turned into bytes once at the end. The graph is undirected, so that the row
 * of a switch is also its column.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "fabric/fabric.h"

struct fab_dist;

/*
 * The distances of a fabric, which is borrowed; n_threads 0 = as many as OpenMP gives,
 * which stay for what follows: fab_threads_rest() ends them. Up to 256 MiB (16 384
 * switches) all are made at once, else rows are made when they are asked for: those of
 * 512 switches at a time, or one from the coordinates of a whole torus, mesh or HyperX.
 * Fails with ERANGE when two connected switches are more than 254 hops apart (InfiniBand
 * ends at 63), with ENOMEM when the memory does not hold them. O(cables * switches / 512
 * + switches^2), switches^2 bytes, of rows on demand as many as are asked for.
 */
int fab_dist_new(const struct fab_fabric *f, int n_threads, struct fab_dist **out,
		 struct fab_err *err) FAB_MUST_CHECK;
/* fab_dist_new() with rows on demand, however few. fab_dist_new_on_demand: O(cables *
 * switches / 512 + switches^2) for all rows, fab_dist_free: O(size). */
int fab_dist_new_on_demand(const struct fab_fabric *f, int n_threads,
			   struct fab_dist **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_dist_free(struct fab_dist *dist);
FAB_AUTO_POINTER(fab_dist)

/*
 * Borrowed row of a switch: hops to each switch, FAB_HOPS_UNREACHABLE for none. Rows are
 * padded to a multiple of 64 bytes with FAB_HOPS_UNREACHABLE and aligned to 64. Threads
 * may ask at once. O(1); a row on demand costs O(cables) the first time.
 */
const uint8_t *fab_dist_row(const struct fab_dist *dist, uint32_t sw);
/*
 * Hops from a switch to the padded switches from .. from + n - 1: borrowed, from the row
 * if there is one or is made, else from coordinates in room[n]. O(1), or O(n *
 * dimensions).
 */
const uint8_t *fab_dist_part(const struct fab_dist *dist, uint32_t sw, size_t from,
			     size_t n, uint8_t *room);
/* Are all rows there? Else they are made on demand. O(1). */
bool fab_dist_is_whole(const struct fab_dist *dist);
/* Switches. O(1). */
uint32_t fab_dist_n(const struct fab_dist *dist);
/* Length of a padded row in bytes. O(1). */
size_t fab_dist_stride(const struct fab_dist *dist);
/* Bytes of the existing rows. O(1). */
size_t fab_dist_bytes(const struct fab_dist *dist);

/*
 * The largest finite number of hops between two switches without keeping distances, and
 * without the limit of fab_dist_new(). O(cables * switches / 512) for small diameters.
 */
uint32_t fab_fabric_diameter(const struct fab_fabric *f, int n_threads);
