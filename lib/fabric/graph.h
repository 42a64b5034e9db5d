/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Graphs in compressed rows and the searches in them. The fabric holds two: its switches
 * with each neighbour once, and with an edge for each cable end (arc).
 */
#pragma once

#include "fabric/fabric.h"

/* Edges of v: peer[first[v]] .. peer[first[v + 1] - 1]; an edge is known by its place in
 * peer. Borrowed arrays. */
struct fab_graph {
	uint32_t n;
	const uint32_t *first; /* [n + 1] */
	const uint32_t *peer;
};

/* Each neighbour once, ascending. O(1). */
static inline struct fab_graph fab_graph_of_peers(const struct fab_fabric *f)
{
	return (struct fab_graph){f->n_switches, f->peer_first, f->peer};
}

/* An edge for each arc. O(1). */
static inline struct fab_graph fab_graph_of_arcs(const struct fab_fabric *f)
{
	return (struct fab_graph){f->n_switches, f->arc_first, f->arc_peer};
}

static inline uint32_t fab_graph_degree(const struct fab_graph *g, uint32_t v)
{
	return g->first[v + 1] - g->first[v];
}

/*
 * For the builder, once. Fills arc_first, arc_peer, arc_cable, arc_reverse, peer_first
 * and peer of a fabric whose cables are numbered. O(cables + cables of a switch log of
 * it).
 */
void fab_graph_build(struct fab_fabric *f);

/*
 * Breadth first from the n_from vertices in order[0 .. n_from - 1] at once, over edges
 * that are not cut (is_cut [edges], NULL: none is): dist[n] are hops from the nearest of
 * them, FAB_NONE where there is no path; order[n] goes on with those that are reached,
 * near ones first, of the same distance by the edge of the one before. by [n] gets the
 * edge by which each of these was reached; NULL: not asked for. Returns how many order
 * holds. O(vertices + edges).
 */
uint32_t fab_graph_search(const struct fab_graph *g, const bool *is_cut, uint32_t n_from,
			  uint32_t *dist, uint32_t *order, uint32_t *by);

/*
 * Parts of an undirected graph (each edge is there from both ends, and cut from both):
 * part[n], numbered by lowest vertex. Returns how many. O(vertices + edges).
 */
uint32_t fab_graph_parts(const struct fab_graph *g, const bool *is_cut, uint32_t *part);

/* The graph with these edges, from[i] to to[i], each vertex's in their order. Free first
 * and peer, which are cast away from const by fab_graph_fini(). O(vertices + edges). */
void fab_graph_init(struct fab_graph *g, uint32_t n, size_t n_edges, const uint32_t *from,
		    const uint32_t *to);
void fab_graph_fini(struct fab_graph *g);

/* Is there a cycle of directed edges? Takes away what nothing leads to, over and over
 * (Kahn 1962). O(vertices + edges). */
bool fab_graph_has_cycle(const struct fab_graph *g);

/*
 * A shortest cycle of directed edges between vertices of the same part (part[n],
 * FAB_NONE: on no cycle): its vertices in order, *n_cycle of them; 0: no cycle.
 * After max_steps edges the shortest of those found until then. The caller frees.
 * O(vertices * edges).
 */
uint32_t *fab_graph_shortest_cycle(const struct fab_graph *g, const uint32_t *part,
				   uint64_t max_steps, uint32_t *n_cycle);
