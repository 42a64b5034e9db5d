/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree over the switches of a group as what it is without a root: edges, that can be
 * taken out and replaced, and how far its switches are from the members.
 */
#pragma once

#include "mcast/engine.h"

/* More hops than there are, below zero: no member there. */
enum { FAB_LOOSE_NOWHERE = -8192 };

/* Which of the two halves that are left when a path is taken out. */
enum fab_loose_side { FAB_LOOSE_UPPER, FAB_LOOSE_LOWER, FAB_LOOSE_PATH };

/* A switch of the tree as seen from the first one; what hangs on it follows it. */
struct fab_loose_node {
	uint32_t sw, parent, cable; /* of the first one: none */
	uint32_t end;		    /* behind the last one that hangs on it */
	uint32_t n_children;
	bool is_member;
};

/* Hops to the farthest member of its half: below it, below it otherwise than by the child
 * of `below`, and not below it. */
struct fab_loose_reach {
	int16_t below, second, above;
};

struct fab_loose_edge {
	uint32_t sw[2], cable;
};

/* What is known of a switch of the fabric. */
struct fab_loose_switch {
	uint32_t is_in;	    /* == stamp: in the tree, */
	uint32_t place;	    /* here in `node` */
	uint32_t half_edge; /* the one that is looked at next */
	uint32_t is_wanted; /* == group_stamp: a member */
};

struct fab_loose_tree {
	const struct fab_mcast_problem *p;
	FAB_VEC(struct fab_loose_node) node, old;
	/* Nodes from `out` to at - 1 are the path that is taken out, those from `at` to
	 * end - 1 the lower half, the others the upper one; all the same: there is one
	 * half only. */
	uint32_t out, at, end;
	FAB_VEC(struct fab_loose_reach) reach; /* of each node */
	FAB_VEC(int16_t) farthest;	       /* hops to the farthest of its half */
	FAB_VEC(struct fab_loose_edge) edge;   /* while it is hung */
	FAB_VEC(uint32_t) next;	 /* [2 * edges] half-edge: the next one of the switch */
	FAB_VEC(uint32_t) moved; /* [old nodes] where they are in `node` */
	struct fab_loose_switch *of; /* [n_switches] */
	uint32_t stamp, group_stamp;
	uint32_t version; /* another one whenever nodes change */
};

void fab_loose_init(struct fab_loose_tree *t, const struct fab_mcast_problem *p);
void fab_loose_fini(struct fab_loose_tree *t);

/*
 * The tree of n_edges edges over member[n_members] and maybe others; ends that are no
 * members are left out. It hangs on the first member. O(edges).
 */
void fab_loose_take(struct fab_loose_tree *t, const uint32_t *member, uint32_t n_members,
		    uint32_t n_edges, const uint32_t *sw, const uint32_t *cable);
/* The same tree as seen from another of its switches, in one half. O(nodes). */
void fab_loose_hang(struct fab_loose_tree *t, uint32_t sw);
/* Find `farthest` of all nodes, each within its own half. O(nodes). */
void fab_loose_measure(struct fab_loose_tree *t);

/* A member or a branch; the first node is a member. O(1). */
static inline bool fab_loose_is_key(const struct fab_loose_node *n)
{
	return n->is_member || n->n_children > 1;
}

/*
 * Take out the path from node `at`, a member or branch, up to the next such one. What is
 * below `at` is the lower half. O(path).
 */
void fab_loose_split(struct fab_loose_tree *t, uint32_t at);
/* One half again. O(1). */
void fab_loose_unite(struct fab_loose_tree *t);
/*
 * Put in another path: path[n_edges] from a switch of one half to one of the other, each
 * edge with its nearer end first; between them no switch of a half. One half then.
 * O(nodes).
 */
void fab_loose_join(struct fab_loose_tree *t, const struct fab_loose_edge *path,
		    uint32_t n_edges);

/* Which half a node is in. O(1). */
static inline enum fab_loose_side fab_loose_side(const struct fab_loose_tree *t,
						 uint32_t node)
{
	if (node < t->out || node >= t->end)
		return FAB_LOOSE_UPPER;
	return node < t->at ? FAB_LOOSE_PATH : FAB_LOOSE_LOWER;
}

/* The half of fewer nodes. O(1). */
static inline enum fab_loose_side fab_loose_smaller(const struct fab_loose_tree *t)
{
	uint32_t n_lower = t->end - t->at;

	return n_lower > t->node.n - n_lower - (t->at - t->out) ? FAB_LOOSE_UPPER
								: FAB_LOOSE_LOWER;
}

/* Nodes first .. end - 1. */
struct fab_loose_range {
	uint32_t first, end;
};

/* The nodes of a half: up to two ranges, in their order; returns how many. O(1). */
static inline int fab_loose_ranges(const struct fab_loose_tree *t,
				   enum fab_loose_side half,
				   struct fab_loose_range range[2])
{
	if (half == FAB_LOOSE_LOWER) {
		range[0] = (struct fab_loose_range){t->at, t->end};
		return 1;
	}
	range[0] = (struct fab_loose_range){0, t->out};
	range[1] = (struct fab_loose_range){t->end, (uint32_t)t->node.n};
	return 2;
}

/* Place of a switch in `node`, FAB_NONE: not in the tree. O(1). */
static inline uint32_t fab_loose_find(const struct fab_loose_tree *t, uint32_t sw)
{
	return t->of[sw].is_in == t->stamp ? t->of[sw].place : FAB_NONE;
}
