/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/ranks.h"

#include "base/mem.h"
#include "base/sets.h"
#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

void fab_ranks_count_hosts(const struct fab_fabric *f, uint32_t *n_host_links)
{
	memset(n_host_links, 0, f->n_switches * sizeof(*n_host_links));
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			n_host_links[f->port_node[f->cable_a[c]]]++;
}

uint32_t fab_ranks(const struct fab_fabric *f, uint32_t *rank)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	uint32_t *order = FAB_NEW((size_t)f->n_switches + 1, uint32_t), n = 0,
		 highest = 0;

	fab_ranks_count_hosts(f, rank);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (rank[s])
			order[n++] = s;
	n = fab_graph_search(&g, NULL, n, rank, order, NULL);
	if (n)
		highest = rank[order[n - 1]];
	free(order);
	return n ? highest + 1 : 0;
}

uint32_t fab_ranks_of_shape(const struct fab_fabric *f, const struct fab_shape *shape,
			    uint32_t *rank)
{
	if (!shape->level)
		return fab_ranks(f, rank);
	for (uint32_t s = 0; s < f->n_switches; s++)
		rank[s] = shape->level[s] < shape->n_levels ? shape->level[s] : FAB_NONE;
	return shape->n_levels;
}

/* Switches by rank, those in none left out; returns how many. */
static uint32_t sort_by_rank(const uint32_t *rank, uint32_t n_switches, uint32_t n_ranks,
			     uint32_t *order)
{
	uint32_t *at = FAB_NEW0((size_t)n_ranks + 1, uint32_t), n;

	for (uint32_t s = 0; s < n_switches; s++)
		if (rank[s] < n_ranks)
			at[rank[s] + 1]++;
	for (uint32_t t = 0; t < n_ranks; t++)
		at[t + 1] += at[t];
	n = at[n_ranks];
	for (uint32_t s = 0; s < n_switches; s++)
		if (rank[s] < n_ranks)
			order[at[rank[s]]++] = s;
	free(at);
	return n;
}

/* Join the sets; does that leave fewer sets with a leaf switch? */
static bool joins_leaves(uint32_t *parent, bool *has_leaf, uint32_t a, uint32_t b)
{
	bool both;

	a = fab_sets_root(parent, a);
	b = fab_sets_root(parent, b);
	if (a == b)
		return false;
	both = has_leaf[a] && has_leaf[b];
	has_leaf[a] = has_leaf[b] = has_leaf[a] || has_leaf[b];
	fab_sets_unite(parent, a, b);
	return both;
}

/* The rank of the last switch that joins leaf switches, when they come rank by rank. */
static uint32_t last_that_joins(const struct fab_fabric *f, const uint32_t *rank,
				uint32_t n_ranks)
{
	uint32_t *parent = FAB_NEW(f->n_switches, uint32_t);
	uint32_t *order = FAB_NEW(f->n_switches, uint32_t);
	bool *has_leaf = FAB_NEW(f->n_switches, bool);
	uint32_t n = sort_by_rank(rank, f->n_switches, n_ranks, order), top = 0;

	for (uint32_t s = 0; s < f->n_switches; s++) {
		parent[s] = s;
		has_leaf[s] = rank[s] == 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = order[i];

		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
			if (rank[f->peer[k]] <= rank[s] &&
			    joins_leaves(parent, has_leaf, s, f->peer[k]))
				top = rank[s];
	}
	free(parent);
	free(order);
	free(has_leaf);
	return top;
}

uint32_t fab_ranks_top(const struct fab_fabric *f, const struct fab_shape *shape,
		       uint32_t *rank)
{
	uint32_t n_ranks = fab_ranks_of_shape(f, shape, rank);
	bool is_tree = shape->kind == FAB_SHAPE_FATTREE || shape->kind == FAB_SHAPE_KFAT;
	uint32_t top;

	if (!n_ranks || (shape->kind != FAB_SHAPE_NONE && !is_tree))
		return FAB_NONE;
	top = last_that_joins(f, rank, n_ranks);
	return top || f->n_switches == 1 ? top : FAB_NONE;
}
