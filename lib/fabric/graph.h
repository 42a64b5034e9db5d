/* SPDX-License-Identifier: BSD-2-Clause */
/* The graph of switches in compressed rows, and searches in it. */
#pragma once

#include "fabric/fabric.h"

/*
 * For the builder, once. Fills arc_first, arc_peer, arc_cable, arc_reverse, peer_first
 * and peer of a fabric whose cables are numbered. O(cables + cables of a switch log of
 * it).
 */
void fab_graph_build(struct fab_fabric *f);

/*
 * Breadth first from the n switches in order[0 .. n - 1] at once, over arcs that are not
 * dead (arc_is_dead [arcs], NULL: none is): dist[n_switches] are hops from the nearest of
 * them, FAB_NONE where there is no path; order[n_switches] goes on with those that are
 * reached, near ones first, of the same distance by the arc of the one before. by
 * [n_switches] gets the arc (an id) by which each of these was reached; NULL: not asked
 * for. Returns how many order holds. O(switches + arcs).
 */
uint32_t fab_graph_search(const struct fab_fabric *f, const bool *arc_is_dead, uint32_t n,
			  uint32_t *dist, uint32_t *order, uint32_t *by);
