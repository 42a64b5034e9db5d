/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As OpenSM's engine updn without a list of roots: a switch is a root when the ports of
 * channel adapters, SHARP nodes included, stand at one distance from it, more than 90 %
 * of them, and no other distance has more than 5 %. Ranks are distances from the roots;
 * paths go up, then down. Without roots OpenSM falls back to the fewest hops and says so
 * in its log only.
 */
#include "unicast/balance.h"
#include "unicast/live.h"

#include <stdlib.h>
#include <string.h>

/* hosts at each distance of a switch: one bar over 90 %, and the same one alone over 5 %
 */
static bool is_root(const struct fab_fabric *f, const uint32_t *hosts, uint64_t all,
		    const uint32_t *dist, uint64_t *bars)
{
	unsigned n_high = 0, n_low = 0;

	memset(bars, 0, (f->n_switches + 1) * sizeof(*bars));
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (dist[sw] != FAB_NONE)
			bars[dist[sw]] += hosts[sw];
	for (uint32_t i = 0; i < f->n_switches; i++) {
		n_high += bars[i] * 10 > all * 9;
		n_low += bars[i] * 20 > all;
	}
	return n_high == 1 && n_low == 1;
}

/* Distances from all roots at once. */
static void set_ranks(const struct fab_live *live, uint32_t *rank, uint32_t *queue,
		      uint32_t tail)
{
	const struct fab_fabric *f = live->f;

	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = queue[head];

		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a];

			if (!live->arc_is_live[a] || rank[v] != FAB_NONE)
				continue;
			rank[v] = rank[u] + 1;
			queue[tail++] = v;
		}
	}
}

/* Live ports of channel adapters on each switch; returns how many there are. */
static uint64_t count_adapters(const struct fab_live *live, uint32_t *ports)
{
	const struct fab_fabric *f = live->f;
	uint64_t all = 0;

	memset(ports, 0, f->n_switches * sizeof(*ports));
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t sw = f->port_node[f->cable_a[c]];
		uint32_t kind = f->node_kind[f->port_node[f->cable_b[c]]];

		if (kind == FAB_ROUTER ||
		    (live->faults && live->faults->cable_is_dead[c]))
			continue;
		ports[sw]++;
		all++;
	}
	return all;
}

static uint32_t find_roots(const struct fab_live *live, uint32_t *rank, uint32_t *queue)
{
	const struct fab_fabric *f = live->f;
	uint32_t *hosts = FAB_NEW(f->n_switches + 1, uint32_t), n_roots = 0;
	uint32_t *dist = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t *order = FAB_NEW(f->n_switches + 1, uint32_t);
	uint64_t *bars = FAB_NEW(f->n_switches + 1, uint64_t), all;

	all = count_adapters(live, hosts);
	memset(rank, 0xff, f->n_switches * sizeof(*rank));
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		if (!fab_live_search(live, sw, dist, order) ||
		    !is_root(f, hosts, all, dist, bars))
			continue;
		rank[sw] = 0;
		queue[n_roots++] = sw;
	}
	free(bars);
	free(order);
	free(dist);
	free(hosts);
	return n_roots;
}

static int route_updn(const struct fab_unicast_problem *problem, struct fab_routes **out,
		      struct fab_err *err)
{
	uint32_t *rank = FAB_NEW(problem->f->n_switches + 1, uint32_t), n_roots;
	uint32_t *queue = FAB_NEW(problem->f->n_switches + 1, uint32_t);
	struct fab_live live;

	(void)err;
	fab_live_init(&live, problem->f, problem->faults);
	n_roots = find_roots(&live, rank, queue);
	set_ranks(&live, rank, queue, n_roots);
	*out = fab_balance_route(problem, n_roots ? rank : NULL);
	if (!n_roots)
		(*out)->note =
			fab_strdup("no roots found: falls back to the fewest hops, "
				   "as OpenSM does");
	fab_live_fini(&live);
	free(rank);
	free(queue);
	return 0;
}

const struct fab_unicast_engine fab_unicast_updn = {
	.name = "updn",
	.summary = "up, then down, from the roots that OpenSM would find",
	.caveat = FAB_CAVEAT_OPENSM,
	.route = route_updn,
};
