/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another tree for one group: the cheapest of several roots, each with a tree of shortest
 * paths (mcast/cheap_tree.h) and, where members are nearer than the height allows, one
 * that goes deeper (mcast/deep_tree.h).
 */
#pragma once

#include "mcast/hops.h"
#include "mcast/prices.h"
#include "mcast/revise.h"

struct fab_reroute; /* room */

/*
 * Loads and uses are those of `view`, which may be a copy of the state whose trees are to
 * be changed; `roots` has the candidates of the first groups; all are borrowed.
 * O(switches), where `roots` does not have all groups O(switches^2).
 */
struct fab_reroute *fab_reroute_new(const struct fab_mcast_state *view,
				    const struct fab_roots *roots,
				    const struct fab_hops *hops,
				    const struct fab_mcast_options *options);
void fab_reroute_free(struct fab_reroute *reroute);

/* Members that are no farther than this from the root are near it: there is little to be
 * gained by deeper trees of another shape. */
enum { FAB_REROUTE_NEAR_HOPS = 3 };

/* Groups of more switches are large: trees of few cables by distances, and near paths,
 * would take too long, which grow with the square of these. */
enum { FAB_REROUTE_LARGE = 512 };

/* Does a member of any group lie farther from its root? O(groups). */
bool fab_reroute_is_far(const struct fab_mcast_state *state);

/* What is tried for a group. */
enum fab_reroute_how {
	FAB_REROUTE_ROOTS, /* trees of several roots */
	FAB_REROUTE_DEEP,  /* trees of the old root; nothing if members are near it */
	FAB_REROUTE_NEAR,  /* trees of few cables of some roots; the same; of groups of
			      very  many switches DEEP */
	FAB_REROUTE_PATHS, /* other paths in the old tree (mcast/path_swap.h); the same */
	FAB_REROUTE_NEAR_PATHS, /* only near ones that cost `least`; the same; nothing for
				   large groups */
	FAB_REROUTE_BOTH /* of the paths those that cost `least`; roots, if the tree
			    costs as much then, too */
};

struct fab_reroute_try {
	enum fab_reroute_how how;
	double least;  /* see there */
	uint64_t turn; /* chooses roots by chance */
};

/* A tree that costs less than the old one. */
struct fab_reroute_tree {
	uint32_t root, n; /* n edges */
	uint8_t height;
	double price;
	uint32_t *sw, *cable; /* [n] edge i hangs sw[i] on its parent */
};

/*
 * Find a cheaper tree for a group, whose own is taken out of loads and uses, at these
 * prices; borrowed until the next one; NULL: there is none. O(roots tried * tree), O(as
 * fab_path_swap_run()).
 */
const struct fab_reroute_tree *fab_reroute_find(struct fab_reroute *reroute,
						const struct fab_revision *revision,
						const struct fab_prices *prices,
						uint32_t group,
						const struct fab_reroute_try *how);
/* Is a tree of this price cheaper than one of the other, by more than rounding could
 * make it? */
bool fab_reroute_is_cheaper(double price, double other);
/* Cables that were looked at so far: a measure of time that repeats. O(1). */
uint64_t fab_reroute_steps(const struct fab_reroute *reroute);
