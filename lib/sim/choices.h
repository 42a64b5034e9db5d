/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is chosen at a time, of the switches at which something happened. Where they
 * are many, the outputs that may start a packet are put in one list, so that what a
 * choice needs can be asked for while those before it are made.
 */
#pragma once

#include "sim/core.h"

enum {
	SIM_CHOICES_FEW = 16, /* the first caches hold what they need */
	SIM_SOON = 2, /* choices ahead; of the second step twice, of the first thrice */
	SIM_FEW_OUTS = 3,
	SIM_ENDS_SOON = 4 /* endpoints ahead */
};

/* The outputs of a switch, from its turn on around. */
SIM_HOT void sim_list_large(struct sim_shape k, struct sim_part *p, struct sim_switch *sw)
{
	uint64_t *dirty = sim_dirty(k, p->sim, sw);
	uint32_t n = sim_out_words(k, sw), w = sw->turn / SIM_WORD;
	uint64_t below = ~(~0ull << sw->turn % SIM_WORD), mask = ~below;

	sw->is_dirty = false;
	for (uint32_t i = 0; i <= n; i++) {
		uint64_t bits = dirty[w] & mask;

		dirty[w] &= ~mask;
		for (; bits; bits &= bits - 1)
			p->choice[p->n_choices++] = sw->port_first + w * SIM_WORD +
						    (uint32_t)__builtin_ctzll(bits);
		w = w + 1 == n ? 0 : w + 1;
		mask = i + 1 == n ? below : ~0ull;
	}
}

/* The same of a small one. How many there are is chance: the first few are written
 * whether they are there or not. */
SIM_HOT void sim_list_small(struct sim_part *p, struct sim_switch *sw)
{
	uint32_t turn = sw->turn, n = (uint32_t)__builtin_popcountll(sw->dirty_outs);
	uint64_t bits = sim_rotate(sw->dirty_outs, turn);
	uint32_t *to = p->choice + p->n_choices;

	sw->dirty_outs = 0;
	p->n_choices += n;
	for (uint32_t i = 0; i < SIM_FEW_OUTS || i < n; i++) {
		uint32_t is_one = -(uint32_t)(bits != 0);
		uint32_t out = turn + (uint32_t)__builtin_ctzll(bits | 1ull << 63);

		to[i] = sw->port_first + (out % SIM_WORD & is_one);
		bits &= bits - 1;
	}
}

/* The queue that an output is to look at first, and its input; NULL: none. */
SIM_HOT const struct sim_queue *sim_expect(struct sim_shape k, const struct sim_part *p,
					   uint32_t id, const struct sim_port **in)
{
	const struct sim *s = p->sim;
	const struct sim_port *out = &s->port[id];
	uint32_t unit = sim_core_pick(k, p, &s->sw[out->sw], out->local, 0, &out->lane);

	if (unit == FAB_NONE)
		return NULL;
	*in = out - out->local + unit;
	return sim_queue_of(k, s, *in, unit, out->local, 0);
}

/* What is expected of the next choices. */
struct sim_expected {
	const struct sim_queue *queue[2 * SIM_SOON];
	const struct sim_port *in[2 * SIM_SOON];
};

/* Have in the cache what is needed soon, in three steps: the output; its queue; the
 * packet. */
SIM_HOT void sim_prepare(struct sim_shape k, const struct sim_part *p,
			 struct sim_expected *x, uint32_t i)
{
	const struct sim *s = p->sim;
	uint32_t id = p->choice[i + 3 * SIM_SOON], at = i % (2 * SIM_SOON);
	uint32_t then = (i + SIM_SOON) % (2 * SIM_SOON);

	__builtin_prefetch(&s->port[id]);
	__builtin_prefetch(&s->port[id].lane);
	x->queue[at] = sim_expect(k, p, p->choice[i + 2 * SIM_SOON], &x->in[at]);
	if (x->queue[at]) {
		__builtin_prefetch(x->in[at]);
		__builtin_prefetch(x->queue[at]);
	}
	if (x->queue[then] && !sim_queue_is_empty(x->queue[then])) {
		__builtin_prefetch(&p->cell.v[x->queue[then]->first]);
		__builtin_prefetch(&s->port[x->in[then]->peer].lane);
	}
}

/* An output chooses; the first of a switch that starts something moves its turn. */
SIM_HOT void sim_choose(struct sim_shape k, struct sim_part *p, uint32_t id)
{
	struct sim_port *out = &p->sim->port[id];
	struct sim_switch *sw = &p->sim->sw[out->sw];
	uint32_t next = out->local + 1u == sw->n_ports ? 0 : out->local + 1u;
	uint16_t is_first = (uint16_t) - (sw->turned != p->now); /* no branch */

	if (!sim_core_serve(k, p, sw, out->local))
		return;
	sw->turn ^= (uint16_t)((sw->turn ^ next) & is_first);
	sw->turned = p->now;
}

/* The same of all of a small switch. */
SIM_HOT void sim_choose_all(struct sim_shape k, struct sim_part *p, uint32_t sw_id)
{
	struct sim_switch *sw = &p->sim->sw[sw_id];
	uint32_t turn = sw->turn;
	uint64_t bits = sim_rotate(sw->dirty_outs, turn), started = 0;
	uint32_t first;

	sw->dirty_outs = 0;
	for (; bits; bits &= bits - 1) {
		uint32_t out = (turn + (uint32_t)__builtin_ctzll(bits)) % SIM_WORD;
		uint64_t is_started = sim_core_serve(k, p, sw, out);

		started |= bits & -bits & -is_started;
	}
	if (!started)
		return;
	first = (turn + (uint32_t)__builtin_ctzll(started)) % SIM_WORD + 1;
	sw->turn = (uint16_t)(first == sw->n_ports ? 0 : first);
}

/* By one list, with what is needed asked for. */
SIM_HOT void sim_choose_listed(struct sim_shape k, struct sim_part *p)
{
	struct sim_expected x = {0};
	bool is_long;

	p->n_choices = 0;
	for (uint32_t i = 0; i < p->n_dirty; i++) {
		struct sim_switch *sw = &p->sim->sw[p->dirty[i]];

		if (k.is_small)
			sim_list_small(p, sw);
		else
			sim_list_large(k, p, sw);
	}
	is_long = k.one_lane && !k.with_groups && p->n_choices >= SIM_CHOICES_FEW;
	for (uint32_t i = 0; i < p->n_choices; i++) {
		if (is_long)
			sim_prepare(k, p, &x, i);
		sim_choose(k, p, p->choice[i]);
	}
}

/* Endpoints that may send at this time. */
SIM_HOT void sim_inject_all(struct sim_part *p)
{
	const struct fab_messages *m = p->sim->messages;
	size_t n = p->dirty_ends.n, soon = n < SIM_ENDS_SOON ? n : SIM_ENDS_SOON;

	for (size_t i = 0; m->prepare && i < soon; i++)
		m->prepare(m->context, p->dirty_ends.v[i]);
	for (size_t i = 0; i < p->dirty_ends.n; i++) {
		if (m->prepare && i + soon < n)
			m->prepare(m->context, p->dirty_ends.v[i + soon]);
		sim_inject(p, p->dirty_ends.v[i]);
	}
	p->dirty_ends.n = 0;
}

/* All that is to be chosen at this time. */
SIM_HOT void sim_flush(struct sim_shape k, struct sim_part *p)
{
	if (!k.is_small || p->n_dirty >= SIM_CHOICES_FEW)
		sim_choose_listed(k, p);
	else
		for (uint32_t i = 0; i < p->n_dirty; i++)
			sim_choose_all(k, p, p->dirty[i]);
	p->n_dirty = 0;
	if (p->dirty_ends.n)
		sim_inject_all(p);
}
