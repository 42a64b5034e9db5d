/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel-port generalised fat trees: what fattree, pgft and the presets build. */
#pragma once

#include "source/gen/families.h"

/*
 * PGFT(h; m; w; p) (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
 * permutations on real life fat trees", 2010). Index l-1 of the arrays is level l: a
 * switch of level l has m[l-1] children, each joined by p[l-1] cables, and every node
 * of level l-1 has w[l-1] parents. Level 0 are the hosts: a host has w[0] * p[0]
 * adapters. Levels 1 .. h are switches, level 1 the leaves.
 */
struct fab_gen_tree {
	uint32_t h;
	uint32_t m[FAB_GEN_LIST_MAX], w[FAB_GEN_LIST_MAX], p[FAB_GEN_LIST_MAX];
	uint32_t radix; /* ports that every switch has at least, 0: those it uses */
};

/*
 * Build it. A switch of level l has the digits a_h .. a_{l+1} (which subtree) and
 * b_1 .. b_l (which of the parents at every level below); they number the switches of a
 * level, a_h counting most and b_l least. Down ports come first, child by child, then
 * the up ports, parent by parent. EINVAL when it is too large. O(cables).
 */
int fab_gen_build_tree(struct fab_gen_net *net, const struct fab_gen_tree *tree,
		       struct fab_err *err) FAB_MUST_CHECK;
