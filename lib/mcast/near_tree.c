/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/near_tree.h"

#include "base/macros.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdlib.h>

/* A member that is not in the tree yet. */
struct outsider {
	uint32_t sw, tie;
	uint32_t nearest; /* the switch of the tree that it would be joined to */
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
	struct fab_hops_list out_sw; /* their switches */
	/* [outsiders, padded] hops to the nearest switch of the tree that is high enough;
	 * behind them 0 */
	FAB_VEC(uint16_t) out_hops;
	FAB_VEC(uint32_t) in, sw, cable;
};

struct fab_near_tree *fab_near_tree_new(const struct fab_mcast_problem *p,
					const struct fab_hops *hops)
{
	struct fab_near_tree *t = FAB_NEW0(1, struct fab_near_tree);

	t->p = p;
	t->at = FAB_NEW0(p->f->n_switches, struct place);
	fab_hops_list_init(&t->out_sw, hops);
	return t;
}

void fab_near_tree_free(struct fab_near_tree *t)
{
	if (!t)
		return;
	free(t->at);
	free(t->out.v);
	fab_hops_list_fini(&t->out_sw);
	free(t->out_hops.v);
	free(t->in.v);
	free(t->sw.v);
	free(t->cable.v);
	free(t);
}

/* A switch is in the tree, at this depth: who is nearer to it than to others? */
static void offer(struct fab_near_tree *t, uint32_t sw, unsigned depth)
{
	const uint16_t *hops = fab_hops_from(&t->out_sw, sw);

	for (size_t i = 0; i < t->out.n; i++)
		if (hops[i] < t->out_hops.v[i] && depth + hops[i] <= t->height) {
			t->out_hops.v[i] = hops[i];
			t->out.v[i].nearest = sw;
		}
}

/* The sum of what hops[n * FAB_HOPS_ALIGN] are less than `old`, of those up to `most`. */
FAB_WIDE static uint32_t sum_less(const uint16_t *restrict hops,
				  const uint16_t *restrict old, size_t n, uint16_t most)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n * FAB_HOPS_ALIGN; i++) {
		uint16_t is_less = fab_hops_mask(hops[i] < old[i]);
		uint16_t is_low = fab_hops_mask(hops[i] <= most);

		sum += (uint16_t)(old[i] - hops[i]) & is_less & is_low;
	}
	return sum;
}

/* The hops that others would save by a path through a switch. */
static unsigned saved(struct fab_near_tree *t, uint32_t sw, unsigned depth)
{
	size_t padded = fab_hops_padded(t->out.n);

	if (depth > t->height)
		return 0;
	return sum_less(fab_hops_from(&t->out_sw, sw), t->out_hops.v,
			padded / FAB_HOPS_ALIGN, (uint16_t)(t->height - depth));
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
	const uint8_t *row = fab_dist_row(t->p->dist, o->sw);
	uint32_t sw = o->nearest;

	while (sw != o->sw) {
		unsigned depth = t->at[sw].depth + 1u;
		uint32_t arc = choose(t, prices, sw, t->at[sw].depth, row);
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
	const uint16_t *hops = t->out_hops.v;
	size_t best = 0, last = t->out.n - 1;
	struct outsider o;

	for (size_t i = 1; i < t->out.n; i++)
		if (hops[i] < hops[best] ||
		    (hops[i] == hops[best] && t->out.v[i].tie < t->out.v[best].tie))
			best = i;
	o = t->out.v[best];
	t->out.v[best] = t->out.v[last];
	t->out_hops.v[best] = t->out_hops.v[last];
	t->out_hops.v[last] = 0;
	t->out.n--;
	fab_hops_list_drop(&t->out_sw, best);
	return o;
}

/* All members but the root wait for the tree. */
static void wait(struct fab_near_tree *t, const uint32_t *sw, uint32_t n, uint32_t root,
		 uint64_t seed)
{
	t->out.n = t->out_hops.n = 0;
	fab_hops_list_clear(&t->out_sw);
	for (uint32_t i = 0; i < n; i++) {
		const struct outsider o = {.sw = sw[i],
					   .tie = (uint32_t)fab_mix64(seed ^ sw[i]),
					   .nearest = root};

		t->at[sw[i]].wanted = t->stamp;
		if (sw[i] == root)
			continue;
		FAB_PUSH(&t->out, o);
		FAB_PUSH(&t->out_hops, UINT16_MAX);
		fab_hops_list_add(&t->out_sw, sw[i]);
	}
	while (t->out_hops.n % FAB_HOPS_ALIGN)
		FAB_PUSH(&t->out_hops, 0);
}

struct fab_grown fab_near_tree_grow(struct fab_near_tree *t,
				    const struct fab_prices *prices, const uint32_t *sw,
				    uint32_t n, uint32_t root, unsigned height,
				    uint64_t seed)
{
	double price;

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
	price = collect(t, prices, root);
	return (struct fab_grown){(uint32_t)t->sw.n, t->sw.v, t->cable.v, price,
				  t->steps};
}
