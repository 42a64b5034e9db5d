/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ranks of switches above the hosts and the roots of trees, found from cables and
 * hosts alone. The summary, the check, DOT, Slurm, root GUIDs, machines and updn's own
 * roots (--root-guids=auto) take them from here. Adapters that --hca left out count: a
 * leaf stays one.
 *
 *   leaves   switches with hosts. One that has few hosts and is joined to a leaf (a
 *            management node on a spine) is no leaf. One that has none is a leaf as well
 *            when it joins nothing: the switches below it share most of their leaves,
 *            and no switch stands above it (a leaf whose hosts are powered off). So is
 *            one of few hosts that joins nothing.
 *   ranks    hops to the nearest leaf
 *   roots    switches of the top rank, of each part of the graph of switches: the lowest
 *            rank over which every two leaves have a path up, then down; where there is
 *            no such rank, the lowest over which they have any path
 */
#pragma once

#include "fabric/fabric.h"
#include "fabric/shape.h"

struct fab_ranks {
	uint32_t n_ranks; /* 0: the fabric has no hosts */
	uint32_t *rank;	  /* [n_switches] 0: leaf; FAB_NONE: in a part without hosts */
	bool *is_root;	  /* [n_switches] */
	uint32_t
		n_roots; /* 0: no tree, such as a torus or switches that all have hosts */
};

/*
 * The ranks of a fabric of which fab_shape_recognize() found `shape`. In a torus, mesh,
 * hyperx or dragonfly all switches have rank 0 and there are no roots. End with
 * fab_ranks_fini(). O(cables), for trees and fabrics of no known shape O(leaves / 64 *
 * cables * ranks).
 */
void fab_ranks_init(struct fab_ranks *r, const struct fab_fabric *f,
		    const struct fab_shape *shape);
void fab_ranks_fini(struct fab_ranks *r);

/* Host adapters cabled to each switch, every cable counted; [n_switches]. Aggregation
 * nodes and routers are no hosts. O(cables). */
void fab_ranks_count_hosts(const struct fab_fabric *f, uint32_t *n_host_links);
/* With the adapters that --hca left out. O(cables). */
void fab_ranks_count_all_hosts(const struct fab_fabric *f, uint32_t *n_host_links);

/* How leaves are chosen among switches with hosts. */
enum fab_leaf_rule {
	FAB_LEAVES_APART, /* no two leaves are joined, as in a tree */
	FAB_LEAVES_ANY,	  /* all but those of few hosts that are joined to a leaf */
};
/*
 * Ranks by one rule, whatever the shape; n_hosts: fab_ranks_count_all_hosts(). False, and
 * no roots with FAB_LEAVES_APART: it is no tree, because a cable joins two switches that
 * do not follow each other in rank, more than an eighth of the adapters are not on
 * leaves, or there is but one leaf and one switch above it. Complexity as
 * fab_ranks_init().
 */
bool fab_ranks_find(struct fab_ranks *r, const struct fab_fabric *f,
		    const uint32_t *n_hosts, enum fab_leaf_rule rule);
