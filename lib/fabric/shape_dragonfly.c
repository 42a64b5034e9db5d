/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dragonflies. A switch of a group of a has its other a - 1 switches as neighbours, and
 * each of these has a - 2 of them as neighbours in turn. Neighbours by a global cable
 * have fewer in common. So take the neighbours with at least a - 2 in common, drop those
 * that have fewer among the rest, and so on; what is left grows as a falls, so that the
 * first a for which it is no fewer than a - 1 is the only one that can be right.
 */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_MIN = 3, GROUPS_MIN = 3 };

struct work {
	const struct fab_fabric *f;
	bool *is_near;	/* neighbours of the switch at hand that are left */
	uint32_t *near; /* the same as a list */
	uint32_t n_near;
	uint32_t *group;
};

/* Neighbours of `v` that are left. */
static uint32_t count_near(const struct work *w, uint32_t v)
{
	const struct fab_fabric *f = w->f;
	uint32_t n = 0;

	for (uint32_t i = f->peer_first[v]; i < f->peer_first[v + 1]; i++)
		n += w->is_near[f->peer[i]];
	return n;
}

/* Start with all neighbours of `u` that have no group yet. */
static void take_near(struct work *w, uint32_t u)
{
	const struct fab_fabric *f = w->f;

	w->n_near = 0;
	for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++)
		if (w->group[f->peer[i]] == FAB_NONE) {
			w->is_near[f->peer[i]] = true;
			w->near[w->n_near++] = f->peer[i];
		}
}

static void drop_near(struct work *w)
{
	for (uint32_t i = 0; i < w->n_near; i++)
		w->is_near[w->near[i]] = false;
}

/* Drop neighbours until each of them has a - 2 of the others. O(degree^2) a round. */
static void narrow(struct work *w, uint32_t a)
{
	uint32_t kept, before;

	do {
		kept = 0;
		before = w->n_near;
		for (uint32_t i = 0; i < before; i++) {
			uint32_t v = w->near[i];

			if (count_near(w, v) + 2 < a)
				w->is_near[v] = false;
			else
				w->near[kept++] = v;
		}
		w->n_near = kept;
	} while (kept < before);
}

/* The size of the group that switch 0 is in, 0 when it cannot be told. */
static uint32_t find_size(struct work *w)
{
	uint32_t degree = w->f->peer_first[1], n, a, *common;

	take_near(w, 0);
	common = FAB_NEW(degree, uint32_t);
	for (uint32_t i = 0; i < degree; i++)
		common[i] = count_near(w, w->near[i]);
	drop_near(w);
	for (a = degree + 1; a >= GROUP_MIN; a--) {
		n = 0;
		for (uint32_t i = 0; i < degree; i++)
			n += common[i] + 2 >= a;
		if (n + 1 < a)
			continue;
		take_near(w, 0);
		narrow(w, a);
		drop_near(w);
		if (w->n_near + 1 >= a)
			break;
	}
	free(common);
	return a >= GROUP_MIN && w->n_near + 1 == a ? a : 0;
}

/*
 * Put all switches into groups of a; how many groups, 0 when it cannot be done. What
 * narrow() leaves are a - 1 switches that each have a - 2 of the others: all joined.
 */
static uint32_t make_groups(struct work *w, uint32_t a)
{
	uint32_t n = w->f->n_switches, groups = 0;

	for (uint32_t u = 0; u < n; u++) {
		if (w->group[u] != FAB_NONE)
			continue;
		take_near(w, u);
		narrow(w, a);
		drop_near(w);
		if (w->n_near + 1 != a)
			return 0;
		w->group[u] = groups;
		for (uint32_t i = 0; i < w->n_near; i++)
			w->group[w->near[i]] = groups;
		groups++;
	}
	return groups;
}

/* Is every group joined to every other? */
static bool all_joined(const struct work *w, uint32_t groups)
{
	const struct fab_fabric *f = w->f;
	uint64_t pairs = (uint64_t)groups * (groups - 1), seen = 0;
	bool *joined;

	if (pairs > f->peer_first[f->n_switches])
		return false;
	joined = FAB_NEW0((size_t)groups * groups, bool);
	for (uint32_t u = 0; u < f->n_switches; u++)
		for (uint32_t i = f->peer_first[u]; i < f->peer_first[u + 1]; i++) {
			uint32_t g = w->group[u], h = w->group[f->peer[i]];
			bool *pair = &joined[(size_t)g * groups + h];

			seen += g != h && !*pair;
			*pair = true;
		}
	free(joined);
	return seen == pairs;
}

bool fab_shape_try_dragonfly(const struct fab_fabric *f, struct fab_shape *shape)
{
	uint32_t n = f->n_switches, a, groups;
	struct work w = {.f = f};
	bool is_good;

	if (n < GROUP_MIN * GROUPS_MIN)
		return false;
	w.is_near = FAB_NEW0(n, bool);
	w.near = FAB_NEW(n, uint32_t);
	w.group = FAB_NEW(n, uint32_t);
	memset(w.group, 0xff, n * sizeof(*w.group));
	a = find_size(&w);
	groups = a ? make_groups(&w, a) : 0;
	is_good = groups >= GROUPS_MIN && all_joined(&w, groups);
	free(w.near);
	free(w.is_near);
	if (!is_good) {
		free(w.group);
		return false;
	}
	shape->kind = FAB_SHAPE_DRAGONFLY;
	shape->n_groups = groups;
	shape->group_size = a;
	shape->group = w.group;
	return true;
}
