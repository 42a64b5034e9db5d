/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another tree for one group: the cheapest of several roots, each with a tree of shortest
 * paths (mcast/cheap_tree.h) and, where members are nearer than the height allows, one
 * that goes deeper (mcast/deep_tree.h).
 */
#pragma once

#include "mcast/prices.h"
#include "mcast/revise.h"

struct fab_reroute; /* room, and the candidates of all groups */

/* The trees in `state` are those to be changed; both are borrowed. O(as
 * fab_roots_find()). */
struct fab_reroute *fab_reroute_new(const struct fab_mcast_state *state,
				    const struct fab_mcast_options *options);
void fab_reroute_free(struct fab_reroute *reroute);

/*
 * Put a cheaper tree in the place of the group's, if there is one at these prices of
 * loads, which follow. `turn` chooses roots by chance. O(roots tried * tree).
 */
void fab_reroute_group(struct fab_reroute *reroute, struct fab_revision *revision,
		       struct fab_prices *prices, uint32_t group, uint64_t turn);
/* Cables that were looked at so far: a measure of time that repeats. O(1). */
uint64_t fab_reroute_steps(const struct fab_reroute *reroute);
