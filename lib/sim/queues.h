/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues of switches, and bitmaps: which units (inputs; of fifo switches inputs' lanes)
 * wait for an output, which outputs an input wants, which are free. O(1), of switches
 * with more than 64 units O(units / 64).
 */
#pragma once

#include "sim/cells.h"

enum { SIM_WORD = 64 };

/* A bit of a bitmap; of small ones a word. */
SIM_HOT uint64_t *sim_word(struct sim_shape k, uint64_t *word, uint32_t bit)
{
	return k.is_small ? word : &word[bit / SIM_WORD];
}

SIM_HOT bool sim_bit(struct sim_shape k, uint64_t *word, uint32_t bit)
{
	return *sim_word(k, word, bit) >> bit % SIM_WORD & 1;
}

SIM_HOT void sim_set(struct sim_shape k, uint64_t *word, uint32_t bit)
{
	*sim_word(k, word, bit) |= 1ull << bit % SIM_WORD;
}

SIM_HOT void sim_unset(struct sim_shape k, uint64_t *word, uint32_t bit)
{
	*sim_word(k, word, bit) &= ~(1ull << bit % SIM_WORD);
}

SIM_HOT uint32_t sim_out_words(struct sim_shape k, const struct sim_switch *sw)
{
	return k.is_small ? 1 : sw->out_words;
}

SIM_HOT bool sim_any(const uint64_t *word, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (word[i])
			return true;
	return false;
}

/* Bitmaps of a switch. */
SIM_HOT uint64_t *sim_free_units(struct sim_shape k, const struct sim *s,
				 struct sim_switch *sw)
{
	return k.is_small || sw->is_small ? &sw->free_units : s->word + sw->word_first;
}

SIM_HOT uint64_t *sim_free_outs(struct sim_shape k, const struct sim *s,
				struct sim_switch *sw)
{
	return k.is_small || sw->is_small ? &sw->free_outs
					  : s->word + sw->word_first + sw->unit_words;
}

SIM_HOT uint64_t *sim_dirty(struct sim_shape k, const struct sim *s,
			    struct sim_switch *sw)
{
	return k.is_small || sw->is_small
		       ? &sw->dirty_outs
		       : s->word + sw->word_first + sw->unit_words + sw->out_words;
}

/* Units that wait for a lane of an output. */
SIM_HOT uint64_t *sim_waiters(struct sim_shape k, const struct sim *s,
			      const struct sim_switch *sw, uint32_t out, unsigned vl)
{
	if (k.is_small || sw->is_small)
		return &sim_lane(k, s, sw->port_first + out, vl)->waiters;
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       ((size_t)out * sim_n_vls(k, s) + vl) * sw->unit_words;
}

/* Outputs that packets of an input wait for. */
SIM_HOT uint64_t *sim_wants(struct sim_shape k, const struct sim *s,
			    const struct sim_switch *sw, uint32_t in)
{
	if (k.is_small || sw->is_small)
		return &s->port[sw->port_first + in].wants;
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       (size_t)sw->n_ports * sim_n_vls(k, s) * sw->unit_words +
	       (size_t)in * sw->out_words;
}

/* The input of a unit, and how many units an input has. */
SIM_HOT uint32_t sim_input(struct sim_shape k, const struct sim *s, uint32_t unit)
{
	return k.is_fifo && !k.one_lane ? unit / s->n_vls : unit;
}

SIM_HOT uint32_t sim_units_of_input(struct sim_shape k, const struct sim *s)
{
	return k.is_fifo ? sim_n_vls(k, s) : 1;
}

SIM_HOT void sim_free_input(struct sim_shape k, const struct sim *s,
			    struct sim_switch *sw, uint32_t in)
{
	uint32_t n = sim_units_of_input(k, s);

	for (uint32_t u = in * n; u < (in + 1) * n; u++)
		sim_set(k, sim_free_units(k, s, sw), u);
}

SIM_HOT void sim_take_input(struct sim_shape k, const struct sim *s,
			    struct sim_switch *sw, uint32_t in)
{
	uint32_t n = sim_units_of_input(k, s);

	for (uint32_t u = in * n; u < (in + 1) * n; u++)
		sim_unset(k, sim_free_units(k, s, sw), u);
}

/* The queue of a unit: of fifo switches (input, its lane), else of (input, output, lane
 * of it), where a unit is an input. */
SIM_HOT struct sim_queue *sim_queue_of(struct sim_shape k, const struct sim *s,
				       const struct sim_port *in, uint32_t unit,
				       uint32_t out, unsigned vl)
{
	struct sim_queue *first = &s->queue[in->queue];

	if (k.is_fifo)
		return k.one_lane ? first : first + unit % s->n_vls;
	return k.one_lane ? first + out : first + (size_t)out * s->n_vls + vl;
}

SIM_HOT struct sim_queue *sim_queue(struct sim_shape k, const struct sim *s,
				    const struct sim_switch *sw, uint32_t unit,
				    uint32_t out, unsigned vl)
{
	const struct sim_port *in = &s->port[sw->port_first + sim_input(k, s, unit)];

	return sim_queue_of(k, s, in, unit, out, vl);
}

/* An output may start something, if `may`: no branch, as chance decides. */
SIM_HOT void sim_mark(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
		      uint32_t id, uint32_t out, bool may)
{
	bool was_clean = k.is_small ? !sw->dirty_outs : !sw->is_dirty;

	*sim_word(k, sim_dirty(k, p->sim, sw), out) |= (uint64_t)may << out % SIM_WORD;
	sw->is_dirty |= may;
	p->dirty[p->n_dirty] = id;
	p->n_dirty += was_clean & may;
}

/* The same of several outputs of a small switch, or of none. */
SIM_HOT void sim_mark_all(struct sim_part *p, struct sim_switch *sw, uint32_t id,
			  uint64_t outs)
{
	bool was_clean = !sw->dirty_outs;

	sw->dirty_outs |= outs;
	p->dirty[p->n_dirty] = id;
	p->n_dirty += was_clean & (outs != 0);
}

/* Does anything wait for an output? */
SIM_HOT bool sim_is_waited(struct sim_shape k, const struct sim_port *port)
{
	return k.is_small && k.one_lane ? port->lane.waiters : port->n_waiting;
}

/* Room for one more. */
void sim_ends_grow(struct sim_ends *r);

/*
 * An output will be done with a packet. Whether somebody waits for that is not asked:
 * chance decides it, and an entry of a ring costs less than a branch that is guessed
 * wrongly. Packets of one size end in the order in which they start; those for which
 * that does not hold are events of the wheel.
 */
static inline void sim_end_at(struct sim_part *p, uint64_t time, uint32_t id)
{
	struct sim_ends *r = &p->ends;

	if (time < r->last) {
		fab_wheel_add(&p->wheel, time, sim_what(SIM_END, id), 0);
		return;
	}
	if (r->tail == r->cap)
		sim_ends_grow(r);
	r->last = time;
	r->v[r->tail++] = (struct sim_end){time, id};
}

/* When the next output of the ring ends; UINT64_MAX: none. */
static inline uint64_t sim_ends_first(const struct sim_ends *r)
{
	return r->head < r->tail ? r->v[r->head].time : UINT64_MAX;
}

/* Something of an input has come to wait for an output: choose, if both are free; else
 * their ends do. */
SIM_HOT void sim_touch(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
		       const struct sim_port *in, const struct sim_port *out)
{
	const struct sim *s = p->sim;
	uint32_t unit = in->local * sim_units_of_input(k, s);
	bool is_free = sim_bit(k, sim_free_outs(k, s, sw), out->local);

	if (k.one_read)
		is_free &= sim_bit(k, sim_free_units(k, s, sw), unit);
	if (k.is_small)
		sim_mark_all(p, sw, in->sw, (uint64_t)is_free << out->local % SIM_WORD);
	else
		sim_mark(k, p, sw, in->sw, out->local, is_free);
}

/* The unit that a lane of an output serves when its next packet has no credit; FAB_NONE:
 * no packet that waits has. O(units). */
uint32_t sim_smaller(const struct sim_part *p, struct sim_switch *sw, uint32_t out,
		     unsigned vl, const struct sim_lane *lane);

/* A unit has come to wait for a lane of an output, or does no longer. */
SIM_HOT void sim_want(struct sim_shape k, struct sim *s, struct sim_switch *sw,
		      uint32_t unit, struct sim_port *in, struct sim_port *out,
		      unsigned vl)
{
	if (k.is_small && k.one_lane) {
		out->lane.waiters |= 1ull << unit % SIM_WORD;
		in->wants |= 1ull << out->local % SIM_WORD;
		return;
	}
	sim_set(k, sim_waiters(k, s, sw, out->local, vl), unit);
	if (k.one_read)
		sim_set(k, sim_wants(k, s, sw, in->local), out->local);
	out->n_waiting++;
}

SIM_HOT void sim_unwant(struct sim_shape k, struct sim *s, struct sim_switch *sw,
			uint32_t unit, struct sim_port *in, struct sim_port *out,
			unsigned vl)
{
	uint32_t n = sim_units_of_input(k, s), first = in->local * n;

	if (k.is_small && k.one_lane) {
		out->lane.waiters &= ~(1ull << unit % SIM_WORD);
		in->wants &= ~(1ull << out->local % SIM_WORD);
		return;
	}
	sim_unset(k, sim_waiters(k, s, sw, out->local, vl), unit);
	out->n_waiting--;
	if (!k.one_read)
		return;
	for (unsigned v = 0; v < s->n_vls && !k.one_lane; v++)
		for (uint32_t u = first; u < first + n; u++)
			if (sim_bit(k, sim_waiters(k, s, sw, out->local, v), u))
				return;
	sim_unset(k, sim_wants(k, s, sw, in->local), out->local);
}

static inline bool sim_queue_is_empty(const struct sim_queue *q)
{
	return q->first == FAB_NONE;
}

/* Put a cell behind the others; was the queue empty? */
static inline bool sim_queue_push(struct sim_part *p, struct sim_queue *q, uint32_t id)
{
	bool was_empty = sim_queue_is_empty(q);

	if (was_empty)
		q->first = id;
	else
		p->cell.v[q->last].packet.next = id;
	q->last = id;
	return was_empty;
}

/* Take the first one. Is it empty now? */
static inline bool sim_queue_pop(struct sim_part *p, struct sim_queue *q)
{
	bool is_empty = q->first == q->last;

	q->first = is_empty ? FAB_NONE : p->cell.v[q->first].packet.next;
	return is_empty;
}
