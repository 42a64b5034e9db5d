/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the dependencies of paths on one lane free of cycles? */
#include "unicast/vtftr_ib.h"

#include "base/mem.h"
#include "fabric/graph.h"

#include <stdlib.h>
#include <string.h>

struct dependencies {
	const struct fab_fabric *f;
	FAB_VEC(uint32_t) from, to; /* arcs */
	uint64_t *first; /* [arcs] dependencies that arcs before it could have */
	uint64_t *known; /* bits */
};

static void dependencies_init(struct dependencies *d, const struct fab_fabric *f)
{
	uint32_t n_arcs = f->arc_first[f->n_switches];
	uint64_t n = 0;

	*d = (struct dependencies){.f = f};
	d->first = FAB_NEW((size_t)n_arcs + 1, uint64_t);
	for (uint32_t a = 0; a < n_arcs; a++) {
		uint32_t sw = f->arc_peer[a];

		d->first[a] = n;
		n += f->arc_first[sw + 1] - f->arc_first[sw];
	}
	d->known = FAB_NEW0((size_t)(n / 64 + 1), uint64_t);
}

static void dependencies_fini(struct dependencies *d)
{
	free(d->from.v);
	free(d->to.v);
	free(d->first);
	free(d->known);
}

static bool add(void *context, uint32_t from, uint32_t to)
{
	struct dependencies *d = context;
	uint64_t bit = d->first[from] + to - d->f->arc_first[d->f->arc_peer[from]];

	if (d->known[bit / 64] >> bit % 64 & 1)
		return true;
	d->known[bit / 64] |= (uint64_t)1 << bit % 64;
	FAB_PUSH(&d->from, from);
	FAB_PUSH(&d->to, to);
	return true;
}

/* The path from a switch until it joins one that was walked before. */
static bool walk_path(struct vtftr_ib_walk *w, const uint16_t *next, uint32_t sw)
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
	const uint8_t *path = w->v->path[column];

	w->stamp++;
	if (!path && !(w->paths & VTFTR_IB_PLAIN))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t kind = path ? path[leaf_of[sw[i]]] : FAB_PATH_PLAIN;

		if (w->paths >> kind & 1 && !walk_path(w, next, sw[i]))
			return false;
	}
	return true;
}

bool vtftr_ib_walk(struct vtftr_ib_walk *w, uint32_t column)
{
	const struct fab_routes *r = w->v->routes;
	const struct vtftr_ib_others *o = &w->v->others[column];
	const uint16_t *next = r->next + (size_t)column * r->f->n_switches;

	if (w->paths & VTFTR_IB_PLAIN)
		return vtftr_ib_walk_from(w, column, r->leaf, r->n_leaves);
	w->stamp++;
	for (uint32_t i = 0; i < o->n; i++)
		if (w->paths >> o->kind[i] & 1 &&
		    !walk_path(w, next, r->leaf[o->source[i]]))
			return false;
	return true;
}

bool vtftr_ib_one_lane_does(const struct vtftr_ib *v)
{
	const struct fab_fabric *f = v->routes->f;
	struct dependencies d;
	struct vtftr_ib_walk walk = {.v = v,
				     .paths = VTFTR_IB_OTHER,
				     .take = add,
				     .context = &d,
				     .walked = FAB_NEW0(f->n_switches + 1, uint32_t)};
	struct fab_graph g;
	bool does;

	dependencies_init(&d, f);
	for (uint32_t i = 0; i < v->routes->n_columns; i++)
		vtftr_ib_walk(&walk, i);
	free(walk.walked);
	fab_graph_init(&g, f->arc_first[f->n_switches], d.from.n, d.from.v, d.to.v);
	does = !fab_graph_has_cycle(&g);
	fab_graph_fini(&g);
	dependencies_fini(&d);
	return does;
}
