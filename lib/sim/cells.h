/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells, lanes and queues of a part: what is short and used everywhere. All O(1), but for
 * searches in bitmaps. */
#pragma once

#include "sim/state.h"

enum { SIM_WORD = 64 };

static inline uint32_t sim_cell_new(struct sim_part *p)
{
	uint32_t id = p->free_cell;

	if (id != FAB_NONE) {
		p->free_cell = p->cell.v[id].packet.next;
		return id;
	}
	FAB_RESERVE(&p->cell, 1);
	return (uint32_t)p->cell.n++;
}

static inline void sim_cell_free(struct sim_part *p, uint32_t id)
{
	p->cell.v[id].packet.next = p->free_cell;
	p->free_cell = id;
}

static inline struct sim_packet *sim_packet(const struct sim_part *p, uint32_t id)
{
	return &p->cell.v[id].packet;
}

static inline uint32_t sim_endpoint_of(const struct sim_packet *packet)
{
	return packet->source & SIM_ID;
}

/* Credits that a packet of so many bytes (flits) takes. */
static inline int32_t sim_units(const struct sim *s, uint32_t size)
{
	return s->by_units ? (int32_t)((size + FAB_SIM_CREDIT_BYTES - 1) /
				       FAB_SIM_CREDIT_BYTES)
			   : 1;
}

static inline struct sim_lane *sim_lane(const struct sim *s, uint32_t port, unsigned vl)
{
	return &s->lane[(size_t)port * s->n_vls + vl];
}

static inline bool sim_in_window(const struct sim *s, uint64_t time)
{
	return time >= s->begin && time < s->end;
}

static inline struct sim_letter *sim_write(struct sim_part *p, uint32_t to, uint64_t time,
					   enum sim_letter_kind kind, uint32_t id)
{
	struct sim_post *post = &p->post[p->turn][to];

	FAB_RESERVE(&post->of, 1);
	post->of.v[post->of.n] =
		(struct sim_letter){.time = time, .id = id, .kind = kind};
	if (time < post->first)
		post->first = time;
	return &post->of.v[post->of.n++];
}

/* The credits that have come by now. */
static inline void sim_credit_collect(struct sim_part *p, struct sim_lane *lane)
{
	uint64_t bound = p->now << SIM_UNIT_BITS | ((1u << SIM_UNIT_BITS) - 1);

	for (unsigned i = 0; i < lane->n_bag;) {
		if (lane->bag[i] <= bound) {
			lane->credits +=
				(int32_t)(lane->bag[i] & ((1u << SIM_UNIT_BITS) - 1));
			lane->bag[i] = lane->bag[--lane->n_bag];
		} else {
			i++;
		}
	}
	while (lane->far_head != FAB_NONE) {
		uint32_t id = lane->far_head;
		const struct sim_credit *c = &p->cell.v[id].credit;

		if (c->time > p->now)
			break;
		lane->credits += (int32_t)c->units;
		lane->far_head = c->next;
		sim_cell_free(p, id);
	}
}

/* A credit that will come to an output of this part. */
static inline void sim_credit_add(struct sim_part *p, uint32_t port, unsigned vl,
				  uint32_t units, uint64_t time)
{
	struct sim_lane *lane = sim_lane(p->sim, port, vl);

	if (lane->n_bag == SIM_BAG)
		sim_credit_collect(p, lane);
	if (lane->n_bag < SIM_BAG && lane->far_head == FAB_NONE) {
		lane->bag[lane->n_bag++] = time << SIM_UNIT_BITS | units;
	} else {
		uint32_t id = sim_cell_new(p), *at = &lane->far_head;

		if (lane->far_head != FAB_NONE &&
		    p->cell.v[lane->far_tail].credit.time <= time)
			at = &p->cell.v[lane->far_tail].credit.next;
		while (*at != FAB_NONE && p->cell.v[*at].credit.time <= time)
			at = &p->cell.v[*at].credit.next;
		p->cell.v[id].credit = (struct sim_credit){*at, units, time};
		if (*at == FAB_NONE)
			lane->far_tail = id;
		*at = id;
	}
	if (lane->is_blocked && time < lane->wake) {
		lane->wake = time;
		fab_wheel_add(&p->wheel, time, sim_what(SIM_CREDIT, port), 0);
	}
}

/* Room for a packet at the other end now? If not: an event when there may be. */
static inline bool sim_credit_has(struct sim_part *p, uint32_t port, unsigned vl,
				  int32_t units)
{
	struct sim_lane *lane = sim_lane(p->sim, port, vl);
	uint64_t first = UINT64_MAX;

	if (lane->credits >= units)
		return true;
	sim_credit_collect(p, lane);
	if (lane->credits >= units)
		return true;
	for (unsigned i = 0; i < lane->n_bag; i++)
		if (lane->bag[i] >> SIM_UNIT_BITS < first)
			first = lane->bag[i] >> SIM_UNIT_BITS;
	if (lane->far_head != FAB_NONE && p->cell.v[lane->far_head].credit.time < first)
		first = p->cell.v[lane->far_head].credit.time;
	if (first != UINT64_MAX && (!lane->is_blocked || first < lane->wake))
		fab_wheel_add(&p->wheel, first, sim_what(SIM_CREDIT, port), 0);
	if (!lane->is_blocked || first < lane->wake)
		lane->wake = first;
	lane->is_blocked = true;
	return false;
}

/* A buffer behind a port gets free: its sender learns it at `time`. */
static inline void sim_release(struct sim_part *p, uint32_t in, unsigned vl,
			       uint32_t units, uint64_t time)
{
	const struct sim *s = p->sim;
	uint32_t up = s->port[in].peer, sw;

	if (s->n_parts == 1 || (sw = s->port[up].sw) == FAB_NONE ||
	    s->sw[sw].part == p->index) {
		sim_credit_add(p, up, vl, units, time);
	} else {
		struct sim_letter *l =
			sim_write(p, s->sw[sw].part, time, SIM_LETTER_CREDIT, up);

		l->packet.vl = vl & 15;
		l->packet.size = (uint16_t)units;
	}
}

static inline bool sim_bit(const uint64_t *word, uint32_t bit)
{
	return word[bit / SIM_WORD] >> bit % SIM_WORD & 1;
}

static inline void sim_set(uint64_t *word, uint32_t bit)
{
	word[bit / SIM_WORD] |= 1ull << bit % SIM_WORD;
}

static inline void sim_unset(uint64_t *word, uint32_t bit)
{
	word[bit / SIM_WORD] &= ~(1ull << bit % SIM_WORD);
}

/* Bitmaps of a switch. */
static inline uint64_t *sim_free_units(const struct sim *s, const struct sim_switch *sw)
{
	return s->word + sw->word_first;
}

static inline uint64_t *sim_free_outs(const struct sim *s, const struct sim_switch *sw)
{
	return s->word + sw->word_first + sw->unit_words;
}

static inline uint64_t *sim_dirty(const struct sim *s, const struct sim_switch *sw)
{
	return s->word + sw->word_first + sw->unit_words + sw->out_words;
}

/* Units that wait for a lane of an output. */
static inline uint64_t *sim_waiters(const struct sim *s, const struct sim_switch *sw,
				    uint32_t out, unsigned vl)
{
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       ((size_t)out * s->n_vls + vl) * sw->unit_words;
}

/* Outputs that packets of an input wait for. */
static inline uint64_t *sim_wants(const struct sim *s, const struct sim_switch *sw,
				  uint32_t in)
{
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       (size_t)sw->n_ports * s->n_vls * sw->unit_words +
	       (size_t)in * sw->out_words;
}

/* The input of a unit, and the units of an input. */
static inline uint32_t sim_input(const struct sim *s, uint32_t unit)
{
	return s->is_fifo && s->n_vls > 1 ? unit / s->n_vls : unit;
}

static inline void sim_free_input(const struct sim *s, const struct sim_switch *sw,
				  uint32_t in)
{
	uint32_t n = s->is_fifo ? s->n_vls : 1;

	for (uint32_t u = in * n; u < (in + 1) * n; u++)
		sim_set(sim_free_units(s, sw), u);
}

static inline void sim_take_input(const struct sim *s, const struct sim_switch *sw,
				  uint32_t in)
{
	uint32_t n = s->is_fifo ? s->n_vls : 1;

	for (uint32_t u = in * n; u < (in + 1) * n; u++)
		sim_unset(sim_free_units(s, sw), u);
}

/* The queue of a unit: of fifo switches (input, its lane), else of (input, output, lane
 * of it), where a unit is an input. */
static inline uint32_t *sim_queue(const struct sim *s, const struct sim_switch *sw,
				  uint32_t unit, uint32_t out, unsigned vl)
{
	if (s->is_fifo)
		return &s->queue[sw->queue_first + unit];
	return &s->queue[sw->queue_first + ((size_t)unit * sw->n_ports + out) * s->n_vls +
			 vl];
}

static inline void sim_mark(struct sim_part *p, struct sim_switch *sw, uint32_t id,
			    uint32_t out)
{
	sim_set(sim_dirty(p->sim, sw), out);
	if (!sw->is_dirty) {
		sw->is_dirty = true;
		FAB_PUSH(&p->dirty, id);
	}
}

/* An event for when the output is free; who waits for it calls. */
static inline void sim_end_due(struct sim_part *p, struct sim_port *port, uint32_t id)
{
	if (port->due & SIM_END_DUE)
		return;
	port->due |= SIM_END_DUE;
	fab_wheel_add(&p->wheel, port->out_busy, sim_what(SIM_END, id), 0);
}

/* The same for the input: often the output that it feeds ends at the same time. */
static inline void sim_read_due(struct sim_part *p, struct sim_port *port, uint32_t id)
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

/* Something of an input has come to wait for an output: choose, or set the events for
 * when they are free. */
static inline void sim_touch(struct sim_part *p, struct sim_switch *sw, uint32_t id,
			     uint32_t in, uint32_t out)
{
	const struct sim *s = p->sim;
	uint32_t in_id = sw->port_first + in, out_id = sw->port_first + out;
	struct sim_port *i = &s->port[in_id], *o = &s->port[out_id];
	bool is_free = true;

	if (o->out_busy > p->now) {
		sim_end_due(p, o, out_id);
		is_free = false;
	} else {
		sim_set(sim_free_outs(s, sw), out);
	}
	if (s->one_read && i->in_busy > p->now) {
		sim_read_due(p, i, in_id);
		is_free = false;
	} else if (s->one_read) {
		sim_free_input(s, sw, in);
	}
	if (!is_free)
		return;
	sim_mark(p, sw, id, out);
}

/* A unit has come to wait for a lane of an output, or does no longer. */
static inline void sim_want(struct sim *s, struct sim_switch *sw, uint32_t unit,
			    uint32_t in, uint32_t out, unsigned vl)
{
	sim_set(sim_waiters(s, sw, out, vl), unit);
	sim_set(sim_wants(s, sw, in), out);
	s->port[sw->port_first + out].n_waiting++;
}

static inline void sim_unwant(struct sim *s, struct sim_switch *sw, uint32_t unit,
			      uint32_t in, uint32_t out, unsigned vl)
{
	sim_unset(sim_waiters(s, sw, out, vl), unit);
	s->port[sw->port_first + out].n_waiting--;
	for (unsigned v = 0; v < s->n_vls && s->n_vls > 1; v++)
		for (uint32_t u = s->is_fifo ? in * s->n_vls : in;
		     u < (s->is_fifo ? (in + 1) * s->n_vls : in + 1); u++)
			if (sim_bit(sim_waiters(s, sw, out, v), u))
				return;
	sim_unset(sim_wants(s, sw, in), out);
}

static inline bool sim_any(const uint64_t *word, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (word[i])
			return true;
	return false;
}

/* Queues: rings of which the last cell is known. Put a cell behind the others; was it
 * empty? */
static inline bool sim_queue_push(struct sim_part *p, uint32_t *last, uint32_t id)
{
	bool was_empty = *last == FAB_NONE;

	if (was_empty) {
		p->cell.v[id].packet.next = id;
	} else {
		p->cell.v[id].packet.next = p->cell.v[*last].packet.next;
		p->cell.v[*last].packet.next = id;
	}
	*last = id;
	return was_empty;
}

static inline uint32_t sim_queue_first(const struct sim_part *p, const uint32_t *last)
{
	return p->cell.v[*last].packet.next;
}

/* Take the first one, `id`. Is it empty now? */
static inline bool sim_queue_pop(struct sim_part *p, uint32_t *last, uint32_t id)
{
	if (*last == id) {
		*last = FAB_NONE;
		return true;
	}
	p->cell.v[*last].packet.next = p->cell.v[id].packet.next;
	return false;
}

/* Where a packet goes from a switch. */
struct sim_copy {
	uint32_t out;
	unsigned vl;
};

/* Of one to an endpoint; false: nowhere. */
bool sim_route(const struct sim *s, uint32_t sw, uint32_t in,
	       const struct sim_packet *packet, struct sim_copy *to);
/*
 * Of any packet in the buffer of an input (of multicast: with its fan) all outputs, into
 * to[] if there is one only, or with `n` of room. Returns how many.
 */
uint32_t sim_outputs(const struct sim_part *p, uint32_t sw, uint32_t in, uint32_t packet,
		     struct sim_copy *to, uint32_t n);

/* The first packet of a fifo unit asks for its output. */
void sim_fifo_head(struct sim_part *p, uint32_t sw, uint32_t unit);
/* A packet starts on a port, for `wire` ticks. */
void sim_start(struct sim_part *p, uint32_t port, uint32_t packet, unsigned vl,
	       uint64_t wire);

/* Of group packets at a switch: one has come by a port, one is the first of a fifo unit.
 */
void sim_group_arrive(struct sim_part *p, uint32_t port, uint32_t packet,
		      bool has_waited);
void sim_group_head(struct sim_part *p, uint32_t sw, uint32_t unit, uint32_t packet);
/* The copy that a unit has for an output starts, for `wire` ticks: out of its queue.
 * Returns its cell. */
uint32_t sim_group_copy(struct sim_part *p, uint32_t sw, uint32_t unit, uint32_t out,
			unsigned vl, uint64_t wire);

/* Events of endpoints. */
void sim_inject(struct sim_part *p, uint32_t end);
void sim_received(struct sim_part *p, uint32_t end, uint32_t packet);
void sim_completed(struct sim_part *p, uint32_t end, uint32_t packet);
/* A packet starts on the cable to its endpoint, for so many ticks. */
void sim_deliver(struct sim_part *p, uint32_t end, uint32_t packet, uint64_t wire);
/* A packet goes no further; `wire`: of the cable by which it came. */
void sim_drop(struct sim_part *p, uint32_t in, uint32_t packet);
/* Copies more (less: below zero) of a multicast message are on their way. */
void sim_message_copies(struct sim_part *p, uint32_t source, uint32_t message,
			int64_t copies, uint64_t delivered, bool is_lost);
void sim_trace(struct sim_part *p, const struct sim_packet *packet, uint32_t port,
	       unsigned vl);
/* What the lanes of a port waited for credit since they were looked at last. */
void sim_count_blocked(struct sim_part *p, struct sim_port *port, uint32_t id);
/* A lane of an output waits for credit from now on. */
void sim_block(struct sim_part *p, uint32_t port, unsigned vl);
