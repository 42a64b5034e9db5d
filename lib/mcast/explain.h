/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a tree looks as it does: its root and its cables beside those that would have done,
 * and who shares a cable. */
#pragma once

#include "base/mem.h"
#include "mcast/route.h"

/* A cable of a tree, from a switch to its parent. */
struct fab_tree_link {
	uint32_t sw, parent, cable;
	uint32_t depth;	    /* hops from the root to sw */
	uint32_t load;	    /* groups on the cable, this one too */
	uint32_t n_choices; /* cables from sw to switches as near to the root as parent */
	uint32_t least;	    /* the least load of these, as if the group were on it */
	uint32_t n_members; /* members of the group whose switch is sw or below it */
};

struct fab_explained {
	uint32_t root;
	uint32_t n_candidates;		    /* switches as near to all members as any */
	bool is_candidate;		    /* the root is one of them */
	uint32_t radius;		    /* their hops to the farthest member */
	uint32_t n_rooted;		    /* groups with this root */
	uint32_t least_rooted;		    /* of a candidate, the least */
	FAB_VEC(struct fab_tree_link) link; /* by depth, then switch */
};

/* *out is ended by fab_explained_fini(). O(switches * switches of the group + groups +
 * edges * cables of a switch + members * height). */
void fab_mcast_explain(const struct fab_mcast_problem *problem,
		       const struct fab_mcast_result *result, uint32_t group,
		       struct fab_explained *out);
void fab_explained_fini(struct fab_explained *explained);

/* A group on a cable. */
struct fab_sharer {
	uint32_t group;
	uint32_t sw; /* the end that is farther from the root */
};

/* The groups on a cable, in their order: as many as its load, [*n], the caller frees.
 * O(edges of all trees). */
struct fab_sharer *fab_mcast_sharers(const struct fab_mcast_result *result,
				     uint32_t cable, uint32_t *n);
