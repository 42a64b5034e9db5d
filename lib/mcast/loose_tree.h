/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree over the switches of a group as what it is without a root: edges, that can be
 * taken out and replaced, and how far its switches are from the members.
 */
#pragma once

#include "mcast/engine.h"

/* More hops than there are, below zero: no member there. */
enum { FAB_LOOSE_NOWHERE = -(1 << 20) };

/* Which of the two halves that are left when a path is taken out. */
enum fab_loose_side { FAB_LOOSE_UPPER, FAB_LOOSE_LOWER, FAB_LOOSE_PATH };

/* A switch of the tree as seen from the first one: parents come before children. */
struct fab_loose_node {
	uint32_t sw, parent, cable; /* of the first one: none */
	uint32_t n_children;
	bool is_member;
	enum fab_loose_side side;
	/* hops to the farthest member of its half: below it, below it otherwise than by
	 * the child of `below`, not below it, anywhere */
	int below, second, above, farthest;
};

struct fab_loose_edge {
	uint32_t sw[2], cable;
};

struct fab_loose_tree {
	const struct fab_mcast_problem *p;
	FAB_VEC(struct fab_loose_node) node;
	FAB_VEC(struct fab_loose_edge) edge;
	FAB_VEC(uint32_t) next; /* [2 * edges] half-edge: the next one of the switch */
	uint32_t *first;	/* [n_switches] its first half-edge, if is_in */
	uint32_t *place;	/* [n_switches] in `node`, if is_in */
	uint32_t *is_in;	/* [n_switches] == stamp: in the tree */
	uint32_t stamp;
	uint32_t *is_wanted; /* [n_switches] == group_stamp: a member */
	uint32_t group_stamp;
};

void fab_loose_init(struct fab_loose_tree *t, const struct fab_mcast_problem *p);
void fab_loose_fini(struct fab_loose_tree *t);

/*
 * The tree of n_edges edges over member[n_members] and maybe others; ends that are no
 * members are left out. It hangs on the first member. O(edges).
 */
void fab_loose_take(struct fab_loose_tree *t, const uint32_t *member, uint32_t n_members,
		    uint32_t n_edges, const uint32_t *sw, const uint32_t *cable);
/* Nodes of the edges as they are now, from a switch of the tree. O(edges). */
void fab_loose_hang(struct fab_loose_tree *t, uint32_t sw);
/* Find `farthest` of all nodes, each within its own half. O(nodes). */
void fab_loose_measure(struct fab_loose_tree *t);

/* A member or a branch; the first node is a member. O(1). */
static inline bool fab_loose_is_key(const struct fab_loose_node *n)
{
	return n->is_member || n->n_children > 1;
}

/*
 * Take out the path from node `at`, a member or branch, up to the next such one: sets the
 * sides. The half of `at` is LOWER. O(nodes).
 */
void fab_loose_split(struct fab_loose_tree *t, uint32_t at);
/* The edges that are left by split(); new ones are added to them. O(nodes). */
void fab_loose_keep_halves(struct fab_loose_tree *t);

/* Place of a switch in `node`, FAB_NONE: not in the tree. O(1). */
static inline uint32_t fab_loose_find(const struct fab_loose_tree *t, uint32_t sw)
{
	return t->is_in[sw] == t->stamp ? t->place[sw] : FAB_NONE;
}
