/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/graph.h"

#include "base/arena.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

void fab_graph_build(struct fab_fabric *f)
{
	uint32_t n = f->n_switches, n_arcs = 2 * f->n_switch_links, at = 0, kept = 0;
	FAB_AUTOFREE uint32_t *arc_of = fab_none_new((size_t)f->n_switch_links + 1);

	f->arc_first = FAB_ARENA_NEW(&f->arena, (size_t)n + 1, uint32_t);
	f->arc_peer = FAB_ARENA_NEW(&f->arena, n_arcs, uint32_t);
	f->arc_cable = FAB_ARENA_NEW(&f->arena, n_arcs, uint32_t);
	f->arc_reverse = FAB_ARENA_NEW(&f->arena, n_arcs, uint16_t);
	f->peer_first = FAB_ARENA_NEW(&f->arena, (size_t)n + 1, uint32_t);
	f->peer = FAB_ARENA_NEW(&f->arena, n_arcs, uint32_t);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t *peers = f->peer + kept, n_peers, is_sorted = true;

		f->arc_first[s] = at;
		f->peer_first[s] = kept;
		FAB_EACH_PORT(f, s, p) {
			uint32_t c = f->port_cable[p], peer;

			if (c >= f->n_switch_links)
				continue;
			peer = f->port_node[fab_port_peer(f, p)];
			if (peer == s)
				continue;
			f->arc_peer[at] = peer;
			f->arc_cable[at++] = c;
		}
		/* Each neighbour once, ascending. */
		n_peers = at - f->arc_first[s];
		memcpy(peers, f->arc_peer + f->arc_first[s], n_peers * sizeof(*peers));
		for (uint32_t i = 1; i < n_peers; i++)
			is_sorted &= peers[i - 1] <= peers[i];
		if (!is_sorted)
			qsort(peers, n_peers, sizeof(*peers), fab_cmp_u32);
		for (uint32_t i = 0; i < n_peers; i++)
			if (!i || peers[i] != f->peer[kept - 1])
				f->peer[kept++] = peers[i];
	}
	f->arc_first[n] = at;
	f->peer_first[n] = kept;
	/* Each cable is met twice. */
	for (uint32_t i = 0; i < n; i++)
		FAB_EACH_ARC(f, i, a) {
			uint32_t b = arc_of[f->arc_cable[a]];

			arc_of[f->arc_cable[a]] = a;
			if (b == FAB_NONE)
				continue;
			f->arc_reverse[a] = (uint16_t)(b - f->arc_first[f->arc_peer[a]]);
			f->arc_reverse[b] = (uint16_t)(a - f->arc_first[i]);
		}
}

uint32_t fab_graph_search(const struct fab_graph *g, const bool *is_cut, uint32_t n_from,
			  uint32_t *dist, uint32_t *order, uint32_t *by)
{
	const uint32_t *first = g->first, *peer = g->peer;
	uint32_t tail = n_from;

	memset(dist, 0xff, g->n * sizeof(*dist));
	for (uint32_t i = 0; i < n_from; i++)
		dist[order[i]] = 0;
	for (uint32_t head = 0; head < tail && tail < g->n; head++) {
		uint32_t u = order[head], end = first[u + 1], hops = dist[u] + 1;

		for (uint32_t e = first[u]; e < end; e++) {
			uint32_t v = peer[e];

			if (dist[v] != FAB_NONE || (is_cut && is_cut[e]))
				continue;
			dist[v] = hops;
			order[tail++] = v;
			if (by)
				by[v] = e;
		}
	}
	return tail;
}

uint32_t fab_graph_parts(const struct fab_graph *g, const bool *is_cut, uint32_t *part)
{
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *stack = FAB_NEW((size_t)g->n + 1, uint32_t);

	memset(part, 0xff, g->n * sizeof(*part));
	for (uint32_t root = 0; root < g->n; root++) {
		uint32_t depth = 0;

		if (part[root] != FAB_NONE)
			continue;
		part[root] = n;
		stack[depth++] = root;
		while (depth) {
			uint32_t u = stack[--depth];

			for (uint32_t e = g->first[u]; e < g->first[u + 1]; e++) {
				if (part[g->peer[e]] != FAB_NONE || (is_cut && is_cut[e]))
					continue;
				part[g->peer[e]] = n;
				stack[depth++] = g->peer[e];
			}
		}
		n++;
	}
	return n;
}

void fab_graph_init(struct fab_graph *g, uint32_t n, size_t n_edges, const uint32_t *from,
		    const uint32_t *to)
{
	uint32_t *first = FAB_NEW0((size_t)n + 2, uint32_t);
	uint32_t *peer = FAB_NEW(n_edges + 1, uint32_t);

	/* counted two places on, so that filling moves each start to its place */
	for (size_t i = 0; i < n_edges; i++)
		first[from[i] + 2]++;
	for (uint32_t v = 2; v <= n; v++)
		first[v] += first[v - 1];
	for (size_t i = 0; i < n_edges; i++)
		peer[first[from[i] + 1]++] = to[i];
	*g = (struct fab_graph){n, first, peer};
}

void fab_graph_fini(struct fab_graph *g)
{
	free((void *)(uintptr_t)g->first);
	free((void *)(uintptr_t)g->peer);
}

bool fab_graph_has_cycle(const struct fab_graph *g)
{
	FAB_AUTOFREE uint32_t *n_in = FAB_NEW0((size_t)g->n + 1, uint32_t);
	uint32_t tail = 0;
	FAB_AUTOFREE uint32_t *queue = FAB_NEW((size_t)g->n + 1, uint32_t);

	for (uint32_t e = 0; e < g->first[g->n]; e++)
		n_in[g->peer[e]]++;
	for (uint32_t v = 0; v < g->n; v++)
		if (!n_in[v])
			queue[tail++] = v;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = queue[head];

		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
			if (!--n_in[g->peer[e]])
				queue[tail++] = g->peer[e];
	}
	return tail < g->n;
}

uint32_t *fab_graph_shortest_cycle(const struct fab_graph *g, const uint32_t *part,
				   uint64_t max_steps, uint32_t *n_cycle)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	size_t size = (size_t)g->n + 1;
	uint32_t *from = FAB_ARENA_NEW(&arena, size, uint32_t); /* the vertex before */
	/* FAB_NONE: not reached; starts that are done with keep 0 */
	uint32_t *depth = fab_arena_none(&arena, size);
	uint32_t *queue = FAB_ARENA_NEW(&arena, size, uint32_t);
	uint32_t *best = FAB_NEW(size, uint32_t), n_best = FAB_NONE;
	uint64_t n_steps = 0;

	/* An edge from a vertex to itself is the shortest of all. */
	for (uint32_t v = 0; v < g->n && n_best != 1; v++)
		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
			if (g->peer[e] == v) {
				best[0] = v;
				n_best = 1;
			}
	for (uint32_t start = 0; start < g->n && n_best > 2; start++) {
		uint32_t tail = 0;
		bool is_found = false;

		if (n_best != FAB_NONE && n_steps > max_steps)
			break;
		if (part[start] == FAB_NONE)
			continue;
		/* Breadth first from a vertex back to it, no further than the shortest
		 * known cycle is long. */
		queue[tail++] = start;
		depth[start] = 0;
		for (uint32_t head = 0; head < tail && !is_found; head++) {
			uint32_t v = queue[head];

			if (n_best != FAB_NONE && depth[v] + 1 >= n_best)
				break;
			for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
				uint32_t to = g->peer[e];

				n_steps++;
				if (to == start) {
					uint32_t n = n_best = depth[v] + 1;

					for (uint32_t i = v; n; i = from[i])
						best[--n] = i;
					best[0] = start;
					is_found = true;
					break;
				}
				if (depth[to] != FAB_NONE || part[to] != part[start])
					continue;
				depth[to] = depth[v] + 1;
				from[to] = v;
				queue[tail++] = to;
			}
		}
		/* All cycles through the start are known: it is left out from now on. */
		for (uint32_t i = 1; i < tail; i++)
			depth[queue[i]] = FAB_NONE;
	}
	*n_cycle = n_best == FAB_NONE ? 0 : n_best;
	return best;
}
