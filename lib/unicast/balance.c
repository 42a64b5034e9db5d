/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/balance.h"

#include "fabric/tiers.h"
#include "unicast/live.h"

#include <stdlib.h>
#include <string.h>

struct balance {
	const struct fab_live *live;
	const uint32_t *rank;
	uint32_t *hops, *order; /* [n_switches] */
	uint8_t *goes_up;	/* [n_switches] seen from the destination */
	uint64_t *load;		/* [arcs] hosts served */
};

/* Is the move from u to v, away from the destination, one up the ranks? */
static bool is_up(const struct balance *b, uint32_t u, uint32_t v)
{
	const struct fab_fabric *f = b->live->f;

	if (!b->rank[u] && !b->rank[v])
		return true; /* between roots either way, as OpenSM has it */
	if (b->rank[u] != b->rank[v])
		return b->rank[v] < b->rank[u];
	return f->node_guid[v] < f->node_guid[u];
}

/* Breadth first; a switch that was reached downwards is left downwards only. */
static uint32_t search(struct balance *b, uint32_t to)
{
	const struct fab_fabric *f = b->live->f;
	uint32_t tail = 0;

	memset(b->hops, 0xff, f->n_switches * sizeof(*b->hops));
	b->hops[to] = 0;
	b->goes_up[to] = 1;
	b->order[tail++] = to;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = b->order[head];

		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a];
			bool up = is_up(b, u, v);

			if (!b->live->arc_is_live[a] || (up && !b->goes_up[u]))
				continue;
			if (b->hops[v] == FAB_NONE) {
				b->hops[v] = b->hops[u] + 1;
				b->goes_up[v] = up;
				b->order[tail++] = v;
			} else if (b->hops[v] == b->hops[u] + 1 && up) {
				b->goes_up[v] = 1;
			}
		}
	}
	return tail;
}

/*
 * May v send to u? Down to where the way goes on down; up only if nobody comes down to v
 * on the strength of its own way down.
 */
static bool is_legal(const struct balance *b, uint32_t u, uint32_t v)
{
	return is_up(b, u, v) ? b->goes_up[u] : !b->goes_up[v];
}

static uint16_t choose(struct balance *b, uint32_t v, uint32_t n_hosts)
{
	const struct fab_fabric *f = b->live->f;
	uint32_t first = f->arc_first[v], best = FAB_NONE;

	for (uint32_t a = first; a < f->arc_first[v + 1]; a++) {
		uint32_t u = f->arc_peer[a];

		if (!b->live->arc_is_live[a] || b->hops[u] == FAB_NONE ||
		    b->hops[u] + 1 != b->hops[v])
			continue;
		if (b->rank && !is_legal(b, u, v))
			continue;
		if (best == FAB_NONE || b->load[a] < b->load[best])
			best = a;
	}
	if (best == FAB_NONE)
		return FAB_ARC_NONE;
	b->load[best] += n_hosts;
	return (uint16_t)(best - first);
}

static void fill(struct balance *b, uint32_t to, uint32_t n_hosts, uint16_t *next)
{
	uint32_t n =
		b->rank ? search(b, to) : fab_live_search(b->live, to, b->hops, b->order);

	memset(next, 0xff, b->live->f->n_switches * sizeof(*next));
	next[to] = FAB_ARC_HERE;
	for (uint32_t i = 1; i < n; i++)
		next[b->order[i]] = choose(b, b->order[i], n_hosts);
}

struct fab_routes *fab_balance_route(const struct fab_unicast_problem *problem,
				     const uint32_t *rank)
{
	const struct fab_fabric *f = problem->f;
	uint32_t n_switches = f->n_switches, n;
	uint32_t *hosts = FAB_NEW(n_switches + 1, uint32_t);
	uint32_t *columns = FAB_NEW(n_switches + 1, uint32_t);
	struct fab_live live;
	struct balance b = {.live = &live, .rank = rank};
	struct fab_routes *r;

	fab_live_init(&live, f, problem->faults);
	fab_tiers_count_hosts(f, hosts);
	n = fab_live_columns(&live, problem->kfat, columns);
	r = fab_routes_new(f, problem->faults, n);
	memcpy(r->column_switch, columns, n * sizeof(*columns));
	b.hops = FAB_NEW(n_switches + 1, uint32_t);
	b.order = FAB_NEW(n_switches + 1, uint32_t);
	b.goes_up = FAB_NEW0(n_switches + 1, uint8_t);
	b.load = FAB_NEW0(f->arc_first[n_switches] + 1, uint64_t);
	for (uint32_t i = 0; i < n; i++)
		fill(&b, columns[i], hosts[columns[i]], r->next + (size_t)i * n_switches);
	free(b.hops);
	free(b.order);
	free(b.goes_up);
	free(b.load);
	free(hosts);
	free(columns);
	fab_live_fini(&live);
	return r;
}
