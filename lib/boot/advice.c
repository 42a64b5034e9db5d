/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot/mapping_impl.h"

/* Is the batch booted in time with the first n of the servers? */
static bool is_enough(struct fab_machine *m, const struct fab_batch *batch,
		      const uint32_t *order, uint32_t n_order, uint32_t n, double mbps)
{
	for (uint32_t s = 0; s < m->n_servers; s++)
		m->server_is_down[s] = true;
	for (uint32_t i = 0; i < n_order && n; i++) {
		uint32_t server = m->interface_server[order[i]];

		n -= m->server_is_down[server];
		m->server_is_down[server] = false;
	}
	return fab_mapping_upper_bound_mbps(m, batch) >= mbps * (1 - 1e-9);
}

uint32_t fab_advice_servers(const struct fab_machine *m, const struct fab_batch *batch,
			    double image_mbit, double seconds)
{
	struct fab_machine copy = *m;
	uint32_t n_order, *order = fab_interfaces_spread(m, &n_order);
	uint32_t low = 0, high = 0;
	double mbps = image_mbit / seconds;

	for (uint32_t s = 0; s < m->n_servers; s++)
		high += !m->server_is_down[s];
	copy.server_is_down = FAB_NEW(m->n_servers, bool);
	if (!is_enough(&copy, batch, order, n_order, high, mbps))
		high = 0;
	while (high > low + 1) {
		uint32_t middle = low + (high - low) / 2;

		if (is_enough(&copy, batch, order, n_order, middle, mbps))
			high = middle;
		else
			low = middle;
	}
	free(copy.server_is_down);
	free(order);
	return high;
}

/* Bandwidths come from divisions: what differs by less is the same. */
static bool is_more(double a, double b)
{
	return a > b * (1 + 1e-9);
}

/* The bandwidth when all segments of some levels are twice as fast; `copy` is changed. */
static double when_raised(const struct fab_machine *m, const struct fab_batch *batch,
			  uint32_t levels, struct fab_machine *copy)
{
	for (uint32_t v = 0; v < m->n_vertices; v++)
		copy->capacity_mbps[v] =
			m->capacity_mbps[v] * (levels >> m->level_of[v] & 1 ? 2 : 1);
	return fab_mapping_upper_bound_mbps(copy, batch);
}

/* Levels with a capacity, the one with the most segments first. */
static uint32_t limited_levels(const struct fab_machine *m, uint32_t *level)
{
	uint32_t count[FAB_MACHINE_LEVELS_MAX] = {0}, n = 0;

	for (uint32_t v = 0; v < m->n_vertices; v++)
		count[m->level_of[v]]++;
	for (uint32_t l = 1; l < m->n_levels; l++) {
		uint32_t at = n;

		if (!m->level[l].is_limited)
			continue;
		for (; at && count[level[at - 1]] <= count[l]; at--)
			level[at] = level[at - 1];
		level[at] = l;
		n++;
	}
	return n;
}

/* Where no level alone helps: of all of them those that cannot be left out, the dearest
 * first. None: nothing helps. */
static uint32_t raise_together(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *level, uint32_t n, double base,
			       struct fab_machine *copy)
{
	uint32_t levels = 0;

	for (uint32_t i = 0; i < n; i++)
		levels |= 1U << level[i];
	if (!is_more(when_raised(m, batch, levels, copy), base))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (is_more(when_raised(m, batch, levels & ~(1U << level[i]), copy),
			    base))
			levels &= ~(1U << level[i]);
	return levels;
}

static uint32_t insert(struct fab_advice *out, uint32_t n, struct fab_advice a)
{
	uint32_t at = n;

	for (; at && !is_more(out[at - 1].bandwidth_mbps, a.bandwidth_mbps); at--)
		out[at] = out[at - 1];
	out[at] = a;
	return n + 1;
}

uint32_t fab_advice_raise(const struct fab_machine *m, const struct fab_batch *batch,
			  struct fab_advice *out)
{
	struct fab_machine copy = *m;
	uint32_t level[FAB_MACHINE_LEVELS_MAX], n_levels = limited_levels(m, level);
	double base = fab_mapping_upper_bound_mbps(m, batch);
	uint32_t n = 0, together;

	copy.capacity_mbps = FAB_NEW(m->n_vertices, double);
	for (uint32_t i = 0; i < n_levels; i++) {
		uint32_t levels = 1U << level[i];

		n = insert(out, n,
			   (struct fab_advice){levels,
					       when_raised(m, batch, levels, &copy)});
	}
	if (n && !is_more(out[0].bandwidth_mbps, base)) {
		together = raise_together(m, batch, level, n_levels, base, &copy);
		if (together)
			n = insert(out, n,
				   (struct fab_advice){
					   together,
					   when_raised(m, batch, together, &copy)});
	}
	free(copy.capacity_mbps);
	return n;
}

/* The least capacity above any node of the batch, and above the servers as a whole. */
static double stream_mbps(const struct fab_machine *m, const struct fab_batch *batch)
{
	double least = INFINITY, server = 0;

	for (uint32_t i = 0; i < batch->n; i++)
		for (uint32_t v = m->node_vertex[batch->node[i]]; v; v = m->parent[v])
			least = fmin(least, m->capacity_mbps[v]);
	/* one server is the source: the best connected one */
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		double own = INFINITY;

		if (!fab_interface_is_up(m, i))
			continue;
		for (uint32_t v = m->interface_vertex[i]; v; v = m->parent[v])
			own = fmin(own, m->capacity_mbps[v]);
		server = fmax(server, own);
	}
	return fmin(least, server);
}

/* A hop of a chain from one leaf of the tree to another. */
static void add_hop(const struct fab_machine *m, uint32_t from, uint32_t to,
		    uint32_t *down, uint32_t *up)
{
	while (to != from)
		if (to > from) {
			down[to]++;
			to = m->parent[to];
		} else {
			up[from]++;
			from = m->parent[from];
		}
}

static double chain_seconds(const struct fab_machine *m, const struct fab_batch *batch,
			    double image_mbit, double chunk_mbit)
{
	uint32_t n_up, *server = fab_interfaces_up(m, &n_up);
	uint32_t *down = FAB_NEW0(m->n_vertices, uint32_t);
	uint32_t *up = FAB_NEW0(m->n_vertices, uint32_t);
	uint32_t n_chains = batch->n < n_up ? batch->n : n_up, length;
	double rate = INFINITY;

	length = n_chains ? (batch->n + n_chains - 1) / n_chains : 0;
	for (uint32_t i = 0; i < batch->n; i++)
		add_hop(m,
			i % length ? m->node_vertex[batch->node[i - 1]]
				   : m->interface_vertex[server[i / length]],
			m->node_vertex[batch->node[i]], down, up);
	for (uint32_t v = 1; v < m->n_vertices; v++) {
		if (down[v])
			rate = fmin(rate, m->capacity_mbps[v] / down[v]);
		if (up[v])
			rate = fmin(rate, m->capacity_mbps[v] / up[v]);
	}
	free(server);
	free(down);
	free(up);
	return length ? (image_mbit + (length - 1) * fmin(chunk_mbit, image_mbit)) / rate
		      : 0;
}

void fab_alternatives_of(const struct fab_machine *m, const struct fab_batch *batch,
			 double image_mbit, double chunk_mbit, double repair,
			 struct fab_alternatives *out)
{
	double stream = stream_mbps(m, batch), slowest = INFINITY;
	uint32_t n_up, *server = fab_interfaces_up(m, &n_up), rounds = 0;

	for (uint32_t i = 0; i < batch->n; i++)
		slowest = fmin(slowest, m->capacity_mbps[m->node_vertex[batch->node[i]]]);
	for (uint32_t i = 0; i < n_up; i++)
		slowest = fmin(slowest, m->capacity_mbps[m->interface_vertex[server[i]]]);
	for (uint64_t have = n_up; have < (uint64_t)batch->n + n_up; have *= 2)
		rounds++;
	free(server);
	out->multicast_seconds = image_mbit * (1 + repair) / stream;
	out->chain_seconds = chain_seconds(m, batch, image_mbit, chunk_mbit);
	out->peer_seconds = rounds * image_mbit / slowest;
}
