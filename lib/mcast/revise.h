/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For solve() of engines: trees of groups are taken out and put in, in any order and as
 * often as one likes; loads and uses of the state follow.
 */
#pragma once

#include "mcast/engine.h"

struct fab_revision {
	struct fab_mcast_state *s;
	uint32_t *n_edges; /* [groups]; the tree of g begins at forest.first[g] */
};

/* From here to the end the forest of the state is read by these functions only.
 * O(groups).
 */
struct fab_revision fab_revision_begin(struct fab_mcast_state *s);
/* Edges in the order of the groups again. O(groups + edges). */
void fab_revision_end(struct fab_revision *r);
/* The same with the copy of the trees as they are now, which it takes. O(1). */
void fab_revision_end_with(struct fab_revision *r, struct fab_forest *copy);

/* The trees as they are now, in the order of the groups, in a forest that is empty
 * (zeroed) or has an earlier copy. O(groups + edges). */
void fab_revision_copy(const struct fab_revision *r, struct fab_forest *out);
/* Give back the room of trees that were replaced, if that is most of it. What was
 * borrowed ends. Amortised O(edges put). */
void fab_revision_tidy(struct fab_revision *r);

/* FAB_NONE: the group has no tree. */
static inline uint32_t fab_revision_root(const struct fab_revision *r, uint32_t group)
{
	return r->s->forest.root[group];
}

static inline uint32_t fab_revision_size(const struct fab_revision *r, uint32_t group)
{
	return r->n_edges[group];
}

/* [size] cables of the tree, borrowed until the next put. */
static inline const uint32_t *fab_revision_cables(const struct fab_revision *r,
						  uint32_t group)
{
	return r->s->forest.cable + r->s->forest.first[group];
}

/* [size] switches that the cables hang on their parents, as long. */
static inline const uint32_t *fab_revision_switches(const struct fab_revision *r,
						    uint32_t group)
{
	return r->s->forest.sw + r->s->forest.first[group];
}

/* Is its tree the one that an earlier copy has? O(edges). */
bool fab_revision_has(const struct fab_revision *r, uint32_t group,
		      const struct fab_forest *copy);

/* Take the tree out of the loads and uses. It can still be read, and put back. O(edges).
 */
void fab_revision_take_out(struct fab_revision *r, uint32_t group);
/* Put back what was taken out. O(edges). */
void fab_revision_put_back(struct fab_revision *r, uint32_t group);
/*
 * Give a group that has no tree in the loads this one: n switches, each with the cable to
 * its parent. All groups must have one in the end; a group of one switch has no edges.
 * Amortised O(n).
 */
void fab_revision_put(struct fab_revision *r, uint32_t group, uint32_t root,
		      uint8_t height, uint32_t n, const uint32_t *sw,
		      const uint32_t *cable);
