/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/near_tree.h"

#include "base/mem.h"
#include "base/rng.h"

#include <limits.h>
#include <stdlib.h>

/* A member that is not in the tree yet. */
struct outsider {
	uint32_t sw, tie;
	const uint8_t *row; /* distances from it */
	unsigned hops;	    /* to the nearest switch of the tree that is high enough, */
	uint32_t nearest;   /* which is this */
};

struct place {
	uint32_t joined;  /* == stamp: in the tree */
	uint32_t wanted;  /* == stamp: a member */
	uint32_t parent;  /* arc to it */
	uint32_t n_below; /* switches that hang on it */
	uint8_t depth;	  /* at most so deep */
};

struct fab_near_tree {
	const struct fab_mcast_problem *p;
	uint32_t stamp;
	unsigned height;
	uint64_t steps;
	struct place *at; /* [n_switches] */
	FAB_VEC(struct outsider) out;
	FAB_VEC(uint32_t) in, sw, cable;
};

struct fab_near_tree *fab_near_tree_new(const struct fab_mcast_problem *p)
{
	struct fab_near_tree *t = FAB_NEW0(1, struct fab_near_tree);

	t->p = p;
	t->at = FAB_NEW0(p->f->n_switches, struct place);
	return t;
}

void fab_near_tree_free(struct fab_near_tree *t)
{
	if (!t)
		return;
	free(t->at);
	free(t->out.v);
	free(t->in.v);
	free(t->sw.v);
	free(t->cable.v);
	free(t);
}

/* A switch is in the tree, at this depth: who is nearer to it than to others? */
static void offer(struct fab_near_tree *t, uint32_t sw, unsigned depth)
{
	for (size_t i = 0; i < t->out.n; i++) {
		struct outsider *o = &t->out.v[i];
		unsigned hops = o->row[sw];

		if (hops < o->hops && depth + hops <= t->height) {
			o->hops = hops;
			o->nearest = sw;
		}
	}
}

/* The hops that others would save by a path through a switch. */
static unsigned saved(const struct fab_near_tree *t, uint32_t sw, unsigned depth)
{
	unsigned sum = 0;

	for (size_t i = 0; i < t->out.n; i++) {
		const struct outsider *o = &t->out.v[i];
		unsigned hops = o->row[sw];

		if (hops < o->hops && depth + hops <= t->height)
			sum += o->hops - hops;
	}
	return sum;
}

/* The cable from a switch to the next one on a shortest path to an outsider: of equal
 * switches to the first, by the cheapest. */
static uint32_t choose(struct fab_near_tree *t, const struct fab_prices *prices,
		       uint32_t sw, unsigned depth, const uint8_t *row)
{
	const struct fab_fabric *f = t->p->f;
	uint32_t best = FAB_NONE, last = FAB_NONE;
	unsigned most = 0, own = 0;

	t->steps += f->arc_first[sw + 1] - f->arc_first[sw];
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t peer = f->arc_peer[a];

		if (row[peer] + 1 != row[sw])
			continue;
		if (peer != last)
			own = saved(t, peer, depth + 1);
		last = peer;
		if (best == FAB_NONE || own > most ||
		    (peer == f->arc_peer[best] &&
		     fab_price(prices, f->arc_cable[a]) <
			     fab_price(prices, f->arc_cable[best]))) {
			best = a;
			most = own;
		}
	}
	return best;
}

/* The arc back. */
static uint32_t reverse(const struct fab_fabric *f, uint32_t arc, uint32_t from)
{
	uint32_t sw = f->arc_peer[arc];

	for (uint32_t a = f->arc_first[sw];; a++)
		if (f->arc_peer[a] == from && f->arc_cable[a] == f->arc_cable[arc])
			return a;
}

static void join(struct fab_near_tree *t, const struct fab_prices *prices,
		 const struct outsider *o)
{
	const struct fab_fabric *f = t->p->f;
	uint32_t sw = o->nearest;

	while (sw != o->sw) {
		unsigned depth = t->at[sw].depth + 1u;
		uint32_t arc = choose(t, prices, sw, t->at[sw].depth, o->row);
		uint32_t peer = f->arc_peer[arc];
		struct place *at = &t->at[peer];

		if (at->joined != t->stamp)
			FAB_PUSH(&t->in, peer);
		at->joined = t->stamp;
		at->depth = (uint8_t)depth;
		at->parent = reverse(f, arc, sw);
		offer(t, peer, depth);
		sw = peer;
	}
}

/* Leave out switches without members below: paths that were left for others. */
static double collect(struct fab_near_tree *t, const struct fab_prices *prices,
		      uint32_t root)
{
	const struct fab_fabric *f = t->p->f;
	double sum = 0;

	t->at[root].n_below = 0;
	for (size_t i = 0; i < t->in.n; i++)
		t->at[t->in.v[i]].n_below = 0;
	for (size_t i = 0; i < t->in.n; i++)
		t->at[f->arc_peer[t->at[t->in.v[i]].parent]].n_below++;
	for (size_t i = 0; i < t->in.n; i++) {
		uint32_t sw = t->in.v[i];

		while (sw != root && t->at[sw].n_below == 0 &&
		       t->at[sw].wanted != t->stamp) {
			t->at[sw].n_below = FAB_NONE;
			sw = f->arc_peer[t->at[sw].parent];
			t->at[sw].n_below--;
		}
	}
	t->sw.n = t->cable.n = 0;
	for (size_t i = 0; i < t->in.n; i++) {
		uint32_t sw = t->in.v[i], cable = f->arc_cable[t->at[sw].parent];

		if (t->at[sw].n_below == FAB_NONE)
			continue;
		FAB_PUSH(&t->sw, sw);
		FAB_PUSH(&t->cable, cable);
		sum += fab_price(prices, cable);
	}
	return sum;
}

static struct outsider take_nearest(struct fab_near_tree *t)
{
	size_t best = 0;
	struct outsider o;

	for (size_t i = 1; i < t->out.n; i++) {
		const struct outsider *a = &t->out.v[i], *b = &t->out.v[best];

		if (a->hops < b->hops || (a->hops == b->hops && a->tie < b->tie))
			best = i;
	}
	o = t->out.v[best];
	t->out.v[best] = t->out.v[--t->out.n];
	return o;
}

/* All members but the root wait for the tree. */
static void wait(struct fab_near_tree *t, const uint32_t *sw, uint32_t n, uint32_t root,
		 uint64_t seed)
{
	t->out.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct outsider o = {.sw = sw[i],
					   .tie = (uint32_t)fab_mix64(seed ^ sw[i]),
					   .row = fab_dist_row(t->p->dist, sw[i]),
					   .hops = UINT_MAX,
					   .nearest = root};

		t->at[sw[i]].wanted = t->stamp;
		if (sw[i] != root)
			FAB_PUSH(&t->out, o);
	}
}

double fab_near_tree_grow(struct fab_near_tree *t, const struct fab_prices *prices,
			  const uint32_t *sw, uint32_t n, uint32_t root, unsigned height,
			  uint64_t seed)
{
	t->stamp++;
	t->steps = 0;
	t->height = height;
	t->in.n = 0;
	t->at[root].joined = t->stamp;
	t->at[root].depth = 0;
	wait(t, sw, n, root, seed);
	offer(t, root, 0);
	while (t->out.n) {
		struct outsider o = take_nearest(t);

		join(t, prices, &o);
	}
	return collect(t, prices, root);
}

uint32_t fab_near_tree_n_edges(const struct fab_near_tree *t)
{
	return (uint32_t)t->sw.n;
}

const uint32_t *fab_near_tree_sw(const struct fab_near_tree *t)
{
	return t->sw.v;
}

const uint32_t *fab_near_tree_cable(const struct fab_near_tree *t)
{
	return t->cable.v;
}

uint64_t fab_near_tree_steps(const struct fab_near_tree *t)
{
	return t->steps;
}
