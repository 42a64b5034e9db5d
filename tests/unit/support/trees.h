/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees as lists of edges: each a switch, and the cable from it towards the root. */
#pragma once

#include "fabric/fabric.h"
#include "mcast/search/search.h"

/* 2 to `most` switches by chance, each once, into sw[most]; how many. */
uint32_t trees_draw_switches(const struct fab_fabric *f, uint32_t most, uint64_t seed,
			     uint32_t *sw);

/*
 * Asserts that it is a tree from `root` which every member hangs on, none deeper than
 * `height`, and that every switch is a member or has something below it. parent[switch],
 * FAB_NONE of the root and of what is outside; the caller frees.
 */
uint32_t *trees_check(const struct fab_fabric *f, uint32_t root,
		      const struct fab_grown *tree, const uint32_t *member,
		      uint32_t n_members, unsigned height);
