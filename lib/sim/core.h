/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of a part: heads that arrive at switches, and what outputs choose. All is
 * compiled once for each shape (struct sim_shape) that is worth it, of which the values
 * are constants there.
 */
#pragma once

#include "sim/start.h"

/* The first packet of a fifo unit asks for its output. */
SIM_HOT void sim_core_fifo_head(struct sim_shape k, struct sim_part *p, uint32_t sw_id,
				uint32_t unit)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	struct sim_port *first = &s->port[sw->port_first];
	struct sim_port *in = first + sim_input(k, s, unit);
	uint32_t id = sim_queue_of(k, s, in, unit, 0, 0)->first;
	struct sim_copy to = {0};

	if (k.with_groups && p->cell.v[id].packet.source & SIM_TO_GROUP) {
		sim_group_head(p, sw_id, unit, id);
		return;
	}
	(void)sim_look_up(k, s, sw_id, in->local, sim_packet(p, id), &to);
	sim_want(k, s, sw, unit, in, first + to.out, to.vl);
	sim_touch(k, p, sw, in, first + to.out);
}

/* A head waits for the output that it wants. */
SIM_HOT void sim_core_ask(struct sim_shape k, struct sim_part *p, struct sim_port *in,
			  uint32_t id, uint32_t out, unsigned vl)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[in->sw];
	struct sim_port *o = in - in->local + out;
	uint32_t unit = in->local;

	sim_packet(p, id)->since = (uint32_t)p->now;
	if (k.is_fifo) {
		unit = unit * sim_n_vls(k, s) + sim_packet(p, id)->vl;
		if (sim_queue_push(p, sim_queue_of(k, s, in, unit, 0, 0), id))
			sim_core_fifo_head(k, p, in->sw, unit);
		return;
	}
	if (sim_queue_push(p, sim_queue_of(k, s, in, unit, out, vl), id))
		sim_want(k, s, sw, unit, in, o, vl);
	sim_touch(k, p, sw, in, o);
}

/* A head goes no further. */
static inline void sim_core_drop(struct sim_part *p, uint32_t in_id, uint32_t id)
{
	if (sim_packet(p, id)->hops >= FAB_SIM_HOPS_MAX)
		p->sums.looped++;
	else
		p->sums.unroutable++;
	sim_drop(p, in_id, id);
}

/* A head that may leave now. */
SIM_HOT void sim_core_arrive(struct sim_shape k, struct sim_part *p,
			     const struct sim_arrival *a)
{
	struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, a->packet);
	struct sim_port *in = &s->port[a->port];
	const struct sim_port *out = in - in->local + a->out;

	if (k.with_groups && a->out == SIM_OUT_GROUP) {
		sim_group_arrive(p, a->port, a->packet, false);
		return;
	}
	if (packet->hops >= FAB_SIM_HOPS_MAX || a->out == SIM_OUT_NONE ||
	    out->peer == FAB_NONE) {
		sim_core_drop(p, a->port, a->packet);
		return;
	}
	if (!s->net.is_even) {
		uint64_t slow = sim_wire(in->per_byte, packet->size);
		uint64_t fast = sim_wire(out->per_byte, packet->size);

		if (slow > fast) {
			sim_event_at(p, p->now + slow - fast, SIM_READY, a->port,
				     a->packet);
			return;
		}
	}
	sim_core_ask(k, p, in, a->packet, a->out, a->vl);
}

/* One that has waited for the tail on the slower cable. */
SIM_HOT void sim_core_ready(struct sim_shape k, struct sim_part *p, uint32_t in_id,
			    uint32_t id)
{
	struct sim_port *in = &p->sim->port[in_id];
	struct sim_copy to;

	if (k.with_groups && sim_packet(p, id)->source & SIM_TO_GROUP) {
		sim_group_arrive(p, in_id, id, true);
		return;
	}
	(void)sim_look_up(k, p->sim, in->sw, in->local, sim_packet(p, id), &to);
	sim_core_ask(k, p, in, id, to.out, to.vl);
}

/* A multicast copy may go together with others of the packet that the input reads. */
SIM_HOT bool sim_core_is_reading(struct sim_shape k, const struct sim_part *p,
				 const struct sim_switch *sw, uint32_t unit, uint32_t out,
				 unsigned vl)
{
	const struct sim *s = p->sim;
	const struct sim_port *in = &s->port[sw->port_first + sim_input(k, s, unit)];
	uint32_t head = sim_queue(k, s, sw, unit, out, vl)->first;

	if (in->reading == FAB_NONE || !(p->cell.v[head].packet.source & SIM_TO_GROUP))
		return false;
	if (k.is_fifo)
		return in->reading == head;
	return p->cell.v[head].packet.row == in->reading;
}

/* The bit `first` comes first. */
SIM_HOT uint64_t sim_rotate(uint64_t bits, uint32_t first)
{
	return bits >> first % SIM_WORD | bits << -first % SIM_WORD;
}

/* Credits that the first packet of a unit for a lane of an output takes. */
SIM_HOT int32_t sim_head_units(struct sim_shape k, const struct sim_part *p,
			       const struct sim_switch *sw, uint32_t unit, uint32_t out,
			       unsigned vl)
{
	uint32_t head = sim_queue(k, p->sim, sw, unit, out, vl)->first;

	return sim_units(p->sim, sim_packet(p, head)->size);
}

/* The first of the units that wait, from one on around, whose input is free and whose
 * packet takes no more than `most` credits: of any switch and all packets. */
SIM_HOT uint32_t sim_core_search(struct sim_shape k, const struct sim_part *p,
				 struct sim_switch *sw, uint32_t out, unsigned vl,
				 uint32_t from, int32_t most)
{
	const struct sim *s = p->sim;
	const uint64_t *wait = sim_waiters(k, s, sw, out, vl);
	uint64_t *free = sim_free_units(k, s, sw);
	uint32_t n = sw->unit_words, w = from / SIM_WORD;
	uint64_t mask = ~0ull << from % SIM_WORD;

	for (uint32_t i = 0; i <= n; i++) {
		uint64_t bits = wait[w] & mask;

		if (i == n)
			bits &= ~(~0ull << from % SIM_WORD);
		if (!k.with_groups)
			bits &= k.one_read ? free[w] : ~0ull;
		while (bits) {
			uint32_t unit = w * SIM_WORD + (uint32_t)__builtin_ctzll(bits);

			bits &= bits - 1;
			if (k.with_groups && k.one_read && !sim_bit(k, free, unit) &&
			    !sim_core_is_reading(k, p, sw, unit, out, vl))
				continue;
			if (most == INT32_MAX ||
			    sim_head_units(k, p, sw, unit, out, vl) <= most)
				return unit;
		}
		w = w + 1 == n ? 0 : w + 1;
		mask = ~0ull;
	}
	return FAB_NONE;
}

SIM_HOT uint32_t sim_core_pick(struct sim_shape k, const struct sim_part *p,
			       struct sim_switch *sw, uint32_t out, unsigned vl,
			       const struct sim_lane *lane)
{
	uint64_t bits;

	if (k.with_groups || !(k.is_small || sw->is_small))
		return sim_core_search(k, p, sw, out, vl, lane->last, INT32_MAX);
	bits = lane->waiters & (k.one_read ? sw->free_units : ~0ull);
	if (!bits)
		return FAB_NONE;
	bits = sim_rotate(bits, lane->last);
	return (lane->last + (uint32_t)__builtin_ctzll(bits)) % SIM_WORD;
}

/* The packet that a unit sends next leaves its queue, and its buffer when it has left. */
SIM_HOT void sim_core_unqueue(struct sim_shape k, struct sim_part *p,
			      struct sim_switch *sw, uint32_t unit, struct sim_port *in,
			      struct sim_port *out, unsigned vl, uint32_t id,
			      uint64_t free_at)
{
	struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, id);
	bool is_empty = sim_queue_pop(p, sim_queue_of(k, s, in, unit, out->local, vl));

	sim_release(k, p, in, packet->vl, (uint32_t)sim_units(s, packet->size),
		    free_at + s->cable_delay);
	if (is_empty || k.is_fifo)
		sim_unwant(k, s, sw, unit, in, out, vl);
	if (!is_empty && k.is_fifo)
		sim_core_fifo_head(k, p, in->sw, unit);
}

/* An input reads a packet for an output, until that ends as a rule. */
SIM_HOT void sim_core_read(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
			   struct sim_port *in, uint64_t wire)
{
	const struct sim *s = p->sim;
	uint64_t until = p->now + wire;

	sim_take_input(k, s, sw, in->local);
	if (!k.reads_apart)
		return;
	if (s->speedup != 1) {
		until = p->now + (wire + s->speedup - 1) / s->speedup;
		fab_wheel_add(&p->wheel, until,
			      sim_what(SIM_READ, sw->port_first + in->local), 0);
	}
	in->in_busy = until > in->in_busy ? until : in->in_busy;
}

/* The packet `id` that a unit has for an output starts. */
SIM_HOT void sim_core_send(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
			   uint32_t unit, struct sim_port *out, struct sim_lane *lane,
			   unsigned vl, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *in = out - out->local + sim_input(k, s, unit);
	uint32_t out_id = sw->port_first + out->local, size = sim_packet(p, id)->size;
	uint64_t wire = sim_wire(out->per_byte, size);

	out->out_from = in->local;
	sim_unset(k, sim_free_outs(k, s, sw), out->local);
	sim_end_at(p, p->now + wire, out_id);
	if (k.one_read)
		sim_core_read(k, p, sw, in, wire);
	if (k.with_groups && sim_packet(p, id)->source & SIM_TO_GROUP) {
		id = sim_group_copy(p, out->sw, unit, out->local, vl, wire);
	} else {
		if (k.with_groups)
			in->reading = FAB_NONE;
		sim_core_unqueue(k, p, sw, unit, in, out, vl, id, p->now + wire);
	}
	/* endpoints take whatever comes */
	lane->credits -= sim_units(s, size) & -(int32_t)(out->peer < s->net.n_ports);
	sim_start(k, p, out_id, id, vl, wire);
}

/* The lane number i behind the last one, around. */
SIM_HOT unsigned sim_core_next_vl(struct sim_shape k, const struct sim *s, unsigned last,
				  unsigned i)
{
	unsigned vl = last + 1 + i;

	if (k.one_lane)
		return 0;
	return vl < s->n_vls ? vl : vl - s->n_vls;
}

/* An output chooses. Did it start a packet? */
SIM_HOT bool sim_core_serve(struct sim_shape k, struct sim_part *p, struct sim_switch *sw,
			    uint32_t local)
{
	struct sim *s = p->sim;
	uint32_t id = sw->port_first + local;
	struct sim_port *out = &s->port[id];

	if (!sim_bit(k, sim_free_outs(k, s, sw), local))
		return false;
	if (out->is_blocked)
		sim_count_blocked(p, out, id);
	if (!sim_is_waited(k, out))
		return false;
	for (unsigned i = 0; i < sim_n_vls(k, s); i++) {
		unsigned vl = sim_core_next_vl(k, s, out->last_vl, i);
		struct sim_lane *lane = sim_lane(k, s, id, vl);
		uint32_t unit = sim_core_pick(k, p, sw, local, vl, lane), head;

		if (unit == FAB_NONE)
			continue;
		if (!sim_credit_has(p, lane, id,
				    sim_head_units(k, p, sw, unit, local, vl))) {
			unit = sim_smaller(p, sw, local, vl, lane);
			if (unit == FAB_NONE) {
				sim_block(p, id, vl);
				continue;
			}
		}
		head = sim_queue(k, s, sw, unit, local, vl)->first;
		if (out->is_blocked)
			sim_count_blocked(p, out, id);
		lane->last = (uint16_t)(unit + 1 == sw->n_units ? 0 : unit + 1);
		out->last_vl = (uint8_t)vl;
		sim_core_send(k, p, sw, unit, out, lane, vl, head);
		return true;
	}
	return false;
}

/* An input may have become free: outputs that are free and for which it has something.
 * Does it have anything at all? */
SIM_HOT bool sim_core_input_free(struct sim_shape k, struct sim_part *p, uint32_t sw_id,
				 uint32_t in)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	const uint64_t *wants = sim_wants(k, s, sw, in), *free = sim_free_outs(k, s, sw);

	if (k.reads_apart && s->port[sw->port_first + in].in_busy > p->now)
		return false;
	sim_free_input(k, s, sw, in);
	if (k.is_small) {
		sim_mark_all(p, sw, sw_id, *wants & *free);
		return *wants;
	}
	for (uint32_t w = 0; w < sim_out_words(k, sw); w++)
		for (uint64_t bits = wants[w] & free[w]; bits; bits &= bits - 1)
			sim_mark(k, p, sw, sw_id,
				 w * SIM_WORD + (uint32_t)__builtin_ctzll(bits), true);
	return sim_any(wants, sim_out_words(k, sw));
}

/* An output has sent a packet, and its input has: of small switches without branches, as
 * who waits is chance. */
SIM_HOT void sim_core_both_free(struct sim_shape k, struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[id];
	struct sim_switch *sw = &s->sw[port->sw];
	uint64_t wants = k.one_read ? port[port->out_from - port->local].wants : 0;
	bool is_waited = sim_is_waited(k, port);

	sw->free_outs |= 1ull << port->local % SIM_WORD;
	if (k.one_read)
		sw->free_units |= 1ull << port->out_from % SIM_WORD;
	sim_mark_all(p, sw, port->sw,
		     (uint64_t)is_waited << port->local % SIM_WORD |
			     (wants & sw->free_outs));
	p->sums.events += (wants != 0) | is_waited;
}

SIM_HOT void sim_core_output_free(struct sim_shape k, struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[id];
	struct sim_switch *sw = &s->sw[port->sw];
	bool is_waited = sim_is_waited(k, port), has_more = false;

	if (k.is_small && k.one_lane && !k.reads_apart) {
		sim_core_both_free(k, p, id);
		return;
	}
	sim_set(k, sim_free_outs(k, s, sw), port->local);
	sim_mark(k, p, sw, port->sw, port->local, is_waited);
	if (k.one_read)
		has_more = sim_core_input_free(k, p, port->sw, port->out_from);
	p->sums.events += is_waited | has_more;
}

/* An event of the wheel; counted are those that somebody waits for. */
SIM_HOT void sim_core_handle(struct sim_shape k, struct sim_part *p,
			     const struct fab_wheel_event *event)
{
	uint32_t id = event->what & SIM_ID, item = event->item;
	struct sim *s = p->sim;

	if (event->what >> SIM_ID_BITS == SIM_END) {
		sim_core_output_free(k, p, id);
		return;
	}
	if (k.reads_apart && event->what >> SIM_ID_BITS == SIM_READ) {
		p->sums.events +=
			sim_core_input_free(k, p, s->port[id].sw, s->port[id].local);
		return;
	}
	p->n_live--;
	p->sums.events++;
	switch ((enum sim_event_kind)(event->what >> SIM_ID_BITS)) {
	case SIM_END:
	case SIM_READ:
		break;
	case SIM_READY:
		sim_core_ready(k, p, id, item);
		break;
	case SIM_CREDIT:
		sim_credit_comes(p, id);
		break;
	case SIM_INJECT:
		if (s->source[id].due == p->now)
			s->source[id].due = UINT64_MAX;
		FAB_PUSH(&p->dirty_ends, id);
		break;
	case SIM_RECEIVED:
		sim_received(p, id, item);
		break;
	case SIM_COMPLETED:
		sim_completed(p, id, item);
		break;
	}
}
