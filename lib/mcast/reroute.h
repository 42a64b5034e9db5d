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

/* What is tried for a group. */
enum fab_reroute_how {
	FAB_REROUTE_ROOTS, /* trees of several roots */
	FAB_REROUTE_DEEP,  /* trees of the old root; nothing if members are near it */
	FAB_REROUTE_PATHS, /* other paths in the old tree (mcast/path_swap.h); the same */
	FAB_REROUTE_BOTH   /* of the paths those that cost `least`; roots, if the tree
			      costs as much then, too */
};

struct fab_reroute_try {
	enum fab_reroute_how how;
	double least;  /* see there */
	uint64_t turn; /* chooses roots by chance */
};

/*
 * Put a cheaper tree in the place of the group's, if there is one at these prices of
 * loads, which follow. O(roots tried * tree), O(as fab_path_swap_run()).
 */
void fab_reroute_group(struct fab_reroute *reroute, struct fab_revision *revision,
		       struct fab_prices *prices, uint32_t group,
		       const struct fab_reroute_try *how);
/* Cables that were looked at so far: a measure of time that repeats. O(1). */
uint64_t fab_reroute_steps(const struct fab_reroute *reroute);
