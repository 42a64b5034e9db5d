/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One mapping for the first nodes, however many there are: node by node, each to the
 * interface on whose path the worst share is best then (list scheduling, Graham 1966, on
 * the segments of a tree), of equal ones the nearest. Where nodes cross nothing but the
 * segments of servers this is the best for every prefix at once; no mapping is in every
 * tree (a test has the example, a factor of the square root of 2).
 */
#include <math.h>
#include <stdlib.h>

#include "boot/limits.h"
#include "boot/mapping_impl.h"

struct prefixes {
	const struct fab_machine *m;
	uint32_t *down, *up;	/* [n_vertices] nodes on the segment above */
	uint32_t *first, *next; /* children that lead to interfaces that are up */
	/* [n_vertices] most that a further node would make of what is used of a
	 * segment, from below up to here: nodes a Mb/s; by the best interface */
	double *worst;
	uint32_t *of_server;	      /* [n_servers] nodes */
	uint32_t *first_of, *next_of; /* interfaces of a server; FAB_NONE: no more */
	double transfer_mbps;
};

/* One node more on the segment above. */
static double with_one(const struct prefixes *x, const uint32_t *n, uint32_t v)
{
	return (n[v] + 1) / x->m->capacity_mbps[v];
}

static double through(const struct prefixes *x, uint32_t child)
{
	return fmax(with_one(x, x->up, child), x->worst[child]);
}

/* Of equal children the one that has the fewest nodes for its capacity, then the first.
 */
static uint32_t best_child(const struct prefixes *x, uint32_t v)
{
	uint32_t best = x->first[v];

	for (uint32_t c = x->next[best]; c != FAB_NONE; c = x->next[c]) {
		double a = through(x, c), b = through(x, best);

		if (a < b ||
		    (!(a > b) && with_one(x, x->up, c) < with_one(x, x->up, best)))
			best = c;
	}
	return best;
}

static void update(struct prefixes *x, uint32_t v)
{
	if (x->first[v] != FAB_NONE)
		x->worst[v] = through(x, best_child(x, v));
}

/* Where to turn from up to down: the vertex whose path is best. */
static uint32_t best_turn(const struct prefixes *x, uint32_t node)
{
	const struct fab_machine *m = x->m;
	double climbed = 0, least = INFINITY;
	uint32_t best = 0;

	for (uint32_t v = m->node_vertex[node]; v != FAB_NONE; v = m->parent[v]) {
		double cost = fmax(climbed, x->worst[v]);

		if (x->first[v] != FAB_NONE && cost < least * (1 - 1e-12)) {
			least = cost;
			best = v;
		}
		climbed = fmax(climbed, with_one(x, x->down, v));
	}
	return best;
}

/* Inverse share of a server's disk and connections with one node more. */
static double of_limits(const struct prefixes *x, uint32_t server)
{
	uint32_t n = x->of_server[server] + 1;

	return 1 / fmin(fab_limits_disk_share(x->m, n),
			fab_limits_connections_share(x->m, x->transfer_mbps, n));
}

static void update_path(struct prefixes *x, uint32_t interface)
{
	uint32_t v = x->m->interface_vertex[interface];

	x->worst[v] = of_limits(x, x->m->interface_server[interface]);
	for (; v != FAB_NONE; v = x->m->parent[v])
		update(x, v);
}

static uint32_t assign(struct prefixes *x, uint32_t node)
{
	const struct fab_machine *m = x->m;
	uint32_t turn = best_turn(x, node), v = turn, server;

	for (uint32_t a = m->node_vertex[node]; a != turn; a = m->parent[a])
		x->down[a]++;
	while (x->first[v] != FAB_NONE)
		v = best_child(x, v);
	for (uint32_t a = v; a != turn; a = m->parent[a])
		x->up[a]++;
	server = m->interface_server[m->first_interface[v]];
	x->of_server[server]++;
	for (uint32_t i = x->first_of[server]; i != FAB_NONE; i = x->next_of[i])
		update_path(x, i);
	return m->first_interface[v];
}

void fab_mapping_prefixes(const struct fab_machine *m, uint32_t *interface_of)
{
	struct prefixes x = {.m = m,
			     .down = FAB_NEW0(m->n_vertices, uint32_t),
			     .up = FAB_NEW0(m->n_vertices, uint32_t),
			     .first = FAB_NEW(m->n_vertices, uint32_t),
			     .next = FAB_NEW(m->n_vertices, uint32_t),
			     .worst = FAB_NEW0(m->n_vertices, double),
			     .of_server = FAB_NEW0(m->n_servers, uint32_t),
			     .first_of = FAB_NEW(m->n_servers, uint32_t),
			     .next_of = FAB_NEW(m->n_interfaces, uint32_t)};
	struct fab_batch all = fab_batch_all(m);
	bool *leads = FAB_NEW0(m->n_vertices, bool);

	for (uint32_t v = 0; v < m->n_vertices; v++)
		x.first[v] = x.next[v] = FAB_NONE;
	x.transfer_mbps = fab_limits_transfer_mbps(m, &all);
	fab_batch_fini(&all);
	for (uint32_t s = 0; s < m->n_servers; s++)
		x.first_of[s] = FAB_NONE;
	for (uint32_t i = m->n_interfaces; i-- > 0;) {
		uint32_t s = m->interface_server[i];

		leads[m->interface_vertex[i]] = fab_interface_is_up(m, i);
		x.next_of[i] = x.first_of[s];
		x.first_of[s] = i;
		x.worst[m->interface_vertex[i]] = of_limits(&x, s);
	}
	for (uint32_t v = m->n_vertices; v-- > 1;) {
		uint32_t p = m->parent[v];

		if (!leads[v])
			continue;
		leads[p] = true;
		x.next[v] = x.first[p];
		x.first[p] = v;
		update(&x, v);
	}
	update(&x, 0);
	for (uint32_t i = 0; i < m->n_nodes; i++)
		interface_of[i] = assign(&x, i);
	free(x.down);
	free(x.up);
	free(x.first);
	free(x.next);
	free(x.worst);
	free(x.of_server);
	free(x.first_of);
	free(x.next_of);
	free(leads);
}
