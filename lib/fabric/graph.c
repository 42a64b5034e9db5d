/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/graph.h"

#include "base/mem.h"

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

static int by_id(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

/* Sort and keep each once. */
static uint32_t unique(uint32_t *id, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 1; i < n; i++)
		if (id[i - 1] > id[i]) {
			qsort(id, n, sizeof(*id), by_id);
			break;
		}
	for (uint32_t i = 0; i < n; i++)
		if (!kept || id[kept - 1] != id[i])
			id[kept++] = id[i];
	return kept;
}

/* Each cable is met twice. */
static void fill_reverse(struct fab_fabric *f)
{
	uint32_t *arc_of = FAB_NEW((size_t)f->n_switch_links + 1, uint32_t);

	f->arc_reverse = FAB_NEW(2 * (size_t)f->n_switch_links, uint16_t);
	memset(arc_of, 0xff, f->n_switch_links * sizeof(*arc_of));
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
			uint32_t b = arc_of[f->arc_cable[a]];

			arc_of[f->arc_cable[a]] = a;
			if (b == FAB_NONE)
				continue;
			f->arc_reverse[a] = (uint16_t)(b - f->arc_first[f->arc_peer[a]]);
			f->arc_reverse[b] = (uint16_t)(a - f->arc_first[s]);
		}
	free(arc_of);
}

void fab_graph_build(struct fab_fabric *f)
{
	uint32_t n = f->n_switches, at = 0, kept = 0;

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
	fill_reverse(f);
}

uint32_t fab_graph_search(const struct fab_fabric *f, const bool *arc_is_dead, uint32_t n,
			  uint32_t *dist, uint32_t *order, uint32_t *by)
{
	uint32_t tail = n;

	memset(dist, 0xff, f->n_switches * sizeof(*dist));
	for (uint32_t i = 0; i < n; i++)
		dist[order[i]] = 0;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = order[head];

		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a];

			if (dist[v] != FAB_NONE || (arc_is_dead && arc_is_dead[a]))
				continue;
			dist[v] = dist[u] + 1;
			order[tail++] = v;
			if (by)
				by[v] = a;
		}
	}
	return tail;
}
