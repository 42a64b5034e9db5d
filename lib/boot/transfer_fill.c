/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progressive filling (Bertsekas, Gallager, Data Networks, 6.5.2) of some classes, while
 * all others keep what they have: the rates of these rise together until a pipe is full
 * or a class has its capacity; what uses it stays there. Where that is unfair to others,
 * or leaves them room, these are filled anew as well.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "boot/transfer_impl.h"

/* Its rate is not to be changed any more after an event. */
#define MANY UINT32_MAX

void fab_transfer_refill(struct fab_simulation *s, uint32_t class)
{
	if (s->class[class].in_refill)
		return;
	s->class[class].in_refill = true;
	FAB_PUSH(&s->refill, class);
}

void fab_transfer_refill_group(struct fab_simulation *s, uint32_t group)
{
	const struct fab_transfer_list *classes = &s->group[group].classes;

	for (size_t i = 0; i < classes->n; i++)
		fab_transfer_refill(s, classes->v[i]);
}

void fab_transfer_refill_faster(struct fab_simulation *s, uint32_t pipe, double rate)
{
	const struct fab_transfer_pipe *p = &s->pipe[pipe];
	bool is_any = false;

	for (size_t i = 0; i < p->crossing.n && !is_any; i++)
		is_any = s->group[s->pair.v[p->crossing.v[i]].group].rate > rate;
	for (uint32_t i = 0; i < p->n_users && is_any; i++) {
		uint32_t class = s->user[p->first_user + i];
		const struct fab_transfer_class *c = &s->class[class];

		if (c->group != FAB_NONE && s->group[c->group].rate > rate)
			fab_transfer_refill(s, class);
	}
}

/* Load by classes that are not filled; of a pipe that is not watched a bound. */
static double fixed_load(struct fab_simulation *s, uint32_t pipe)
{
	const struct fab_transfer_pipe *p = &s->pipe[pipe];

	return p->is_watched ? fab_transfer_others(s, pipe) +
				       (double)s->group[pipe].n * s->group[pipe].rate
			     : p->bound;
}

static double level_of(struct fab_simulation *s, uint32_t pipe)
{
	const struct fab_transfer_pipe *p = &s->pipe[pipe];

	return fmax(0, (p->capacity - fixed_load(s, pipe) - p->frozen) / p->active);
}

/* By this the next pipe is found that is full. */
static double place_of(struct fab_simulation *s, uint32_t pipe)
{
	return level_of(s, pipe) * s->pipe[pipe].handicap;
}

static void sift_down(struct fab_simulation *s, size_t i)
{
	struct fab_transfer_entry *heap = s->heap.v, entry = heap[i];

	for (;;) {
		size_t k = 2 * i + 1;

		if (k >= s->heap.n)
			break;
		k += k + 1 < s->heap.n && heap[k + 1].level < heap[k].level;
		if (entry.level <= heap[k].level)
			break;
		heap[i] = heap[k];
		i = k;
	}
	heap[i] = entry;
}

/* The pipes of the classes, and in each its classes. */
static void list_pipes(struct fab_simulation *s)
{
	size_t n_in = 0;

	for (size_t i = 0; i < s->refill.n; i++) {
		struct fab_transfer_class *c = &s->class[s->refill.v[i]];

		c->is_frozen = !fab_transfer_active(c);
		for (uint32_t k = 0; k < c->n_on && !c->is_frozen; k++) {
			uint32_t pipe = s->on[c->first_on + k];
			struct fab_transfer_pipe *p = &s->pipe[pipe];

			if (!p->is_touched) {
				p->is_touched = true;
				p->n_in = p->active = 0;
				p->frozen = p->most = 0;
				p->level = INFINITY;
				FAB_PUSH(&s->filled, pipe);
			}
			p->active += fab_transfer_active(c);
			p->n_in++;
			n_in++;
		}
	}
	if (n_in > s->n_in) {
		s->n_in = 2 * n_in;
		s->in = fab_realloc(s->in, s->n_in, sizeof(*s->in));
	}
	n_in = 0;
	for (size_t i = 0; i < s->filled.n; i++) {
		struct fab_transfer_pipe *p = &s->pipe[s->filled.v[i]];

		p->first_in = (uint32_t)n_in;
		n_in += p->n_in;
		p->n_in = 0;
	}
	for (size_t i = 0; i < s->refill.n; i++) {
		const struct fab_transfer_class *c = &s->class[s->refill.v[i]];

		for (uint32_t k = 0; k < c->n_on && !c->is_frozen; k++) {
			struct fab_transfer_pipe *p = &s->pipe[s->on[c->first_on + k]];

			s->in[p->first_in + p->n_in++] = s->refill.v[i];
		}
	}
}

static void start_filling(struct fab_simulation *s)
{
	s->filled.n = s->heap.n = 0;
	list_pipes(s);
	for (size_t i = 0; i < s->filled.n; i++)
		FAB_PUSH(&s->heap, ((struct fab_transfer_entry){
					   place_of(s, s->filled.v[i]), s->filled.v[i]}));
	for (size_t i = s->heap.n / 2; i-- > 0;)
		sift_down(s, i);
}

static void freeze(struct fab_simulation *s, struct fab_transfer_class *c, uint32_t group,
		   double rate)
{
	c->is_frozen = true;
	c->new_group = group;
	c->new_rate = rate;
	for (uint32_t k = 0; k < c->n_on; k++) {
		struct fab_transfer_pipe *p = &s->pipe[s->on[c->first_on + k]];

		p->active -= fab_transfer_active(c);
		p->frozen += rate * fab_transfer_active(c);
		p->most = fmax(p->most, rate);
	}
}

static int by_capacity(const void *a, const void *b, void *classes)
{
	const struct fab_transfer_class *class = classes;
	const struct fab_transfer_class *x = &class[*(const uint32_t *)a];
	const struct fab_transfer_class *y = &class[*(const uint32_t *)b];

	return x->own_group < y->own_group ? -1 : x->own_group > y->own_group;
}

/* Classes to be filled by ascending capacity, on the heap; often all have the same. */
static uint32_t *sort_classes(const struct fab_simulation *s)
{
	size_t n = s->refill.n;
	uint32_t *class = FAB_NEW(n + 1, uint32_t);
	bool is_sorted = true;

	for (size_t i = 0; i < n; i++) {
		class[i] = s->refill.v[i];
		is_sorted &= !i || by_capacity(&class[i - 1], &class[i], s -> class) <= 0;
	}
	if (!is_sorted)
		qsort_r(class, n, sizeof(*class), by_capacity, s->class);
	return class;
}

/* The pipe that is full next, as the heap has it first; FAB_NONE: none is. The level of a
 * pipe only rises while others freeze: an old entry of the heap is never too high. */
static uint32_t next_full(struct fab_simulation *s)
{
	while (s->heap.n) {
		struct fab_transfer_entry *top = &s->heap.v[0];

		if (!s->pipe[top->pipe].active) {
			*top = s->heap.v[--s->heap.n];
		} else {
			double level = place_of(s, top->pipe);

			if (!(level > top->level))
				return top->pipe;
			top->level = level;
		}
		if (s->heap.n)
			sift_down(s, 0);
	}
	return FAB_NONE;
}

static void fill(struct fab_simulation *s)
{
	uint32_t *class = sort_classes(s);
	size_t next = 0;

	start_filling(s);
	for (;;) {
		uint32_t pipe = next_full(s);
		double level = pipe == FAB_NONE ? INFINITY : level_of(s, pipe);
		struct fab_transfer_class *c;

		while (next < s->refill.n && s->class[class[next]].is_frozen)
			next++;
		c = next < s->refill.n ? &s->class[class[next]] : NULL;
		if (c && c->cap_mbps <= level) {
			freeze(s, c, c->own_group, c->cap_mbps);
			continue;
		}
		if (pipe == FAB_NONE)
			break;
		if (!s->pipe[pipe].is_watched) { /* there may be more room */
			fab_transfer_watch(s, pipe);
			continue;
		}
		s->pipe[pipe].level = level;
		for (uint32_t k = 0; k < s->pipe[pipe].n_in; k++) {
			c = &s->class[s->in[s->pipe[pipe].first_in + k]];
			if (!c->is_frozen)
				freeze(s, c, pipe, level);
		}
	}
	free(class);
}

/*
 * Are there others that have more than a fair rate now, or less? They are to be filled,
 * too. Those that are faster and only have more room, or less, get their new rate
 * afterwards.
 */
static bool disturbs_others(struct fab_simulation *s)
{
	size_t n = s->refill.n;

	for (size_t i = 0; i < s->filled.n; i++) {
		uint32_t pipe = s->filled.v[i];
		const struct fab_transfer_pipe *p = &s->pipe[pipe];
		const struct fab_transfer_group *g = &s->group[pipe];
		double most = p->level * (1 + FAB_TRANSFER_EPSILON);

		if (g->n &&
		    (p->most > g->rate * (1 + FAB_TRANSFER_EPSILON) || g->rate > most))
			fab_transfer_refill_group(s, pipe);
		if (isfinite(most))
			fab_transfer_refill_faster(s, pipe, most);
	}
	for (size_t i = 0; i < s->filled.n; i++)
		s->pipe[s->filled.v[i]].is_touched = false;
	return s->refill.n > n;
}

void fab_transfer_fill(struct fab_simulation *s)
{
	do {
		for (size_t i = 0; i < s->refill.n; i++)
			if (s->class[s->refill.v[i]].group != FAB_NONE)
				fab_transfer_detach(s, s->refill.v[i]);
		fill(s);
	} while (disturbs_others(s));
	for (size_t i = 0; i < s->refill.n; i++) {
		struct fab_transfer_class *c = &s->class[s->refill.v[i]];

		if (!fab_transfer_active(c))
			continue;
		if (c->new_group < s->n_pipes) {
			if (!s->group[c->new_group].n)
				fab_transfer_set_rate(s, c->new_group, c->new_rate);
			if (!s->pipe[c->new_group].n_set &&
			    !s->pipe[c->new_group].n_moves)
				FAB_PUSH(&s->set, c->new_group);
			s->pipe[c->new_group].n_set = MANY;
		}
		fab_transfer_attach(s, s->refill.v[i], c->new_group);
	}
}
