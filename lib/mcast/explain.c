/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/explain.h"

#include <stdlib.h>
#include <string.h>

static uint32_t other_end(const struct fab_fabric *f, uint32_t cable, uint32_t sw)
{
	uint32_t a = f->port_node[f->cable_a[cable]];

	return a == sw ? f->port_node[f->cable_b[cable]] : a;
}

static void explain_root(const struct fab_mcast_problem *p,
			 const struct fab_mcast_result *r, uint32_t group,
			 struct fab_explained *out)
{
	const struct fab_groups *g = p->groups;
	struct fab_roots_one *one = fab_roots_one_new(p->dist);
	uint32_t *rooted = FAB_NEW0((size_t)p->f->n_switches + 1, uint32_t);

	for (uint32_t i = 0; i < r->forest.n; i++)
		if (r->forest.root[i] != FAB_NONE)
			rooted[r->forest.root[i]]++;
	out->root = r->forest.root[group];
	out->radius = fab_roots_one_find(one, g->sw + g->sw_first[group],
					 fab_group_n_switches(g, group));
	out->least_rooted = FAB_NONE;
	for (uint32_t s = 0; s < p->f->n_switches; s++) {
		if (!(one->bits[s / 64] >> (s % 64) & 1))
			continue;
		out->n_candidates++;
		out->is_candidate |= s == out->root;
		if (rooted[s] < out->least_rooted)
			out->least_rooted = rooted[s];
	}
	out->n_rooted = rooted[out->root];
	free(rooted);
	fab_roots_one_free(one);
}

/* Cables that lead as near to the root as the one that was taken. */
static void count_choices(const struct fab_mcast_problem *p,
			  const struct fab_mcast_result *r, const uint8_t *row,
			  struct fab_tree_link *l)
{
	const struct fab_fabric *f = p->f;

	l->least = l->load;
	for (uint32_t a = f->arc_first[l->sw]; a < f->arc_first[l->sw + 1]; a++) {
		uint32_t c = f->arc_cable[a], load = r->load[c] + (c != l->cable);

		if (row[f->arc_peer[a]] > row[l->parent])
			continue;
		l->n_choices++;
		l->least = load < l->least ? load : l->least;
	}
}

static int by_depth(const void *x, const void *y)
{
	const struct fab_tree_link *a = x, *b = y;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return (a->sw > b->sw) - (a->sw < b->sw);
}

void fab_mcast_explain(const struct fab_mcast_problem *p,
		       const struct fab_mcast_result *r, uint32_t group,
		       struct fab_explained *out)
{
	const struct fab_groups *g = p->groups;
	const struct fab_forest *t = &r->forest;
	uint32_t *at = FAB_NEW((size_t)p->f->n_switches + 1, uint32_t);
	const uint8_t *row;

	*out = (struct fab_explained){.root = FAB_NONE};
	explain_root(p, r, group, out);
	row = fab_dist_row(p->dist, out->root);
	memset(at, 0xff, ((size_t)p->f->n_switches + 1) * sizeof(*at));
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++) {
		struct fab_tree_link l = {.sw = t->sw[e], .cable = t->cable[e]};

		l.parent = other_end(p->f, l.cable, l.sw);
		l.load = r->load[l.cable];
		count_choices(p, r, row, &l);
		at[l.sw] = (uint32_t)out->link.n;
		FAB_PUSH(&out->link, l);
	}
	for (size_t i = 0; i < out->link.n; i++)
		for (uint32_t sw = out->link.v[i].sw; at[sw] != FAB_NONE;
		     sw = out->link.v[at[sw]].parent)
			out->link.v[i].depth++;
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		for (uint32_t sw = fab_port_switch(p->f, g->member[m]);
		     at[sw] != FAB_NONE; sw = out->link.v[at[sw]].parent)
			out->link.v[at[sw]].n_members++;
	if (out->link.n)
		qsort(out->link.v, out->link.n, sizeof(*out->link.v), by_depth);
	free(at);
}

void fab_explained_fini(struct fab_explained *explained)
{
	free(explained->link.v);
	*explained = (struct fab_explained){.root = FAB_NONE};
}

struct fab_sharer *fab_mcast_sharers(const struct fab_mcast_result *r, uint32_t cable,
				     uint32_t *n)
{
	const struct fab_forest *t = &r->forest;
	struct fab_sharer *out = FAB_NEW((size_t)r->load[cable] + 1, struct fab_sharer);

	*n = 0;
	for (uint32_t g = 0; g < t->n; g++)
		for (uint64_t e = t->first[g]; e < t->first[g + 1]; e++)
			if (t->cable[e] == cable && *n < r->load[cable])
				out[(*n)++] = (struct fab_sharer){g, t->sw[e]};
	return out;
}
