/* SPDX-License-Identifier: BSD-2-Clause */
/* Static load: how many flows share a direction of a cable between switches. */
#pragma once

#include "base/rng.h"
#include "unicast/engine.h"

/* Where flows begin and end: live host ports, in the order of the fabric. */
struct fab_flow_ends {
	uint32_t n;
	uint32_t *port, *sw;
};
void fab_flow_ends_init(struct fab_flow_ends *ends, const struct fab_fabric *f,
			const struct fab_faults *faults);
void fab_flow_ends_fini(struct fab_flow_ends *ends);

/*
 * Who sends to whom, to[n] by number, FAB_NONE: sends nothing.
 *   shift:K      to the one K further on, around
 *   reverse      first to last
 *   random       each set as likely, by `seed`
 *   transpose    kfat of two equal dimensions: leaf x.y to leaf y.x, hosts in order
 *   file:PATH    lines SOURCE TARGET: hosts or adapters by any name (fabric/resolver.h),
 *                apart by blanks, or two host lists of as many
 * EINVAL or ENOENT: one sentence, of a file with its line.
 */
int fab_permutation(const char *spec, const struct fab_kfat *kfat,
		    const struct fab_fabric *f, const struct fab_flow_ends *ends,
		    uint64_t seed, uint32_t **to, struct fab_err *err) FAB_MUST_CHECK;
/* Is it one of these words? Without looking at the fabric. */
bool fab_permutation_is_known(const char *spec);

struct fab_flow_load {
	uint64_t flows, lost; /* between different switches or not; without a way */
	uint64_t max;	      /* flows on the fullest direction of a cable */
	double mean;	      /* over the directions of live cables between switches */
};
/* Walk every flow. O(flows * hops). */
void fab_permutation_load(const struct fab_routes *routes,
			  const struct fab_flow_ends *ends, const uint32_t *to,
			  struct fab_flow_load *out);
