/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/server_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* One direction of an edge; that of the other has its lowest bit flipped. */
struct arc {
	uint32_t to, next;
	uint64_t room;
};

struct network {
	uint32_t n, source, sink;
	uint32_t *first; /* [n] of the arcs of a vertex; FAB_NONE */
	FAB_VEC(struct arc) arc;
	uint32_t *level, *at, *list; /* [n] */
	FAB_VEC(uint32_t) path;	     /* arcs */
};

static void add_edge(struct network *g, uint32_t a, uint32_t b, uint64_t there,
		     uint64_t back)
{
	FAB_PUSH(&g->arc, ((struct arc){b, g->first[a], there}));
	g->first[a] = (uint32_t)g->arc.n - 1;
	FAB_PUSH(&g->arc, ((struct arc){a, g->first[b], back}));
	g->first[b] = (uint32_t)g->arc.n - 1;
}

/* Distances from the source over arcs with room; does one lead to the sink? */
static bool find_levels(struct network *g)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n; v++)
		g->level[v] = FAB_NONE;
	g->level[g->source] = 0;
	g->list[n++] = g->source;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = g->first[g->list[i]]; a != FAB_NONE;
		     a = g->arc.v[a].next) {
			uint32_t to = g->arc.v[a].to;

			if (!g->arc.v[a].room || g->level[to] != FAB_NONE)
				continue;
			g->level[to] = g->level[g->list[i]] + 1;
			g->list[n++] = to;
		}
	return g->level[g->sink] != FAB_NONE;
}

/* Send the most along the path; returns it, and takes the path back to its first full
 * arc. */
static uint64_t send(struct network *g, uint32_t *v)
{
	uint64_t most = UINT64_MAX;
	size_t full = 0;

	for (size_t i = g->path.n; i-- > 0;)
		if (g->arc.v[g->path.v[i]].room <= most) {
			most = g->arc.v[g->path.v[i]].room;
			full = i;
		}
	for (size_t i = 0; i < g->path.n; i++) {
		g->arc.v[g->path.v[i]].room -= most;
		g->arc.v[g->path.v[i] ^ 1].room += most;
	}
	*v = g->arc.v[g->path.v[full] ^ 1].to;
	g->path.n = full;
	return most;
}

/* A flow that leaves no shortest path with room. */
static uint64_t block(struct network *g)
{
	uint32_t v = g->source;
	uint64_t sum = 0;

	memcpy(g->at, g->first, g->n * sizeof(*g->at));
	g->path.n = 0;
	for (;;) {
		uint32_t a = g->at[v];

		if (v == g->sink) {
			sum += send(g, &v);
		} else if (a == FAB_NONE) {
			if (!g->path.n)
				return sum;
			v = g->arc.v[g->path.v[--g->path.n] ^ 1].to;
			g->at[v] = g->arc.v[g->at[v]].next;
		} else if (g->arc.v[a].room &&
			   g->level[g->arc.v[a].to] == g->level[v] + 1) {
			FAB_PUSH(&g->path, a);
			v = g->arc.v[a].to;
		} else {
			g->at[v] = g->arc.v[a].next;
		}
	}
}

/* Vertices of the tree by their number, servers behind them; the arcs of interfaces to
 * their servers come first. */
static void build(struct network *g, const struct fab_server_flow *p)
{
	const struct fab_machine *m = p->m;

	g->n = m->n_vertices + m->n_servers + 2;
	g->source = g->n - 2;
	g->sink = g->n - 1;
	g->first = FAB_NEW(g->n, uint32_t);
	g->level = FAB_NEW(g->n, uint32_t);
	g->at = FAB_NEW(g->n, uint32_t);
	g->list = FAB_NEW(g->n, uint32_t);
	for (uint32_t v = 0; v < g->n; v++)
		g->first[v] = FAB_NONE;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		add_edge(g, m->interface_vertex[i],
			 m->n_vertices + m->interface_server[i], p->n_nodes, 0);
	for (uint32_t s = 0; s < m->n_servers; s++)
		add_edge(g, m->n_vertices + s, g->sink, p->room[s], 0);
	for (uint32_t i = 0; i < p->n_inner; i++) {
		uint32_t v = p->inner[i];

		if (v)
			add_edge(g, v, m->parent[v], p->down[v], p->up[v]);
		if (p->below[v])
			add_edge(g, g->source, v, p->below[v], 0);
	}
}

bool fab_server_flow_find(const struct fab_server_flow *problem, uint64_t *of_interface)
{
	struct network g = {0};
	uint64_t sum = 0;

	build(&g, problem);
	while (sum < problem->n_nodes && find_levels(&g))
		sum += block(&g);
	for (uint32_t i = 0; i < problem->m->n_interfaces; i++)
		of_interface[i] = g.arc.v[2 * (size_t)i + 1].room;
	free(g.first);
	free(g.level);
	free(g.at);
	free(g.list);
	free(g.arc.v);
	free(g.path.v);
	return sum >= problem->n_nodes;
}
