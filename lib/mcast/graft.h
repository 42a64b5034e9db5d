/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree of a group whose members change a little, with as few changes: branches that
 * led to members that left are cut, new members are joined by a shortest path to the
 * tree, all other cables stay.
 */
#pragma once

#include "base/arena.h"
#include "base/mem.h"
#include "fabric/fabric.h"

struct fab_graft; /* room for one tree */

/* Borrows the fabric; room for trees of it in the arena. O(switches). */
struct fab_graft *fab_graft_new(const struct fab_fabric *f, struct fab_arena *arena);

/* A tree in lists of the room, valid until its next one; as in struct fab_forest. */
struct fab_grafted {
	uint32_t
		root; /* a middle: its farthest member is as near as can be in the tree */
	uint32_t n;
	const uint32_t *sw, *cable; /* [n] */
	uint8_t height;
};

/*
 * Change a tree (its n cables) so that it joins the switches sw[n_sw], at least one,
 * which are connected. At least one of them is in the old tree, else it is grown from
 * the first. Of the shortest paths from a new switch to the tree, the one of least loads:
 * a cable with one tree more costs four times as much; none has more than `largest`.
 * O(n * height + switches within reach of new ones and their cables).
 */
struct fab_grafted fab_graft_change(struct fab_graft *graft, const uint32_t *load,
				    uint32_t largest, const uint32_t *cable, uint32_t n,
				    const uint32_t *sw, uint32_t n_sw);
