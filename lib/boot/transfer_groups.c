/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of classes with one rate, and what pipes know of their load. */
#include <stdlib.h>

#include "base/mem.h"
#include "boot/transfer_impl.h"

/* The rate of a group may change from a third of its upper bound to all of it before
 * pipes have to hear of another bound. */
#define UPPER 1.5

static void mark(struct fab_simulation *s, uint32_t pipe)
{
	if (!s->pipe[pipe].is_watched || s->pipe[pipe].is_dirty)
		return;
	s->pipe[pipe].is_dirty = true;
	FAB_PUSH(&s->dirty, pipe);
}

static void touch(struct fab_simulation *s, uint32_t group)
{
	if (s->group[group].is_touched)
		return;
	s->group[group].is_touched = true;
	FAB_PUSH(&s->touched, group);
}

/* ---- the classes of a group, the next to have a member done first ---- */

static void put_class(struct fab_simulation *s, struct fab_transfer_list *heap,
		      uint32_t at, uint32_t class)
{
	heap->v[at] = class;
	s->class[class].place = at;
}

static void sift_class(struct fab_simulation *s, struct fab_transfer_list *heap,
		       uint32_t at)
{
	uint32_t class = heap->v[at];
	double key = s->class[class].key;

	while (at && s->class[heap->v[(at - 1) / 2]].key > key) {
		put_class(s, heap, at, heap->v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t k = 2 * at + 1;

		if (k >= heap->n)
			break;
		k += k + 1 < heap->n &&
		     s->class[heap->v[k + 1]].key < s->class[heap->v[k]].key;
		if (s->class[heap->v[k]].key >= key)
			break;
		put_class(s, heap, at, heap->v[k]);
		at = k;
	}
	put_class(s, heap, at, class);
}

static void set_key(struct fab_simulation *s, struct fab_transfer_class *c)
{
	double key = fab_transfer_member(s, c, c->done)->target - c->offset;

	if (!(key > c->key) && !(key < c->key))
		return;
	c->key = key;
	sift_class(s, &s->group[c->group].classes, c->place);
	touch(s, c->group);
}

/* ---- groups, the next to have a member done first ---- */

static void put_group(struct fab_simulation *s, uint32_t at, uint32_t group)
{
	s->due.v[at] = group;
	s->group[group].place = at;
}

static void sift_group(struct fab_simulation *s, uint32_t at)
{
	uint32_t group = s->due.v[at];
	double finish = s->group[group].finish;

	while (at && s->group[s->due.v[(at - 1) / 2]].finish > finish) {
		put_group(s, at, s->due.v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t k = 2 * at + 1;

		if (k >= s->due.n)
			break;
		k += k + 1 < s->due.n &&
		     s->group[s->due.v[k + 1]].finish < s->group[s->due.v[k]].finish;
		if (s->group[s->due.v[k]].finish >= finish)
			break;
		put_group(s, at, s->due.v[k]);
		at = k;
	}
	put_group(s, at, group);
}

static void place_group(struct fab_simulation *s, uint32_t group)
{
	struct fab_transfer_group *g = &s->group[group];

	if (g->classes.n) {
		double left = s->class[g->classes.v[0]].key - fab_transfer_clock(s, g);

		g->finish =
			left > 0 && isfinite(g->rate) ? s->now + left / g->rate : s->now;
		if (g->place == FAB_NONE) {
			FAB_PUSH(&s->due, group);
			g->place = (uint32_t)s->due.n - 1;
		}
		sift_group(s, g->place);
	} else if (g->place != FAB_NONE) {
		uint32_t at = g->place;

		put_group(s, at, s->due.v[s->due.n - 1]);
		g->place = FAB_NONE;
		if (at < --s->due.n)
			sift_group(s, at);
	}
}

void fab_transfer_place_touched(struct fab_simulation *s)
{
	for (size_t i = 0; i < s->touched.n; i++) {
		s->group[s->touched.v[i]].is_touched = false;
		place_group(s, s->touched.v[i]);
	}
	s->touched.n = 0;
}

/* ---- pairs ---- */

static uint32_t find_pair(const struct fab_simulation *s, uint32_t group, uint32_t pipe)
{
	const struct fab_transfer_list *of_group = &s->group[group].pairs;
	const struct fab_transfer_list *of_pipe = &s->pipe[pipe].crossing;
	const struct fab_transfer_list *list =
		of_group->n < of_pipe->n ? of_group : of_pipe;

	for (size_t i = 0; i < list->n; i++) {
		const struct fab_transfer_pair *x = &s->pair.v[list->v[i]];

		if (x->group == group && x->pipe == pipe)
			return list->v[i];
	}
	return FAB_NONE;
}

static uint32_t add_pair(struct fab_simulation *s, uint32_t group, uint32_t pipe)
{
	struct fab_transfer_group *g = &s->group[group];
	struct fab_transfer_pipe *p = &s->pipe[pipe];
	struct fab_transfer_pair pair = {.group = group,
					 .pipe = pipe,
					 .at_group = (uint32_t)g->pairs.n,
					 .at_pipe = (uint32_t)p->crossing.n};
	uint32_t id;

	if (s->free_pairs.n) {
		id = s->free_pairs.v[--s->free_pairs.n];
		s->pair.v[id] = pair;
	} else {
		id = (uint32_t)s->pair.n;
		FAB_PUSH(&s->pair, pair);
	}
	FAB_PUSH(&g->pairs, id);
	FAB_PUSH(&p->crossing, id);
	return id;
}

static void drop_pair(struct fab_simulation *s, uint32_t id)
{
	const struct fab_transfer_pair *x = &s->pair.v[id];
	struct fab_transfer_list *of_group = &s->group[x->group].pairs;
	struct fab_transfer_list *of_pipe = &s->pipe[x->pipe].crossing;
	uint32_t last = of_group->v[--of_group->n];

	of_group->v[x->at_group] = last;
	s->pair.v[last].at_group = x->at_group;
	last = of_pipe->v[--of_pipe->n];
	of_pipe->v[x->at_pipe] = last;
	s->pair.v[last].at_pipe = x->at_pipe;
	FAB_PUSH(&s->free_pairs, id);
}

/* More or fewer members of another group on a watched pipe. */
static void change_pair(struct fab_simulation *s, uint32_t group, uint32_t pipe,
			int64_t more)
{
	uint32_t id = find_pair(s, group, pipe);

	if (id == FAB_NONE)
		id = add_pair(s, group, pipe);
	s->pair.v[id].n = (uint32_t)((int64_t)s->pair.v[id].n + more);
	s->pipe[pipe].others += (double)more * s->group[group].rate;
	s->pipe[pipe].n_changes++;
	if (!s->pair.v[id].n)
		drop_pair(s, id);
}

double fab_transfer_others(struct fab_simulation *s, uint32_t pipe)
{
	struct fab_transfer_pipe *p = &s->pipe[pipe];

	/* sums that only change in part drift away from what they are */
	if (p->n_changes >= p->crossing.n) {
		p->others = 0;
		p->n_changes = 0;
		for (size_t i = 0; i < p->crossing.n; i++) {
			const struct fab_transfer_pair *x = &s->pair.v[p->crossing.v[i]];

			p->others += x->n * s->group[x->group].rate;
		}
	}
	return p->others;
}

void fab_transfer_watch(struct fab_simulation *s, uint32_t pipe)
{
	struct fab_transfer_pipe *p = &s->pipe[pipe];

	if (p->is_watched)
		return;
	p->is_watched = true;
	p->others = 0;
	for (uint32_t i = 0; i < p->n_users; i++) {
		const struct fab_transfer_class *c =
			&s->class[s->user[p->first_user + i]];

		if (c->counted && c->group != pipe)
			change_pair(s, c->group, pipe, c->counted);
	}
	mark(s, pipe);
}

void fab_transfer_unwatch(struct fab_simulation *s, uint32_t pipe)
{
	struct fab_transfer_pipe *p = &s->pipe[pipe];

	while (p->crossing.n)
		drop_pair(s, p->crossing.v[p->crossing.n - 1]);
	p->is_watched = false;
}

/* ---- rates and members ---- */

/* Pipes with members of the group hear of another upper bound. */
static void change_upper(struct fab_simulation *s, uint32_t group, double upper)
{
	struct fab_transfer_group *g = &s->group[group];
	double more = upper - g->upper;

	g->upper = upper;
	for (size_t i = 0; i < g->classes.n; i++) {
		const struct fab_transfer_class *c = &s->class[g->classes.v[i]];

		for (uint32_t k = 0; k < c->n_on; k++)
			s->pipe[s->on[c->first_on + k]].bound += c->counted * more;
	}
	for (size_t i = 0; i < g->classes.n && more > 0; i++) {
		const struct fab_transfer_class *c = &s->class[g->classes.v[i]];

		for (uint32_t k = 0; k < c->n_on; k++) {
			uint32_t pipe = s->on[c->first_on + k];

			if (s->pipe[pipe].bound > s->pipe[pipe].capacity)
				fab_transfer_watch(s, pipe);
		}
	}
}

void fab_transfer_set_rate(struct fab_simulation *s, uint32_t group, double rate)
{
	struct fab_transfer_group *g = &s->group[group];
	double more = rate - g->rate;

	g->clock = fab_transfer_clock(s, g);
	g->since = s->now;
	g->rate = rate;
	for (size_t i = 0; i < g->pairs.n; i++) {
		const struct fab_transfer_pair *x = &s->pair.v[g->pairs.v[i]];

		s->pipe[x->pipe].others += x->n * more;
		s->pipe[x->pipe].n_changes++;
		mark(s, x->pipe);
	}
	touch(s, group);
	if (rate > g->upper || rate < g->upper / 3)
		change_upper(s, group, UPPER * rate);
}

/* The group counts so many more members of the class. */
static void count(struct fab_simulation *s, struct fab_transfer_class *c, int64_t more)
{
	struct fab_transfer_group *g = &s->group[c->group];

	c->counted = (uint32_t)((int64_t)c->counted + more);
	g->n = (uint64_t)((int64_t)g->n + more);
	for (uint32_t k = 0; k < c->n_on; k++) {
		uint32_t pipe = s->on[c->first_on + k];
		struct fab_transfer_pipe *p = &s->pipe[pipe];

		p->bound += (double)more * g->upper;
		if (!p->is_watched && p->bound > p->capacity)
			fab_transfer_watch(s, pipe);
		else if (p->is_watched && pipe != c->group)
			change_pair(s, c->group, pipe, more);
		mark(s, pipe);
	}
}

void fab_transfer_attach(struct fab_simulation *s, uint32_t class, uint32_t group)
{
	struct fab_transfer_class *c = &s->class[class];
	struct fab_transfer_group *g = &s->group[group];

	if (group < s->n_pipes)
		fab_transfer_watch(s, group);
	c->offset -= fab_transfer_clock(s, g);
	c->group = group;
	c->key = fab_transfer_member(s, c, c->done)->target - c->offset;
	g->least_cap = fmin(g->least_cap, c->cap_mbps);
	FAB_PUSH(&g->classes, class);
	c->place = (uint32_t)g->classes.n - 1;
	sift_class(s, &g->classes, c->place);
	touch(s, group);
	count(s, c, fab_transfer_active(c));
}

void fab_transfer_detach(struct fab_simulation *s, uint32_t class)
{
	struct fab_transfer_class *c = &s->class[class];
	struct fab_transfer_group *g = &s->group[c->group];
	struct fab_transfer_list *heap = &g->classes;
	uint32_t last = heap->v[--heap->n];

	count(s, c, -(int64_t)c->counted);
	if (last != class) {
		put_class(s, heap, c->place, last);
		sift_class(s, heap, c->place);
	}
	touch(s, c->group);
	c->offset += fab_transfer_clock(s, g);
	c->group = FAB_NONE;
	if (!heap->n) {
		g->clock = 0;
		g->since = s->now;
		g->least_cap = INFINITY;
	}
}

void fab_transfer_recount(struct fab_simulation *s, uint32_t class)
{
	struct fab_transfer_class *c = &s->class[class];

	if (!fab_transfer_active(c)) {
		fab_transfer_detach(s, class);
		c->offset = 0;
		return;
	}
	count(s, c, (int64_t)fab_transfer_active(c) - c->counted);
	set_key(s, c);
}
