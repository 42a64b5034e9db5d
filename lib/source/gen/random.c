/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random regular graphs without parallel cables and in one piece (Jellyfish: Singla et
 * al., "Networking data centers randomly", 2012).
 *
 * The ends of all cables are shuffled and paired; self-loops and parallel cables are then
 * exchanged with random other cables until none is left. For a degree below half the
 * switches such an exchange always exists: of the N d directed cables at most 2 d d are
 * unfit. A larger degree is made as the complement of a smaller one.
 * Components are joined at the end: a cable of a component that is not in its search
 * tree can be taken out without cutting it.
 */
#include "source/gen/impl.h"

#include "base/mem.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SWITCHES, DEGREE, HOSTS, SEED };

static const struct fab_gen_key keys[] = {
	[SWITCHES] = {"switches", FAB_GEN_NUMBER, .is_required = true, .min = 2,
		      .max = FAB_GEN_NODES_MAX, .help = "number of switches"},
	[DEGREE] = {"degree", FAB_GEN_NUMBER, .is_required = true, .min = 1,
		    .max = FAB_GEN_PORTS_MAX, .help = "cables of a switch to others"},
	[HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
		   .fallback = 1, .help = "hosts a switch"},
	[SEED] = {"seed", FAB_GEN_NUMBER, .min = 0, .max = UINT64_MAX, .fallback = 1,
		  .help = "start of the random numbers"},
};

/* adj[u * degree + i] is the peer of end i of u. */
struct graph {
	uint32_t n, degree;
	uint32_t *adj;
};

static bool is_adjacent(const struct graph *g, uint32_t u, uint32_t v)
{
	const uint32_t *peers = g->adj + (size_t)u * g->degree;

	for (uint32_t i = 0; i < g->degree; i++)
		if (peers[i] == v)
			return true;
	return false;
}

static void replace_peer(struct graph *g, uint32_t u, uint32_t old, uint32_t new)
{
	uint32_t *peers = g->adj + (size_t)u * g->degree;

	while (*peers != old)
		peers++;
	*peers = new;
}

/* Cables u-v and x-y become u-x and v-y. */
static void exchange(struct graph *g, uint32_t u, uint32_t v, uint32_t x, uint32_t y)
{
	replace_peer(g, u, v, x);
	replace_peer(g, v, u, y);
	replace_peer(g, x, y, u);
	replace_peer(g, y, x, v);
}

/*
 * Search the component of `start`; returns one end of a cable that is not in the tree
 * and the other in *other. parent[] FAB_NONE: not seen yet.
 */
static uint32_t search(const struct graph *g, uint32_t start, uint32_t *parent,
		       uint32_t *queue, uint32_t *other)
{
	uint32_t head = 0, tail = 0, spare = FAB_NONE;

	parent[start] = start;
	queue[tail++] = start;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t i = 0; i < g->degree; i++) {
			uint32_t v = g->adj[(size_t)u * g->degree + i];

			if (parent[v] == FAB_NONE) {
				parent[v] = u;
				queue[tail++] = v;
			} else if (parent[u] != v && parent[v] != u) {
				spare = u;
				*other = v;
			}
		}
	}
	return spare;
}

/* Peers in ascending order: of this graph, or of its complement. */
static struct graph sorted(const struct graph *g, bool complement)
{
	struct graph s = {g->n, complement ? g->n - 1 - g->degree : g->degree, NULL};
	FAB_AUTOFREE uint32_t *used = FAB_NEW0(g->n, uint32_t),
			      *mark = FAB_NEW0(g->n, uint32_t);

	s.adj = FAB_NEW((size_t)s.n * s.degree, uint32_t);
	for (uint32_t u = 0; u < g->n; u++) {
		const uint32_t *peers = g->adj + (size_t)u * g->degree;

		if (!complement) {
			for (uint32_t i = 0; i < g->degree; i++)
				s.adj[(size_t)peers[i] * s.degree + used[peers[i]]++] = u;
			continue;
		}
		for (uint32_t i = 0; i < g->degree; i++)
			mark[peers[i]] = u + 1;
		for (uint32_t v = 0; v < g->n; v++)
			if (v != u && mark[v] != u + 1)
				s.adj[(size_t)u * s.degree + used[u]++] = v;
	}
	return s;
}

static struct graph draw(uint32_t n, uint32_t degree, uint64_t seed)
{
	bool complement = 2 * degree >= n;
	struct graph g = {n, complement ? n - 1 - degree : degree, NULL}, s;
	size_t n_ends = (size_t)n * g.degree;
	uint32_t *ends = FAB_NEW(n_ends, uint32_t), *used = FAB_NEW0(n, uint32_t);
	uint32_t *mark = FAB_NEW0(n, uint32_t), stamp = 0;
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	g.adj = FAB_NEW(n_ends, uint32_t);
	/* shuffle the ends and pair them */
	for (size_t i = 0; i < n_ends; i++) {
		size_t j = fab_rng_below(&rng, i + 1);

		ends[i] = ends[j];
		ends[j] = (uint32_t)(i / g.degree);
	}
	for (size_t i = 0; i < n_ends; i += 2) {
		uint32_t u = ends[i], v = ends[i + 1];

		g.adj[(size_t)u * g.degree + used[u]++] = v;
		g.adj[(size_t)v * g.degree + used[v]++] = u;
	}
	/* Exchange a cable u-v that is a loop or parallel to another with a random one
	 * that fits both, until none is left. Two loops give a pair of parallel cables,
	 * which is the next to be repaired. */
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t i = (stamp++, 0); i < g.degree; i++) {
			uint32_t v = g.adj[(size_t)u * g.degree + i], x, y;

			if (v != u && mark[v] != stamp) {
				mark[v] = stamp;
				continue;
			}
			do {
				x = (uint32_t)fab_rng_below(&rng, n);
				y = g.adj[(size_t)x * g.degree +
					  fab_rng_below(&rng, g.degree)];
			} while (x == u || y == v || is_adjacent(&g, u, x) ||
				 is_adjacent(&g, v, y));
			exchange(&g, u, v, x, y);
			i = UINT32_MAX; /* from its first peer again */
			stamp++;
		}
	FAB_FREE_ALL(ends, used, mark);
	/* The complement has a degree of half the switches or more: it is connected. */
	if (!complement) {
		FAB_AUTOFREE uint32_t *parent = FAB_NEW(n, uint32_t),
				      *queue = FAB_NEW(n, uint32_t);

		memset(parent, 0xff, n * sizeof(*parent));
		for (uint32_t u = 0; u < n; u++) {
			uint32_t v = FAB_NONE, spare;

			if (parent[u] != FAB_NONE)
				continue;
			spare = search(&g, u, parent, queue, &v);
			if (u && spare != FAB_NONE)
				exchange(&g, spare, v, 0, g.adj[0]);
		}
	}
	s = sorted(&g, complement);
	free(g.adj);
	return s;
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	uint32_t n = (uint32_t)values[SWITCHES].number;
	uint32_t degree = (uint32_t)values[DEGREE].number;
	uint32_t hosts = (uint32_t)values[HOSTS].number;
	FAB_AUTOFREE uint32_t *used = NULL;
	struct fab_gen_size size = {.switches = n,
				    .adapters = fab_gen_mul(n, hosts),
				    .ports = (uint64_t)degree + hosts};
	struct graph g;
	int rc;

	if (degree >= n)
		return fab_fail(err, EINVAL,
				"gen:%s: degree=%" PRIu32 ": a switch has only %" PRIu32
				" others",
				net->kind, degree, n - 1);
	if (n % 2 && degree % 2)
		return fab_fail(err, EINVAL,
				"gen:%s: switches=%" PRIu32 ",degree=%" PRIu32
				": one of them must be even",
				net->kind, n, degree);
	if (degree == 1 && n > 2)
		return fab_fail(err, EINVAL,
				"gen:%s: degree=1 cannot join more than 2 switches",
				net->kind);
	size.cables = fab_gen_add(fab_gen_mul(n, degree) / 2, size.adapters);
	rc = fab_gen_check_size(net, &size, err);
	if (rc)
		return rc;
	for (uint32_t u = 0; u < n; u++)
		fab_gen_switch(net, hosts + degree, "sw-%" PRIu32, u);
	for (uint32_t u = 0; u < n; u++)
		fab_gen_hosts(net, u, hosts);
	g = draw(n, degree, values[SEED].number);
	used = FAB_NEW0(n, uint32_t);
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t i = 0; i < degree; i++) {
			uint32_t v = g.adj[(size_t)u * degree + i];

			if (u < v)
				fab_gen_cable(net, u, hosts + ++used[u], v,
					      hosts + ++used[v]);
		}
	free(g.adj);
	return 0;
}

const struct fab_gen_family fab_gen_random = {"random", keys, FAB_COUNT(keys), build};
