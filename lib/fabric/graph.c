/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/graph.h"

#include "base/mem.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* The switch at the other end of a switch port, FAB_NONE for anything else or itself. */
static uint32_t peer_switch(const struct fab_fabric *f, uint32_t sw, uint32_t port)
{
	uint32_t c = f->port_cable[port], node;

	if (c >= f->n_switch_links)
		return FAB_NONE;
	node = f->port_node[fab_port_peer(f, port)];
	return node == sw ? FAB_NONE : node;
}

/* Sort and keep each once. */
static uint32_t unique(uint32_t *id, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i < n; i++)
		if (id[i - 1] > id[i]) {
			qsort(id, n, sizeof(*id), fab_cmp_u32);
			break;
		}
	for (uint32_t i = 0; i < n; i++)
		if (!kept || id[kept - 1] != id[i])
			id[kept++] = id[i];
	return kept;
}

void fab_graph_build(struct fab_fabric *f)
{
	uint32_t n = f->n_switches, at = 0, kept = 0;
	uint32_t *arc_of;

	f->arc_first = FAB_NEW((size_t)n + 1, uint32_t);
	f->arc_peer = FAB_NEW(2 * (size_t)f->n_switch_links, uint32_t);
	f->arc_cable = FAB_NEW(2 * (size_t)f->n_switch_links, uint32_t);
	f->peer_first = FAB_NEW((size_t)n + 1, uint32_t);
	f->peer = FAB_NEW(2 * (size_t)f->n_switch_links, uint32_t);
	for (uint32_t s = 0; s < n; s++) {
		f->arc_first[s] = at;
		f->peer_first[s] = kept;
		for (uint32_t p = f->node_first_port[s]; p < f->node_first_port[s + 1];
		     p++) {
			uint32_t peer = peer_switch(f, s, p);

			if (peer == FAB_NONE)
				continue;
			f->arc_peer[at] = peer;
			f->arc_cable[at++] = f->port_cable[p];
		}
		memcpy(f->peer + kept, f->arc_peer + f->arc_first[s],
		       (at - f->arc_first[s]) * sizeof(*f->peer));
		kept += unique(f->peer + kept, at - f->arc_first[s]);
	}
	f->arc_first[n] = at;
	f->peer_first[n] = kept;
	f->peer = fab_realloc(f->peer, kept, sizeof(*f->peer));
	/* Each cable is met twice. */
	arc_of = FAB_NEW((size_t)f->n_switch_links + 1, uint32_t);
	f->arc_reverse = FAB_NEW(2 * (size_t)f->n_switch_links, uint16_t);
	memset(arc_of, 0xff, f->n_switch_links * sizeof(*arc_of));
	for (uint32_t i = 0; i < f->n_switches; i++)
		for (uint32_t a = f->arc_first[i]; a < f->arc_first[i + 1]; a++) {
			uint32_t b = arc_of[f->arc_cable[a]];

			arc_of[f->arc_cable[a]] = a;
			if (b == FAB_NONE)
				continue;
			f->arc_reverse[a] = (uint16_t)(b - f->arc_first[f->arc_peer[a]]);
			f->arc_reverse[b] = (uint16_t)(a - f->arc_first[i]);
		}
	free(arc_of);
}

uint32_t fab_graph_search(const struct fab_graph *g, const bool *is_cut, uint32_t n_from,
			  uint32_t *dist, uint32_t *order, uint32_t *by)
{
	uint32_t tail = n_from;

	memset(dist, 0xff, g->n * sizeof(*dist));
	for (uint32_t i = 0; i < n_from; i++)
		dist[order[i]] = 0;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = order[head];

		for (uint32_t e = g->first[u]; e < g->first[u + 1]; e++) {
			uint32_t v = g->peer[e];

			if (dist[v] != FAB_NONE || (is_cut && is_cut[e]))
				continue;
			dist[v] = dist[u] + 1;
			order[tail++] = v;
			if (by)
				by[v] = e;
		}
	}
	return tail;
}

uint32_t fab_graph_parts(const struct fab_graph *g, const bool *is_cut, uint32_t *part)
{
	uint32_t *stack = FAB_NEW((size_t)g->n + 1, uint32_t), n = 0;

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
	free(stack);
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
	uint32_t *n_in = FAB_NEW0((size_t)g->n + 1, uint32_t);
	uint32_t *queue = FAB_NEW((size_t)g->n + 1, uint32_t), tail = 0;

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
	free(queue);
	free(n_in);
	return tail < g->n;
}

struct girth {
	const struct fab_graph *g;
	const uint32_t *part;
	uint32_t *from;	 /* [n] the vertex before, on the path from the start */
	uint32_t *depth; /* [n] FAB_NONE: not reached; 0 too: done with */
	uint32_t *queue;
	uint32_t n_queue;
	uint64_t n_steps;
	uint32_t *best;
	uint32_t n_best; /* FAB_NONE: no cycle yet */
};

/* The edges of a vertex; true: one leads back to the start, no shorter cycle does. */
static bool look_from(struct girth *s, uint32_t start, uint32_t v)
{
	for (uint32_t e = s->g->first[v]; e < s->g->first[v + 1]; e++) {
		uint32_t to = s->g->peer[e];

		s->n_steps++;
		if (to == start) {
			uint32_t n = s->n_best = s->depth[v] + 1;

			for (uint32_t i = v; n; i = s->from[i])
				s->best[--n] = i;
			s->best[0] = start;
			return true;
		}
		if (s->depth[to] != FAB_NONE || s->part[to] != s->part[start])
			continue;
		s->depth[to] = s->depth[v] + 1;
		s->from[to] = v;
		s->queue[s->n_queue++] = to;
	}
	return false;
}

uint32_t *fab_graph_shortest_cycle(const struct fab_graph *g, const uint32_t *part,
				   uint64_t max_steps, uint32_t *n_cycle)
{
	size_t size = (size_t)g->n + 1;
	struct girth s = {.g = g, .part = part, .n_best = FAB_NONE};

	s.from = FAB_NEW(size, uint32_t);
	s.depth = FAB_NEW(size, uint32_t);
	s.queue = FAB_NEW(size, uint32_t);
	s.best = FAB_NEW(size, uint32_t);
	memset(s.depth, 0xff, size * sizeof(*s.depth));
	/* none is shorter than two but an edge from a vertex to itself */
	for (uint32_t v = 0; v < g->n && s.n_best != 1; v++)
		for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++)
			if (g->peer[e] == v) {
				s.best[0] = v;
				s.n_best = 1;
			}
	for (uint32_t v = 0; v < g->n && s.n_best > 2; v++) {
		if (s.n_best != FAB_NONE && s.n_steps > max_steps)
			break;
		if (part[v] != FAB_NONE) {
			/* Breadth first from a vertex back to it, no further than what is
			 * known is long. */
			s.n_queue = 0;
			s.queue[s.n_queue++] = v;
			s.depth[v] = 0;
			for (uint32_t head = 0; head < s.n_queue; head++)
				if ((s.n_best != FAB_NONE &&
				     s.depth[s.queue[head]] + 1 >= s.n_best) ||
				    look_from(&s, v, s.queue[head]))
					break;
			/* all cycles through the start are known: it is left out from now
			 * on */
			for (uint32_t i = 1; i < s.n_queue; i++)
				s.depth[s.queue[i]] = FAB_NONE;
		}
	}
	free(s.from);
	free(s.depth);
	free(s.queue);
	*n_cycle = s.n_best == FAB_NONE ? 0 : s.n_best;
	return s.best;
}
