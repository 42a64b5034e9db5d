/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short operations of the hot loop, which are inlined: cells, credits, bits, queues,
 * rings, the start of a packet on a cable.
 */
#pragma once

#include "sim/state.h"

/*
 * Properties of a network. The loop is compiled for any network, and (SIM_PLAIN) for
 * messages, unicast and no speedup, where most are constants: with one lane by tables on
 * small switches and on any, with two lanes by adaptive routing on small voq switches.
 */
#ifndef SIM_LANES
#define SIM_LANES 0
#endif
#ifndef SIM_SMALL
#define SIM_SMALL (SIM_LANES > 0)
#endif
#define SIM_PLAIN (SIM_LANES > 0)
SIM_HOT unsigned sim_n_vls(const struct sim *s)
{
	return SIM_PLAIN ? SIM_LANES : s->n_vls;
}

SIM_HOT bool sim_is_small(const struct sim_switch *sw)
{
	return SIM_SMALL || sw->is_small;
}

#define SIM_PROPERTY(name, plain, value)                                                 \
	SIM_HOT bool sim_##name(const struct sim *s)                                     \
	{                                                                                \
		return SIM_PLAIN ? (plain) : (value);                                    \
	}
SIM_PROPERTY(is_fifo, SIM_LANES == 1 && s->is_fifo, s->is_fifo)
SIM_PROPERTY(one_read, SIM_LANES == 2 || s->one_read, s->one_read)
SIM_PROPERTY(is_adaptive, SIM_LANES == 2, s->params->chooser > 0)
SIM_PROPERTY(shares, false, s->pool != NULL)
SIM_PROPERTY(with_groups, false, s->with_groups)
SIM_PROPERTY(reads_apart, false, s->reads_apart)

/* Cells. All below is O(1). */
SIM_HOT uint32_t sim_cell_new(struct sim_part *p)
{
	uint32_t id = p->free_cell;

	if (id != FAB_NONE) {
		p->free_cell = p->cell.v[id].packet.next;
		return id;
	}
	if (p->cell.n == p->cell.cap)
		sim_cells_grow(p);
	return (uint32_t)p->cell.n++;
}

SIM_HOT void sim_cell_free(struct sim_part *p, uint32_t id)
{
	p->cell.v[id].packet.next = p->free_cell;
	p->free_cell = id;
}

SIM_HOT struct sim_packet *sim_packet(const struct sim_part *p, uint32_t id)
{
	return &p->cell.v[id].packet;
}

SIM_HOT uint32_t sim_endpoint_of(const struct sim_packet *packet)
{
	return packet->source & SIM_ID;
}

/* Credits that a packet of `size` bytes (flits) takes. */
SIM_HOT int32_t sim_units(const struct sim *s, uint32_t size)
{
	return s->by_units ? (int32_t)((size + FAB_SIM_CREDIT_BYTES - 1) /
				       FAB_SIM_CREDIT_BYTES)
			   : 1;
}

SIM_HOT struct sim_lane *sim_lane(const struct sim *s, uint32_t port, unsigned vl)
{
	return SIM_LANES == 1 || !vl
		       ? &s->port[port].lane
		       : &s->lane[(size_t)port * (sim_n_vls(s) - 1) + vl - 1];
}

SIM_HOT struct sim_lane_sums *sim_lane_sums(const struct sim *s, uint32_t port,
					    unsigned vl)
{
	return &s->sums[(SIM_LANES == 1 ? 0 : (size_t)vl * s->net.n_all) + port];
}

SIM_HOT bool sim_in_window(const struct sim *s, uint64_t time)
{
	return time >= s->begin && time < s->end;
}

/* A notice to another part. */
SIM_HOT struct sim_letter *sim_write(struct sim_part *p, uint32_t to, uint64_t time,
				     enum sim_letter_kind kind, uint32_t id)
{
	struct sim_post *post = &p->post[p->turn][to];

	FAB_RESERVE(&post->of, 1);
	post->of.v[post->of.n] =
		(struct sim_letter){.time = time, .id = id, .kind = kind};
	post->n_packets += kind == SIM_LETTER_PACKET;
	if (time < post->first)
		post->first = time;
	return &post->of.v[post->of.n++];
}

/* An event of the wheel other than SIM_END, SIM_READ and SIM_CREDIT. */
SIM_HOT void sim_event_at(struct sim_part *p, uint64_t time, uint32_t kind, uint32_t id,
			  uint32_t item)
{
	p->n_live++;
	fab_wheel_add(&p->wheel, time, sim_what(kind, id), item);
}

/* An event at the end of a ring, not before the one added last. */
SIM_HOT void sim_ring_add(struct sim_ring *r, uint64_t time, uint32_t port,
			  uint32_t packet)
{
	if (r->tail == r->cap)
		sim_ring_grow(r, 1);
	r->last = time;
	r->v[r->tail++] = (struct sim_arrival){time, port, packet};
}

/* Credits left of the own part of a lane. Adaptive routing compares those of several
 * outputs of a switch: there they are side by side. */
SIM_HOT int32_t *sim_credits(const struct sim *s, uint32_t port, unsigned vl)
{
	return sim_is_adaptive(s) ? &s->adaptive_credits[(size_t)vl * s->net.n_all + port]
				  : &sim_lane(s, port, vl)->credits;
}

/* Room for a lane of a port: what it has itself, and what is left of the shared part. */
SIM_HOT int32_t sim_room(const struct sim *s, uint32_t port, unsigned vl)
{
	int32_t own = *sim_credits(s, port, vl);

	return sim_shares(s) ? (own > 0 ? own : 0) + s->pool[port] : own;
}

/* A packet takes room, of the shared part where the lane has none itself. */
SIM_HOT void sim_take(struct sim *s, uint32_t port, unsigned vl, int32_t units)
{
	int32_t *credits = sim_credits(s, port, vl), own = *credits > 0 ? *credits : 0;

	*credits -= units;
	if (sim_shares(s))
		s->pool[port] -= units > own ? units - own : 0;
}

/* A credit that will come to an output of this part. */
SIM_HOT void sim_credit_add(struct sim_part *p, uint32_t port, unsigned vl,
			    uint32_t units, uint64_t time)
{
	uint32_t credit = vl << SIM_UNIT_BITS | units;

	if (time < p->credits.last) {
		p->n_early++;
		fab_wheel_add(&p->wheel, time, sim_what(SIM_CREDIT, port), credit);
	} else {
		sim_ring_add(&p->credits, time, port, credit);
	}
}

/* Is there room for a packet at the other end now? If not: an event when room comes. */
SIM_HOT bool sim_credit_has(struct sim_part *p, uint32_t port, unsigned vl, int32_t units)
{
	struct sim_lane *lane = sim_lane(p->sim, port, vl);

	if (sim_room(p->sim, port, vl) >= units)
		return true;
	if (!p->n_blocked) { /* else the credits that have come are added */
		sim_credits_add_due(p);
		if (sim_room(p->sim, port, vl) >= units)
			return true;
	}
	p->n_blocked += !lane->is_blocked;
	lane->is_blocked = true;
	return false;
}

/* Room in the buffer behind a port gets free: its sender is informed at `time`. */
SIM_HOT void sim_release(struct sim_part *p, const struct sim_port *port, unsigned vl,
			 uint32_t units, uint64_t time)
{
	struct sim_letter *l;

	if (port->part == p->index) {
		sim_credit_add(p, port->peer, vl, units, time);
		return;
	}
	l = sim_write(p, port->part, time, SIM_LETTER_CREDIT, port->peer);
	l->packet.vl = vl & 15;
	l->packet.size = (uint16_t)units;
}

/* A packet begins to wait for a lane of an output. */
SIM_HOT void sim_count_queued(struct sim *s, uint32_t out, unsigned vl, uint32_t size)
{
	uint64_t *queued = &s->queued[(size_t)out * sim_n_vls(s) + vl];

	*queued += size;
	if (*queued > s->most_queued)
		s->most_queued = *queued;
}

/* A lane of an output waits for credit from now on. */
SIM_HOT void sim_block(struct sim_part *p, uint32_t id, unsigned vl)
{
	sim_lane_sums(p->sim, id, vl)->since = p->now ? p->now : 1;
	p->sim->port[id].is_blocked = true;
}

/* Bits. */
SIM_HOT bool sim_bit(const uint64_t *word, uint32_t bit)
{
	return word[bit / SIM_WORD] >> bit % SIM_WORD & 1;
}

SIM_HOT void sim_set(uint64_t *word, uint32_t bit)
{
	word[bit / SIM_WORD] |= 1ull << bit % SIM_WORD;
}

SIM_HOT void sim_unset(uint64_t *word, uint32_t bit)
{
	word[bit / SIM_WORD] &= ~(1ull << bit % SIM_WORD);
}

SIM_HOT uint64_t *sim_free_units(const struct sim *s, struct sim_switch *sw)
{
	return sim_is_small(sw) ? &sw->free_units : s->word + sw->word_first;
}

SIM_HOT uint64_t *sim_free_outs(const struct sim *s, struct sim_switch *sw)
{
	return sim_is_small(sw) ? &sw->free_outs
				: s->word + sw->word_first + sw->unit_words;
}

SIM_HOT uint64_t *sim_dirty(const struct sim *s, struct sim_switch *sw)
{
	return sim_is_small(sw)
		       ? &sw->dirty_outs
		       : s->word + sw->word_first + sw->unit_words + sw->out_words;
}

/* Units that wait for a lane of an output. */
SIM_HOT uint64_t *sim_waiters(const struct sim *s, const struct sim_switch *sw,
			      uint32_t out, unsigned vl)
{
	if (sim_is_small(sw))
		return &sim_lane(s, sw->port_first + out, vl)->waiters;
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       ((size_t)out * sim_n_vls(s) + vl) * sw->unit_words;
}

/* Outputs that packets of an input wait for. */
SIM_HOT uint64_t *sim_wants(const struct sim *s, const struct sim_switch *sw, uint32_t in)
{
	if (sim_is_small(sw))
		return &s->port[sw->port_first + in].wants;
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       (size_t)sw->n_ports * sim_n_vls(s) * sw->unit_words +
	       (size_t)in * sw->out_words;
}

/* The input of a unit, and the number of units of an input. */
SIM_HOT uint32_t sim_input(const struct sim *s, uint32_t unit)
{
	return sim_is_fifo(s) && sim_n_vls(s) > 1 ? unit / sim_n_vls(s) : unit;
}

SIM_HOT uint32_t sim_units_of_input(const struct sim *s)
{
	return sim_is_fifo(s) ? sim_n_vls(s) : 1;
}

/* The queue of a unit: of fifo switches (input, its lane), else (input, output, its
 * lane). */
SIM_HOT struct sim_queue *sim_queue_of(const struct sim *s, const struct sim_port *in,
				       uint32_t unit, uint32_t out, unsigned vl)
{
	if (sim_is_fifo(s))
		return &s->queue[(unit - sim_input(s, unit) * sim_n_vls(s)) *
					 s->n_queues +
				 in->queue];
	return &s->queue[(SIM_LANES == 1 ? 0 : vl * s->n_queues) + in->queue + out];
}

SIM_HOT struct sim_queue *sim_queue(const struct sim *s, const struct sim_switch *sw,
				    uint32_t unit, uint32_t out, unsigned vl)
{
	return sim_queue_of(s, &s->port[sw->port_first + sim_input(s, unit)], unit, out,
			    vl);
}

SIM_HOT bool sim_queue_is_empty(const struct sim_queue *q)
{
	return q->first == FAB_NONE;
}

/* Append a cell; was the queue empty? */
SIM_HOT bool sim_queue_push(struct sim_part *p, struct sim_queue *q, uint32_t id)
{
	bool was_empty = sim_queue_is_empty(q);

	if (was_empty)
		q->first = id;
	else
		p->cell.v[q->last].packet.next = id;
	q->last = id;
	return was_empty;
}

/* Remove the first cell. Is the queue empty now? */
SIM_HOT bool sim_queue_pop(struct sim_part *p, struct sim_queue *q)
{
	bool is_empty = q->first == q->last;

	q->first = is_empty ? FAB_NONE : p->cell.v[q->first].packet.next;
	return is_empty;
}

/* Outputs of one word of a switch may start packets. No branch: both cases are frequent.
 */
SIM_HOT void sim_mark(struct sim_part *p, struct sim_switch *sw, uint32_t id,
		      uint32_t word, uint64_t outs)
{
	bool may = outs != 0;

	sim_dirty(p->sim, sw)[word] |= outs;
	p->dirty[p->n_dirty] = id;
	p->n_dirty += !sw->is_dirty & may;
	sw->is_dirty |= may;
}

/* A packet of an input has begun to wait for an output: mark the output if both are free;
 * else their ends do. */
SIM_HOT void sim_touch(struct sim_part *p, struct sim_switch *sw,
		       const struct sim_port *in, const struct sim_port *out)
{
	const struct sim *s = p->sim;
	bool is_free = sim_bit(sim_free_outs(s, sw), out->local);

	if (sim_one_read(s))
		is_free &=
			sim_bit(sim_free_units(s, sw), in->local * sim_units_of_input(s));
	sim_mark(p, sw, in->sw, out->local / SIM_WORD,
		 (uint64_t)is_free << out->local % SIM_WORD);
}

/* A unit begins, or ceases, to wait for a lane of an output. */
SIM_HOT void sim_want(struct sim *s, struct sim_switch *sw, uint32_t unit,
		      struct sim_port *in, struct sim_port *out, unsigned vl)
{
	sim_set(sim_waiters(s, sw, out->local, vl), unit);
	if (sim_one_read(s))
		sim_set(sim_wants(s, sw, in->local), out->local);
	out->waited |= (uint16_t)(1u << vl);
}

SIM_HOT void sim_unwant(struct sim *s, struct sim_switch *sw, uint32_t unit,
			struct sim_port *in, struct sim_port *out, unsigned vl)
{
	uint32_t n = sim_units_of_input(s), first = in->local * n;
	uint64_t *waiters = sim_waiters(s, sw, out->local, vl), left;

	sim_unset(waiters, unit);
	left = waiters[0];
	for (unsigned w = 1; !sim_is_small(sw) && w < sw->unit_words; w++)
		left |= waiters[w];
	out->waited &= (uint16_t) ~((unsigned)!left << vl);
	if (!sim_one_read(s))
		return;
	for (unsigned v = 0; v < sim_n_vls(s) && sim_n_vls(s) > 1; v++)
		for (uint32_t u = first; u < first + n; u++)
			if (sim_bit(sim_waiters(s, sw, out->local, v), u))
				return;
	sim_unset(sim_wants(s, sw, in->local), out->local);
}

/* Time of the next event of a ring; UINT64_MAX: none. */
SIM_HOT uint64_t sim_ring_first(const struct sim_ring *r)
{
	return r->head < r->tail ? r->v[r->head].time : UINT64_MAX;
}

/* Time of the next credit of the ring, if packets wait for any. Others are added with the
 * next event. */
SIM_HOT uint64_t sim_credit_first(const struct sim_part *p)
{
	return p->n_waiting || p->n_blocked ? sim_ring_first(&p->credits) : UINT64_MAX;
}

/* Go on to the next event, of which those of rings come at `first`; false: none is before
 * `limit`. In picoseconds nearly each event has a time of its own, and rarely it is the
 * wheel's. */
SIM_HOT bool sim_go_on(struct sim_part *p, uint64_t first, uint64_t limit)
{
	uint64_t time = UINT64_MAX;

	if (fab_wheel_first(&p->wheel) <= first)
		time = fab_wheel_next(&p->wheel, first < limit ? first + 1 : limit);
	time = first < time ? first : time;
	if (time < limit)
		p->now = time;
	return time < limit;
}

/* The events of the wheel at this time. */
SIM_HOT void sim_take_events(struct sim_part *p,
			     void (*handle)(struct sim_part *p, uint32_t what,
					    uint32_t item))
{
	struct fab_wheel *w = &p->wheel;

	while (!SIM_PLAIN && p->sim->host.is_ordered &&
	       fab_wheel_next(w, p->now + 1) == p->now) {
		sim_batch(p);
		for (size_t i = 0; i < p->batch.n; i++)
			handle(p, (uint32_t)(p->batch.v[i] >> 32),
			       (uint32_t)p->batch.v[i]);
	}
	while (fab_wheel_ahead(w) && w->now.v[w->at].time == p->now) {
		struct fab_wheel_event event = *fab_wheel_take(w);

		handle(p, event.what, event.item);
	}
}

/* A packet starts on the cable of a port for `wire` ticks: it will be at the other end,
 * `late` ticks late, or is delivered. */
SIM_HOT void sim_start(struct sim_part *p, uint32_t id, uint32_t packet_id, unsigned vl,
		       uint64_t wire, uint64_t late)
{
	const struct sim *s = p->sim;
	const struct sim_port *port = &s->port[id];
	struct sim_packet *packet = sim_packet(p, packet_id);
	uint64_t then = p->now + s->hop_delay;

	p->sums.packet_hops++;
	p->last_move = p->now;
	if (sim_in_window(s, p->now)) {
		struct sim_lane_sums *sums = sim_lane_sums(s, id, vl);

		sums->busy += wire;
		sums->bytes += packet->size;
		sums->packets++;
		sums->waited += (uint32_t)p->now - packet->since;
	}
	if (packet->source & SIM_TRACED)
		sim_trace(p, packet, id, vl);
	if (!SIM_PLAIN && s->host.starts)
		s->host.starts(p, id, packet_id);
	packet->vl = vl & 15;
	packet->hops++;
	if (port->peer >= s->net.n_ports && (SIM_PLAIN || s->host.deliver)) {
		s->host.deliver(p, port->peer - s->net.n_ports, packet_id, wire);
	} else if (port->peer >= s->net.n_ports) {
		sim_event_at(p, p->now + s->cable_delay + wire + s->host_delay, SIM_HEAD,
			     port->peer, packet_id);
	} else if (late) {
		sim_event_at(p, then + late, SIM_HEAD, port->peer, packet_id);
	} else if (port->part == p->index) {
		sim_ring_add(&p->ring, then, port->peer, packet_id);
	} else {
		sim_write(p, port->part, then, SIM_LETTER_PACKET, port->peer)->packet =
			*packet;
		sim_cell_free(p, packet_id);
	}
}

/* The output of a packet to an endpoint at a switch by a row of the tables, whether the
 * cable is live or not; false: none. */
SIM_HOT bool sim_look_up(const struct sim *s, uint32_t id, uint32_t in,
			 struct sim_packet *packet, uint32_t row, struct sim_copy *to)
{
	const struct sim_net *net = &s->net;
	const struct sim_switch *sw = &s->sw[id];
	uint32_t entry = sim_net_next(net, row, id);
	uint32_t here = -(uint32_t)(entry == FAB_ARC_HERE); /* no branches */
	uint32_t last = net->end_port[packet->target] - sw->port_first;
	uint32_t out = entry ^ ((entry ^ last) & here);
	uint32_t most = sw->n_arcs + ((uint32_t)(sw->n_ports - sw->n_arcs) & here);

	if (!SIM_PLAIN && s->dodges)
		return sim_dodge(s, id, in, packet, to);
	to->vl = 0;
	to->out = out;
	if (out >= most)
		return false;
	if (sim_n_vls(s) == 1)
		return true;
	to->vl = sim_net_vl(net, id, in, out, packet->sl);
	if (entry == FAB_ARC_HERE && to->vl >= net->n_table_vls)
		to->vl = sim_net_first_vl(net, packet->sl);
	return to->vl < net->n_table_vls;
}

/* The first packet of a fifo unit, no multicast one, asks for its output. */
SIM_HOT void sim_unit_asks(struct sim_part *p, uint32_t id, uint32_t unit)
{
	const struct sim *s = p->sim;
	struct sim_switch *sw = &p->sim->sw[id];
	struct sim_port *first = &s->port[sw->port_first];
	struct sim_port *in = first + sim_input(s, unit);
	struct sim_packet *packet = sim_packet(p, sim_queue_of(s, in, unit, 0, 0)->first);
	struct sim_copy to = {0};

	(void)sim_look_up(s, id, in->local, packet, packet->row, &to);
	sim_want(p->sim, sw, unit, in, first + to.out, to.vl);
	sim_touch(p, sw, in, first + to.out);
}
