/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/min_hops.h"

#include "unicast/faults.h"
#include <stdlib.h>
#include <string.h>

void fab_min_hops_init(struct fab_min_hops *m, const struct fab_fabric *f,
		       const struct fab_faults *faults, const uint32_t *rank)
{
	size_t n = (size_t)f->n_switches + 1, arcs = f->arc_first[f->n_switches] + 1U;

	*m = (struct fab_min_hops){.f = f, .faults = faults, .rank = rank};
	m->order = FAB_NEW(n, uint32_t);
	m->hops = FAB_NEW(n, uint32_t);
	m->port_first = FAB_NEW(n, uint32_t);
	m->port = FAB_NEW(arcs, uint16_t);
	if (!rank)
		return;
	m->arc_hops = FAB_NEW(arcs, uint32_t);
	m->goes_down = FAB_NEW0(n, bool);
	m->is_queued = FAB_NEW0(n, bool);
}

void fab_min_hops_fini(struct fab_min_hops *m)
{
	free(m->order);
	free(m->hops);
	free(m->port_first);
	free(m->port);
	free(m->arc_hops);
	free(m->goes_down);
	free(m->is_queued);
}

/* Is the step from u to v, away from the destination, one down the ranks? */
static bool is_down(const struct fab_min_hops *m, uint32_t u, uint32_t v)
{
	const uint64_t *guid = m->f->node_guid;

	if (!m->rank[u] && !m->rank[v])
		return false; /* between roots in either direction, as OpenSM has it */
	if (m->rank[u] != m->rank[v])
		return m->rank[u] < m->rank[v];
	return guid[u] <= guid[v];
}

/*
 * Breadth first over arcs: a switch learns the hops of each of its ports from the
 * neighbour there, if that may go on so. Who learns of another port is looked at again,
 * in the sense in which that was found.
 */
static void search_legal(struct fab_min_hops *m, uint32_t to)
{
	const struct fab_fabric *f = m->f;
	uint32_t n_ring = f->n_switches, head = 0, n_queued = 1, *ring = m->order;

	memset(m->hops, 0xff, f->n_switches * sizeof(*m->hops));
	memset(m->arc_hops, 0xff, f->arc_first[f->n_switches] * sizeof(*m->arc_hops));
	m->hops[to] = 0;
	m->goes_down[to] = false;
	ring[0] = to;
	for (; n_queued; n_queued--, head = (head + 1) % n_ring) {
		uint32_t u = ring[head];

		m->is_queued[u] = false;
		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a], hops = m->hops[u] + 1;
			uint32_t back = f->arc_first[v] + f->arc_reverse[a];
			bool down = is_down(m, u, v);

			if (v == to || !fab_arc_is_live(m->faults, a) ||
			    (m->goes_down[u] && !down) || hops >= m->arc_hops[back])
				continue;
			m->arc_hops[back] = hops;
			if (hops < m->hops[v])
				m->hops[v] = hops;
			if (m->is_queued[v])
				continue;
			m->is_queued[v] = true;
			m->goes_down[v] = down;
			ring[(head + n_queued++) % n_ring] = v;
		}
	}
}

/* Switches by hops, which a search that comes back to some does not leave behind. */
static uint32_t sort_by_hops(struct fab_min_hops *m)
{
	uint32_t n = m->f->n_switches, most = 0, sum = 0;
	uint32_t *at;

	for (uint32_t s = 0; s < n; s++)
		if (m->hops[s] != FAB_NONE && m->hops[s] > most)
			most = m->hops[s];
	at = FAB_NEW0((size_t)most + 2, uint32_t);
	for (uint32_t s = 0; s < n; s++)
		if (m->hops[s] != FAB_NONE)
			at[m->hops[s] + 1]++;
	for (uint32_t h = 0; h <= most; h++)
		at[h + 1] += at[h];
	for (uint32_t s = 0; s < n; s++)
		if (m->hops[s] != FAB_NONE) {
			m->order[at[m->hops[s]]++] = s;
			sum++;
		}
	free(at);
	return sum;
}

static bool is_shortest(const struct fab_min_hops *m, uint32_t sw, uint32_t arc)
{
	if (m->rank)
		return m->arc_hops[arc] == m->hops[sw];
	return fab_arc_is_live(m->faults, arc) &&
	       m->hops[m->f->arc_peer[arc]] + 1 == m->hops[sw];
}

static void list_ports(struct fab_min_hops *m)
{
	const struct fab_fabric *f = m->f;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++) {
		m->port_first[s] = n;
		if (m->hops[s] == FAB_NONE || !m->hops[s])
			continue;
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
			if (is_shortest(m, s, a))
				m->port[n++] = (uint16_t)(a - f->arc_first[s]);
	}
	m->port_first[f->n_switches] = n;
}

void fab_min_hops_to(struct fab_min_hops *m, uint32_t to)
{
	if (m->rank) {
		search_legal(m, to);
		m->n_order = sort_by_hops(m);
	} else {
		m->n_order = fab_faults_search(m->f, m->faults, to, m->hops, m->order);
	}
	list_ports(m);
}
