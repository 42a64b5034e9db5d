/* SPDX-License-Identifier: BSD-2-Clause */
/* Halves of a fabric by maximum flow, then the fullest cable of any permutation. */
#include "unicast/bisection.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/order.h"
#include "fabric/dist.h"
#include "fabric/graph.h"
#include "fabric/shape.h"
#include "traffic/ends.h"
#include "unicast/path.h"

enum { CUTS = 8, TRIED = 16 };
#define MOST_PAIRS ((uint64_t)1 << 27)

struct leaf {
	uint32_t sw, n_ends;
	int64_t key; /* distance from one leaf less that from another */
};

struct work {
	const struct fab_fabric *f;
	const struct fab_routes *r;
	struct fab_arena arena;
	struct fab_flow_ends ends;
	struct leaf *leaf; /* [n] */
	uint32_t n;
	/* flow */
	bool *is_full;		/* [arcs] */
	uint8_t *side;		/* [n_switches] 1: source, 2: sink */
	uint32_t *level, *next; /* [n_switches] */
	uint32_t *queue;	/* [n_switches] */
};

/* Levels from the sources over cables that are not full; false: no sink is reached. */
static bool find_levels(struct work *w)
{
	const struct fab_graph g = fab_graph_of_arcs(w->f);
	uint32_t n = 0, n_reached;
	bool is_reached = false;

	memcpy(w->next, w->f->arc_first, w->f->n_switches * sizeof(*w->next));
	for (uint32_t s = 0; s < w->f->n_switches; s++)
		if (w->side[s] == 1)
			w->queue[n++] = s;
	n_reached = fab_graph_search(&g, w->is_full, n, w->level, w->queue, NULL);
	for (uint32_t i = n; i < n_reached; i++)
		is_reached |= w->side[w->queue[i]] == 2;
	return is_reached;
}

/* One more unit from a source; along levels, with a stack of arcs in w->queue. */
static bool push(struct work *w, uint32_t from)
{
	const struct fab_fabric *f = w->f;
	uint32_t depth = 0, s = from;

	while (w->side[s] != 2) {
		uint32_t *a = &w->next[s];

		while (*a < f->arc_first[s + 1] &&
		       (w->is_full[*a] || w->level[f->arc_peer[*a]] != w->level[s] + 1))
			++*a;
		if (*a < f->arc_first[s + 1]) {
			w->queue[depth++] = *a;
			s = f->arc_peer[*a];
		} else if (depth) { /* back, past the arc that led nowhere */
			uint32_t arc = w->queue[--depth];

			s = f->arc_peer[fab_arc_back(f, arc)];
			w->next[s]++;
		} else {
			return false;
		}
	}
	while (depth--) {
		uint32_t reverse = fab_arc_back(f, w->queue[depth]);

		/* what flows the other way is taken back first */
		if (w->is_full[reverse])
			w->is_full[reverse] = false;
		else
			w->is_full[w->queue[depth]] = true;
	}
	return true;
}

/* Cables that have to be cut between the leaves before `at` and the others. */
static uint32_t cut_of(struct work *w, uint32_t at)
{
	uint32_t n = 0;

	memset(w->is_full, false, w->f->arc_first[w->f->n_switches] * sizeof(bool));
	memset(w->side, 0, w->f->n_switches);
	for (uint32_t i = 0; i < w->n; i++)
		w->side[w->leaf[i].sw] = i < at ? 1 : 2;
	while (find_levels(w))
		for (uint32_t i = 0; i < at; i++)
			while (push(w, w->leaf[i].sw))
				n++;
	return n;
}

FAB_ORDER(by_key, struct leaf, key, sw)

FAB_ORDER(by_switch, struct leaf, sw)

/* Halve the leaves by their keys; keep the cut if it asks for more. */
static void try_cut(struct work *w, struct fab_bisection *out)
{
	uint32_t n = 0, at = 0, half, n_cut, flows;

	qsort(w->leaf, w->n, sizeof(*w->leaf), by_key);
	/* as near to half of the ends as leaves allow */
	while (at < w->n - 1 && (!at || 2 * n + w->leaf[at].n_ends <= w->ends.n))
		n += w->leaf[at++].n_ends;
	half = n < w->ends.n - n ? n : w->ends.n - n;
	n_cut = cut_of(w, at);
	flows = n_cut ? (half + n_cut - 1) / n_cut : half;
	if (out->n_half &&
	    (uint64_t)half * (out->n_cut + 1) <= (uint64_t)out->n_half * (n_cut + 1))
		return;
	*out = (struct fab_bisection){.n_ends = out->n_ends,
				      .n_half = half,
				      .n_cut = n_cut,
				      .first_leaf = {w->leaf[0].sw, w->leaf[at].sw},
				      .least_flows = flows};
}

static void find_cut(struct work *w, const struct fab_dist *dist,
		     struct fab_bisection *out)
{
	uint32_t *sw = FAB_ARENA_NEW(&w->arena, w->n, uint32_t);
	FAB_AUTO(fab_shape_free_at)
	struct fab_shape *shape = fab_shape_recognize(w->f);

	/* of grids across each dimension, of a dragonfly between groups */
	for (uint32_t dim = 0; dim < shape->n_dims && shape->coords; dim++) {
		for (uint32_t i = 0; i < w->n; i++)
			w->leaf[i].key =
				shape->coords[(size_t)w->leaf[i].sw * shape->n_dims +
					      dim];
		try_cut(w, out);
	}
	for (uint32_t i = 0; i < w->n && shape->group; i++)
		w->leaf[i].key = shape->group[w->leaf[i].sw];
	if (shape->group)
		try_cut(w, out);
	qsort(w->leaf, w->n, sizeof(*w->leaf), by_switch);

	for (uint32_t i = 0; i < w->n; i++)
		sw[i] = w->leaf[i].sw;
	for (uint32_t k = 0; k < CUTS && k < w->n; k++) {
		const uint8_t *from =
			fab_dist_row(dist, sw[(uint64_t)k * w->n / CUTS % w->n]);
		uint32_t far = 0;

		for (uint32_t i = 1; i < w->n; i++)
			far = from[sw[i]] > from[sw[far]] ? i : far;
		for (uint32_t i = 0; i < w->n; i++)
			w->leaf[i].key = (int64_t)from[w->leaf[i].sw] -
					 fab_dist_row(dist, sw[far])[w->leaf[i].sw];
		try_cut(w, out);
	}
}

/* ---- permutations under the tables ---- */

struct use {
	uint32_t n_receivers, bound, arc;
	uint64_t *senders; /* bits of leaves */
};

FAB_ORDER_MIXED(by_bound, struct use, FAB_DOWN(bound) FAB_UP(arc))

/* Receivers of an arc, each with the leaves that send to it over the arc. */
struct match {
	uint32_t n, n_words, *n_on, *holder; /* holder: leaf of each receiver */
	uint64_t *leaves;		     /* [n * n_words] */
	bool *is_seen;			     /* [leaves] */
};

static bool augment(const struct work *w, struct match *m, uint32_t receiver)
{
	for (uint32_t l = 0; l < w->n; l++) {
		if (!(m->leaves[(size_t)receiver * m->n_words + l / 64] >> l % 64 & 1) ||
		    m->is_seen[l])
			continue;
		m->is_seen[l] = true;
		if (m->n_on[l] < w->leaf[l].n_ends) {
			m->n_on[l]++;
			m->holder[receiver] = l;
			return true;
		}
		for (uint32_t i = 0; i < m->n; i++)
			if (m->holder[i] == l && augment(w, m, i)) {
				m->holder[receiver] = l;
				return true;
			}
	}
	return false;
}

/* Does the path of a leaf to a column arrive, and over the arc? */
static bool uses(const struct work *w, uint32_t sw, uint32_t column, uint32_t arc)
{
	struct fab_path p = fab_path_from(w->r, sw, column);
	bool has_it = false;

	while (fab_path_step(&p))
		has_it |= p.arc == arc;
	return has_it && fab_path_end(&p) == FAB_PATH_ARRIVES;
}

static uint32_t match_of(struct work *w, const uint32_t *column, const struct use *use)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t words = (w->n + 63) / 64, n = 0;
	struct match m = {.n_words = words,
			  .n_on = FAB_ARENA_NEW0(&arena, w->n, uint32_t),
			  .holder = FAB_ARENA_NEW(&arena, use->n_receivers, uint32_t),
			  .leaves = FAB_ARENA_NEW0(
				  &arena, (size_t)use->n_receivers * words, uint64_t),
			  .is_seen = FAB_ARENA_NEW(&arena, w->n, bool)};

	for (uint32_t d = 0; d < w->ends.n && m.n < use->n_receivers; d++) {
		bool any = false;

		for (uint32_t l = 0; l < w->n && column[d] != FAB_NONE; l++) {
			if (!(use->senders[l / 64] >> l % 64 & 1) ||
			    !uses(w, w->leaf[l].sw, column[d], use->arc))
				continue;
			any = true;
			m.leaves[(size_t)m.n * words + l / 64] |= (uint64_t)1 << l % 64;
		}
		m.n += any;
	}
	memset(m.holder, 0xff, m.n * sizeof(*m.holder));
	for (uint32_t i = 0; i < m.n; i++) {
		memset(m.is_seen, 0, w->n * sizeof(*m.is_seen));
		n += augment(w, &m, i);
	}
	return n;
}

static void find_permutation(struct work *w, struct fab_bisection *out)
{
	const struct fab_fabric *f = w->f;
	uint32_t n_arcs = f->arc_first[f->n_switches], words = (w->n + 63) / 64, i;
	struct use *use = FAB_ARENA_NEW(&w->arena, n_arcs, struct use);
	uint64_t *bits = FAB_ARENA_NEW0(&w->arena, (size_t)n_arcs * words, uint64_t);
	uint32_t *stamp = fab_arena_none(&w->arena, n_arcs);
	FAB_AUTOFREE uint32_t *column =
		fab_path_columns(w->r, w->ends.n, w->ends.sw, w->ends.port);

	for (uint32_t a = 0; a < n_arcs; a++)
		use[a] = (struct use){.arc = a, .senders = bits + (size_t)a * words};
	for (uint32_t d = 0; d < w->ends.n; d++)
		for (uint32_t l = 0; l < w->n && column[d] != FAB_NONE; l++) {
			struct fab_path p = fab_path_from(w->r, w->leaf[l].sw, column[d]);

			if (fab_path_length(w->r, w->leaf[l].sw, column[d]) == FAB_NONE)
				continue;
			while (fab_path_step(&p)) {
				use[p.arc].senders[l / 64] |= (uint64_t)1 << l % 64;
				use[p.arc].n_receivers += stamp[p.arc] != d;
				stamp[p.arc] = d;
			}
		}
	for (uint32_t a = 0; a < n_arcs; a++) {
		uint32_t n = 0;

		for (uint32_t l = 0; l < w->n; l++)
			if (use[a].senders[l / 64] >> l % 64 & 1)
				n += w->leaf[l].n_ends;
		use[a].bound = n < use[a].n_receivers ? n : use[a].n_receivers;
	}
	if (n_arcs)
		qsort(use, n_arcs, sizeof(*use), by_bound);
	for (i = 0; i < n_arcs && i < TRIED && use[i].bound > out->most_flows; i++) {
		uint32_t n = match_of(w, column, &use[i]);

		if (n <= out->most_flows)
			continue;
		out->most_flows = n;
		out->arc = use[i].arc;
	}
	out->is_exact = i == n_arcs || use[i].bound <= out->most_flows;
}

int fab_bisection_find(const struct fab_routes *routes, int n_threads,
		       struct fab_bisection *out, struct fab_err *err)
{
	const struct fab_fabric *f = routes->f;
	struct work w = {.f = f, .r = routes};
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	uint32_t *n_on;
	int rc = fab_dist_new(f, n_threads, &dist, err);

	*out = (struct fab_bisection){.arc = FAB_NONE};
	if (rc)
		return rc;
	fab_flow_ends_init(&w.ends, f, NULL, NULL);
	n_on = FAB_ARENA_NEW0(&w.arena, f->n_switches, uint32_t);
	for (uint32_t i = 0; i < w.ends.n; i++)
		n_on[w.ends.sw[i]]++;
	w.leaf = FAB_ARENA_NEW(&w.arena, f->n_switches, struct leaf);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (n_on[s])
			w.leaf[w.n++] = (struct leaf){.sw = s, .n_ends = n_on[s]};
	w.is_full = FAB_ARENA_NEW(&w.arena, f->arc_first[f->n_switches], bool);
	w.side = FAB_ARENA_NEW(&w.arena, f->n_switches, uint8_t);
	w.level = FAB_ARENA_NEW(&w.arena, f->n_switches, uint32_t);
	w.next = FAB_ARENA_NEW(&w.arena, f->n_switches, uint32_t);
	/* a path has at most one arc a switch */
	w.queue = FAB_ARENA_NEW(&w.arena, f->n_switches, uint32_t);
	out->n_ends = w.ends.n;
	if (w.n > 1) {
		find_cut(&w, dist, out);
		if ((uint64_t)w.ends.n * w.n <= MOST_PAIRS)
			find_permutation(&w, out);
	}
	fab_flow_ends_fini(&w.ends);
	fab_arena_free(&w.arena);
	return 0;
}
