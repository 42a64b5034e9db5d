/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of a batch, the pipes that can hold them back, and their groups. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boot/transfer_impl.h"

enum { PATH_MAX_PIPES = 2 * FAB_MACHINE_LEVELS_MAX + 2 };

/*
 * Of pipes on a path that are full at once the outer one is taken first, as if it were
 * the narrower by so much: what changes there reaches the fewest others.
 */
#define INNER_IS_WIDER 1e-11

struct key {
	uint32_t parent, interface, at;
	double cap;
};

static int cmp_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->interface != y->interface)
		return x->interface < y->interface ? -1 : 1;
	if (x->cap < y->cap || x->cap > y->cap)
		return x->cap < y->cap ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The same, by the vertex that the nodes hang on: raw pipes of a path come from there. */
static struct key *make_classes(struct fab_simulation *s, const uint32_t *interface_of)
{
	const struct fab_machine *m = s->m;
	uint32_t n = s->batch->n;
	struct key *key = FAB_NEW((size_t)n + 1, struct key);

	s->class = FAB_NEW((size_t)n + 1, struct fab_transfer_class);
	s->member = FAB_NEW((size_t)n + 1, struct fab_transfer_member);
	s->class_of = FAB_NEW((size_t)n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = s->batch->node[i], v = m->node_vertex[node];
		double cap = m->capacity_mbps[v];

		if (s->m->limits.flow_mbps > 0)
			cap = fmin(cap, s->m->limits.flow_mbps);
		key[i] = (struct key){m->parent[v], interface_of[node], i, cap};
	}
	qsort(key, n, sizeof(*key), cmp_key);
	for (uint32_t i = 0; i < n; i++) {
		struct fab_transfer_class *c =
			s->n_classes ? &s->class[s->n_classes - 1] : NULL;

		if (!c || key[c->first].parent != key[i].parent ||
		    c->interface != key[i].interface || c->cap_mbps < key[i].cap) {
			c = &s->class[s->n_classes++];
			*c = (struct fab_transfer_class){.interface = key[i].interface,
							 .cap_mbps = key[i].cap,
							 .group = FAB_NONE,
							 .first = i};
		}
		c->n++;
		s->member[i].at = key[i].at;
		s->class_of[key[i].at] = s->n_classes - 1;
	}
	return key;
}

/* The segments with a capacity between a vertex and an interface: down 2v, up 2v + 1,
 * disks behind them. */
static uint32_t path_of(const struct fab_simulation *s, uint32_t parent,
			uint32_t interface, uint32_t pipes[PATH_MAX_PIPES])
{
	const struct fab_machine *m = s->m;
	uint32_t a = parent, v = m->interface_vertex[interface], n = 0;

	while (a != v) {
		uint32_t *at = a > v ? &a : &v;

		if (isfinite(m->capacity_mbps[*at]))
			pipes[n++] = 2 * *at + (at == &v);
		*at = m->parent[*at];
	}
	if (s->m->limits.disk_mbps > 0)
		pipes[n++] = 2 * m->n_vertices + m->interface_server[interface];
	return n;
}

static double capacity_of(const struct fab_simulation *s, uint32_t raw)
{
	return raw < 2 * s->m->n_vertices ? s->m->capacity_mbps[raw / 2]
					  : s->m->limits.disk_mbps;
}

/* How far a segment is from the outermost ones of the machine. */
static uint32_t *heights_of(const struct fab_machine *m)
{
	uint32_t *height = FAB_NEW0(m->n_vertices, uint32_t), deepest = 0;

	for (uint32_t v = 1; v < m->n_vertices; v++) {
		height[v] = height[m->parent[v]] + 1;
		deepest = height[v] > deepest ? height[v] : deepest;
	}
	for (uint32_t v = 0; v < m->n_vertices; v++)
		height[v] = deepest - height[v];
	return height;
}

/* Number the pipes that could be full if all nodes got what they can take: *out, by raw
 * number, FAB_NONE for the others. */
static void choose_pipes(struct fab_simulation *s, const struct key *key, uint32_t **out)
{
	uint32_t n_raw = 2 * s->m->n_vertices + s->m->n_servers;
	double *wanted = FAB_NEW0((size_t)n_raw, double);
	uint32_t *number = FAB_NEW((size_t)n_raw, uint32_t), raw[PATH_MAX_PIPES];
	uint32_t *height = heights_of(s->m);

	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct fab_transfer_class *c = &s->class[i];
		uint32_t n = path_of(s, key[c->first].parent, c->interface, raw);

		for (uint32_t k = 0; k < n; k++)
			wanted[raw[k]] += c->n * c->cap_mbps;
	}
	for (uint32_t r = 0; r < n_raw; r++) {
		number[r] = FAB_NONE;
		if (wanted[r] > capacity_of(s, r))
			number[r] = s->n_pipes++;
	}
	s->pipe = FAB_NEW0((size_t)s->n_pipes + 1, struct fab_transfer_pipe);
	for (uint32_t r = 0; r < n_raw; r++) {
		struct fab_transfer_pipe *p;

		if (number[r] == FAB_NONE)
			continue;
		p = &s->pipe[number[r]];
		p->capacity = capacity_of(s, r);
		p->handicap = 1;
		if (r < 2 * s->m->n_vertices)
			p->handicap += INNER_IS_WIDER * height[r / 2];
	}
	free(wanted);
	free(height);
	*out = number;
}

static void list_pipes(struct fab_simulation *s, const struct key *key)
{
	uint32_t *number, raw[PATH_MAX_PIPES], at = 0;
	struct fab_transfer_list on = {0};

	choose_pipes(s, key, &number);
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct fab_transfer_class *c = &s->class[i];
		uint32_t n = path_of(s, key[c->first].parent, c->interface, raw);

		c->first_on = (uint32_t)on.n;
		for (uint32_t k = 0; k < n; k++)
			if (number[raw[k]] != FAB_NONE)
				FAB_PUSH(&on, number[raw[k]]);
		c->n_on = (uint32_t)on.n - c->first_on;
	}
	free(number);
	s->on = on.v;
	for (size_t k = 0; k < on.n; k++)
		s->pipe[on.v[k]].n_users++;
	for (uint32_t p = 0; p < s->n_pipes; p++) {
		s->pipe[p].first_user = at;
		at += s->pipe[p].n_users;
		s->pipe[p].n_users = 0;
	}
	s->user = FAB_NEW((size_t)at + 1, uint32_t);
	for (uint32_t i = 0; i < s->n_classes; i++)
		for (uint32_t k = 0; k < s->class[i].n_on; k++) {
			struct fab_transfer_pipe *p =
				&s->pipe[s->on[s->class[i].first_on + k]];

			s->user[p->first_user + p->n_users++] = i;
		}
}

struct cap {
	double cap;
	uint32_t class;
};

static int cmp_cap(const void *a, const void *b)
{
	const struct cap *x = a, *y = b;

	if (x->cap < y->cap || x->cap > y->cap)
		return x->cap < y->cap ? -1 : 1;
	return x->class < y->class ? -1 : x->class > y->class;
}

/* A group for each pipe, and behind them for each capacity of a class, ascending. */
static void make_groups(struct fab_simulation *s)
{
	struct cap *cap = FAB_NEW((size_t)s->n_classes + 1, struct cap);

	for (uint32_t i = 0; i < s->n_classes; i++)
		cap[i] = (struct cap){s->class[i].cap_mbps, i};
	qsort(cap, s->n_classes, sizeof(*cap), cmp_cap);
	s->n_groups = s->n_pipes;
	for (uint32_t i = 0; i < s->n_classes; i++) {
		s->n_groups += !i || cap[i].cap > cap[i - 1].cap;
		s->class[cap[i].class].own_group = s->n_groups - 1;
	}
	s->group = FAB_NEW0((size_t)s->n_groups + 1, struct fab_transfer_group);
	for (uint32_t g = 0; g < s->n_groups; g++) {
		s->group[g].place = FAB_NONE;
		s->group[g].least_cap = INFINITY;
	}
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct fab_transfer_class *c = &s->class[i];

		s->group[c->own_group].rate = c->cap_mbps;
		s->group[c->own_group].upper = c->cap_mbps;
	}
	free(cap);
}

void fab_transfer_prepare(struct fab_simulation *s, const uint32_t *interface_of)
{
	struct key *key = make_classes(s, interface_of);

	list_pipes(s, key);
	free(key);
	make_groups(s);
}

void fab_transfer_unprepare(struct fab_simulation *s)
{
	for (uint32_t p = 0; p < s->n_pipes; p++)
		free(s->pipe[p].crossing.v);
	for (uint32_t g = 0; g < s->n_groups; g++) {
		free(s->group[g].classes.v);
		free(s->group[g].pairs.v);
	}
	free(s->class);
	free(s->member);
	free(s->class_of);
	free(s->pipe);
	free(s->on);
	free(s->user);
	free(s->group);
	free(s->due.v);
	free(s->pair.v);
	free(s->free_pairs.v);
	free(s->changed.v);
	free(s->dirty.v);
	free(s->idle.v);
	free(s->touched.v);
	free(s->set.v);
	free(s->refill.v);
	free(s->filled.v);
	free(s->in);
	free(s->heap.v);
}
