/* SPDX-License-Identifier: BSD-2-Clause */
/* Levelled fabrics: find the leaf switches, rank by distance, look at every cable. */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* A leaf has at least a quarter of the hosts of a typical one ... */
	FEW = 4,
	/* ... and at most an eighth of all adapters is not on leaves. */
	MISPLACED = 8,
};

struct ranked {
	uint32_t sw, component, hosts, degree;
};

/* Component by component, most hosts first; among equals a leaf has fewer cables up. */
static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->component != b->component)
		return a->component < b->component ? -1 : 1;
	if (a->hosts != b->hosts)
		return a->hosts > b->hosts ? -1 : 1;
	if (a->degree != b->degree)
		return a->degree < b->degree ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

static struct ranked *rank_switches(const struct fab_fabric *f, const uint32_t *hosts,
				    uint32_t *n)
{
	struct ranked *list = FAB_NEW(f->n_switches, struct ranked);
	uint32_t *component = FAB_NEW(f->n_switches, uint32_t);

	*n = 0;
	fab_fabric_components(f, component);
	for (uint32_t u = 0; u < f->n_switches; u++)
		if (hosts[u])
			list[(*n)++] =
				(struct ranked){u, component[u], hosts[u],
						f->peer_first[u + 1] - f->peer_first[u]};
	free(component);
	qsort(list, *n, sizeof(*list), by_rank);
	return list;
}

static bool has_leaf_beside(const struct fab_fabric *f, const bool *is_leaf, uint32_t u)
{
	for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++)
		if (is_leaf[f->peer[i]])
			return true;
	return false;
}

/* Are all neighbours of `u` neighbours of `v`? */
static bool is_covered(const struct fab_fabric *f, uint32_t u, uint32_t v)
{
	uint32_t i = f->peer_first[u], j = f->peer_first[v];

	while (i < f->peer_first[u + 1] && j < f->peer_first[v + 1]) {
		if (f->peer[i] < f->peer[j])
			return false;
		if (f->peer[i] == f->peer[j])
			i++;
		j++;
	}
	return i == f->peer_first[u + 1];
}

/* Does a switch of few hosts hang on the same switches as a leaf does? */
static bool has_leaf_as_twin(const struct fab_fabric *f, const bool *is_leaf, uint32_t u)
{
	uint32_t up;

	if (f->peer_first[u] == f->peer_first[u + 1])
		return true;
	up = f->peer[f->peer_first[u]];
	for (uint32_t i = f->peer_first[up]; i < f->peer_first[up + 1]; i++)
		if (is_leaf[f->peer[i]] && is_covered(f, u, f->peer[i]))
			return true;
	return false;
}

/* Hosts of the switch that the middle adapter of a component hangs on. */
static uint32_t typical_hosts(const struct ranked *list, uint32_t n)
{
	uint64_t all = 0, seen = 0;
	uint32_t i = 0;

	for (uint32_t j = 0; j < n; j++)
		all += list[j].hosts;
	for (; i + 1 < n && 2 * (seen + list[i].hosts) < all; i++)
		seen += list[i].hosts;
	return list[i].hosts;
}

/* Leaves of one component, list[0 .. n-1]. A component of several switches has one. */
static void choose_leaves(const struct fab_fabric *f, const struct ranked *list,
			  uint32_t n, bool *is_leaf)
{
	uint32_t typical = typical_hosts(list, n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = list[i].sw;
		bool has_few = (uint64_t)list[i].hosts * FEW < typical;

		if (!has_leaf_beside(f, is_leaf, u) &&
		    (!has_few || has_leaf_as_twin(f, is_leaf, u)))
			is_leaf[u] = true;
	}
}

static uint32_t choose_all_leaves(const struct fab_fabric *f, const uint32_t *hosts,
				  uint32_t *queue)
{
	bool *is_leaf = FAB_NEW0(f->n_switches, bool);
	uint32_t n, n_leaves = 0, from = 0;
	struct ranked *list = rank_switches(f, hosts, &n);

	for (uint32_t i = 1; i <= n; i++)
		if (i == n || list[i].component != list[from].component) {
			choose_leaves(f, list + from, i - from, is_leaf);
			from = i;
		}
	for (uint32_t u = 0; u < f->n_switches; u++)
		if (is_leaf[u] || f->peer_first[u] == f->peer_first[u + 1])
			queue[n_leaves++] = u;
	free(list);
	free(is_leaf);
	return n_leaves;
}

static bool is_levelled(const struct fab_fabric *f, const uint32_t *hosts,
			const uint8_t *level)
{
	uint64_t all = 0, misplaced = 0;

	for (uint32_t u = 0; u < f->n_switches; u++) {
		if (level[u] == 255)
			return false;
		for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++)
			if (level[f->peer[i]] == level[u])
				return false;
		all += hosts[u];
		misplaced += level[u] ? hosts[u] : 0;
	}
	return all && misplaced * MISPLACED <= all;
}

bool fab_shape_try_tree(const struct fab_fabric *f, const uint32_t *hosts,
			struct fab_shape *shape)
{
	uint32_t *queue = FAB_NEW(f->n_switches, uint32_t);
	uint8_t *level = FAB_NEW(f->n_switches, uint8_t);
	uint32_t n_leaves = choose_all_leaves(f, hosts, queue);
	uint32_t n_levels = fab_shape_levels(f, queue, n_leaves, level);

	free(queue);
	if (!n_levels || !is_levelled(f, hosts, level)) {
		free(level);
		return false;
	}
	shape->kind = FAB_SHAPE_FATTREE;
	shape->n_levels = n_levels;
	shape->level = level;
	shape->n_roots = fab_shape_count_roots(f, level);
	return true;
}
