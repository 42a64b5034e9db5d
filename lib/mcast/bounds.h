/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How low can the largest EFI be? Lower bounds, each with what proves it.
 *
 * Cut bound: the groups with members both in a set of switches and outside it all need
 * one of the cables across, so some cable has at least ceil(groups / cables). Counted for
 * every switch alone, for every part that is left when the upper levels of a tree are
 * taken away (pods), for the groups of a dragonfly, and for the slabs between two planes
 * of a torus, mesh or HyperX (fabric/shape.h). Size bound: a tree that touches k of the
 * parts that the switches are divided into has at least k-1 cables between parts; all
 * trees together spread over all such cables.
 */
#pragma once

#include "mcast/route.h"

enum fab_bound_kind {
	FAB_BOUND_NONE,
	FAB_BOUND_CUT,	    /* groups with members on both sides / cables across */
	FAB_BOUND_PARTS,    /* k-1 cables between k parts, all groups / cables between */
	FAB_BOUND_HOPS,	    /* least spanning trees of members' distances / cables */
	FAB_BOUND_DUAL,	    /* cuts around members of each group, none twice / cables */
	FAB_BOUND_FORCED,   /* cables that groups cannot avoid, whatever their roots */
	FAB_BOUND_MATCHING, /* groups that must leave a switch by a few of its cables */
	FAB_N_BOUND_KINDS,
};

/* A bound and its certificate: what a stranger needs to recompute it. */
struct fab_bound {
	enum fab_bound_kind kind;
	uint32_t value;
	/* it was stopped by the options: it holds, but might have been larger */
	bool is_cut_short;
	bool is_limited; /* it took all its steps: more might make it larger */
	/* CUT: 0 within the set, else FAB_NONE. PARTS: the part of each, FAB_NONE: none.
	 */
	uint32_t *part; /* [n_switches] */
	/* MATCHING: these groups leave the switch by one of these cables each */
	uint32_t sw, n_groups, n_cables;
	uint32_t *group, *cable;
	/* FORCED: weights that prove it, whole numbers */
	uint32_t *weight; /* [n_switch_links] */
	/* DUAL: around turn[i], for first[g] <= i < first[g + 1], see
	 * fab_mcast_dual_bound() */
	uint64_t *first; /* [groups + 1] */
	uint32_t *turn;
};

/* Releases its arrays; kind is NONE afterwards. O(size). */
void fab_bound_fini(struct fab_bound *bound);
/* "cut", "parts", "hops", "dual", "forced", "matching". O(1). */
const char *fab_bound_name(enum fab_bound_kind kind);
/* Does it hold for trees of minimal height only? O(1). */
static inline bool fab_bound_is_low_only(enum fab_bound_kind kind)
{
	return kind == FAB_BOUND_MATCHING || kind == FAB_BOUND_FORCED;
}

/*
 * The largest bound of CUT, PARTS and HOPS for any trees, by the sets that the fabric
 * suggests; *out is freed by fab_bound_fini(). O(switches + cables + members, times the
 * number of families).
 */
void fab_mcast_natural_bound(const struct fab_mcast_problem *problem,
			     struct fab_bound *out);
/* The largest of the same bounds for the largest weighted load (problem->weights):
 * demands and capacities in the place of groups and cables, and the largest demand over
 * the largest capacity. The same complexity. */
double fab_mcast_load_bound(const struct fab_mcast_problem *problem);
/* Its value. The same complexity. */
uint32_t fab_mcast_lower_bound(const struct fab_mcast_problem *problem);

/*
 * DUAL, for any trees: the cables of all trees together by dual ascent (Wong, "A dual
 * ascent approach for Steiner tree problems on a directed graph", 1984). Directed in both
 * directions, a tree away from the group's first switch enters every set that holds
 * another member and not that first switch. Alternately a member takes the set of all
 * switches from which used arcs lead to it, and uses all arcs into it: no arc is used
 * twice, so that the tree has a cable a turn at least. At most `steps` cables are looked
 * at for all groups together. Options: n_threads, until, is_over. The same for any number
 * of threads unless it is stopped. O(steps).
 */
void fab_mcast_dual_bound(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_options *options, uint64_t steps,
			  struct fab_bound *out);

/*
 * FORCED, for trees of minimal height: from each of its candidates a group has cables
 * that every tree of that height uses. Where each cable has a weight, all groups by their
 * cheapest candidates weigh no more than the largest load on all cables. NONE: no group
 * is forced to use a cable, or distances are made on demand. Not tried for groups of more
 * than 64 candidates; the search ends where it cannot come to more than `least`.
 * O(candidates * cables of the members' switches) and some hundred
 * rounds over the cables that are forced.
 */
void fab_mcast_forced_bound(const struct fab_mcast_problem *problem, uint32_t least,
			    struct fab_bound *out);

/*
 * MATCHING, for trees of minimal height: at each switch the groups with members there and
 * elsewhere use one of the cables each that minimal height leaves them; the least largest
 * load over all choices. NONE: not tried, with more than 4 million pairs of a group and a
 * member's switch. O(pairs * cables of a switch, and the candidates of each group), more
 * where groups compete for few cables.
 */
void fab_mcast_matching_bound(const struct fab_mcast_problem *problem,
			      struct fab_bound *out);
/* Its value. The same complexity. */
uint32_t fab_mcast_height_bound(const struct fab_mcast_problem *problem);
