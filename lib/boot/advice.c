/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot/limits.h"
#include "boot/mapping_impl.h"
#include "boot/share.h"

/* A machine, and what of it is raised to see what that gives. */
struct raising {
	const struct fab_mapping_problem *problem;
	const struct fab_transfer_options *options;
	/* levels and limits, their bits; the one with the most segments first */
	uint32_t bit[FAB_ADVICE_MAX], n;
	double base_seconds;
};

/* Times come from divisions: values that differ by less are equal. */
static bool is_less(double a, double b)
{
	return a < b * (1 - 1e-9);
}

/* Shares and end of a mapping, as the report has them for the row of `balanced`. */
static int measure(const struct raising *x, const struct fab_mapping_problem *raised,
		   const uint32_t *interface_of, struct fab_advice *out,
		   struct fab_err *err)
{
	struct fab_share_workspace *w = fab_share_workspace_new(raised->m);
	struct fab_transfer t;
	struct fab_share share;
	int rc = fab_share_of(raised->m, raised->batch, interface_of, false, w, &share,
			      err);

	fab_share_workspace_free(w);
	if (rc)
		return rc;
	out->bandwidth_mbps = share.bandwidth_mbps;
	out->seconds = fab_transfer_equal_share_seconds(&share, x->options);
	fab_share_fini(&share);
	if (!raised->timed)
		return 0;
	rc = fab_transfer_run(raised->m, raised->batch, interface_of, raised->timed, &t,
			      err);
	if (rc)
		return rc;
	out->bandwidth_mbps = t.first_rate_mbps;
	out->seconds = t.last_s;
	fab_transfer_fini(&t);
	return 0;
}

/* The best mapping when all segments of some levels are twice as fast. */
static int raise_levels(const struct raising *x, uint32_t levels, struct fab_advice *out,
			struct fab_err *err)
{
	struct fab_mapping_problem raised = *x->problem;
	struct fab_machine m;
	uint32_t *interface_of;
	int rc;

	fab_limits_raise(x->problem->m, levels, &m);
	raised.m = &m;
	interface_of = FAB_NEW((size_t)m.n_nodes + 1, uint32_t);
	out->levels = levels;
	rc = fab_mapping_balanced.map(&raised, 0, interface_of, err);
	if (!rc)
		rc = measure(x, &raised, interface_of, out, err);
	free(interface_of);
	free(m.capacity_mbps);
	return rc;
}

/* Levels with a capacity, the one with the most segments first, then limits. */
static void find_limited(struct raising *x)
{
	const struct fab_machine *m = x->problem->m;
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
		if (fab_limit_is_given(m, (enum fab_limit)k))
			x->bit[x->n++] = fab_limit_bit((enum fab_limit)k);
}

/* Where no level alone helps: of all of them those that cannot be left out, the one with
 * the most segments first. levels 0: nothing helps. */
static int raise_together(const struct raising *x, struct fab_advice *out,
			  struct fab_err *err)
{
	uint32_t levels = 0;
	int rc;

	for (uint32_t i = 0; i < x->n; i++)
		levels |= x->bit[i];
	rc = raise_levels(x, levels, out, err);
	if (rc || !is_less(out->seconds, x->base_seconds)) {
		out->levels = 0;
		return rc;
	}
	for (uint32_t i = 0; i < x->n && !rc; i++) {
		struct fab_advice without;

		rc = raise_levels(x, out->levels & ~x->bit[i], &without, err);
		if (!rc && is_less(without.seconds, x->base_seconds))
			*out = without;
	}
	return rc;
}

static void insert(struct fab_advice *out, uint32_t *n, struct fab_advice a)
{
	uint32_t at = (*n)++;

	for (; at && !is_less(out[at - 1].seconds, a.seconds); at--)
		out[at] = out[at - 1];
	out[at] = a;
}

int fab_advice_raise(const struct fab_mapping_problem *problem,
		     const struct fab_transfer_options *options, struct fab_advice *out,
		     uint32_t *n, struct fab_err *err)
{
	struct raising x = {.problem = problem, .options = options};
	struct fab_advice a;
	int rc = raise_levels(&x, 0, &a, err);

	*n = 0;
	x.base_seconds = a.seconds;
	find_limited(&x);
	for (uint32_t i = 0; i < x.n && !rc; i++) {
		rc = raise_levels(&x, x.bit[i], &a, err);
		if (!rc)
			insert(out, n, a);
	}
	if (rc || !*n || is_less(out[0].seconds, x.base_seconds))
		return rc;
	rc = raise_together(&x, &a, err);
	if (!rc && a.levels)
		insert(out, n, a);
	return rc;
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
