/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Up a tree of K children each, and down again. The tree is filled level by level; its
 * nodes are numbered so that each subtree is a run of nodes, as in Slurm's.
 */
#include <stdlib.h>

#include "launch/fence.h"

/* Of the nodes of a tree, by number in levels. */
struct tree {
	uint32_t n, n_levels;
	uint64_t width;
	uint32_t *size;	 /* of the subtree */
	uint32_t *rank;	 /* in preorder */
	uint32_t *first; /* [n_levels + 1] of a level */
};

static uint32_t parent(const struct tree *t, uint32_t h)
{
	return (uint32_t)((h - 1) / t->width);
}

static void build(struct tree *t, uint32_t n, uint32_t width)
{
	uint32_t *room = FAB_NEW(n, uint32_t); /* the next child's rank */
	uint64_t first = 0, level = 1;

	*t = (struct tree){.n = n, .width = width};
	t->size = FAB_NEW(n, uint32_t);
	t->rank = FAB_NEW(n, uint32_t);
	t->first = FAB_NEW((size_t)n + 1, uint32_t);
	for (; first < n; first += level, level *= width)
		t->first[t->n_levels++] = (uint32_t)first;
	t->first[t->n_levels] = n;
	for (uint32_t h = 0; h < n; h++)
		t->size[h] = 1;
	for (uint32_t h = n - 1; h; h--)
		t->size[parent(t, h)] += t->size[h];
	t->rank[0] = 0;
	room[0] = 1;
	for (uint32_t h = 1; h < n; h++) {
		t->rank[h] = room[parent(t, h)];
		room[parent(t, h)] += t->size[h];
		room[h] = t->rank[h] + 1;
	}
	free(room);
}

static void plan(const struct fab_fence_job *job, uint32_t width,
		 struct fab_fence_plan *out)
{
	struct tree t;
	uint32_t depth;

	build(&t, job->n_nodes, width);
	depth = t.n_levels - 1;
	out->n_steps = 2 * depth;
	FAB_RESERVE(&out->messages, 2 * (size_t)t.n);
	for (uint32_t step = 0; step < depth; step++)
		for (uint32_t h = t.first[depth - step]; h < t.first[depth - step + 1];
		     h++)
			FAB_PUSH(&out->messages,
				 ((struct fab_fence_message){step, t.rank[h],
							     t.rank[parent(&t, h)],
							     t.rank[h], t.size[h]}));
	for (uint32_t h = 1, level = 1; h < t.n; h++) {
		level += h == t.first[level + 1];
		FAB_PUSH(&out->messages, ((struct fab_fence_message){
						 depth + level - 1, t.rank[parent(&t, h)],
						 t.rank[h], 0, t.n}));
	}
	free(t.size);
	free(t.rank);
	free(t.first);
}

const struct fab_fence_algorithm fab_fence_tree = {
	.form = "tree:K",
	.summary = "up a tree of K children each, and down",
	.manual = "Blocks are collected up a tree in which a node has K children, and "
		  "all of them sent down again, as Slurm does for a fence without data; "
		  "K is its TreeWidth.",
	.width_max = FAB_FENCE_WIDTH_MAX,
	.plan = plan,
};
