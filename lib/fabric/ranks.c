/* SPDX-License-Identifier: BSD-2-Clause */
/* Which switches are leaves, and the ranks above them; the top rank is ranks_top.c. */
#include "fabric/ranks.h"

#include "base/mem.h"
#include "fabric/graph.h"
#include "fabric/ranks_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
	FEW = 4,       /* a leaf has at least a quarter of the hosts of a typical one */
	MISPLACED = 8, /* at most an eighth of all adapters of a tree is not on leaves */
};

void fab_ranks_count_hosts(const struct fab_fabric *f, uint32_t *n_host_links)
{
	memset(n_host_links, 0, f->n_switches * sizeof(*n_host_links));
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			n_host_links[f->port_node[f->cable_a[c]]]++;
}

void fab_ranks_count_all_hosts(const struct fab_fabric *f, uint32_t *n_host_links)
{
	fab_ranks_count_hosts(f, n_host_links);
	for (uint32_t s = 0; s < f->n_switches; s++)
		n_host_links[s] += f->switch_n_left_out[s];
}

/* A switch with hosts. */
struct candidate {
	uint32_t sw, component, hosts, degree;
};

/* Component by component, most hosts first; among equals a leaf has fewer cables up. */
static int by_hosts(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->component != b->component)
		return a->component < b->component ? -1 : 1;
	if (a->hosts != b->hosts)
		return a->hosts > b->hosts ? -1 : 1;
	if (a->degree != b->degree)
		return a->degree < b->degree ? -1 : 1;
	return a->sw < b->sw ? -1 : a->sw > b->sw;
}

static struct candidate *list_candidates(const struct fab_fabric *f,
					 const uint32_t *hosts, const uint32_t *component,
					 uint32_t *n)
{
	struct candidate *list = FAB_NEW(f->n_switches, struct candidate);

	*n = 0;
	for (uint32_t u = 0; u < f->n_switches; u++)
		if (hosts[u])
			list[(*n)++] = (struct candidate){u, component[u], hosts[u],
							  f->peer_first[u + 1] -
								  f->peer_first[u]};
	qsort(list, *n, sizeof(*list), by_hosts);
	return list;
}

static bool has_leaf_beside(const struct fab_fabric *f, const bool *is_leaf, uint32_t u)
{
	for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++)
		if (is_leaf[f->peer[i]])
			return true;
	return false;
}

/* Hosts of the switch to which the middle adapter of a component is cabled. */
static uint32_t typical_hosts(const struct candidate *list, uint32_t n)
{
	uint64_t all = 0, seen = 0;
	uint32_t i = 0;

	for (uint32_t j = 0; j < n; j++)
		all += list[j].hosts;
	for (; i + 1 < n && 2 * (seen + list[i].hosts) < all; i++)
		seen += list[i].hosts;
	return list[i].hosts;
}

/* Leaves of one component, list[0 .. n-1]: the first is one. */
static void choose_leaves(const struct fab_fabric *f, const struct candidate *list,
			  uint32_t n, enum fab_leaf_rule rule, bool *is_leaf)
{
	uint32_t typical = typical_hosts(list, n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = list[i].sw;
		bool has_few = (uint64_t)list[i].hosts * FEW < typical;
		bool is_beside = has_leaf_beside(f, is_leaf, u);

		is_leaf[u] = rule == FAB_LEAVES_APART ? !has_few && !is_beside
						      : !has_few || !is_beside;
	}
}

static void choose_all_leaves(const struct fab_fabric *f, const uint32_t *hosts,
			      const uint32_t *component, enum fab_leaf_rule rule,
			      bool *is_leaf)
{
	uint32_t n, from = 0;
	struct candidate *list = list_candidates(f, hosts, component, &n);

	for (uint32_t i = 1; i <= n; i++)
		if (i == n || list[i].component != list[from].component) {
			choose_leaves(f, list + from, i - from, rule, is_leaf);
			from = i;
		}
	free(list);
}

/* Ranks are hops to the nearest leaf; order[n_order] are the switches by rank. */
static void rank_from_leaves(const struct fab_fabric *f, const bool *is_leaf,
			     struct fab_ranks *r, uint32_t *order, uint32_t *n_order)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (is_leaf[s])
			order[n++] = s;
	n = fab_graph_search(&g, NULL, n, r->rank, order, NULL);
	r->n_ranks = n ? r->rank[order[n - 1]] + 1 : 0;
	*n_order = n;
}

/* Searches down from switches: what they share below. */
struct below {
	const struct fab_fabric *f;
	const uint32_t *rank;
	uint32_t *seen, *marked; /* [n_switches] number of the search that came there */
	uint32_t *stack;	 /* [n_switches] */
	uint32_t search, mark;	 /* the last ones */
};

/* Go down from a switch to all leaves below it, which are marked if `marks`. Returns how
 * many there are, in *n_marked how many of them are marked. */
static uint32_t go_down(struct below *b, uint32_t from, bool marks, uint32_t *n_marked)
{
	const struct fab_fabric *f = b->f;
	uint32_t n = 0, n_leaves = 0;

	b->search++;
	b->mark += marks;
	b->stack[n++] = from;
	b->seen[from] = b->search;
	*n_marked = 0;
	while (n) {
		uint32_t s = b->stack[--n];

		if (!b->rank[s] && marks)
			b->marked[s] = b->mark;
		n_leaves += !b->rank[s];
		*n_marked += !b->rank[s] && b->marked[s] == b->mark;
		for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++) {
			uint32_t peer = f->peer[i];

			if (b->rank[peer] >= b->rank[s] || b->seen[peer] == b->search)
				continue;
			b->seen[peer] = b->search;
			b->stack[n++] = peer;
		}
	}
	return n_leaves;
}

/* Do all switches below `s` share most leaves with the one of them that has most peers?
 * Most of those of the one that has fewer leaves. */
static bool joins_nothing(struct below *b, uint32_t s)
{
	const struct fab_fabric *f = b->f;
	uint32_t widest = FAB_NONE, most = 0, n_widest, n_shared;

	for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++) {
		uint32_t peer = f->peer[i];
		uint32_t n = f->peer_first[peer + 1] - f->peer_first[peer];

		if (b->rank[peer] < b->rank[s] && n > most) {
			widest = peer;
			most = n;
		}
	}
	n_widest = go_down(b, widest, true, &n_shared);
	for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++) {
		uint32_t peer = f->peer[i], n;

		if (b->rank[peer] >= b->rank[s] || peer == widest)
			continue;
		n = go_down(b, peer, false, &n_shared);
		if (2 * n_shared <= (n < n_widest ? n : n_widest))
			return false;
	}
	return true;
}

static bool has_higher_peer(const struct fab_fabric *f, const uint32_t *rank, uint32_t s)
{
	for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
		if (rank[f->peer[i]] > rank[s])
			return true;
	return false;
}

static void below_init(struct below *b, const struct fab_fabric *f, const uint32_t *rank)
{
	*b = (struct below){.f = f,
			    .rank = rank,
			    .seen = FAB_NEW0(f->n_switches, uint32_t),
			    .marked = FAB_NEW0(f->n_switches, uint32_t),
			    .stack = FAB_NEW(f->n_switches, uint32_t)};
}

static void below_fini(struct below *b)
{
	free(b->seen);
	free(b->marked);
	free(b->stack);
}

/* An even number of hops above a leaf, as all leaves of a tree are? */
static bool may_be_leaf(uint32_t rank)
{
	return rank != FAB_NONE && rank && !(rank % 2);
}

/* Leaves whose hosts are off or few. Returns whether there are any. */
static bool add_idle_leaves(const struct fab_fabric *f, const uint32_t *hosts,
			    const uint32_t *rank, bool *is_leaf)
{
	struct below b;
	bool any = false;

	below_init(&b, f, rank);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (may_be_leaf(rank[s]) && (hosts[s] || !has_higher_peer(f, rank, s)) &&
		    joins_nothing(&b, s))
			is_leaf[s] = any = true;
	below_fini(&b);
	return any;
}

/*
 * Leaves whose hosts are off, found from above: as far below the roots that join
 * something as leaves are. Most of the switches they are joined to may have nothing but
 * such leaves below them. Returns whether there are any.
 */
static bool add_deep_leaves(const struct fab_fabric *f, const uint32_t *hosts,
			    const struct fab_ranks *r, const uint32_t *component,
			    bool *is_leaf)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	uint32_t *order = FAB_NEW((size_t)f->n_switches + 1, uint32_t), n = 0;
	uint32_t *depth = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	uint32_t *top = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	struct below b;
	bool any = false;

	below_init(&b, f, r->rank);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (r->is_root[s] && r->rank[s] > 1 && !joins_nothing(&b, s)) {
			top[component[s]] = r->rank[s];
			order[n++] = s;
		}
	fab_graph_search(&g, NULL, n, depth, order, NULL);
	for (uint32_t s = 0; s < f->n_switches && n; s++)
		if (may_be_leaf(r->rank[s]) && depth[s] != FAB_NONE && !hosts[s] &&
		    depth[s] == top[component[s]] && joins_nothing(&b, s))
			is_leaf[s] = any = true;
	below_fini(&b);
	free(order);
	free(depth);
	free(top);
	return any;
}

static void ranks_new(struct fab_ranks *r, const struct fab_fabric *f)
{
	*r = (struct fab_ranks){.rank = FAB_NEW(f->n_switches, uint32_t),
				.is_root = FAB_NEW0(f->n_switches, bool)};
}

/* Switches in parts without hosts do not count; two switches
 * of which one has hosts are no tree. */
static bool is_levelled(const struct fab_fabric *f, const uint32_t *hosts,
			const uint32_t *rank)
{
	uint64_t all = 0, misplaced = 0;
	uint32_t n_leaves = 0, n_above = 0;

	for (uint32_t u = 0; u < f->n_switches; u++) {
		if (rank[u] == FAB_NONE)
			continue;
		n_leaves += !rank[u];
		n_above += rank[u] > 0;
		for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++)
			if (rank[f->peer[i]] == rank[u])
				return false;
		all += hosts[u];
		misplaced += rank[u] ? hosts[u] : 0;
	}
	return all && misplaced * MISPLACED <= all && (n_leaves > 1 || n_above != 1);
}

bool fab_ranks_find(struct fab_ranks *r, const struct fab_fabric *f,
		    const uint32_t *n_hosts, enum fab_leaf_rule rule)
{
	bool *is_leaf = FAB_NEW0(f->n_switches, bool);
	uint32_t *component = FAB_NEW(f->n_switches, uint32_t);
	struct fab_rank_order order = {.sw = FAB_NEW((size_t)f->n_switches + 1, uint32_t),
				       .component = component};
	bool is_tree;

	ranks_new(r, f);
	order.n_components = fab_fabric_components(f, component);
	choose_all_leaves(f, n_hosts, component, rule, is_leaf);
	rank_from_leaves(f, is_leaf, r, order.sw, &order.n);
	if (add_idle_leaves(f, n_hosts, r->rank, is_leaf))
		rank_from_leaves(f, is_leaf, r, order.sw, &order.n);
	is_tree = is_levelled(f, n_hosts, r->rank);
	if (is_tree || rule == FAB_LEAVES_ANY) {
		fab_ranks_find_roots(r, f, n_hosts, &order);
		if (add_deep_leaves(f, n_hosts, r, component, is_leaf)) {
			rank_from_leaves(f, is_leaf, r, order.sw, &order.n);
			is_tree = is_levelled(f, n_hosts, r->rank);
			fab_ranks_find_roots(r, f, n_hosts, &order);
		}
	}
	free(is_leaf);
	free(component);
	free(order.sw);
	return is_tree;
}

/* A torus, mesh, hyperx or dragonfly: all switches are of one rank, without roots. */
static void rank_direct(struct fab_ranks *r, const struct fab_fabric *f,
			const uint32_t *hosts)
{
	ranks_new(r, f);
	for (uint32_t s = 0; s < f->n_switches; s++)
		r->n_ranks |= hosts[s] > 0;
	memset(r->rank, r->n_ranks ? 0 : 0xff, f->n_switches * sizeof(*r->rank));
}

void fab_ranks_init(struct fab_ranks *r, const struct fab_fabric *f,
		    const struct fab_shape *shape)
{
	uint32_t *hosts = FAB_NEW(f->n_switches, uint32_t);

	if (shape->level) {
		ranks_new(r, f);
		r->n_ranks = shape->n_levels;
		r->n_roots = shape->n_roots;
		memcpy(r->is_root, shape->is_root, f->n_switches * sizeof(*r->is_root));
		for (uint32_t s = 0; s < f->n_switches; s++)
			r->rank[s] = shape->level[s] < shape->n_levels ? shape->level[s]
								       : FAB_NONE;
	} else {
		fab_ranks_count_all_hosts(f, hosts);
		if (shape->kind == FAB_SHAPE_NONE)
			fab_ranks_find(r, f, hosts, FAB_LEAVES_ANY);
		else
			rank_direct(r, f, hosts);
	}
	free(hosts);
}

void fab_ranks_fini(struct fab_ranks *r)
{
	free(r->rank);
	free(r->is_root);
}
