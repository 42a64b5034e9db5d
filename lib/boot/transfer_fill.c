/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boot/transfer_impl.h"

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

static void make_classes(struct fab_simulation *s, const uint32_t *interface_of)
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

		if (s->o->flow_cap_mbps > 0)
			cap = fmin(cap, s->o->flow_cap_mbps);
		key[i] = (struct key){m->parent[v], interface_of[node], i, cap};
	}
	qsort(key, n, sizeof(*key), cmp_key);
	for (uint32_t i = 0; i < n; i++) {
		struct fab_transfer_class *c =
			s->n_classes ? &s->class[s->n_classes - 1] : NULL;

		if (!c || c->parent != key[i].parent ||
		    c->interface != key[i].interface || c->cap_mbps < key[i].cap) {
			c = &s->class[s->n_classes++];
			*c = (struct fab_transfer_class){.parent = key[i].parent,
							 .interface = key[i].interface,
							 .cap_mbps = key[i].cap,
							 .first = i};
		}
		c->n++;
		s->member[i].at = key[i].at;
		s->class_of[key[i].at] = s->n_classes - 1;
	}
	free(key);
}

/* The pipes of a class: down segments, up segments, disk. */
static uint32_t path_of(const struct fab_simulation *s,
			const struct fab_transfer_class *c,
			uint32_t pipes[2 * FAB_MACHINE_LEVELS_MAX + 2])
{
	const struct fab_machine *m = s->m;
	uint32_t a = c->parent, v = m->interface_vertex[c->interface], n = 0;

	while (a != v) {
		uint32_t *at = a > v ? &a : &v;

		if (isfinite(m->capacity_mbps[*at]))
			pipes[n++] = 2 * *at + (at == &v);
		*at = m->parent[*at];
	}
	if (s->o->server_disk_mbps > 0)
		pipes[n++] = 2 * m->n_vertices + m->interface_server[c->interface];
	return n;
}

static void make_pipes(struct fab_simulation *s)
{
	const struct fab_machine *m = s->m;
	uint32_t on[2 * FAB_MACHINE_LEVELS_MAX + 2], total = 0;

	s->n_pipes = 2 * m->n_vertices + m->n_servers;
	s->pipe = FAB_NEW0(s->n_pipes, struct fab_transfer_pipe);
	for (uint32_t p = 0; p < s->n_pipes; p++)
		s->pipe[p].capacity = p < 2 * m->n_vertices ? m->capacity_mbps[p / 2]
							    : s->o->server_disk_mbps;
	for (uint32_t c = 0; c < s->n_classes; c++)
		for (uint32_t n = path_of(s, &s->class[c], on), k = 0; k < n; k++)
			s->pipe[on[k]].n++;
	for (uint32_t p = 0; p < s->n_pipes; p++) {
		s->pipe[p].first = total;
		total += s->pipe[p].n;
		s->pipe[p].n = 0;
	}
	s->user = FAB_NEW((size_t)total + 1, uint32_t);
	for (uint32_t c = 0; c < s->n_classes; c++)
		for (uint32_t n = path_of(s, &s->class[c], on), k = 0; k < n; k++) {
			struct fab_transfer_pipe *p = &s->pipe[on[k]];

			s->user[p->first + p->n++] = c;
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

static void sort_caps(struct fab_simulation *s)
{
	struct cap *cap = FAB_NEW((size_t)s->n_classes + 1, struct cap);

	for (uint32_t c = 0; c < s->n_classes; c++)
		cap[c] = (struct cap){s->class[c].cap_mbps, c};
	qsort(cap, s->n_classes, sizeof(*cap), cmp_cap);
	s->by_cap = FAB_NEW((size_t)s->n_classes + 1, uint32_t);
	for (uint32_t c = 0; c < s->n_classes; c++)
		s->by_cap[c] = cap[c].class;
	free(cap);
}

static void sift_down(struct fab_simulation *s, uint32_t i)
{
	for (;;) {
		uint32_t k = 2 * i + 1;
		struct fab_transfer_entry swap;

		if (k >= s->n_heap)
			return;
		k += k + 1 < s->n_heap && s->heap[k + 1].level < s->heap[k].level;
		if (s->heap[i].level <= s->heap[k].level)
			return;
		swap = s->heap[i];
		s->heap[i] = s->heap[k];
		s->heap[k] = swap;
		i = k;
	}
}

static void freeze(struct fab_simulation *s, struct fab_transfer_class *c, double level)
{
	uint32_t on[2 * FAB_MACHINE_LEVELS_MAX + 2], n = path_of(s, c, on);

	c->is_frozen = true;
	c->rate = level;
	for (uint32_t k = 0; k < n; k++) {
		s->pipe[on[k]].active -= fab_transfer_active(c);
		s->pipe[on[k]].frozen += level * fab_transfer_active(c);
	}
}

static double level_of(const struct fab_transfer_pipe *p)
{
	return fmax(0, (p->capacity - p->frozen) / p->active);
}

static void start_filling(struct fab_simulation *s)
{
	uint32_t on[2 * FAB_MACHINE_LEVELS_MAX + 2];

	for (uint32_t p = 0; p < s->n_pipes; p++)
		s->pipe[p].active = 0;
	for (uint32_t i = 0; i < s->n_classes; i++) {
		struct fab_transfer_class *c = &s->class[i];

		c->is_frozen = !fab_transfer_active(c);
		c->rate = 0;
		if (c->is_frozen)
			continue;
		for (uint32_t n = path_of(s, c, on), k = 0; k < n; k++)
			s->pipe[on[k]].active += fab_transfer_active(c);
	}
	s->n_heap = 0;
	for (uint32_t p = 0; p < s->n_pipes; p++) {
		s->pipe[p].frozen = 0;
		if (s->pipe[p].active)
			s->heap[s->n_heap++] =
				(struct fab_transfer_entry){level_of(&s->pipe[p]), p};
	}
	for (uint32_t i = s->n_heap / 2; i-- > 0;)
		sift_down(s, i);
}

/*
 * Progressive filling (Bertsekas, Gallager, Data Networks, 6.5.2): all rates rise
 * together until a segment is full or a class has its cap; what uses it stays there. The
 * level of a segment only rises while others freeze, so that an old entry of the heap is
 * never too high.
 */
void fab_transfer_fill(struct fab_simulation *s)
{
	uint32_t next_cap = 0;

	start_filling(s);
	for (;;) {
		struct fab_transfer_pipe *p =
			s->n_heap ? &s->pipe[s->heap[0].pipe] : NULL;
		struct fab_transfer_class *c = NULL;

		while (next_cap < s->n_classes && s->class[s->by_cap[next_cap]].is_frozen)
			next_cap++;
		if (next_cap < s->n_classes)
			c = &s->class[s->by_cap[next_cap]];
		if (p && (!p->active || level_of(p) > s->heap[0].level)) {
			if (p->active)
				s->heap[0].level = level_of(p);
			else
				s->heap[0] = s->heap[--s->n_heap];
			sift_down(s, 0);
			continue;
		}
		if (!p && !c)
			return;
		if (c && (!p || c->cap_mbps <= s->heap[0].level)) {
			freeze(s, c, c->cap_mbps);
			continue;
		}
		for (uint32_t k = 0; k < p->n; k++) {
			struct fab_transfer_class *user =
				&s->class[s->user[p->first + k]];

			if (!user->is_frozen)
				freeze(s, user, s->heap[0].level);
		}
	}
}

void fab_transfer_prepare(struct fab_simulation *s, const uint32_t *interface_of)
{
	make_classes(s, interface_of);
	make_pipes(s);
	sort_caps(s);
	s->heap = FAB_NEW((size_t)s->n_pipes + 1, struct fab_transfer_entry);
}

void fab_transfer_unprepare(struct fab_simulation *s)
{
	free(s->class);
	free(s->member);
	free(s->class_of);
	free(s->pipe);
	free(s->user);
	free(s->by_cap);
	free(s->heap);
}
