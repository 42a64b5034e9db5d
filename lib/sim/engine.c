/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of a part: heads that arrive at switches, and what outputs choose. */
#include "sim/cells.h"

enum { NEAR = 4, MIDDLE = 8, FAR = 14 }; /* events ahead that memory is asked for */

void sim_trace(struct sim_part *p, const struct sim_packet *packet, uint32_t port,
	       unsigned vl)
{
	const struct sim *s = p->sim;
	uint32_t wait = (uint32_t)p->now - packet->since, target = packet->target;
	bool to_group = packet->source & SIM_TO_GROUP;
	struct fab_sim_step step = {.birth = packet->birth,
				    .arrived = p->now - wait,
				    .left = p->now,
				    .source = sim_endpoint_of(packet),
				    .target = target,
				    .port = s->net.fabric_port[port],
				    .hop = packet->hops,
				    .vl = (uint8_t)vl,
				    .to_group = to_group};

	FAB_PUSH(&p->trace, step);
}

/* The route of a packet, to be inlined where it is hot. */
static inline bool route(const struct sim *s, uint32_t id, uint32_t in,
			 const struct sim_packet *packet, struct sim_copy *to)
{
	const struct sim_net *net = &s->net;
	const struct sim_switch *sw = &s->sw[id];
	uint32_t port =
		net->problem->routes->next[(size_t)packet->row * net->n_switches + id];

	to->vl = 0;
	if (port == FAB_ARC_HERE) {
		const struct sim_port *end = &s->port[net->end_port[packet->target]];

		if (end->sw != id)
			return false;
		to->out = end->local;
		if (s->n_vls > 1) {
			to->vl = sim_net_vl(net, id, in, to->out, packet->sl);
			if (to->vl >= s->n_vls)
				to->vl = sim_net_first_vl(net, packet->sl);
		}
		return true;
	}
	if (port >= sw->n_arcs || s->port[sw->port_first + port].peer == FAB_NONE)
		return false;
	to->out = port;
	if (s->n_vls > 1)
		to->vl = sim_net_vl(net, id, in, port, packet->sl);
	return to->vl < s->n_vls;
}

bool sim_route(const struct sim *s, uint32_t sw, uint32_t in,
	       const struct sim_packet *packet, struct sim_copy *to)
{
	return route(s, sw, in, packet, to);
}

void sim_fifo_head(struct sim_part *p, uint32_t sw_id, uint32_t unit)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	uint32_t id = sim_queue_first(p, sim_queue(s, sw, unit, 0, 0));
	uint32_t in = sim_input(s, unit);
	struct sim_copy to = {0};

	if (p->cell.v[id].packet.source & SIM_TO_GROUP) {
		sim_group_head(p, sw_id, unit, id);
		return;
	}
	(void)route(s, sw_id, in, sim_packet(p, id), &to);
	sim_want(s, sw, unit, in, to.out, to.vl);
	sim_touch(p, sw, sw_id, in, to.out);
}

/* A head that may leave now. */
static void ready(struct sim_part *p, uint32_t in_id, uint32_t id, bool has_waited)
{
	struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, id);
	struct sim_port *in = &s->port[in_id];
	struct sim_switch *sw = &s->sw[in->sw];
	uint32_t unit = in->local;
	struct sim_copy to;

	if (packet->source & SIM_TO_GROUP) {
		sim_group_arrive(p, in_id, id, has_waited);
		return;
	}
	if (packet->hops >= FAB_SIM_HOPS_MAX) {
		p->sums.looped++;
		sim_drop(p, in_id, id);
		return;
	}
	if (!route(s, in->sw, in->local, packet, &to)) {
		p->sums.unroutable++;
		sim_drop(p, in_id, id);
		return;
	}
	if (!s->net.is_even && !has_waited) {
		uint64_t slow = sim_wire(in->per_byte, packet->size);
		uint64_t fast =
			sim_wire(s->port[sw->port_first + to.out].per_byte, packet->size);

		if (slow > fast) {
			fab_wheel_add(&p->wheel, p->now + slow - fast,
				      sim_what(SIM_READY, in_id), id);
			return;
		}
	}
	packet->since = (uint32_t)p->now;
	if (s->is_fifo) {
		unit = in->local * s->n_vls + packet->vl;
		if (sim_queue_push(p, sim_queue(s, sw, unit, 0, 0), id))
			sim_fifo_head(p, in->sw, unit);
		return;
	}
	if (sim_queue_push(p, sim_queue(s, sw, unit, to.out, to.vl), id))
		sim_want(s, sw, unit, unit, to.out, to.vl);
	sim_touch(p, sw, in->sw, unit, to.out);
}

/* A multicast copy may go together with others of the packet that the input reads. */
static bool is_reading(const struct sim_part *p, const struct sim_switch *sw,
		       uint32_t unit, uint32_t out, unsigned vl)
{
	const struct sim *s = p->sim;
	const struct sim_port *in = &s->port[sw->port_first + sim_input(s, unit)];
	uint32_t head = sim_queue_first(p, sim_queue(s, sw, unit, out, vl));

	if (in->reading == FAB_NONE || !(p->cell.v[head].packet.source & SIM_TO_GROUP))
		return false;
	if (s->is_fifo)
		return in->reading == head;
	return p->cell.v[head].packet.row == in->reading;
}

/* The first of the units that wait, from one on around, whose input is free. */
static uint32_t pick(const struct sim_part *p, const struct sim_switch *sw, uint32_t out,
		     unsigned vl, uint32_t from)
{
	const struct sim *s = p->sim;
	const uint64_t *wait = sim_waiters(s, sw, out, vl), *free = sim_free_units(s, sw);
	uint32_t n = sw->unit_words, w = from / SIM_WORD;
	uint64_t mask = ~0ull << from % SIM_WORD;

	for (uint32_t i = 0; i <= n; i++) {
		uint64_t bits = wait[w] & mask;

		if (i == n)
			bits &= ~(~0ull << from % SIM_WORD);
		if (!s->with_groups || !s->one_read)
			bits &= s->one_read ? free[w] : ~0ull;
		while (bits) {
			uint32_t unit = w * SIM_WORD + (uint32_t)__builtin_ctzll(bits);

			if (!s->with_groups || !s->one_read || sim_bit(free, unit) ||
			    is_reading(p, sw, unit, out, vl))
				return unit;
			bits &= bits - 1;
		}
		w = w + 1 == n ? 0 : w + 1;
		mask = ~0ull;
	}
	return FAB_NONE;
}

/* The packet that a unit sends next leaves its queue, and its buffer when it has left. */
static uint32_t unqueue(struct sim_part *p, uint32_t sw_id, uint32_t unit, uint32_t out,
			unsigned vl, uint64_t free_at)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	uint32_t *last = sim_queue(s, sw, unit, out, vl), id = sim_queue_first(p, last);
	uint32_t in = sim_input(s, unit);
	struct sim_packet *packet = sim_packet(p, id);
	bool is_empty = sim_queue_pop(p, last, id);

	sim_release(p, sw->port_first + in, packet->vl,
		    (uint32_t)sim_units(s, packet->size), free_at + s->cable_delay);
	if (is_empty || s->is_fifo)
		sim_unwant(s, sw, unit, in, out, vl);
	if (!is_empty && s->is_fifo)
		sim_fifo_head(p, sw_id, unit);
	return id;
}

/* What is counted of a packet that starts on a port. */
static void count(struct sim_part *p, struct sim_port *port, uint32_t id,
		  const struct sim_packet *packet, unsigned vl, uint64_t wire)
{
	const struct sim *s = p->sim;

	p->sums.packet_hops++;
	p->last_move = p->now;
	if (sim_in_window(s, p->now)) {
		struct sim_lane_sums *sums = &s->lane_sums[(size_t)id * s->n_vls + vl];

		port->busy += wire;
		port->bytes += packet->size;
		sums->packets++;
		sums->waited += (uint32_t)p->now - packet->since;
	}
	if (packet->source & SIM_TRACED)
		sim_trace(p, packet, id, vl);
}

/* A packet starts on a port. */
void sim_start(struct sim_part *p, uint32_t id, uint32_t packet_id, unsigned vl,
	       uint64_t wire)
{
	const struct sim *s = p->sim;
	struct sim_port *port = &s->port[id];
	struct sim_packet *packet = sim_packet(p, packet_id);
	uint64_t then = p->now + s->hop_delay;
	uint32_t part;

	count(p, port, id, packet, vl, wire);
	packet->vl = vl & 15;
	packet->hops++;
	if (port->peer >= s->net.n_ports) {
		sim_deliver(p, port->peer - s->net.n_ports, packet_id, wire);
		return;
	}
	part = s->n_parts == 1 ? 0 : s->sw[s->port[port->peer].sw].part;
	if (part == p->index) {
		fab_wheel_add(&p->wheel, then, sim_what(SIM_ARRIVE, port->peer),
			      packet_id);
		return;
	}
	sim_write(p, part, then, SIM_LETTER_PACKET, port->peer)->packet = *packet;
	sim_cell_free(p, packet_id);
}

/* The packet that a unit has for an output starts. */
static void send(struct sim_part *p, uint32_t sw_id, uint32_t unit, uint32_t out,
		 unsigned vl, uint32_t size)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	uint32_t in = sim_input(s, unit), in_id = sw->port_first + in;
	uint32_t out_id = sw->port_first + out, head, packet;
	struct sim_port *i = &s->port[in_id], *o = &s->port[out_id];
	uint64_t wire = sim_wire(o->per_byte, size);

	head = sim_queue_first(p, sim_queue(s, sw, unit, out, vl));
	o->out_busy = p->now + wire;
	o->out_from = (uint16_t)in;
	sim_unset(sim_free_outs(s, sw), out);
	if (s->one_read) {
		uint64_t end =
			p->now +
			(s->speedup == 1 ? wire : (wire + s->speedup - 1) / s->speedup);

		if (end >= i->in_busy) {
			i->in_busy = end;
			i->in_to = (uint16_t)out;
		}
		sim_take_input(s, sw, in);
	}
	if (p->cell.v[head].packet.source & SIM_TO_GROUP) {
		packet = sim_group_copy(p, sw_id, unit, out, vl, wire);
	} else {
		i->reading = FAB_NONE;
		packet = unqueue(p, sw_id, unit, out, vl, p->now + wire);
	}
	if (o->peer < s->net.n_ports) /* endpoints take whatever comes */
		sim_lane(s, out_id, vl)->credits -= sim_units(s, size);
	sim_start(p, out_id, packet, vl, wire);
	if (o->n_waiting)
		sim_end_due(p, o, out_id);
	if (s->one_read && sim_any(sim_wants(s, sw, in), sw->out_words))
		sim_read_due(p, i, in_id);
}

/* What lanes waited for credit since they were looked at last. */
void sim_count_blocked(struct sim_part *p, struct sim_port *port, uint32_t id)
{
	struct sim *s = p->sim;

	port->due &= (uint8_t)~SIM_BLOCKED;
	for (unsigned vl = 0; vl < s->n_vls; vl++) {
		struct sim_lane *lane = sim_lane(s, id, vl);
		uint64_t from =
			lane->blocked_since > s->begin ? lane->blocked_since : s->begin;
		uint64_t to = p->now < s->end ? p->now : s->end;

		if (lane->blocked_since && to > from)
			s->lane_sums[(size_t)id * s->n_vls + vl].no_credit += to - from;
		lane->blocked_since = 0;
	}
}

void sim_block(struct sim_part *p, uint32_t id, unsigned vl)
{
	sim_lane(p->sim, id, vl)->blocked_since = p->now ? p->now : 1;
	p->sim->port[id].due |= SIM_BLOCKED;
}

/* The lane number k behind the last one, around. */
static inline unsigned next_vl(const struct sim *s, unsigned last, unsigned k)
{
	unsigned vl = last + 1 + k;

	if (s->n_vls == 1)
		return 0;
	return vl < s->n_vls ? vl : vl - s->n_vls;
}

/* An output chooses. Did it start a packet? */
static bool serve(struct sim_part *p, uint32_t sw_id, uint32_t out)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	uint32_t id = sw->port_first + out;
	struct sim_port *port = &s->port[id];

	if (port->out_busy > p->now)
		return false;
	if (port->due & SIM_BLOCKED)
		sim_count_blocked(p, port, id);
	if (!port->n_waiting)
		return false;
	for (unsigned k = 0; k < s->n_vls; k++) {
		unsigned vl = next_vl(s, port->last_vl, k);
		struct sim_lane *lane = sim_lane(s, id, vl);
		uint32_t unit = pick(p, sw, out, vl, lane->last), size;

		if (unit == FAB_NONE)
			continue;
		size = sim_packet(p, sim_queue_first(p, sim_queue(s, sw, unit, out, vl)))
			       ->size;
		if (!sim_credit_has(p, id, vl, sim_units(s, size))) {
			sim_block(p, id, vl);
			continue;
		}
		if (port->due & SIM_BLOCKED)
			sim_count_blocked(p, port, id);
		lane->last = (uint16_t)(unit + 1 == sw->n_units ? 0 : unit + 1);
		port->last_vl = (uint8_t)vl;
		send(p, sw_id, unit, out, vl, size);
		return true;
	}
	return false;
}

/* All outputs of a switch that may start something, from its turn on around. */
static void choose(struct sim_part *p, uint32_t sw_id)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	uint64_t *dirty = sim_dirty(s, sw);
	uint32_t n = sw->out_words, w = sw->turn / SIM_WORD, turn = sw->turn;
	uint64_t below = ~(~0ull << turn % SIM_WORD), mask = ~below;
	bool is_first = true;

	sw->is_dirty = false;
	for (uint32_t i = 0; i <= n; i++) {
		uint64_t bits = dirty[w] & mask;

		dirty[w] &= ~mask;
		for (; bits; bits &= bits - 1) {
			uint32_t out = w * SIM_WORD + (uint32_t)__builtin_ctzll(bits);

			if (serve(p, sw_id, out) && is_first) {
				is_first = false;
				sw->turn =
					(uint16_t)(out + 1 == sw->n_ports ? 0 : out + 1);
			}
		}
		w = w + 1 == n ? 0 : w + 1;
		mask = i + 1 == n ? below : ~0ull;
	}
}

/* All that is to be chosen at this time. */
static void flush(struct sim_part *p)
{
	for (size_t i = 0; i < p->dirty.n; i++)
		choose(p, p->dirty.v[i]);
	p->dirty.n = 0;
	for (size_t i = 0; i < p->dirty_ends.n; i++)
		sim_inject(p, p->dirty_ends.v[i]);
	p->dirty_ends.n = 0;
}

/* An input may have become free: outputs that are free and for which it has something. */
static void input_free(struct sim_part *p, uint32_t sw_id, uint32_t in)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	const uint64_t *wants = sim_wants(s, sw, in), *free = sim_free_outs(s, sw);
	struct sim_port *port = &s->port[sw->port_first + in];

	if (port->in_busy > p->now) {
		if (sim_any(wants, sw->out_words))
			sim_read_due(p, port, sw->port_first + in);
		return;
	}
	sim_free_input(s, sw, in);
	for (uint32_t w = 0; w < sw->out_words; w++)
		for (uint64_t bits = wants[w] & free[w]; bits; bits &= bits - 1)
			sim_mark(p, sw, sw_id,
				 w * SIM_WORD + (uint32_t)__builtin_ctzll(bits));
}

static void output_free(struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[id];
	struct sim_switch *sw = &s->sw[port->sw];

	port->due &= (uint8_t)~SIM_END_DUE;
	sim_set(sim_free_outs(s, sw), port->local);
	if (port->n_waiting)
		sim_mark(p, sw, port->sw, port->local);
	if (s->one_read)
		input_free(p, port->sw, port->out_from);
}

static void credit(struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[id];

	for (unsigned vl = 0; vl < s->n_vls; vl++) {
		struct sim_lane *lane = sim_lane(s, id, vl);

		if (lane->is_blocked && lane->wake <= p->now)
			lane->is_blocked = false;
	}
	if (port->sw == FAB_NONE)
		FAB_PUSH(&p->dirty_ends, id - s->net.n_ports);
	else
		sim_mark(p, &s->sw[port->sw], port->sw, port->local);
}

static void handle(struct sim_part *p, const struct fab_wheel_event *event)
{
	uint32_t id = event->what & SIM_ID, item = event->item;
	struct sim *s = p->sim;

	switch ((enum sim_event_kind)(event->what >> SIM_ID_BITS)) {
	case SIM_ARRIVE:
		ready(p, id, item, false);
		break;
	case SIM_READY:
		ready(p, id, item, true);
		break;
	case SIM_END:
		output_free(p, id);
		break;
	case SIM_READ:
		s->port[id].due &= (uint8_t)~SIM_READ_DUE;
		input_free(p, s->port[id].sw, s->port[id].local);
		break;
	case SIM_CREDIT:
		credit(p, id);
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

/* The event that comes so many later, if it is a head that arrives. */
static inline const struct fab_wheel_event *arrival(const struct sim_part *p,
						    size_t later)
{
	const struct fab_wheel_event *event = &p->wheel.now.v[p->wheel.at + later];

	return event->what >> SIM_ID_BITS == SIM_ARRIVE ? event : NULL;
}

/* Have in the cache where a packet goes from a switch: its table's entry is there. */
static inline void look_at_output(const struct sim_part *p,
				  const struct fab_wheel_event *event)
{
	const struct sim_packet *packet = sim_packet(p, event->item);
	const struct sim *s = p->sim;
	const struct sim_port *in = &s->port[event->what & SIM_ID];
	const struct sim_switch *sw = &s->sw[in->sw];
	uint32_t out;

	if (packet->source & SIM_TO_GROUP)
		return;
	out = s->net.problem->routes
		      ->next[(size_t)packet->row * s->net.n_switches + in->sw];
	if (out == FAB_ARC_HERE)
		out = s->net.end_port[packet->target] - sw->port_first;
	if (out >= sw->n_ports)
		return;
	__builtin_prefetch(&s->port[sw->port_first + out]);
	__builtin_prefetch(sim_lane(s, sw->port_first + out, 0));
	__builtin_prefetch(sim_lane(s, in->peer, 0));
	__builtin_prefetch(&s->lane_sums[(size_t)(sw->port_first + out) * s->n_vls]);
	__builtin_prefetch(sim_waiters(s, sw, out, 0));
	__builtin_prefetch(sim_wants(s, sw, in->local));
	if (!s->is_fifo)
		__builtin_prefetch(sim_queue(s, sw, in->local, out, 0));
}

/* Have in the cache what the events to come need, in three steps: packet and port; the
 * table's entry; the output. */
static inline void look_ahead(const struct sim_part *p)
{
	const struct fab_wheel_event *event;
	const struct sim *s = p->sim;

	if (fab_wheel_ahead(&p->wheel) <= FAR)
		return;
	if ((event = arrival(p, FAR))) {
		__builtin_prefetch(&s->port[event->what & SIM_ID]);
		__builtin_prefetch(&p->cell.v[event->item]);
	}
	if ((event = arrival(p, MIDDLE))) {
		const struct sim_packet *packet = sim_packet(p, event->item);
		uint32_t sw = s->port[event->what & SIM_ID].sw;

		__builtin_prefetch(&s->sw[sw]);
		if (!(packet->source & SIM_TO_GROUP)) {
			__builtin_prefetch(
				&s->net.problem->routes
					 ->next[(size_t)packet->row * s->net.n_switches +
						sw]);
			__builtin_prefetch(&s->net.end_port[packet->target]);
		}
	}
	if ((event = arrival(p, NEAR)))
		look_at_output(p, event);
}

/* As fab_wheel_first(), which is seldom needed. */
static inline uint64_t first_time(const struct fab_wheel *w)
{
	return w->at < w->now.n ? w->now.v[w->at].time : fab_wheel_first(w);
}

void sim_part_run(struct sim_part *p, uint64_t limit)
{
	while (!p->rc) {
		struct fab_wheel_event event;
		uint64_t time;

		/* what is chosen may be due before the events that are known */
		if ((p->dirty.n || p->dirty_ends.n) && first_time(&p->wheel) != p->now) {
			flush(p);
			continue;
		}
		time = fab_wheel_next(&p->wheel, limit);
		if (time == UINT64_MAX)
			return;
		p->now = time;
		event = *fab_wheel_take(&p->wheel);
		look_ahead(p);
		p->sums.events++;
		handle(p, &event);
	}
}
