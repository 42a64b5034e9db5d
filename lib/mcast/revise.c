/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/revise.h"

#include "base/mem.h"
#include "mcast/state.h"

#include <stdlib.h>
#include <string.h>

struct fab_revision fab_revision_begin(struct fab_mcast_state *s)
{
	uint32_t n = s->forest.n;
	struct fab_revision r = {.s = s, .n_edges = FAB_NEW0(n, uint32_t)};

	for (uint32_t g = 0; g < n; g++)
		if (s->forest.root[g] != FAB_NONE)
			r.n_edges[g] = fab_forest_size(&s->forest, g);
	return r;
}

void fab_revision_copy(const struct fab_revision *r, struct fab_forest *out)
{
	const struct fab_forest *t = &r->s->forest;
	uint64_t at = 0, total = 0;

	if (!out->n)
		fab_forest_init(out, t->n);
	for (uint32_t g = 0; g < t->n; g++)
		total += r->n_edges[g];
	fab_forest_reserve(out, 0, total);
	for (uint32_t g = 0; g < t->n; g++) {
		uint32_t n = r->n_edges[g];

		out->root[g] = t->root[g];
		out->height[g] = t->height[g];
		out->first[g] = at;
		if (!n) /* of one switch: nothing to copy, maybe nowhere to */
			continue;
		memcpy(out->sw + at, t->sw + t->first[g], n * sizeof(*out->sw));
		memcpy(out->cable + at, t->cable + t->first[g], n * sizeof(*out->cable));
		at += n;
	}
	out->first[t->n] = at;
}

bool fab_revision_has(const struct fab_revision *r, uint32_t group,
		      const struct fab_forest *copy)
{
	uint32_t n = r->n_edges[group];

	if (copy->root[group] != fab_revision_root(r, group) ||
	    fab_forest_size(copy, group) != n)
		return false;
	return !n || !memcmp(copy->cable + copy->first[group],
			     fab_revision_cables(r, group), n * sizeof(*copy->cable));
}

/* The same trees, in another forest. */
static void replace(struct fab_revision *r, struct fab_forest *new)
{
	fab_forest_fini(&r->s->forest);
	r->s->forest = *new;
	r->s->n_edges = new->first[new->n];
	*new = (struct fab_forest){0};
}

static void compact(struct fab_revision *r)
{
	struct fab_forest new = {0};

	fab_revision_copy(r, &new);
	replace(r, &new);
}

void fab_revision_tidy(struct fab_revision *r)
{
	uint64_t used = 0;

	for (uint32_t g = 0; g < r->s->forest.n; g++)
		used += r->n_edges[g];
	if (r->s->n_edges > 2 * used)
		compact(r);
}

void fab_revision_end(struct fab_revision *r)
{
	compact(r);
	free(r->n_edges);
	*r = (struct fab_revision){0};
}

void fab_revision_end_with(struct fab_revision *r, struct fab_forest *copy)
{
	replace(r, copy);
	free(r->n_edges);
	*r = (struct fab_revision){0};
}

void fab_revision_take_out(struct fab_revision *r, uint32_t group)
{
	fab_mcast_state_drop(r->s, group, fab_revision_root(r, group),
			     fab_revision_cables(r, group), r->n_edges[group]);
}

void fab_revision_put_back(struct fab_revision *r, uint32_t group)
{
	fab_mcast_state_count(r->s, group, fab_revision_root(r, group),
			      fab_revision_cables(r, group), r->n_edges[group]);
}

/* In place of the old one, behind all edges where it is larger. */
void fab_revision_put(struct fab_revision *r, uint32_t group, uint32_t root,
		      uint8_t height, uint32_t n, const uint32_t *sw,
		      const uint32_t *cable)
{
	struct fab_mcast_state *s = r->s;
	struct fab_forest *forest = &s->forest;

	if (n > r->n_edges[group]) {
		fab_forest_reserve(forest, s->n_edges, n);
		forest->first[group] = s->n_edges;
		s->n_edges += n;
	}
	r->n_edges[group] = n;
	forest->root[group] = root;
	forest->height[group] = height;
	if (n) {
		memcpy(forest->sw + forest->first[group], sw, n * sizeof(*sw));
		memcpy(forest->cable + forest->first[group], cable, n * sizeof(*cable));
	}
	fab_revision_put_back(r, group);
}
