/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dragonflies. Two switches of a group of a have its other a - 2 switches as common
 * neighbours, two joined by a global cable hardly any. So the group of a switch are
 * those of its neighbours with which it has at least a - 2 in common; a is the number
 * for which they are exactly a - 1.
 */
#include "fabric/shape_impl.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_MIN = 3, GROUPS_MIN = 3 };

struct work {
	const struct fab_fabric *f;
	uint32_t *stamp, now;
	uint32_t *common; /* with each neighbour of the switch at hand */
	uint32_t *group;
};

/* Count the common neighbours of `u` and each of its neighbours. O(degree^2). */
static void count_common(struct work *w, uint32_t u)
{
	const struct fab_fabric *f = w->f;
	uint32_t first = f->peer_first[u], end = f->peer_first[u + 1];

	w->now++;
	for (uint32_t i = first; i < end; i++)
		w->stamp[f->peer[i]] = w->now;
	for (uint32_t i = first; i < end; i++) {
		uint32_t v = f->peer[i], n = 0;

		for (uint32_t k = f->peer_first[v]; k < f->peer_first[v + 1]; k++)
			n += w->stamp[f->peer[k]] == w->now;
		w->common[i - first] = n;
	}
}

/* Neighbours of `u` with at least a - 2 in common: as many as a group has besides u? */
static bool has_group_of(const struct work *w, uint32_t u, uint32_t a)
{
	uint32_t degree = w->f->peer_first[u + 1] - w->f->peer_first[u], n = 0;

	for (uint32_t i = 0; i < degree; i++)
		n += w->common[i] + 2 >= a;
	return n + 1 == a;
}

/* Make `u` and its a - 1 near neighbours a group; they must be free and all joined. */
static bool take_group(struct work *w, uint32_t u, uint32_t a, uint32_t number)
{
	const struct fab_fabric *f = w->f;
	uint32_t first = f->peer_first[u], end = f->peer_first[u + 1];

	if (w->group[u] != FAB_NONE)
		return false;
	w->group[u] = number;
	for (uint32_t i = first; i < end; i++) {
		if (w->common[i - first] + 2 < a)
			continue;
		if (w->group[f->peer[i]] != FAB_NONE)
			return false;
		w->group[f->peer[i]] = number;
	}
	for (uint32_t i = first; i < end; i++) {
		uint32_t v = f->peer[i], n = 0;

		if (w->group[v] != number)
			continue;
		for (uint32_t k = f->peer_first[v]; k < f->peer_first[v + 1]; k++)
			n += w->group[f->peer[k]] == number;
		if (n != a - 1)
			return false;
	}
	return true;
}

/* Put all switches into groups of a; how many groups, 0 when it cannot be done. */
static uint32_t make_groups(struct work *w, uint32_t a)
{
	uint32_t n = w->f->n_switches, groups = 0;

	if (n % a)
		return 0;
	memset(w->group, 0xff, n * sizeof(*w->group));
	for (uint32_t u = 0; u < n; u++) {
		if (w->group[u] != FAB_NONE)
			continue;
		count_common(w, u);
		if (!has_group_of(w, u, a) || !take_group(w, u, a, groups))
			return 0;
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
	uint32_t n = f->n_switches, degree, groups = 0, a;
	struct work w = {.f = f};

	if (n < GROUP_MIN * GROUPS_MIN)
		return false;
	degree = f->peer_first[1];
	w.stamp = FAB_NEW0(n, uint32_t);
	w.common = FAB_NEW(n, uint32_t);
	w.group = FAB_NEW(n, uint32_t);
	for (a = degree + 1; a >= GROUP_MIN; a--) {
		count_common(&w, 0);
		if (!has_group_of(&w, 0, a))
			continue;
		groups = make_groups(&w, a);
		if (groups >= GROUPS_MIN && all_joined(&w, groups))
			break;
	}
	free(w.common);
	free(w.stamp);
	if (a < GROUP_MIN) {
		free(w.group);
		return false;
	}
	shape->kind = FAB_SHAPE_DRAGONFLY;
	shape->n_groups = groups;
	shape->group_size = a;
	shape->group = w.group;
	return true;
}
