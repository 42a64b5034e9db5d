/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Disjoint sets of numbers 0 .. n-1: parent[x] leads to the set's root, parent[x] = x at
 * first. Paths are halved on the way; near O(1).
 */
#pragma once

#include <stdint.h>

static inline uint32_t fab_sets_root(uint32_t *parent, uint32_t x)
{
	while (parent[x] != x)
		x = parent[x] = parent[parent[x]];
	return x;
}

/* The lower root stays one, so that numbering by roots follows the numbers. */
static inline void fab_sets_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = fab_sets_root(parent, a);
	b = fab_sets_root(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}
