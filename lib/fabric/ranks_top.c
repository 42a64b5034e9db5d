/* SPDX-License-Identifier: BSD-2-Clause */
/* The top rank of each part of the fabric: from there down all leaves are reached. */
#include "fabric/ranks_impl.h"

#include "base/mem.h"
#include "base/sets.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS = 8, AT_ONCE = 64 * WORDS }; /* leaves */

typedef uint64_t leaf_set[WORDS];

struct search {
	const struct fab_fabric *f;
	const struct fab_ranks *r;
	const struct fab_rank_order *order;
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

static bool has_all(const leaf_set set, const leaf_set all)
{
	uint64_t missing = 0;

	for (int w = 0; w < WORDS; w++)
		missing |= all[w] & ~set[w];
	return !missing;
}

/* The leaves first .. first + n - 1, and below which switches each of them is. */
static void look_below(struct search *x, uint32_t first, uint32_t n)
{
	const struct fab_fabric *f = x->f;
	const uint32_t *rank = x->r->rank;

	memset(x->below, 0, f->n_switches * sizeof(*x->below));
	memset(x->all, 0, x->order->n_components * sizeof(*x->all));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = x->end[first + i];

		x->below[s][i / 64] |= (uint64_t)1 << i % 64;
		x->all[x->order->component[s]][i / 64] |= (uint64_t)1 << i % 64;
	}
	for (uint32_t i = 0; i < x->order->n; i++) {
		uint32_t s = x->order->sw[i];

		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
			if (rank[f->peer[k]] < rank[s])
				add(x->below[s], x->below[f->peer[k]]);
	}
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
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
			if (rank[f->peer[k]] > rank[s] && rank[f->peer[k]] <= top)
				add(x->reach[s], x->reach[f->peer[k]]);
	}
	for (uint32_t i = 0; i < x->n_ends; i++) {
		uint32_t s = x->end[i], part = x->order->component[s];

		if (x->top[part] > top || has_all(x->reach[s], x->all[part]))
			continue;
		x->top[part] = top + 1;
		any = true;
	}
	return any;
}

/* The lowest rank over which all of the ends are joined by paths up, then down; n_ranks
 * where there is none. */
static void find_tops(struct search *x)
{
	uint32_t n_ranks = x->r->n_ranks;

	for (uint32_t first = 0; first < x->n_ends; first += AT_ONCE) {
		uint32_t n = x->n_ends - first, from = n_ranks;

		look_below(x, first, n < AT_ONCE ? n : AT_ONCE);
		for (uint32_t i = 0; i < x->n_ends; i++)
			if (x->top[x->order->component[x->end[i]]] < from)
				from = x->top[x->order->component[x->end[i]]];
		for (uint32_t t = from; t < n_ranks && rule_out(x, t);)
			t++;
	}
}

/* Where no rank does: the rank of the last switch that joins leaves by any path, when
 * switches come rank by rank. */
static void find_joining(struct search *x, bool *is_open)
{
	const struct fab_fabric *f = x->f;
	const uint32_t *rank = x->r->rank;
	uint32_t *parent = FAB_NEW(f->n_switches, uint32_t);
	bool *has_leaf = FAB_NEW(f->n_switches, bool);

	for (uint32_t s = 0; s < f->n_switches; s++) {
		parent[s] = s;
		has_leaf[s] = rank[s] == 0;
		if (is_open[x->order->component[s]])
			x->top[x->order->component[s]] = 0;
	}
	for (uint32_t i = 0; i < x->order->n; i++) {
		uint32_t s = x->order->sw[i], part = x->order->component[s];

		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++) {
			uint32_t a = fab_sets_root(parent, s);
			uint32_t b = fab_sets_root(parent, f->peer[k]);

			if (rank[f->peer[k]] > rank[s] || a == b)
				continue;
			if (has_leaf[a] && has_leaf[b] && is_open[part])
				x->top[part] = rank[s];
			has_leaf[a] = has_leaf[b] = has_leaf[a] || has_leaf[b];
			fab_sets_unite(parent, a, b);
		}
	}
	free(parent);
	free(has_leaf);
}

/* Ends: with `idle` all leaves, else those with hosts, of parts that are open. */
static bool search_open(struct search *x, const uint32_t *n_hosts, bool idle,
			bool *is_open)
{
	bool any = false;

	x->n_ends = 0;
	for (uint32_t s = 0; s < x->f->n_switches; s++)
		if (!x->r->rank[s] && is_open[x->order->component[s]] &&
		    (idle || n_hosts[s]))
			x->end[x->n_ends++] = s;
	for (uint32_t i = 0; i < x->n_ends; i++)
		x->top[x->order->component[x->end[i]]] = 1;
	find_tops(x);
	for (uint32_t i = 0; i < x->n_ends; i++) {
		uint32_t part = x->order->component[x->end[i]];

		is_open[part] = x->top[part] >= x->r->n_ranks;
		any |= is_open[part];
	}
	return any;
}

/* A switch on its own is its root; where all switches have hosts there is none. */
static void mark_roots(const struct search *x, struct fab_ranks *r)
{
	const struct fab_fabric *f = x->f;

	r->n_roots = 0;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		bool is_alone = f->peer_first[s] == f->peer_first[s + 1];
		uint32_t top = is_alone ? 0 : x->top[x->order->component[s]];

		r->is_root[s] = r->rank[s] == top && (top || is_alone);
		r->n_roots += r->is_root[s];
	}
}

void fab_ranks_find_roots(struct fab_ranks *r, const struct fab_fabric *f,
			  const uint32_t *n_hosts, const struct fab_rank_order *order)
{
	bool *is_open = FAB_NEW((size_t)order->n_components + 1, bool);
	struct search x = {.f = f,
			   .r = r,
			   .order = order,
			   .end = FAB_NEW(f->n_switches, uint32_t),
			   .top = FAB_NEW0((size_t)order->n_components + 1, uint32_t)};

	memset(is_open, true, order->n_components * sizeof(*is_open));
	if (r->n_ranks > 1) {
		x.below = FAB_NEW(f->n_switches, leaf_set);
		x.reach = FAB_NEW(f->n_switches, leaf_set);
		x.all = FAB_NEW((size_t)order->n_components + 1, leaf_set);
		if (search_open(&x, n_hosts, true, is_open) &&
		    search_open(&x, n_hosts, false, is_open))
			find_joining(&x, is_open);
		free(x.below);
		free(x.reach);
		free(x.all);
	}
	mark_roots(&x, r);
	free(is_open);
	free(x.end);
	free(x.top);
}
