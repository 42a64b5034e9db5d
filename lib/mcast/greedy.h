/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees one after the other over the loads that are there: of the trees of a few roots
 * the cheapest (mcast/cheap_tree.h). Of many groups, some hundred are grown side by side
 * over the same loads; one that would then exceed the largest load is grown again when
 * its turn comes.
 */
#pragma once

#include "mcast/engine.h"

/* Scratch of engines that grow trees so, and what they do with it (mcast/engine.h).
 * O(switches). */
void *fab_greedy_new(const struct fab_mcast_problem *problem);
void fab_greedy_free(void *scratch);
/* O(roots tried * tree + candidates). */
uint32_t fab_greedy_choose_root(struct fab_mcast_state *state,
				const struct fab_roots *roots, uint32_t group);
void fab_greedy_grow(struct fab_mcast_state *state, uint32_t group);
/* O(groups * roots tried * tree / threads). */
void fab_greedy_grow_many(struct fab_mcast_state *state,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, int n_threads);
