/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After an event: groups whose pipe has another load get another rate, the slowest first,
 * as a change reaches only those that are as fast or faster. Where a pipe without a group
 * is full, a class is faster than fair or than it can be, classes are filled anew.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "boot/transfer_impl.h"

/* When more classes begin at once, filling all of them is quicker. */
enum { FEW = 64 };

/* So often classes of one pipe are moved before all of them are filled anew. */
enum { MOVES = 8 };

/* So often a group gets another rate: then rates hang together in a circle. */
enum { SETS = 4 };

void fab_transfer_change(struct fab_simulation *s, uint32_t class)
{
	struct fab_transfer_class *c = &s->class[class];

	if (c->group != FAB_NONE) {
		fab_transfer_recount(s, class);
	} else if (!c->is_changed) {
		c->is_changed = true;
		FAB_PUSH(&s->changed, class);
	}
}

/* The group that a class which begins would be in if all others stayed in theirs. */
static uint32_t likely_group(struct fab_simulation *s, const struct fab_transfer_class *c)
{
	uint32_t group = c->own_group;
	double rate = c->cap_mbps;

	for (uint32_t k = 0; k < c->n_on; k++) {
		uint32_t pipe = s->on[c->first_on + k];
		uint64_t n = s->group[pipe].n;
		double level;

		if (!n)
			continue;
		level = (s->pipe[pipe].capacity - fab_transfer_others(s, pipe)) /
			(double)(n + fab_transfer_active(c));
		if (level < rate) {
			rate = level;
			group = pipe;
		}
	}
	return group;
}

static void begin_changed(struct fab_simulation *s)
{
	for (size_t i = 0; i < s->changed.n; i++) {
		struct fab_transfer_class *c = &s->class[s->changed.v[i]];

		c->is_changed = false;
		if (!fab_transfer_active(c))
			c->offset = 0;
		else if (s->changed.n > FEW)
			fab_transfer_refill(s, s->changed.v[i]);
		else
			fab_transfer_attach(s, s->changed.v[i], likely_group(s, c));
	}
	s->changed.n = 0;
}

/* A watched pipe that holds nobody back. */
static void check_idle(struct fab_simulation *s, uint32_t pipe)
{
	struct fab_transfer_pipe *p = &s->pipe[pipe];
	uint64_t n = 0;

	if (fab_transfer_others(s, pipe) > p->capacity * (1 + FAB_TRANSFER_EPSILON)) {
		for (size_t i = 0; i < p->crossing.n; i++)
			n += s->pair.v[p->crossing.v[i]].n;
		fab_transfer_refill_faster(
			s, pipe, p->capacity / (double)n * (1 - FAB_TRANSFER_EPSILON));
	} else if (p->bound < p->capacity / 2) {
		fab_transfer_unwatch(s, pipe);
	}
}

/* Classes of other groups that are faster than fair on a full pipe: now this one holds
 * them back. False: that has been tried too often. */
static bool move_faster(struct fab_simulation *s, uint32_t pipe, double most)
{
	size_t n = s->refill.n;

	if (n || s->pipe[pipe].n_moves >= MOVES)
		return false;
	fab_transfer_refill_faster(s, pipe, most);
	for (size_t i = 0; i < s->refill.n; i++) {
		s->class[s->refill.v[i]].in_refill = false;
		fab_transfer_detach(s, s->refill.v[i]);
		fab_transfer_attach(s, s->refill.v[i], pipe);
	}
	if (!s->pipe[pipe].n_set && !s->pipe[pipe].n_moves)
		FAB_PUSH(&s->set, pipe);
	s->pipe[pipe].n_moves++;
	s->refill.n = 0;
	return true;
}

/* Rates changed; s->is_unfair when that does not do. */
static void check_fairness(struct fab_simulation *s, uint32_t pipe)
{
	const struct fab_transfer_pipe *p = &s->pipe[pipe];
	const struct fab_transfer_group *g = &s->group[pipe];
	double most = g->rate * (1 + FAB_TRANSFER_EPSILON);
	bool is_faster = false;

	for (size_t i = 0; i < p->crossing.n && !is_faster; i++)
		is_faster = s->group[s->pair.v[p->crossing.v[i]].group].rate > most;
	if (is_faster && move_faster(s, pipe, most))
		return;
	if (is_faster)
		fab_transfer_refill_faster(s, pipe, most);
	if (!is_faster && g->rate <= g->least_cap * (1 + FAB_TRANSFER_EPSILON))
		return;
	fab_transfer_refill_group(s, pipe);
	s->is_unfair = true;
}

static void check_pipe(struct fab_simulation *s, uint32_t pipe)
{
	struct fab_transfer_pipe *p = &s->pipe[pipe];
	const struct fab_transfer_group *g = &s->group[pipe];
	double rate =
		fmax(0, (p->capacity - fab_transfer_others(s, pipe)) / (double)g->n);
	double change = fabs(rate - g->rate);
	bool is_over = p->n_set > p->n_moves + SETS;

	if (is_over && change > FAB_TRANSFER_EPSILON * rate) {
		/* it hangs on itself */
		fab_transfer_refill_group(s, pipe);
		fab_transfer_refill_faster(s, pipe, -1);
		s->is_unfair = true;
	} else if (!is_over && change > FAB_TRANSFER_SAME * rate) {
		if (!p->n_set && !p->n_moves)
			FAB_PUSH(&s->set, pipe);
		p->n_set++;
		fab_transfer_set_rate(s, pipe, rate);
	}
	check_fairness(s, pipe);
}

static int by_rate(const void *a, const void *b, void *groups)
{
	const struct fab_transfer_group *group = groups;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (group[x].rate < group[y].rate || group[x].rate > group[y].rate)
		return group[x].rate < group[y].rate ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Round by round: those that a round makes dirty are checked in the next one; pipes
 * without a group when all rates are known. */
static void check_dirty(struct fab_simulation *s)
{
	for (size_t first = 0; first < s->dirty.n;) {
		size_t end = s->dirty.n;

		qsort_r(s->dirty.v + first, end - first, sizeof(*s->dirty.v), by_rate,
			s->group);
		for (; first < end; first++) {
			uint32_t pipe = s->dirty.v[first];

			if (!s->group[pipe].n) {
				FAB_PUSH(&s->idle, pipe);
				continue;
			}
			s->pipe[pipe].is_dirty = false;
			check_pipe(s, pipe);
		}
	}
	for (size_t i = 0; i < s->idle.n; i++) {
		s->pipe[s->idle.v[i]].is_dirty = false;
		check_idle(s, s->idle.v[i]);
	}
	s->dirty.n = s->idle.n = 0;
}

/* Rates hang together in a circle: fill all there are. */
static void refill_all(struct fab_simulation *s)
{
	for (uint32_t i = 0; i < s->n_classes; i++)
		if (s->class[i].group != FAB_NONE)
			fab_transfer_refill(s, i);
}

void fab_transfer_settle(struct fab_simulation *s)
{
	s->is_unfair = false;
	begin_changed(s);
	check_dirty(s);
	for (size_t n = 0; s->refill.n > n;) {
		fab_transfer_fill(s);
		n = s->refill.n;
		s->is_unfair = false;
		check_dirty(s);
		if (s->is_unfair && s->refill.n == n)
			refill_all(s);
	}
	for (size_t i = 0; i < s->refill.n; i++)
		s->class[s->refill.v[i]].in_refill = false;
	for (size_t i = 0; i < s->set.n; i++)
		s->pipe[s->set.v[i]].n_set = s->pipe[s->set.v[i]].n_moves = 0;
	s->refill.n = s->set.n = 0;
	fab_transfer_place_touched(s);
}
