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

/* An output may start something. */
SIM_HOT void sim_mark(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
		      uint32_t id, uint32_t out)
{
	bool is_dirty = k.is_small ? sw->dirty_outs : sw->is_dirty;

	sim_set(k, sim_dirty(k, p->sim, sw), out);
	sw->is_dirty = true;
	p->dirty[p->n_dirty] = id; /* no branch, of which chance decides */
	p->n_dirty += !is_dirty;
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

/* An event for when the output is free; who waits for it calls. */
SIM_HOT void sim_end_due(struct sim_part *p, struct sim_port *port, uint32_t id)
{
	if (port->due & SIM_END_DUE)
		return;
	port->due |= SIM_END_DUE;
	fab_wheel_add(&p->wheel, port->out_busy, sim_what(SIM_END, id), 0);
}

/* The same for the input: often the output that it feeds ends at the same time. */
SIM_HOT void sim_read_due(struct sim_part *p, struct sim_port *port, uint32_t id)
{
	struct sim_port *out = port - port->local + port->in_to;

	if (port->due & SIM_READ_DUE)
		return;
	if (out->out_busy == port->in_busy && out->out_from == port->local) {
		sim_end_due(p, out, id - port->local + port->in_to);
		return;
	}
	port->due |= SIM_READ_DUE;
	fab_wheel_add(&p->wheel, port->in_busy, sim_what(SIM_READ, id), 0);
}

/* An input, an output are free, or were not known not to be. */
SIM_HOT void sim_note_free(struct sim_shape k, const struct sim *s, struct sim_switch *sw,
			   uint32_t in, uint32_t out, bool in_is, bool out_is)
{
	if (k.is_small && k.one_lane) { /* no branches */
		sw->free_outs |= (uint64_t)out_is << out % SIM_WORD;
		if (k.one_read)
			sw->free_units |= (uint64_t)in_is << in % SIM_WORD;
		return;
	}
	if (out_is)
		sim_set(k, sim_free_outs(k, s, sw), out);
	if (k.one_read && in_is)
		sim_free_input(k, s, sw, in);
}

/* Something of an input has come to wait for an output: choose, or set the events for
 * when they are free. */
SIM_HOT void sim_touch(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
		       struct sim_port *i, struct sim_port *o)
{
	bool is_sending = o->out_busy > p->now;
	bool is_read = k.one_read && i->in_busy > p->now;

	sim_note_free(k, p->sim, sw, i->local, o->local, !is_read, !is_sending);
	if (!(is_sending | is_read)) {
		sim_mark(k, p, sw, i->sw, o->local);
		return;
	}
	if (is_sending)
		sim_end_due(p, o, sw->port_first + o->local);
	if (is_read)
		sim_read_due(p, i, sw->port_first + i->local);
}

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
