/* SPDX-License-Identifier: BSD-2-Clause */
/* Which switches are leaves, the ranks above them, and the top rank. */
#include "fabric/ranks.h"

#include "base/arena.h"
#include "base/order.h"
#include "base/sets.h"
#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

struct rank_order {
	uint32_t *sw, n;	   /* switches that have a rank, lowest rank first */
	const uint32_t *component; /* [n_switches] as fab_fabric_components() */
	uint32_t n_components;
};

/* The top rank of each part of the fabric: from there down all leaves are reached. */

enum { WORDS = 8, AT_ONCE = 64 * WORDS }; /* leaves */

typedef uint64_t leaf_set[WORDS];

struct search {
	const struct fab_fabric *f;
	const struct fab_ranks *r;
	const struct rank_order *order;
	uint32_t *end, n_ends; /* leaves of which every two are to be joined */
	uint32_t *top;	       /* [n_components] lowest rank not ruled out yet */
	leaf_set *below;       /* [n_switches] leaves of the batch below each switch */
	leaf_set *reach;       /* [n_switches] those that paths up, then down come to */
	leaf_set *all;	       /* [n_components] those of the part */
};

static void add(leaf_set to, const leaf_set from)
{
	for (int w = 0; w < WORDS; w++)
		to[w] |= from[w];
}

/* Paths up to `top` at most, then down; the parts where such are missing have their top
 * above it. Returns whether there are any. */
static bool rule_out(struct search *x, uint32_t top)
{
	const struct fab_fabric *f = x->f;
	const uint32_t *rank = x->r->rank;
	bool any = false;

	for (uint32_t i = x->order->n; i--;) {
		uint32_t s = x->order->sw[i];

		memcpy(x->reach[s], x->below[s], sizeof(*x->reach));
		FAB_EACH_PEER(f, s, k) {
			if (rank[f->peer[k]] > rank[s] && rank[f->peer[k]] <= top)
				add(x->reach[s], x->reach[f->peer[k]]);
			if (!memcmp(x->reach[s], x->all[x->order->component[s]],
				    sizeof(*x->reach)))
				break;
		}
	}
	for (uint32_t i = 0; i < x->n_ends; i++) {
		uint32_t s = x->end[i], part = x->order->component[s];
		uint64_t missing = 0;

		for (int w = 0; w < WORDS; w++)
			missing |= x->all[part][w] & ~x->reach[s][w];
		if (x->top[part] > top || !missing)
			continue;
		x->top[part] = top + 1;
		any = true;
	}
	return any;
}

/* Ends: with `idle` all leaves, else those with hosts, of parts that are open. */
static bool search_open(struct search *x, const uint32_t *n_hosts, bool idle,
			bool *is_open)
{
	static const leaf_set none;
	bool any = false;
	uint32_t n_ranks = x->r->n_ranks;

	x->n_ends = 0;
	for (uint32_t s = 0; s < x->f->n_switches; s++)
		if (!x->r->rank[s] && is_open[x->order->component[s]] &&
		    (idle || n_hosts[s]))
			x->end[x->n_ends++] = s;
	for (uint32_t i = 0; i < x->n_ends; i++)
		x->top[x->order->component[x->end[i]]] = 1;
	/* The lowest rank over which all of the ends are joined by paths up, then down;
	 * n_ranks if no rank will do. */
	for (uint32_t first = 0; first < x->n_ends; first += AT_ONCE) {
		uint32_t n = x->n_ends - first, from = n_ranks;
		const struct fab_fabric *f = x->f;
		const uint32_t *rank = x->r->rank;

		/* The leaves first .. first + n - 1, and below which switches each of
		 * them is. */
		memset(x->below, 0, f->n_switches * sizeof(*x->below));
		memset(x->all, 0, x->order->n_components * sizeof(*x->all));
		for (uint32_t i = 0; i < (n < AT_ONCE ? n : AT_ONCE); i++) {
			uint32_t s = x->end[first + i];

			x->below[s][i / 64] |= (uint64_t)1 << i % 64;
			x->all[x->order->component[s]][i / 64] |= (uint64_t)1 << i % 64;
		}
		for (uint32_t i = 0; i < x->order->n; i++) {
			uint32_t s = x->order->sw[i];

			if (!memcmp(x->below[s], none, sizeof(none)))
				continue;
			FAB_EACH_PEER(f, s, j)
				if (rank[f->peer[j]] > rank[s])
					add(x->below[f->peer[j]], x->below[s]);
		}
		for (uint32_t k = 0; k < x->n_ends; k++)
			if (x->top[x->order->component[x->end[k]]] < from)
				from = x->top[x->order->component[x->end[k]]];
		for (uint32_t t = from; t < n_ranks && rule_out(x, t);)
			t++;
	}
	for (uint32_t i = 0; i < x->n_ends; i++) {
		uint32_t part = x->order->component[x->end[i]];

		is_open[part] = x->top[part] >= x->r->n_ranks;
		any |= is_open[part];
	}
	return any;
}

static void find_roots(struct fab_ranks *r, const struct fab_fabric *f,
		       struct fab_arena *arena, const uint32_t *n_hosts,
		       const struct rank_order *order)
{
	size_t n_parts = (size_t)order->n_components + 1;
	bool *is_open = FAB_ARENA_NEW(arena, n_parts, bool);
	struct search x = {.f = f,
			   .r = r,
			   .order = order,
			   .end = FAB_ARENA_NEW(arena, f->n_switches, uint32_t),
			   .top = FAB_ARENA_NEW0(arena, n_parts, uint32_t),
			   .all = FAB_ARENA_NEW(arena, n_parts, leaf_set)};

	memset(is_open, true, n_parts * sizeof(*is_open));
	/* The sets are large: they do not stay in the arena. */
	x.below = r->n_ranks > 1 ? FAB_NEW(f->n_switches, leaf_set) : NULL;
	x.reach = r->n_ranks > 1 ? FAB_NEW(f->n_switches, leaf_set) : NULL;
	if (r->n_ranks > 1 && search_open(&x, n_hosts, true, is_open) &&
	    search_open(&x, n_hosts, false, is_open)) {
		const uint32_t *rank = r->rank;
		uint32_t *parent = FAB_ARENA_NEW(arena, f->n_switches, uint32_t);
		bool *has_leaf = FAB_ARENA_NEW(arena, f->n_switches, bool);

		/* Where no rank does: the rank of the last switch that joins leaves by
		 * any path, when switches come rank by rank. */
		for (uint32_t s = 0; s < f->n_switches; s++) {
			parent[s] = s;
			has_leaf[s] = rank[s] == 0;
			if (is_open[order->component[s]])
				x.top[order->component[s]] = 0;
		}
		for (uint32_t i = 0; i < order->n; i++) {
			uint32_t s = order->sw[i], part = order->component[s];

			FAB_EACH_PEER(f, s, k) {
				uint32_t a = fab_sets_root(parent, s);
				uint32_t b = fab_sets_root(parent, f->peer[k]);

				if (rank[f->peer[k]] > rank[s] || a == b)
					continue;
				if (has_leaf[a] && has_leaf[b] && is_open[part])
					x.top[part] = rank[s];
				has_leaf[a] = has_leaf[b] = has_leaf[a] || has_leaf[b];
				fab_sets_unite(parent, a, b);
			}
		}
	}
	free(x.below);
	free(x.reach);
	/* A switch on its own is its root; where all switches have hosts there is no
	 * root. */
	r->n_roots = 0;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		bool is_alone = f->peer_first[s] == f->peer_first[s + 1];
		uint32_t top = is_alone ? 0 : x.top[order->component[s]];

		r->is_root[s] = r->rank[s] == top && (top || is_alone);
		r->n_roots += r->is_root[s];
	}
}

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
FAB_ORDER_MIXED(by_hosts, struct candidate,
		FAB_UP(component) FAB_DOWN(hosts) FAB_UP(degree) FAB_UP(sw))

/* Leaves of each component: of its switches with hosts the first is one. */
static void choose_leaves(const struct fab_fabric *f, struct fab_arena *arena,
			  const uint32_t *hosts, const uint32_t *component,
			  enum fab_leaf_rule rule, bool *is_leaf)
{
	struct candidate *list = FAB_ARENA_NEW(arena, f->n_switches, struct candidate);
	uint32_t n = 0;

	for (uint32_t u = 0; u < f->n_switches; u++)
		if (hosts[u])
			list[n++] = (struct candidate){u, component[u], hosts[u],
						       f->peer_first[u + 1] -
							       f->peer_first[u]};
	qsort(list, n, sizeof(*list), by_hosts);
	for (uint32_t i = 0, from, end; i < n; i = end) {
		uint64_t all = 0, seen = 0;

		for (end = i; end < n && list[end].component == list[i].component; end++)
			all += list[end].hosts;
		/* A typical switch is that to which the middle adapter is cabled. */
		for (from = i; from + 1 < end && 2 * (seen + list[from].hosts) < all;
		     from++)
			seen += list[from].hosts;
		for (uint32_t k = i; k < end; k++) {
			uint32_t u = list[k].sw;
			bool has_few = (uint64_t)list[k].hosts * FEW < list[from].hosts;
			bool is_beside = false;

			FAB_EACH_PEER(f, u, e)
				is_beside |= is_leaf[f->peer[e]];
			is_leaf[u] = rule == FAB_LEAVES_APART ? !has_few && !is_beside
							      : !has_few || !is_beside;
		}
	}
}

/* Ranks are hops to the nearest leaf. */
static void rank_from_leaves(const struct fab_fabric *f, const bool *is_leaf,
			     struct fab_ranks *r, struct rank_order *order)
{
	const struct fab_graph g = fab_graph_of_peers(f);

	order->n = 0;
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (is_leaf[s])
			order->sw[order->n++] = s;
	order->n = fab_graph_search(&g, NULL, order->n, r->rank, order->sw, NULL);
	r->n_ranks = order->n ? r->rank[order->sw[order->n - 1]] + 1 : 0;
}

/* Searches down from switches: the leaves that they share. */
struct below {
	const struct fab_fabric *f;
	const uint32_t *rank;
	uint32_t *seen, *marked; /* [n_switches] number of the search that came there */
	uint32_t *stack;	 /* [n_switches] */
	uint32_t search, mark;	 /* the last ones */
};

static struct below below_of(const struct fab_fabric *f, const uint32_t *rank,
			     struct fab_arena *arena)
{
	return (struct below){.f = f,
			      .rank = rank,
			      .seen = FAB_ARENA_NEW0(arena, f->n_switches, uint32_t),
			      .marked = FAB_ARENA_NEW0(arena, f->n_switches, uint32_t),
			      .stack = FAB_ARENA_NEW(arena, f->n_switches, uint32_t)};
}

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

		if (!b->rank[s]) {
			if (marks)
				b->marked[s] = b->mark;
			n_leaves++;
			*n_marked += b->marked[s] == b->mark;
			continue;
		}
		FAB_EACH_PEER(f, s, i) {
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

	FAB_EACH_PEER(f, s, i) {
		uint32_t peer = f->peer[i];
		uint32_t n = f->peer_first[peer + 1] - f->peer_first[peer];

		if (b->rank[peer] < b->rank[s] && n > most) {
			widest = peer;
			most = n;
		}
	}
	n_widest = go_down(b, widest, true, &n_shared);
	FAB_EACH_PEER(f, s, i) {
		uint32_t peer = f->peer[i], n;

		if (b->rank[peer] >= b->rank[s] || peer == widest)
			continue;
		n = go_down(b, peer, false, &n_shared);
		if (2 * n_shared <= (n < n_widest ? n : n_widest))
			return false;
	}
	return true;
}

/* Is it an even number of hops above a leaf, as all leaves of a tree are, and has it no
 * hosts or does no switch stand above it? */
static bool may_be_leaf(const struct fab_fabric *f, const struct fab_ranks *r, uint32_t s,
			bool is_at_top)
{
	uint32_t rank = r->rank[s];

	if (rank == FAB_NONE || !rank || rank % 2)
		return false;
	for (uint32_t i = f->peer_first[s]; is_at_top && i < f->peer_first[s + 1]; i++)
		if (r->rank[f->peer[i]] > rank)
			return false;
	return true;
}

/*
 * Leaves whose hosts are off, found from above: as far below the roots that join
 * something as leaves are. Most of the switches they are joined to may have nothing but
 * such leaves below them. Returns whether there are any.
 */
static bool add_deep_leaves(const struct fab_fabric *f, struct fab_arena *arena,
			    const uint32_t *hosts, const struct fab_ranks *r,
			    const uint32_t *component, bool *is_leaf)
{
	const struct fab_graph g = fab_graph_of_peers(f);
	uint32_t *order = FAB_ARENA_NEW(arena, (size_t)f->n_switches + 1, uint32_t);
	uint32_t *depth = FAB_ARENA_NEW(arena, (size_t)f->n_switches + 1, uint32_t);
	uint32_t *top = FAB_ARENA_NEW(arena, (size_t)f->n_switches + 1, uint32_t), n = 0;
	struct below b = below_of(f, r->rank, arena);
	bool any = false;

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (r->is_root[s] && r->rank[s] > 1 && !joins_nothing(&b, s)) {
			top[component[s]] = r->rank[s];
			order[n++] = s;
		}
	fab_graph_search(&g, NULL, n, depth, order, NULL);
	for (uint32_t s = 0; s < f->n_switches && n; s++)
		if (may_be_leaf(f, r, s, false) && depth[s] != FAB_NONE && !hosts[s] &&
		    depth[s] == top[component[s]] && joins_nothing(&b, s))
			is_leaf[s] = any = true;
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
		FAB_EACH_PEER(f, u, i)
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
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	bool *is_leaf = FAB_ARENA_NEW0(&arena, f->n_switches, bool);
	uint32_t *component = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t);
	struct rank_order order = {
		.sw = FAB_ARENA_NEW(&arena, (size_t)f->n_switches + 1, uint32_t),
		.component = component,
		.n_components = fab_fabric_components(f, component)};
	bool is_tree, any = false;
	struct below b;

	ranks_new(r, f);
	choose_leaves(f, &arena, n_hosts, component, rule, is_leaf);
	rank_from_leaves(f, is_leaf, r, &order);
	/* Leaves whose hosts are off or few. */
	b = below_of(f, r->rank, &arena);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (may_be_leaf(f, r, s, !n_hosts[s]) && joins_nothing(&b, s))
			is_leaf[s] = any = true;
	if (any)
		rank_from_leaves(f, is_leaf, r, &order);
	is_tree = is_levelled(f, n_hosts, r->rank);
	if (is_tree || rule == FAB_LEAVES_ANY) {
		find_roots(r, f, &arena, n_hosts, &order);
		if (add_deep_leaves(f, &arena, n_hosts, r, component, is_leaf)) {
			rank_from_leaves(f, is_leaf, r, &order);
			is_tree = is_levelled(f, n_hosts, r->rank);
			find_roots(r, f, &arena, n_hosts, &order);
		}
	}
	return is_tree;
}

void fab_ranks_init(struct fab_ranks *r, const struct fab_fabric *f,
		    const struct fab_shape *shape)
{
	FAB_AUTOFREE uint32_t *hosts = FAB_NEW(f->n_switches, uint32_t);

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
		else {
			/* A torus, mesh, hyperx or dragonfly: all switches are of one
			 * rank, without roots. */
			ranks_new(r, f);
			for (uint32_t s = 0; s < f->n_switches; s++)
				r->n_ranks |= hosts[s] > 0;
			memset(r->rank, r->n_ranks ? 0 : 0xff,
			       f->n_switches * sizeof(*r->rank));
		}
	}
}

void fab_ranks_fini(struct fab_ranks *r)
{
	free(r->rank);
	free(r->is_root);
}
