/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two levels: the nodes of a leaf switch give their blocks to the first of them by a
 * binomial tree, the first ones of all leaf switches spread them by dissemination, and
 * hand all of them down the trees.
 */
#include <stdlib.h>

#include "base/map.h"
#include "launch/fence.h"

struct leaves {
	uint32_t n, most; /* leaf switches; nodes of the one with most */
	uint32_t *first;  /* [n + 1] position of its first node */
	uint32_t *node_at;
};

/* Leaf switches in the order of their first nodes, nodes ascending. */
static void build(struct leaves *l, const struct fab_fence_job *job)
{
	struct fab_map64 *number = fab_map64_new(job->n_nodes);
	uint32_t *leaf = FAB_NEW(job->n_nodes, uint32_t), *room;

	*l = (struct leaves){.first = FAB_NEW0((size_t)job->n_nodes + 2, uint32_t),
			     .node_at = FAB_NEW(job->n_nodes, uint32_t)};
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		leaf[i] = fab_map64_put(number, job->leaf ? job->leaf[i] : 0, l->n);
		l->n += leaf[i] == l->n;
		l->first[leaf[i] + 1]++;
	}
	for (uint32_t i = 0; i < l->n; i++) {
		l->most = l->first[i + 1] > l->most ? l->first[i + 1] : l->most;
		l->first[i + 1] += l->first[i];
	}
	room = FAB_NEW(l->n, uint32_t);
	for (uint32_t i = 0; i < l->n; i++)
		room[i] = l->first[i];
	for (uint32_t i = 0; i < job->n_nodes; i++)
		l->node_at[room[leaf[i]]++] = i;
	free(room);
	free(leaf);
	fab_map64_free(number);
}

static void add(const struct leaves *l, uint32_t from, uint32_t to, uint32_t first,
		uint32_t n_blocks, struct fab_fence_plan *out)
{
	FAB_PUSH(&out->messages,
		 ((struct fab_fence_message){out->n_steps, l->node_at[from],
					     l->node_at[to], first, n_blocks}));
}

/* A level of the trees of all leaf switches, upwards or downwards. */
static void add_level(const struct leaves *l, uint32_t bit, bool is_up, uint32_t n,
		      struct fab_fence_plan *out)
{
	for (uint32_t leaf = 0; leaf < l->n; leaf++) {
		uint32_t base = l->first[leaf], size = l->first[leaf + 1] - base;

		for (uint32_t i = bit; i < size; i += 2 * bit) {
			uint32_t below = size - i < bit ? size - i : bit;

			if (is_up)
				add(l, base + i, base + i - bit, base + i, below, out);
			else
				add(l, base + i - bit, base + i, 0, n, out);
		}
	}
	out->n_steps++;
}

/* Positions of the leaf switches from .. from + n_leaves - 1, around. */
static uint32_t positions(const struct leaves *l, uint32_t from, uint32_t n_leaves)
{
	uint32_t end = from + n_leaves;

	return end <= l->n ? l->first[end] - l->first[from]
			   : l->first[l->n] - l->first[from] + l->first[end - l->n];
}

static void add_dissemination(const struct leaves *l, struct fab_fence_plan *out)
{
	for (uint32_t far = 1; far < l->n; far *= 2) {
		uint32_t more = l->n - far < far ? l->n - far : far;

		for (uint32_t i = 0; i < l->n; i++) {
			uint32_t to = i < far ? i + l->n - far : i - far;

			add(l, l->first[i], l->first[to], l->first[i],
			    positions(l, i, more), out);
		}
		out->n_steps++;
	}
}

static int cmp(const void *a, const void *b)
{
	const struct fab_fence_message *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static void plan(const struct fab_fence_job *job, uint32_t width,
		 struct fab_fence_plan *out)
{
	struct leaves l;
	uint32_t bit = 1;

	(void)width;
	build(&l, job);
	for (; bit < l.most; bit *= 2)
		add_level(&l, bit, true, job->n_nodes, out);
	add_dissemination(&l, out);
	for (bit /= 2; bit; bit /= 2)
		add_level(&l, bit, false, job->n_nodes, out);
	if (out->messages.n)
		qsort(out->messages.v, out->messages.n, sizeof(*out->messages.v), cmp);
	free(l.first);
	out->node_at = l.node_at;
}

const struct fab_fence_algorithm fab_fence_leaf = {
	.form = "leaf",
	.summary = "within each leaf switch, then among leaf switches",
	.manual = "Two levels: the nodes of a leaf switch give their blocks to one of "
		  "them, "
		  "these spread them as `bruck` does, and hand all of them down.",
	.is_in_all = true,
	.plan = plan,
};
