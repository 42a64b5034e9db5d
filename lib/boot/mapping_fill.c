/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Servers node by node, each to the interface on whose path the worst share is best then
 * (list scheduling, Graham 1966, on the segments of a tree), of equal ones the nearest.
 *
 * In the order of the nodes this is one mapping for the first of them, however many there
 * are: where nodes cross nothing but the segments of servers it is the best for every
 * prefix at once; no mapping is in every tree (a test has the example, a factor of the
 * square root of 2). With the largest images first (Graham 1969) it balances images of
 * several sizes, for which no optimum is known.
 */

#include "base/arena.h"
#include "base/mem.h"
#include "boot/impl.h"
#include "boot/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loads are images, in parts of the largest one. */
struct filling {
	const struct fab_machine *m;
	double *down, *up;	/* [n_vertices] on the segment above */
	uint32_t *first, *next; /* children that lead to interfaces that are up */
	/* [n_vertices] most that a further node would make of what is used of a
	 * segment, from below up to here: images a Mb/s; by the best interface */
	double *worst;
	double part;		      /* image of a further node */
	double *of_server;	      /* [n_servers] */
	uint32_t *n_nodes;	      /* [n_servers] */
	uint32_t *first_of, *next_of; /* interfaces of a server; FAB_NONE: no more */
	bool *leads;		      /* [n_vertices] to an interface that is up */
	double transfer_mbps;
};

/* One node more on the segment above. */
static double with_one(const struct filling *x, const double *load, uint32_t v)
{
	return (load[v] + x->part) / x->m->capacity_mbps[v];
}

static double through(const struct filling *x, uint32_t child)
{
	return fmax(with_one(x, x->up, child), x->worst[child]);
}

/* Of equal children the one that has the fewest nodes for its capacity, then the first.
 */
static uint32_t best_child(const struct filling *x, uint32_t v)
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

static void update(struct filling *x, uint32_t v)
{
	if (x->first[v] != FAB_NONE)
		x->worst[v] = through(x, best_child(x, v));
}

/* Inverse share of a server's disk and connections with one node more. */
static double of_limits(const struct filling *x, uint32_t server)
{
	const struct fab_machine *m = x->m;
	double disk = m->limits.disk_mbps > 0
			      ? m->limits.disk_mbps / (x->of_server[server] + x->part)
			      : (double)INFINITY;

	return 1 / fmin(disk, fab_limits_connections_share(m, x->transfer_mbps,
							   x->n_nodes[server] + 1) /
				      x->part);
}

/* For another image of the next nodes. */
static void update_all(struct filling *x, double part)
{
	const struct fab_machine *m = x->m;

	x->part = part;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		x->worst[m->interface_vertex[i]] = of_limits(x, m->interface_server[i]);
	for (uint32_t v = m->n_vertices; v-- > 0;)
		update(x, v);
}

/* Load the path of a node, and its server. */
static void load(struct filling *x, uint32_t node, uint32_t interface)
{
	const struct fab_machine *m = x->m;
	uint32_t server = m->interface_server[interface];
	double part = fab_machine_part(m, node);

	for (struct fab_climb c = {m->node_vertex[node], m->interface_vertex[interface]};
	     fab_climb_next(&c, m);)
		(c.is_up ? x->up : x->down)[c.at] += part;
	x->of_server[server] += part;
	x->n_nodes[server]++;
}

static uint32_t assign(struct filling *x, uint32_t node)
{
	const struct fab_machine *m = x->m;
	double climbed = 0, least = INFINITY;
	uint32_t turn = 0, v, server;

	/* turn from up to down at the vertex whose path is best */
	for (v = m->node_vertex[node]; v != FAB_NONE; v = m->parent[v]) {
		double cost = fmax(climbed, x->worst[v]);

		if (x->first[v] != FAB_NONE && cost < least * (1 - 1e-12)) {
			least = cost;
			turn = v;
		}
		climbed = fmax(climbed, with_one(x, x->down, v));
	}
	for (v = turn; x->first[v] != FAB_NONE;)
		v = best_child(x, v);
	load(x, node, m->first_interface[v]);
	server = m->interface_server[m->first_interface[v]];
	for (uint32_t i = x->first_of[server]; i != FAB_NONE; i = x->next_of[i]) {
		uint32_t at = m->interface_vertex[i];

		x->worst[at] = of_limits(x, server);
		for (; at != FAB_NONE; at = m->parent[at])
			update(x, at);
	}
	return m->first_interface[v];
}

static int by_image(const void *a, const void *b, void *context)
{
	const struct fab_machine *m = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double p = fab_machine_part(m, x), q = fab_machine_part(m, y);

	return p > q ? -1 : p < q ? 1 : x < y ? -1 : x > y;
}

static void init(struct filling *x, const struct fab_machine *m, struct fab_arena *a)
{
	*x = (struct filling){.m = m,
			      .part = 1,
			      .down = FAB_ARENA_NEW0(a, m->n_vertices, double),
			      .up = FAB_ARENA_NEW0(a, m->n_vertices, double),
			      .first = fab_arena_none(a, m->n_vertices),
			      .next = fab_arena_none(a, m->n_vertices),
			      .worst = FAB_ARENA_NEW0(a, m->n_vertices, double),
			      .of_server = FAB_ARENA_NEW0(a, m->n_servers, double),
			      .n_nodes = FAB_ARENA_NEW0(a, m->n_servers, uint32_t),
			      .first_of = fab_arena_none(a, m->n_servers),
			      .next_of = FAB_ARENA_NEW(a, m->n_interfaces, uint32_t),
			      .leads = FAB_ARENA_NEW0(a, m->n_vertices, bool)};
	for (uint32_t i = m->n_interfaces; i-- > 0;) {
		uint32_t s = m->interface_server[i];

		x->leads[m->interface_vertex[i]] = fab_interface_is_up(m, i);
		x->next_of[i] = x->first_of[s];
		x->first_of[s] = i;
	}
	for (uint32_t v = m->n_vertices; v-- > 1;) {
		uint32_t p = m->parent[v];

		if (!x->leads[v])
			continue;
		x->leads[p] = true;
		x->next[v] = x->first[p];
		x->first[p] = v;
	}
}

void fab_mapping_fill(const struct fab_machine *m, const struct fab_batch *batch,
		      bool largest_first, uint32_t *interface_of)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	FAB_AUTOFREE uint32_t *node = FAB_NEW((size_t)batch->n + 1, uint32_t);
	struct fab_machine *context = (struct fab_machine *)(uintptr_t)m;
	struct filling x;

	init(&x, m, &a);
	x.transfer_mbps = fab_limits_transfer_mbps(m, batch);
	memcpy(node, batch->node, batch->n * sizeof(*node));
	if (largest_first)
		qsort_r(node, batch->n, sizeof(*node), by_image, context);
	for (uint32_t i = 0; i < batch->n; i++)
		if (interface_of[node[i]] != FAB_NONE)
			load(&x, node[i], interface_of[node[i]]);
	update_all(&x, 1);
	for (uint32_t i = 0; i < batch->n; i++) {
		double part = fab_machine_part(m, node[i]);

		if (interface_of[node[i]] != FAB_NONE)
			continue;
		if (largest_first && part < x.part)
			update_all(&x, part);
		interface_of[node[i]] = assign(&x, node[i]);
	}
}
