/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/loose_tree.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_loose_init(struct fab_loose_tree *t, const struct fab_mcast_problem *p)
{
	*t = (struct fab_loose_tree){.p = p};
	t->of = FAB_NEW0(p->f->n_switches, struct fab_loose_switch);
}

void fab_loose_fini(struct fab_loose_tree *t)
{
	free(t->node.v);
	free(t->old.v);
	free(t->moved.v);
	free(t->edge.v);
	free(t->reach.v);
	free(t->farthest.v);
	free(t->next.v);
	free(t->of);
	*t = (struct fab_loose_tree){0};
}

/* Half-edge 2e + i is that of end i of edge e, listed at this end. */
static void list_half_edges(struct fab_loose_tree *t)
{
	uint32_t n = 2 * (uint32_t)t->edge.n;

	t->stamp++;
	t->next.n = 0;
	FAB_RESERVE(&t->next, n);
	for (uint32_t h = 0; h < n; h++) {
		struct fab_loose_switch *of = &t->of[t->edge.v[h / 2].sw[h & 1]];

		t->next.v[h] = of->is_in == t->stamp ? of->half_edge : FAB_NONE;
		of->is_in = t->stamp;
		of->half_edge = h;
	}
}

/* There is room. */
static void push_node(struct fab_loose_tree *t, uint32_t sw, uint32_t parent,
		      uint32_t cable)
{
	struct fab_loose_switch *of = &t->of[sw];

	of->place = (uint32_t)t->node.n;
	t->node.v[t->node.n++] =
		(struct fab_loose_node){.sw = sw,
					.parent = parent,
					.cable = cable,
					.is_member = of->is_wanted == t->group_stamp};
}

/* The next node below this one, if there is one left; else nothing more hangs on it. */
static bool push_child(struct fab_loose_tree *t, uint32_t at)
{
	struct fab_loose_node *n = &t->node.v[at];
	struct fab_loose_switch *of = &t->of[n->sw];

	for (uint32_t h; (h = of->half_edge) != FAB_NONE;) {
		const struct fab_loose_edge *e = &t->edge.v[h / 2];

		of->half_edge = t->next.v[h];
		if (e->cable == n->cable)
			continue;
		n->n_children++;
		push_node(t, e->sw[!(h & 1)], at, e->cable);
		return true;
	}
	n->end = (uint32_t)t->node.n;
	return false;
}

/* Nodes of the edges, from a switch of the tree. */
static void hang(struct fab_loose_tree *t, uint32_t sw)
{
	uint32_t at = 0;

	list_half_edges(t);
	t->version++;
	if (!t->edge.n)
		t->of[sw].half_edge = FAB_NONE;
	t->node.n = 0;
	FAB_RESERVE(&t->node, t->edge.n + 1);
	push_node(t, sw, FAB_NONE, FAB_NONE);
	while (at != FAB_NONE)
		at = push_child(t, at) ? (uint32_t)t->node.n - 1 : t->node.v[at].parent;
	fab_loose_unite(t);
}

static void keep_edge(struct fab_loose_tree *t, uint32_t node)
{
	const struct fab_loose_node *n = &t->node.v[node];

	FAB_PUSH(&t->edge,
		 ((struct fab_loose_edge){{n->sw, t->node.v[n->parent].sw}, n->cable}));
}

void fab_loose_hang(struct fab_loose_tree *t, uint32_t sw)
{
	t->edge.n = 0;
	for (uint32_t i = 1; i < t->node.n; i++)
		keep_edge(t, i);
	hang(t, sw);
}

/* Leave out what no member hangs on; was there any? */
static bool prune(struct fab_loose_tree *t)
{
	size_t n = t->node.n;

	t->edge.n = 0;
	for (size_t i = n; i-- > 1;) {
		struct fab_loose_node *x = &t->node.v[i];

		if (x->is_member || x->n_children)
			keep_edge(t, (uint32_t)i);
		else
			t->node.v[x->parent].n_children--;
	}
	return t->edge.n + 1 < n;
}

void fab_loose_take(struct fab_loose_tree *t, const uint32_t *member, uint32_t n_members,
		    uint32_t n_edges, const uint32_t *sw, const uint32_t *cable)
{
	const struct fab_fabric *f = t->p->f;

	t->group_stamp++;
	for (uint32_t i = 0; i < n_members; i++)
		t->of[member[i]].is_wanted = t->group_stamp;
	t->edge.n = 0;
	for (uint32_t i = 0; i < n_edges; i++) {
		uint32_t c = cable[i], a = f->port_node[f->cable_a[c]];
		uint32_t b = f->port_node[f->cable_b[c]];

		FAB_PUSH(&t->edge,
			 ((struct fab_loose_edge){{sw[i], a == sw[i] ? b : a}, c}));
	}
	hang(t, member[0]);
	if (prune(t))
		hang(t, member[0]);
}

static int16_t larger(int16_t a, int16_t b)
{
	return a > b ? a : b;
}

/* Nodes first .. end - 1 tell their parents what is below them. */
static void measure_up(struct fab_loose_tree *t, uint32_t first, uint32_t end)
{
	struct fab_loose_reach *reach = t->reach.v;

	for (uint32_t i = end; i-- > first;) {
		struct fab_loose_reach *up = &reach[t->node.v[i].parent];
		int16_t hops = (int16_t)(reach[i].below + 1);

		up->second = larger(up->second, hops > up->below ? up->below : hops);
		up->below = larger(up->below, hops);
	}
}

/* Nodes first .. end - 1 hear from their parents what is not below them. */
static void measure_down(struct fab_loose_tree *t, uint32_t first, uint32_t end)
{
	struct fab_loose_reach *reach = t->reach.v;

	for (uint32_t i = first; i < end; i++) {
		const struct fab_loose_reach *up = &reach[t->node.v[i].parent];
		int16_t beside = reach[i].below + 1 == up->below ? up->second : up->below;

		reach[i].above = (int16_t)(1 + larger(up->above, beside));
		t->farthest.v[i] = larger(reach[i].below, reach[i].above);
	}
}

void fab_loose_measure(struct fab_loose_tree *t)
{
	uint32_t n = (uint32_t)t->node.n, top = t->at < n ? t->at : 0;

	t->reach.n = t->farthest.n = 0;
	FAB_RESERVE(&t->reach, n);
	FAB_RESERVE(&t->farthest, n);
	t->reach.n = t->farthest.n = n;
	for (uint32_t i = 0; i < n; i++) {
		int16_t below = t->node.v[i].is_member ? 0 : FAB_LOOSE_NOWHERE;

		t->reach.v[i] = (struct fab_loose_reach){below, FAB_LOOSE_NOWHERE,
							 FAB_LOOSE_NOWHERE};
		t->farthest.v[i] = below;
	}
	measure_up(t, t->end, n);
	measure_up(t, t->at + 1, t->end);
	measure_up(t, 1, t->out);
	t->farthest.v[0] = t->reach.v[0].below;
	t->farthest.v[top] = t->reach.v[top].below;
	measure_down(t, 1, t->out);
	measure_down(t, t->at + 1, t->end);
	measure_down(t, t->end, n);
}

void fab_loose_unite(struct fab_loose_tree *t)
{
	t->out = t->at = t->end = (uint32_t)t->node.n;
}

void fab_loose_split(struct fab_loose_tree *t, uint32_t at)
{
	const struct fab_loose_node *v = t->node.v;

	t->at = t->out = at;
	t->end = v[at].end;
	/* what is not a branch has its only child next to it */
	while (!fab_loose_is_key(&v[v[t->out].parent]))
		t->out = v[t->out].parent;
}

/* The next node is this one. */
static void append(struct fab_loose_tree *t, const struct fab_loose_node *n)
{
	uint32_t at = (uint32_t)t->node.n++;
	struct fab_loose_switch *of = &t->of[n->sw];

	t->node.v[at] = *n;
	t->node.v[at].end = at + 1;
	of->is_in = t->stamp;
	of->place = at;
}

/* The next nodes are the old ones from first to end - 1, whose parents are there already;
 * for those where another will be, something else. */
static void move(struct fab_loose_tree *t, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct fab_loose_node n = t->old.v[i];

		n.parent = i ? t->moved.v[n.parent] : FAB_NONE;
		t->moved.v[i] = (uint32_t)t->node.n;
		append(t, &n);
	}
}

/* The next nodes are those inside a path that begins at an old node; returns the one
 * that its last edge begins at. */
static uint32_t append_path(struct fab_loose_tree *t, uint32_t from,
			    const struct fab_loose_edge *path, uint32_t n, bool is_back)
{
	uint32_t parent = t->moved.v[from];

	t->node.v[parent].n_children++;
	for (uint32_t i = 0; i + 1 < n; i++) {
		const struct fab_loose_edge *e = &path[is_back ? n - 1 - i : i];
		const struct fab_loose_node node = {.sw = e->sw[!is_back],
						    .parent = parent,
						    .cable = e->cable,
						    .n_children = 1};

		parent = (uint32_t)t->node.n;
		append(t, &node);
	}
	return parent;
}

/* The next nodes are those of the lower half as seen from its old node `top`, which hangs
 * on `parent` by `cable`: what hung on it, then its old parent with what else hung on
 * that, and so on. */
static void move_lower(struct fab_loose_tree *t, uint32_t top, uint32_t parent,
		       uint32_t cable)
{
	const struct fab_loose_node *old = t->old.v;

	move(t, top, old[top].end);
	for (uint32_t i = top;;) {
		struct fab_loose_node *n = &t->node.v[t->moved.v[i]];
		uint32_t up = old[i].parent;

		n->parent = parent;
		n->cable = cable;
		if (i == t->at) {
			n->n_children -= i != top;
			return;
		}
		n->n_children += i == top;
		move(t, up, i);
		move(t, old[i].end, old[up].end);
		parent = t->moved.v[i];
		cable = old[i].cable;
		i = up;
	}
}

/* What hangs on each node ends where the last of that ends. */
static void find_ends(struct fab_loose_tree *t)
{
	struct fab_loose_node *v = t->node.v;

	for (size_t i = t->node.n; i-- > 1;)
		if (v[i].end > v[v[i].parent].end)
			v[v[i].parent].end = v[i].end;
}

/* The nodes become the old ones, without the path that is taken out; there is room for
 * so many new ones. */
static void begin_join(struct fab_loose_tree *t, uint32_t n_new)
{
	uint32_t n = (uint32_t)t->node.n;

	for (uint32_t i = t->out; i < t->at; i++)
		t->of[t->node.v[i].sw].is_in = 0;
	t->node.v[t->node.v[t->out].parent].n_children--;
	t->old.n = 0;
	FAB_RESERVE(&t->old, n + n_new);
	memcpy(t->old.v, t->node.v, n * sizeof(*t->old.v));
	t->old.n = n;
	t->node.n = t->moved.n = 0;
	FAB_RESERVE(&t->node, n + n_new);
	FAB_RESERVE(&t->moved, n);
	memset(t->moved.v, 0, n * sizeof(*t->moved.v));
}

void fab_loose_join(struct fab_loose_tree *t, const struct fab_loose_edge *path,
		    uint32_t n_edges)
{
	uint32_t ends[2] = {fab_loose_find(t, path[0].sw[0]),
			    fab_loose_find(t, path[n_edges - 1].sw[1])};
	bool is_back = fab_loose_side(t, ends[0]) == FAB_LOOSE_LOWER;
	uint32_t upper = ends[is_back], lower = ends[!is_back], parent;
	uint32_t first = upper < t->out ? upper + 1 : t->out;

	begin_join(t, n_edges - 1);
	move(t, 0, first);
	if (upper >= t->end)
		move(t, t->end, upper + 1);
	parent = append_path(t, upper, path, n_edges, is_back);
	move_lower(t, lower, parent, path[is_back ? 0 : n_edges - 1].cable);
	move(t, first, t->out);
	move(t, upper < t->out ? t->end : upper + 1, (uint32_t)t->old.n);
	find_ends(t);
	t->version++;
	fab_loose_unite(t);
}
