/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the dependencies of ways on one lane free of cycles? */
#include "unicast/vtftr_ib.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct dependencies {
	FAB_VEC(uint32_t) from, to; /* arcs */
	struct fab_map64 *known;
};

static bool add(void *context, uint32_t from, uint32_t to)
{
	struct dependencies *d = context;
	uint32_t n = (uint32_t)d->from.n;

	if (fab_map64_put(d->known, (uint64_t)from << 32 | to, n) != n)
		return true;
	FAB_PUSH(&d->from, from);
	FAB_PUSH(&d->to, to);
	return true;
}

/* The way from a switch until it joins one that was walked before. */
static bool walk_way(struct vtftr_ib_walk *w, const uint16_t *next, uint32_t sw)
{
	const struct fab_fabric *f = w->v->routes->f;
	uint32_t in = FAB_NONE;

	while (next[sw] < FAB_ARC_BROKEN) {
		uint32_t out = f->arc_first[sw] + next[sw];

		if (in != FAB_NONE && !w->take(w->context, in, out))
			return false;
		if (w->walked[sw] == w->stamp)
			break;
		w->walked[sw] = w->stamp;
		in = out;
		sw = f->arc_peer[out];
	}
	return true;
}

bool vtftr_ib_walk_from(struct vtftr_ib_walk *w, uint32_t column, const uint32_t *sw,
			uint32_t n)
{
	const struct fab_routes *r = w->v->routes;
	const uint32_t *leaf_of = w->v->problem->kfat->leaf_of;
	const uint16_t *next = r->next + (size_t)column * r->f->n_switches;
	const uint8_t *way = w->v->way[column];

	w->stamp++;
	if (!way && !(w->ways & VTFTR_IB_PLAIN))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t kind = way ? way[leaf_of[sw[i]]] : FAB_WAY_PLAIN;

		if (w->ways >> kind & 1 && !walk_way(w, next, sw[i]))
			return false;
	}
	return true;
}

bool vtftr_ib_walk(struct vtftr_ib_walk *w, uint32_t column)
{
	const struct fab_routes *r = w->v->routes;

	return vtftr_ib_walk_from(w, column, r->leaf, r->n_leaves);
}

/* Take away what nothing leads to, over and over: is anything left? */
static bool has_cycle(const struct dependencies *d, uint32_t n_arcs)
{
	uint32_t *first = FAB_NEW0(n_arcs + 2, uint32_t);
	uint32_t *n_in = FAB_NEW0(n_arcs + 1, uint32_t);
	uint32_t *to = FAB_NEW(d->from.n + 1, uint32_t);
	uint32_t *queue = FAB_NEW(n_arcs + 1, uint32_t), tail = 0;

	for (size_t i = 0; i < d->from.n; i++) {
		first[d->from.v[i] + 1]++;
		n_in[d->to.v[i]]++;
	}
	for (uint32_t a = 0; a < n_arcs; a++)
		first[a + 1] += first[a];
	for (size_t i = 0; i < d->from.n; i++)
		to[first[d->from.v[i]]++] = d->to.v[i];
	/* first[a] is now where a + 1 begins */
	for (uint32_t a = 0; a < n_arcs; a++)
		if (!n_in[a])
			queue[tail++] = a;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t a = queue[head];

		for (uint32_t i = a ? first[a - 1] : 0; i < first[a]; i++)
			if (!--n_in[to[i]])
				queue[tail++] = to[i];
	}
	free(first);
	free(n_in);
	free(to);
	free(queue);
	return tail < n_arcs;
}

bool vtftr_ib_one_lane_does(const struct vtftr_ib *v)
{
	const struct fab_fabric *f = v->routes->f;
	struct dependencies d = {.known = fab_map64_new(1024)};
	struct vtftr_ib_walk walk = {.v = v,
				     .ways = VTFTR_IB_OTHER,
				     .take = add,
				     .context = &d,
				     .walked = FAB_NEW0(f->n_switches + 1, uint32_t)};
	bool does;

	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		vtftr_ib_walk(&walk, i);
	free(walk.walked);
	does = !has_cycle(&d, f->arc_first[f->n_switches]);
	free(d.from.v);
	free(d.to.v);
	fab_map64_free(d.known);
	return does;
}
