/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cables that a tree of minimal height can use at all: those with one end so near to
 * a candidate for the root, and the other so near to a member, that a member below them
 * is no deeper than that height.
 */
#pragma once

#include "mcast/roots.h"

struct fab_reach {
	struct fab_roots_one *one;
	uint32_t n;
	uint8_t *to_root, *to_member; /* [n] hops to the nearest one */
	unsigned height;
};

/* Room for one group at a time; borrows the distances. O(switches). */
void fab_reach_init(struct fab_reach *r, const struct fab_dist *dist,
		    uint32_t n_switches);
void fab_reach_fini(struct fab_reach *r);
/* For the group of the switches sw[n]. O(as fab_roots_one_find(), and candidates *
 * switches). */
void fab_reach_set(struct fab_reach *r, const uint32_t *sw, uint32_t n);

/* May a tree of the group use a cable between these switches? O(1). */
static inline bool fab_reach_has(const struct fab_reach *r, uint32_t a, uint32_t b)
{
	return r->to_root[a] + 1u + r->to_member[b] <= r->height ||
	       r->to_root[b] + 1u + r->to_member[a] <= r->height;
}
