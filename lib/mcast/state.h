/* SPDX-License-Identifier: BSD-2-Clause */
/* One group after the other: what an engine keeps between them, and how it grows. */
#pragma once

#include "mcast/engine.h"

/* No load, no root used, an empty forest of all groups. O(switches + cables). */
void fab_mcast_state_init(struct fab_mcast_state *s,
			  const struct fab_mcast_problem *problem,
			  const struct fab_mcast_engine *engine);
void fab_mcast_state_fini(struct fab_mcast_state *s);

/* What a rule wants least of, for each switch, borrowed; NULL: the lowest id. O(1). */
const uint32_t *fab_mcast_root_value(const struct fab_mcast_state *s,
				     enum fab_root_rule rule);

/*
 * Grow the tree of `group` from `root` behind the edges so far, and count it in the loads
 * and uses. `roots` has its candidates. As the engine says.
 */
void fab_mcast_state_grow(struct fab_mcast_state *s,
			  const struct fab_mcast_engine *engine,
			  const struct fab_roots *roots, uint32_t group, uint32_t root);

/* Count the tree of a group in the loads and uses: its root and the cables of its edges.
 * O(edges). */
void fab_mcast_state_count(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			   const uint32_t *cable, uint64_t n_edges);

/*
 * Take a tree out of the loads and uses again: its root and the cables of its edges.
 * O(edges).
 */
void fab_mcast_state_drop(struct fab_mcast_state *s, uint32_t group, uint32_t root,
			  const uint32_t *cable, uint64_t n_edges);

/* The largest load. O(cables). */
uint32_t fab_mcast_max_load(const struct fab_mcast_state *s);
/* The largest of what is balanced, and what it cannot be less than by the options.
 * fab_mcast_max_level: O(cables), fab_mcast_bound_of: O(1). */
double fab_mcast_max_level(const struct fab_mcast_state *s);
double fab_mcast_bound_of(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_options *options);

/* Put these trees of all groups in the place of its own. O(edges). */
void fab_mcast_state_start(struct fab_mcast_state *s, const struct fab_forest *trees);
/* Copy its trees to a forest that is empty (zeroed), which the caller ends. O(edges). */
void fab_mcast_state_copy_trees(struct fab_mcast_state *s, struct fab_forest *out);

/* Swap trees, loads and uses with those of another state of the same problem. O(cables).
 */
void fab_mcast_state_take(struct fab_mcast_state *s, struct fab_mcast_state *other);
