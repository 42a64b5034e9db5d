/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs of switches joined by fewer cables than their peers. The peers of a pair are the
 * other pairs of either switch in the same direction: to the same level, or along the
 * same dimension of a grid, or within or out of a group of a dragonfly. A pair is short
 * when more than half of the pairs of one of its switches have more cables, and not more
 * than half of those of the other switch have as few.
 */
#include "base/order.h"
#include "fabric/check_impl.h"

#include <stdlib.h>

enum { LEAST_PEERS = 3 }; /* of a switch in a direction */

/* A neighbour of a switch, with the number of cables to it. */
struct bundle {
	uint64_t direction;
	uint32_t n, peer;
	uint32_t usual; /* what more than half of its direction have, 0: no such number */
	uint32_t n_pairs; /* in its direction */
};

struct bundles {
	const struct fab_fabric *f;
	uint32_t *first; /* [n_switches + 1] into v; those of a switch by direction, n */
	struct bundle *v;
};

/* The dimension of the first coordinate in which two switches of a grid differ. */
static uint32_t dimension_of(const struct fab_shape *shape, uint32_t a, uint32_t b)
{
	const uint32_t *ca = shape->coords + (size_t)a * shape->n_dims;
	const uint32_t *cb = shape->coords + (size_t)b * shape->n_dims;
	uint32_t d = 0;

	while (d < shape->n_dims && ca[d] == cb[d])
		d++;
	return d;
}

/* What the pair is compared by; the same seen from either side. */
static uint64_t direction_of(const struct fab_check_levels *l, uint32_t a, uint32_t b)
{
	uint32_t la = l->level[a], lb = l->level[b];
	uint32_t low = la < lb ? la : lb, rise = (la < lb ? lb : la) - low, within = 0;

	if (!rise && l->shape->group)
		within = 1 + (l->shape->group[a] == l->shape->group[b]);
	else if (!rise && l->shape->coords)
		within = 1 + dimension_of(l->shape, a, b);
	return (uint64_t)low << 32 | (uint64_t)(rise < 1 << 24 ? rise : 1 << 24) << 7 |
	       within;
}

static int by_direction(const void *x, const void *y)
{
	const struct bundle *a = x, *b = y;

	if (a->direction != b->direction)
		return a->direction < b->direction ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return (a->peer > b->peer) - (a->peer < b->peer);
}

/* What more than half of each direction have: with them sorted the middle one or none. */
static void find_usual(struct bundle *v, uint32_t n)
{
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t usual, count = 0;

		for (end = i; end < n && v[end].direction == v[i].direction;)
			end++;
		usual = v[i + (end - i) / 2].n;
		for (uint32_t k = i; k < end; k++)
			count += v[k].n == usual;
		if (end - i < LEAST_PEERS || 2 * count <= end - i)
			usual = 0;
		for (uint32_t k = i; k < end; k++) {
			v[k].usual = usual;
			v[k].n_pairs = end - i;
		}
	}
}

/* The neighbours of a switch into v; returns how many. `peer` is sorted. */
static uint32_t collect_of(const struct fab_check_levels *l, uint32_t sw, uint32_t *peer,
			   uint32_t n_arcs, struct bundle *v)
{
	uint32_t n = 0;

	qsort(peer, n_arcs, sizeof(*peer), fab_cmp_u32);
	for (uint32_t k = 0, next; k < n_arcs; k = next) {
		for (next = k + 1; next < n_arcs && peer[next] == peer[k];)
			next++;
		v[n++] = (struct bundle){.direction = direction_of(l, sw, peer[k]),
					 .n = next - k,
					 .peer = peer[k]};
	}
	qsort(v, n, sizeof(*v), by_direction);
	find_usual(v, n);
	return n;
}

static void collect(struct bundles *b, const struct fab_check_levels *l)
{
	const struct fab_fabric *f = b->f;
	uint32_t n_arcs = f->arc_first[f->n_switches], n = 0;
	uint32_t *peer = FAB_NEW(n_arcs, uint32_t);

	b->first = FAB_NEW(f->n_switches + 1, uint32_t);
	b->v = FAB_NEW(n_arcs, struct bundle);
	for (uint32_t k = 0; k < n_arcs; k++)
		peer[k] = f->arc_peer[k];
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t at = f->arc_first[s];

		b->first[s] = n;
		n += collect_of(l, s, peer + at, f->arc_first[s + 1] - at, b->v + n);
	}
	b->first[f->n_switches] = n;
	free(peer);
}

/* The same pair as its other switch has it: a binary search for direction, then n. */
static const struct bundle *seen_from_peer(const struct bundles *b, uint32_t sw,
					   const struct bundle *x)
{
	struct bundle key = {.direction = x->direction, .n = x->n, .peer = sw};
	uint32_t first = b->first[x->peer];

	return bsearch(&key, b->v + first, b->first[x->peer + 1] - first, sizeof(key),
		       by_direction);
}

/* Switch `observer`, an end of the pair, has more cables to most of its neighbours. */
static void report(struct fab_checker *c, const struct fab_check_levels *l,
		   uint32_t observer, uint32_t other, const struct bundle *x)
{
	const struct fab_fabric *f = c->f;
	uint32_t pair[2] = {observer, other}, a = l->level[observer], b = l->level[other];
	struct fab_finding at = FAB_AT_NODE(b < a ? other : observer);
	const char *where = a == b ? "beside" : a < b ? "above" : "below";

	at.key = fab_check_key_nodes(f, pair, 2);
	if (a != b)
		l->n_missing[at.node] += x->usual - x->n;
	fab_checker_add(c, FAB_PROBLEM, "few-cables", at,
			"%u cable%s \"%s\" and \"%s\"; most of the %u switches %s "
			"\"%s\" have %u to it",
			x->n, x->n == 1 ? " joins" : "s join", fab_node_name(f, at.node),
			fab_node_name(f, at.node == observer ? other : observer),
			x->n_pairs, where, fab_node_name(f, observer), x->usual);
}

void fab_check_pairs(struct fab_checker *c, struct fab_check_levels *l)
{
	struct bundles b = {.f = c->f};

	collect(&b, l);
	for (uint32_t s = 0; s < c->f->n_switches; s++)
		for (uint32_t i = b.first[s]; i < b.first[s + 1]; i++) {
			const struct bundle *own = &b.v[i], *peer;

			if (own->peer < s)
				continue;
			peer = seen_from_peer(&b, s, own);
			if ((own->usual && own->usual <= own->n) ||
			    (peer->usual && peer->usual <= own->n) ||
			    (!own->usual && !peer->usual))
				continue;
			if (own->usual >= peer->usual)
				report(c, l, s, own->peer, own);
			else
				report(c, l, own->peer, s, peer);
		}
	free(b.first);
	free(b.v);
}
