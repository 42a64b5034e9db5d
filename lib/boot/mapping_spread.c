/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings that look at where servers are: local, robust, stable; and what a site has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "boot/mapping_impl.h"

/*
 * To a server below the lowest vertex that holds both; the servers below it in turn.
 * O(nodes * levels).
 */
static int map_local(const struct fab_mapping_problem *p, uint32_t argument,
		     uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	uint32_t n_up, *up = fab_interfaces_up(m, &n_up);
	uint32_t *before = FAB_NEW((size_t)m->n_interfaces + 1, uint32_t);
	uint32_t *turn = FAB_NEW0(m->n_vertices, uint32_t);

	(void)argument;
	(void)err;
	for (uint32_t i = 0, k = 0; i <= m->n_interfaces; i++) {
		before[i] = k;
		k += k < n_up && up[k] == i;
	}
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		uint32_t v = m->node_vertex[i], first, n;

		do {
			v = m->parent[v];
			first = before[m->first_interface[v]];
			n = before[m->end_interface[v]] - first;
		} while (!n);
		interface_of[i] = up[first + turn[v]++ % n];
	}
	free(up);
	free(before);
	free(turn);
	return 0;
}

/*
 * Node i to place i of the spread order, each round through it begun one place later: the
 * nodes of a prefix, of a rack or of a stride all find servers in different branches.
 */
static int map_robust(const struct fab_mapping_problem *p, uint32_t argument,
		      uint32_t *interface_of, struct fab_err *err)
{
	uint32_t n, *order = fab_interfaces_spread(p->m, &n);

	(void)argument;
	(void)err;
	for (uint32_t i = 0; i < p->m->n_nodes; i++)
		interface_of[i] = order[(i + (uint64_t)(i / n)) % n];
	free(order);
	return 0;
}

struct point {
	uint64_t hash;
	uint32_t id;
};

static int cmp_point(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

enum { POINTS = 64 };

static struct point *ring_of(const struct fab_machine *m, const uint32_t *up, uint32_t n)
{
	struct point *ring = FAB_NEW((size_t)n * POINTS, struct point);
	char name[256];

	for (uint32_t i = 0; i < n; i++) {
		uint64_t h;

		fab_machine_interface_name(m, up[i], name, sizeof(name));
		h = fab_hash_bytes(name, strlen(name), 1);
		for (uint32_t k = 0; k < POINTS; k++)
			ring[(size_t)i * POINTS + k] =
				(struct point){fab_mix64(h + k), up[i]};
	}
	qsort(ring, (size_t)n * POINTS, sizeof(*ring), cmp_point);
	return ring;
}

/*
 * Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam 2018): by name,
 * at most an eighth above the mean. A server or node that comes or goes moves few others.
 */
static int map_stable(const struct fab_mapping_problem *p, uint32_t argument,
		      uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	uint32_t n_up, *up = fab_interfaces_up(m, &n_up);
	uint32_t *load = FAB_NEW0(m->n_interfaces, uint32_t);
	uint64_t cap = ((uint64_t)m->n_nodes * 9 + 8ULL * n_up - 1) / (8ULL * n_up);
	struct point *ring = ring_of(m, up, n_up);
	struct point *nodes = FAB_NEW(m->n_nodes, struct point);
	size_t n_ring = (size_t)n_up * POINTS, at = 0;
	char name[256];

	(void)argument;
	(void)err;
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		fab_machine_node_name(m, i, name, sizeof(name));
		nodes[i] = (struct point){fab_hash_bytes(name, strlen(name), 2), i};
	}
	qsort(nodes, m->n_nodes, sizeof(*nodes), cmp_point);
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		size_t k;

		while (at < n_ring && ring[at].hash < nodes[i].hash)
			at++;
		for (k = at % n_ring; load[ring[k].id] >= cap; k = (k + 1) % n_ring)
			;
		load[ring[k].id]++;
		interface_of[nodes[i].id] = ring[k].id;
	}
	free(up);
	free(load);
	free(ring);
	free(nodes);
	return 0;
}

static int map_loaded(const struct fab_mapping_problem *p, uint32_t argument,
		      uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_machine *m = p->m;

	(void)argument;
	if (!p->loaded)
		return fab_fail(err, EINVAL, "algorithm loaded needs a mapping to load");
	for (uint32_t i = 0; i < m->n_nodes; i++)
		interface_of[i] =
			p->loaded[i] != FAB_NONE && fab_interface_is_up(m, p->loaded[i])
				? p->loaded[i]
				: FAB_NONE;
	return 0;
}

const struct fab_mapping_engine fab_mapping_local = {
	.form = "local",
	.summary = "a server as near as there is, those at the same distance in turn",
	.manual = "The nearest server, those equally near in turn.",
	.is_in_all = true,
	.map = map_local,
};
const struct fab_mapping_engine fab_mapping_robust = {
	.form = "robust",
	.summary = "even for every prefix and every rack at once",
	.manual = "Consecutive nodes go to servers in turn that lie behind "
		  "different segments, so that every prefix and every unit is "
		  "spread.",
	.is_in_all = true,
	.map = map_robust,
};
const struct fab_mapping_engine fab_mapping_stable = {
	.form = "stable",
	.summary = "few nodes move when nodes or servers come and go",
	.manual = "Few nodes move when nodes or servers come and go.",
	.is_in_all = true,
	.map = map_stable,
};
const struct fab_mapping_engine fab_mapping_loaded = {
	.form = "loaded",
	.summary = "what a site has now, from a file",
	.manual = "The servers of `--loaded`.",
	.needs_loaded = true,
	.map = map_loaded,
};
