/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trees of all groups of a subnet. A group that is new is routed at once over the
 * loads of the others, by the step of `balanced`; where members of a group come and go,
 * its tree changes as little as possible (fab_live_change()). Better trees are looked for
 * on a copy, a plan, in the background, and taken over in one step. Nothing in here knows
 * OpenSM. Groups have numbers (MLID - 0xc000), members the GUIDs of their ports. One
 * thread at a time, but for plans.
 */
#pragma once

#include <stdatomic.h>

#include "mcast/live.h"

struct fab_keeper;

/* Members of groups: those of group i are guid[first[i] .. first[i + 1]-1],
 * host byte order, in any order, some perhaps twice. */
struct fab_membership {
	uint32_t n;	 /* groups */
	uint64_t *first; /* [n + 1] */
	uint64_t *guid;
	const bool *is_held; /* [n] as for fab_keeper_route(); NULL: none */
};

/* Counts of a renewal, without groups of fewer than two members. */
struct fab_keeper_counts {
	uint32_t kept;	 /* their tree is the same */
	uint32_t routed; /* they have another tree */
	uint32_t left;	 /* without a tree: a member is unknown or not connected */
};

/* No fabric, no tree. The caller frees. O(groups). */
struct fab_keeper *fab_keeper_new(uint32_t n_groups);
void fab_keeper_free(struct fab_keeper *k);

/*
 * The subnet is now `f`, which the keeper frees, with these members (n <= n_groups).
 * Trees whose group and cables did not change stay. Where only members changed, the tree
 * changes as in fab_keeper_route(); other groups are routed. On failure
 * (fab_dist_new()) there is no tree left. O(distances + trees).
 */
int fab_keeper_renew(struct fab_keeper *k, struct fab_fabric *f,
		     const struct fab_membership *members,
		     struct fab_keeper_counts *counts,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Forget the fabric and all trees. O(size). */
void fab_keeper_clear(struct fab_keeper *k);

/*
 * `group` has these members. 0: its tree stays; 1: it has another tree, or none any more
 * because it has fewer than two members; -ENOENT: a member is unknown or hangs
 * on no switch, -EHOSTUNREACH: the members are not connected, -ENXIO: no fabric; then the
 * group has no tree. is_held: ports that are not in the fabric, or on no switch, are left
 * out: the group was to have them, and they may have gone. O(members * switches + tree).
 */
int fab_keeper_route(struct fab_keeper *k, uint32_t group, const uint64_t *guid,
		     uint32_t n, bool is_held, struct fab_err *err) FAB_MUST_CHECK;

/* New groups are routed by this engine from the next renewal on (balanced). O(1). */
void fab_keeper_set_step(struct fab_keeper *k, const struct fab_mcast_engine *engine);

/* GUIDs of the ports that joined or left in the last fab_keeper_route() that returned 1,
 * borrowed until the next; returns how many. O(1). */
uint32_t fab_keeper_changed(const struct fab_keeper *k, const uint64_t **guid);

/* Borrowed until the group changes; no root: no tree. O(1). */
struct fab_live_tree fab_keeper_tree(const struct fab_keeper *k, uint32_t group);
/* Borrowed until the next renewal; NULL: none. O(1). */
const struct fab_fabric *fab_keeper_fabric(const struct fab_keeper *k);
/* Largest number of trees on one cable between switches; 0 without a fabric. O(cables).
 */
uint32_t fab_keeper_max_efi(const struct fab_keeper *k);

/* A copy of all trees at one time, to be balanced by another thread. */
struct fab_plan;

struct fab_plan_options {
	/* all trees by this engine, whatever moves; NULL: move trees as
	 * fab_mcast_relieve() */
	const struct fab_mcast_engine *engine;
	uint32_t max_moved; /* without an engine: trees that may become others */
	uint32_t time_limit_ms;
	const atomic_bool *stop; /* true: end at once; NULL: never */
};

struct fab_plan_result {
	uint32_t n_groups;	/* with a tree */
	uint32_t before, after; /* largest EFI */
	uint32_t bound;		/* no trees of minimal height have less */
	uint32_t n_moved;
	uint32_t n_needed;   /* more: the next plan goes on towards the same target */
	bool is_out_of_time; /* stopped: less good than it could be */
};

/* NULL: no tree to balance. The caller frees. O(trees). */
struct fab_plan *fab_keeper_plan(const struct fab_keeper *k);
void fab_plan_free(struct fab_plan *plan);
/* Trees of it. O(1). */
uint32_t fab_plan_n_trees(const struct fab_plan *plan);
/*
 * Find better trees. They are verified (fab_mcast_verify()); EPROTO or an error of the
 * groups: nothing is moved. As the engine, or as fab_mcast_relieve() says.
 */
int fab_plan_solve(struct fab_plan *plan, const struct fab_plan_options *options,
		   struct fab_plan_result *result, struct fab_err *err) FAB_MUST_CHECK;
/*
 * Take over the trees that the plan moved, of groups that did not change since it was
 * made, if the fabric is the same; their numbers are left in moved[fab_plan_result.
 * n_moved]. Returns how many. O(trees moved).
 */
uint32_t fab_keeper_take(struct fab_keeper *k, const struct fab_plan *plan,
			 uint32_t *moved);
