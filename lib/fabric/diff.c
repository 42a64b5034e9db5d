/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/diff.h"

#include "fabric/diff_impl.h"

#include <stdlib.h>

const char *fab_change_name(enum fab_change_kind kind)
{
	static const char *const names[] = {
		[FAB_CHANGE_MISSING] = "missing",   [FAB_CHANGE_NEW] = "new",
		[FAB_CHANGE_MOVED] = "moved",	    [FAB_CHANGE_RENAMED] = "renamed",
		[FAB_CHANGE_REPLACED] = "replaced", [FAB_CHANGE_SPEED] = "speed",
		[FAB_CHANGE_WIDTH] = "width",
	};

	return names[kind];
}

static void compare_nodes(struct fab_differ *d)
{
	for (uint32_t i = 0; i < d->old->n_nodes; i++) {
		uint32_t k = d->diff->new_of[i];

		if (k == FAB_NONE) {
			fab_differ_node(d, FAB_CHANGE_MISSING, i, FAB_NONE);
			continue;
		}
		if (!fab_diff_same_name(d, i, k))
			fab_differ_node(d, FAB_CHANGE_RENAMED, i, k);
		if (d->diff->by_guid && d->old->node_guid[i] && d->new->node_guid[k] &&
		    d->old->node_guid[i] != d->new->node_guid[k])
			fab_differ_node(d, FAB_CHANGE_REPLACED, i, k);
	}
	for (uint32_t i = 0; i < d->new->n_nodes; i++)
		if (d->diff->old_of[i] == FAB_NONE)
			fab_differ_node(d, FAB_CHANGE_NEW, FAB_NONE, i);
}

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Nodes before cables, then kind, then ids; FAB_NONE sorts last. */
static int by_kind(const void *x, const void *y)
{
	const struct fab_change *a = x, *b = y;
	bool a_cable = a->old_node == FAB_NONE && a->new_node == FAB_NONE;
	bool b_cable = b->old_node == FAB_NONE && b->new_node == FAB_NONE;
	int order = (int)a_cable - (int)b_cable;

	if (!order)
		order = (int)a->kind - (int)b->kind;
	if (!order)
		order = cmp_u32(a->old_node, b->old_node);
	if (!order)
		order = cmp_u32(a->new_node, b->new_node);
	if (!order)
		order = cmp_u32(a->old_cable, b->old_cable);
	return order ? order : cmp_u32(a->new_cable, b->new_cable);
}

struct fab_diff *fab_diff_new(const struct fab_fabric *old, const struct fab_fabric *new)
{
	struct fab_differ d = {
		.old = old, .new = new, .diff = FAB_NEW0(1, struct fab_diff)};

	fab_diff_match(&d);
	compare_nodes(&d);
	fab_diff_cables(&d);
	if (d.found.n)
		qsort(d.found.v, d.found.n, sizeof(*d.found.v), by_kind);
	d.diff->changes = d.found.v;
	d.diff->n_changes = (uint32_t)d.found.n;
	return d.diff;
}

void fab_diff_free(struct fab_diff *diff)
{
	if (!diff)
		return;
	free(diff->changes);
	free(diff->new_of);
	free(diff->old_of);
	free(diff);
}
