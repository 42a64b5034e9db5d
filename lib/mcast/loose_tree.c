/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/loose_tree.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_loose_init(struct fab_loose_tree *t, const struct fab_mcast_problem *p)
{
	uint32_t n = p->f->n_switches;

	*t = (struct fab_loose_tree){.p = p};
	t->first = FAB_NEW(n, uint32_t);
	t->place = FAB_NEW(n, uint32_t);
	t->is_in = FAB_NEW0(n, uint32_t);
	t->is_wanted = FAB_NEW0(n, uint32_t);
}

void fab_loose_fini(struct fab_loose_tree *t)
{
	free(t->node.v);
	free(t->edge.v);
	free(t->next.v);
	free(t->first);
	free(t->place);
	free(t->is_in);
	free(t->is_wanted);
	*t = (struct fab_loose_tree){0};
}

/* Half-edge 2e + i is that of end i of edge e, listed at this end. */
static void list_half_edges(struct fab_loose_tree *t)
{
	t->stamp++;
	t->next.n = 0;
	for (uint32_t e = 0; e < t->edge.n; e++)
		for (uint32_t i = 0; i < 2; i++) {
			uint32_t sw = t->edge.v[e].sw[i];

			if (t->is_in[sw] != t->stamp) {
				t->is_in[sw] = t->stamp;
				t->first[sw] = FAB_NONE;
			}
			FAB_PUSH(&t->next, t->first[sw]);
			t->first[sw] = 2 * e + i;
		}
}

static void push_node(struct fab_loose_tree *t, uint32_t sw, uint32_t parent,
		      uint32_t cable)
{
	t->place[sw] = (uint32_t)t->node.n;
	FAB_PUSH(&t->node, ((struct fab_loose_node){.sw = sw,
						    .parent = parent,
						    .cable = cable,
						    .is_member = t->is_wanted[sw] ==
								 t->group_stamp}));
}

void fab_loose_hang(struct fab_loose_tree *t, uint32_t sw)
{
	list_half_edges(t);
	t->node.n = 0;
	push_node(t, sw, FAB_NONE, FAB_NONE);
	for (uint32_t at = 0; at < t->node.n && t->edge.n; at++) {
		uint32_t up = t->node.v[at].cable;

		for (uint32_t h = t->first[t->node.v[at].sw]; h != FAB_NONE;
		     h = t->next.v[h]) {
			const struct fab_loose_edge *e = &t->edge.v[h / 2];

			if (e->cable == up)
				continue;
			push_node(t, e->sw[!(h & 1)], at, e->cable);
			t->node.v[at].n_children++;
		}
	}
}

/* Leave out what no member hangs on; was there any? */
static bool prune(struct fab_loose_tree *t)
{
	size_t n = t->node.n;

	for (size_t i = n; i-- > 1;) {
		struct fab_loose_node *x = &t->node.v[i];

		x->side = FAB_LOOSE_UPPER;
		if (x->is_member || x->n_children)
			continue;
		x->side = FAB_LOOSE_PATH;
		t->node.v[x->parent].n_children--;
	}
	fab_loose_keep_halves(t);
	return t->edge.n + 1 < n;
}

void fab_loose_take(struct fab_loose_tree *t, const uint32_t *member, uint32_t n_members,
		    uint32_t n_edges, const uint32_t *sw, const uint32_t *cable)
{
	const struct fab_fabric *f = t->p->f;

	t->group_stamp++;
	for (uint32_t i = 0; i < n_members; i++)
		t->is_wanted[member[i]] = t->group_stamp;
	t->edge.n = 0;
	for (uint32_t i = 0; i < n_edges; i++) {
		uint32_t c = cable[i], a = f->port_node[f->cable_a[c]];
		uint32_t b = f->port_node[f->cable_b[c]];

		FAB_PUSH(&t->edge,
			 ((struct fab_loose_edge){{sw[i], a == sw[i] ? b : a}, c}));
	}
	fab_loose_hang(t, member[0]);
	if (prune(t))
		fab_loose_hang(t, member[0]);
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

void fab_loose_measure(struct fab_loose_tree *t)
{
	struct fab_loose_node *v = t->node.v;
	size_t n = t->node.n;

	for (size_t i = 0; i < n; i++) {
		v[i].below = v[i].is_member ? 0 : FAB_LOOSE_NOWHERE;
		v[i].second = v[i].above = FAB_LOOSE_NOWHERE;
	}
	for (size_t i = n; i-- > 1;) {
		struct fab_loose_node *up = &v[v[i].parent];
		int hops = v[i].below + 1;

		if (up->side != v[i].side)
			continue;
		up->second = larger(up->second, hops > up->below ? up->below : hops);
		up->below = larger(up->below, hops);
	}
	v[0].farthest = v[0].below;
	for (size_t i = 1; i < n; i++) {
		const struct fab_loose_node *up = &v[v[i].parent];

		if (up->side == v[i].side)
			v[i].above = 1 + larger(up->above, v[i].below + 1 == up->below
								   ? up->second
								   : up->below);
		v[i].farthest = larger(v[i].below, v[i].above);
	}
}

void fab_loose_split(struct fab_loose_tree *t, uint32_t at)
{
	struct fab_loose_node *v = t->node.v;

	for (size_t i = 0; i < t->node.n; i++)
		v[i].side = FAB_LOOSE_UPPER;
	for (uint32_t up = v[at].parent; !fab_loose_is_key(&v[up]); up = v[up].parent)
		v[up].side = FAB_LOOSE_PATH;
	v[at].side = FAB_LOOSE_LOWER;
	for (size_t i = at + 1; i < t->node.n; i++)
		if (v[v[i].parent].side == FAB_LOOSE_LOWER)
			v[i].side = FAB_LOOSE_LOWER;
}

void fab_loose_keep_halves(struct fab_loose_tree *t)
{
	const struct fab_loose_node *v = t->node.v;

	t->edge.n = 0;
	for (size_t i = 1; i < t->node.n; i++) {
		const struct fab_loose_node *up = &v[v[i].parent];

		/* the edge of a switch that both ends are in the same half of */
		if (v[i].side != FAB_LOOSE_PATH && up->side == v[i].side)
			FAB_PUSH(&t->edge, ((struct fab_loose_edge){{v[i].sw, up->sw},
								    v[i].cable}));
	}
}
