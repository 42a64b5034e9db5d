/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot/limits.h"
#include "boot/mapping_impl.h"

/* Bandwidths come from divisions: what differs by less is the same. */
static bool is_more(double a, double b)
{
	return a > b * (1 + 1e-9);
}

/* A machine, and what of it is raised to see what that gives. */
struct raising {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const struct fab_transfer_options *options;
	struct fab_machine copy;
	/* levels and limits, their bits; the one with the most segments first */
	uint32_t bit[FAB_ADVICE_MAX], n;
	double base_mbps;
};

/* The bandwidth when all segments of some levels are twice as fast. */
static double when_raised(struct raising *x, uint32_t levels)
{
	fab_limits_capacities(x->m, x->batch, x->options, levels, x->copy.capacity_mbps);
	return fab_mapping_upper_bound_mbps(&x->copy, x->batch);
}

/* Levels with a capacity, the one with the most segments first, then limits. */
static void find_limited(struct raising *x)
{
	const struct fab_machine *m = x->m;
	uint32_t count[FAB_MACHINE_LEVELS_MAX] = {0};

	for (uint32_t v = 0; v < m->n_vertices; v++)
		count[m->level_of[v]]++;
	for (uint32_t l = 1; l < m->n_levels; l++) {
		uint32_t at = x->n;

		if (!m->level[l].is_limited)
			continue;
		for (; at && count[__builtin_ctz(x->bit[at - 1])] <= count[l]; at--)
			x->bit[at] = x->bit[at - 1];
		x->bit[at] = 1U << l;
		x->n++;
	}
	for (int k = 0; k < FAB_N_LIMITS; k++)
		if (fab_limit_is_given(x->options, (enum fab_limit)k))
			x->bit[x->n++] = fab_limit_bit((enum fab_limit)k);
}

/* Where no level alone helps: of all of them those that cannot be left out, the dearest
 * first. None: nothing helps. */
static uint32_t raise_together(struct raising *x)
{
	uint32_t levels = 0;

	for (uint32_t i = 0; i < x->n; i++)
		levels |= x->bit[i];
	if (!is_more(when_raised(x, levels), x->base_mbps))
		return 0;
	for (uint32_t i = 0; i < x->n; i++)
		if (is_more(when_raised(x, levels & ~x->bit[i]), x->base_mbps))
			levels &= ~x->bit[i];
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
			  const struct fab_transfer_options *options,
			  struct fab_advice *out)
{
	struct raising x = {.m = m, .batch = batch, .options = options, .copy = *m};
	uint32_t n = 0, together;

	x.copy.capacity_mbps = FAB_NEW(m->n_vertices, double);
	x.base_mbps = when_raised(&x, 0);
	find_limited(&x);
	for (uint32_t i = 0; i < x.n; i++)
		n = insert(out, n,
			   (struct fab_advice){x.bit[i], when_raised(&x, x.bit[i])});
	if (n && !is_more(out[0].bandwidth_mbps, x.base_mbps)) {
		together = raise_together(&x);
		if (together)
			n = insert(
				out, n,
				(struct fab_advice){together, when_raised(&x, together)});
	}
	free(x.copy.capacity_mbps);
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
