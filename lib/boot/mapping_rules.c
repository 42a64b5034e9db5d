/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings by rules that look at no batch: block-cyclic, near, spread, stable; that of a
 * site; and orders of interfaces.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/rng.h"
#include "boot/impl.h"
#include "boot/machine.h"
#include "boot/share.h"

uint32_t *fab_interfaces_up(const struct fab_machine *m, uint32_t *n)
{
	uint32_t *up = FAB_NEW((size_t)m->n_interfaces + 1, uint32_t);

	*n = 0;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		if (fab_interface_is_up(m, i))
			up[(*n)++] = i;
	return up;
}

/* Where the rounds through the branches stand. */
struct spread {
	const struct fab_machine *m;
	uint32_t *first, *next; /* children that lead to interfaces */
	uint32_t *n_children;
	uint32_t *at;	/* turns taken so far */
	uint32_t *left; /* turns left below */
};

static uint32_t take(struct spread *s)
{
	uint32_t v = 0;

	for (;;) {
		uint32_t k, child;

		s->left[v]--;
		if (!s->n_children[v])
			return s->m->first_interface[v];
		do {
			uint32_t t = s->at[v]++, n = s->n_children[v];

			child = s->first[v];
			for (k = (t + t / n) % n; k; k--)
				child = s->next[child];
		} while (!s->left[child]);
		v = child;
	}
}

uint32_t *fab_interfaces_spread(const struct fab_machine *m, uint32_t *n)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	uint32_t nv = m->n_vertices, total = 0, *out;
	struct spread s = {.m = m,
			   .first = fab_arena_none(&a, nv),
			   .next = FAB_ARENA_NEW(&a, nv, uint32_t),
			   .n_children = FAB_ARENA_NEW0(&a, nv, uint32_t),
			   .at = FAB_ARENA_NEW0(&a, nv, uint32_t),
			   .left = FAB_ARENA_NEW0(&a, nv, uint32_t)};
	double least = INFINITY;
	FAB_AUTOFREE double *rate = fab_limits_interfaces(m);

	for (uint32_t i = 0; i < m->n_interfaces; i++)
		if (fab_interface_is_up(m, i))
			least = fmin(least, rate[i]);
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		/* turns in proportion to the slowest */
		double times =
			isfinite(rate[i]) && least > 0 ? nearbyint(rate[i] / least) : 1;

		if (fab_interface_is_up(m, i))
			total += s.left[m->interface_vertex[i]] =
				(uint32_t)fmax(1, fmin(times, 64));
	}
	for (uint32_t v = nv; v-- > 1;) {
		uint32_t p = m->parent[v];

		if (!s.left[v])
			continue;
		s.left[p] += s.left[v];
		s.next[v] = s.first[p];
		s.first[p] = v;
		s.n_children[p]++;
	}
	out = FAB_NEW((size_t)total + 1, uint32_t);
	for (uint32_t i = 0; i < total; i++)
		out[i] = take(&s);
	*n = total;
	return out;
}

/* ---- block-cyclic ---- */

/*
 * Block-cyclic mappings: block i goes to server i mod N, over the servers that are up.
 * SCDA takes a supernode as the block, BCDA a board (Gong et al., cyclic distribution);
 * block:N any number of nodes.
 */
/* All nodes below each vertex of a level to the next server; others one by one. */
static void by_level(const struct fab_machine *m, uint32_t level, uint32_t *interface_of)
{
	uint32_t n_up, block = 0, done = 0;
	FAB_AUTOFREE uint32_t *up = fab_interfaces_up(m, &n_up);

	for (uint32_t v = 0; v < m->n_vertices; v++) {
		if (m->level_of[v] != level || m->end_node[v] == m->first_node[v])
			continue;
		while (done < m->first_node[v])
			interface_of[done++] = up[block++ % n_up];
		while (done < m->end_node[v])
			interface_of[done++] = up[block % n_up];
		block++;
	}
	while (done < m->n_nodes)
		interface_of[done++] = up[block++ % n_up];
}

int fab_map_scda(const struct fab_mapping_problem *p, uint32_t *interface_of,
		 struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	uint32_t node_level = m->level_of[m->node_vertex[0]], l = 1;

	(void)err;
	/* the outermost level that holds nodes and has a capacity */
	while (l < m->n_levels &&
	       (m->level[l].is_server || !m->level[l].is_limited || l == node_level))
		l++;
	by_level(m, l < m->n_levels ? l : node_level, interface_of);
	return 0;
}

int fab_map_bcda(const struct fab_mapping_problem *p, uint32_t *interface_of,
		 struct fab_err *err)
{
	const struct fab_machine *m = p->m;

	(void)err;
	by_level(m, m->level_of[m->parent[m->node_vertex[0]]], interface_of);
	return 0;
}

int fab_map_block(const struct fab_mapping_problem *p, uint32_t *interface_of,
		  struct fab_err *err)
{
	uint32_t n_up;
	FAB_AUTOFREE uint32_t *up = fab_interfaces_up(p->m, &n_up);

	(void)err;
	for (uint32_t i = 0; i < p->m->n_nodes; i++)
		interface_of[i] = up[i / p->argument % n_up];
	return 0;
}

/* ---- near, spread and stable ---- */

/*
 * To a server below the lowest vertex that holds both; the servers below it in turn.
 * O(nodes * levels).
 */
int fab_map_local(const struct fab_mapping_problem *p, uint32_t *interface_of,
		  struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	uint32_t n_up;
	FAB_AUTOFREE uint32_t *up = fab_interfaces_up(m, &n_up);
	FAB_AUTOFREE uint32_t *before = FAB_NEW((size_t)m->n_interfaces + 1, uint32_t);
	FAB_AUTOFREE uint32_t *turn = FAB_NEW0(m->n_vertices, uint32_t);

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
	return 0;
}

/*
 * Node i to place i of the spread order, each round through it begun one place later: the
 * nodes of a prefix, of a rack or of a stride all find servers in different branches.
 */
int fab_map_robust(const struct fab_mapping_problem *p, uint32_t *interface_of,
		   struct fab_err *err)
{
	uint32_t n;
	FAB_AUTOFREE uint32_t *order = fab_interfaces_spread(p->m, &n);

	(void)err;
	for (uint32_t i = 0; i < p->m->n_nodes; i++)
		interface_of[i] = order[(i + (uint64_t)(i / n)) % n];
	return 0;
}

struct point {
	uint64_t hash;
	uint32_t id;
};

FAB_ORDER(by_hash, struct point, hash, id)

enum { POINTS = 64 };

/*
 * Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam 2018): by name,
 * at most an eighth above the mean. A server or node that comes or goes moves few others.
 */
int fab_map_stable(const struct fab_mapping_problem *p, uint32_t *interface_of,
		   struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	uint32_t n_up;
	FAB_AUTOFREE uint32_t *up = fab_interfaces_up(m, &n_up);
	FAB_AUTOFREE uint32_t *load = FAB_NEW0(m->n_interfaces, uint32_t);
	uint64_t cap = ((uint64_t)m->n_nodes * 9 + 8ULL * n_up - 1) / (8ULL * n_up);
	size_t n_ring = (size_t)n_up * POINTS, at = 0;
	FAB_AUTOFREE struct point *ring = FAB_NEW(n_ring, struct point);
	FAB_AUTOFREE struct point *nodes = FAB_NEW(m->n_nodes, struct point);
	char name[FAB_MACHINE_NAME_BYTES];

	(void)err;
	for (uint32_t i = 0; i < n_up; i++) {
		uint64_t h;

		fab_machine_interface_name(m, up[i], name);
		h = fab_hash_bytes(name, strlen(name), 1);
		for (uint32_t k = 0; k < POINTS; k++)
			ring[(size_t)i * POINTS + k] =
				(struct point){fab_mix64(h + k), up[i]};
	}
	qsort(ring, n_ring, sizeof(*ring), by_hash);
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		fab_machine_node_name(m, i, name);
		nodes[i] = (struct point){fab_hash_bytes(name, strlen(name), 2), i};
	}
	qsort(nodes, m->n_nodes, sizeof(*nodes), by_hash);
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		size_t k;

		while (at < n_ring && ring[at].hash < nodes[i].hash)
			at++;
		for (k = at % n_ring; load[ring[k].id] >= cap; k = (k + 1) % n_ring)
			;
		load[ring[k].id]++;
		interface_of[nodes[i].id] = ring[k].id;
	}
	return 0;
}

int fab_map_loaded(const struct fab_mapping_problem *p, uint32_t *interface_of,
		   struct fab_err *err)
{
	const struct fab_machine *m = p->m;

	if (!p->loaded)
		return fab_fail(err, EINVAL, "algorithm loaded needs a mapping to load");
	for (uint32_t i = 0; i < m->n_nodes; i++)
		interface_of[i] =
			p->loaded[i] != FAB_NONE && fab_interface_is_up(m, p->loaded[i])
				? p->loaded[i]
				: FAB_NONE;
	return 0;
}
