/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop of a part. Heads on their way to switches all take the same time and arrive in
 * the order in which they started, packets of one size end in the order in which they
 * started: both are rings, all else are events of a wheel. At each time the events come
 * first; they mark outputs that may start a packet. Then the marked outputs choose.
 *
 * Memory that soon will be needed is prefetched: of heads in three steps (packet and
 * port; the entry of the table; the output, which is kept), of choices in three (output;
 * queue; packet; of fifo switches also the packet behind it, and its entry), of ends in
 * two.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/hot.h"

enum { NEAR = 4, MIDDLE = 9, FAR = SIM_RING_ROOM }; /* events of a ring ahead */
enum {
	FEW_CHOICES = 16, /* their data are in the first caches */
	CHOICES_SOON = 2, /* choices ahead; second step twice, first step thrice */
	FEW_OUTS = 3,
	DECISIONS = 16,
	CREDITS = 32,
	EXPECTED = 2 * CHOICES_SOON
};

/* Outputs of heads: not looked up in unicast tables; none. */
enum { OUT_GROUP = 0xffff, OUT_NONE = 0xfffe, OUT_ADAPTIVE = 0xfffd };

/* Third step of a head: its output. */
SIM_HOT void route(const struct sim_part *p, const struct sim_arrival *a)
{
	const struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, a->packet);
	const struct sim_port *in = &s->port[a->port];
	struct sim_copy to;
	uint32_t out;

	packet->next = OUT_GROUP;
	if (sim_with_groups(s) && packet->source & SIM_TO_GROUP)
		return;
	packet->next = OUT_ADAPTIVE;
	if (sim_is_adaptive(s))
		return;
	packet->next = OUT_NONE;
	if (!sim_look_up(s, in->sw, in->local, packet, packet->row, &to))
		return;
	packet->next = to.vl << 16 | to.out;
	out = a->port - in->local + to.out;
	__builtin_prefetch(&s->port[out]);
	__builtin_prefetch(sim_lane(s, out, to.vl));
	__builtin_prefetch(sim_lane_sums(s, out, to.vl));
	if (!sim_is_small(&s->sw[in->sw]))
		__builtin_prefetch(sim_waiters(s, &s->sw[in->sw], to.out, to.vl));
	if (!sim_is_fifo(s))
		__builtin_prefetch(sim_queue_of(s, in, 0, to.out, to.vl));
}

/* The next head of the ring. */
SIM_HOT struct sim_arrival take_head(struct sim_part *p)
{
	const struct sim *s = p->sim;
	struct sim_ring *r = &p->ring;
	const struct sim_arrival *a = &r->v[r->head++], *middle = a + MIDDLE;
	const struct sim_packet *packet = sim_packet(p, middle->packet);
	const struct sim_port *in = &s->port[middle->port];
	size_t ahead = r->tail - r->head;

	/* behind the last event are old ones, or zeros: harmless */
	__builtin_prefetch(&s->port[a[FAR].port]);
	__builtin_prefetch(&p->cell.v[a[FAR].packet]);
	__builtin_prefetch(&s->sw[in->sw]);
	if (!sim_with_groups(s) && !sim_is_adaptive(s)) {
		__builtin_prefetch(
			&s->net.next[(size_t)packet->row * s->n_switches + in->sw]);
		__builtin_prefetch(&s->net.end_port[packet->target]);
	}
	/* sim_dodge() changes the packet: only when its head is there */
	for (ahead = ahead < NEAR ? ahead : NEAR;
	     r->routed < r->head + ahead && (SIM_PLAIN || !s->dodges);)
		route(p, &r->v[r->routed++]);
	return *a;
}

/* sim_fifo_head() without a call where nothing is multicast; not inlined itself, as the
 * loop would outgrow the cache of instructions. */
static __attribute__((noinline)) void ask_for_unit(struct sim_part *p, uint32_t sw,
						   uint32_t unit)
{
	if (sim_with_groups(p->sim))
		sim_fifo_head(p, sw, unit);
	else
		sim_unit_asks(p, sw, unit);
}

/* A head waits for the output that it wants. */
SIM_HOT void ask(struct sim_part *p, struct sim_port *in, uint32_t id, uint32_t out,
		 unsigned vl)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[in->sw];
	struct sim_port *o = in - in->local + out;
	uint32_t unit = in->local;

	sim_packet(p, id)->since = (uint32_t)p->now;
	if (!SIM_PLAIN && s->queued)
		sim_count_queued(s, (uint32_t)(o - s->port), vl, sim_packet(p, id)->size);
	if (sim_is_fifo(s)) {
		unit = unit * sim_n_vls(s) + sim_packet(p, id)->vl;
		if (sim_queue_push(p, sim_queue_of(s, in, unit, 0, 0), id))
			ask_for_unit(p, in->sw, unit);
		return;
	}
	if (sim_queue_push(p, sim_queue_of(s, in, unit, out, vl), id))
		sim_want(s, sw, unit, in, o, vl);
	sim_touch(p, sw, in, o);
}

/* A head at a switch, which knows its output. */
SIM_HOT void arrive(struct sim_part *p, const struct sim_arrival *a)
{
	struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, a->packet);
	struct sim_port *in = &s->port[a->port];
	uint32_t to = packet->next & 0xffff, vl = packet->next >> 16;
	const struct sim_port *out = in - in->local + to;

	if (to == OUT_GROUP) {
		sim_group_arrive(p, a->port, a->packet, false);
		return;
	}
	if (packet->hops >= FAB_SIM_HOPS_MAX &&
	    (s->host.ends_hops || !sim_is_adaptive(s) ||
	     packet->hops >= FAB_SIM_ADAPTIVE_HOPS_MAX)) {
		sim_drop(p, a->port, a->packet, SIM_LOOPED);
		return;
	}
	if (to == OUT_ADAPTIVE) {
		FAB_PUSH(&p->undecided, (uint64_t)a->port << 32 | a->packet);
		return;
	}
	if (to == OUT_NONE || out->peer == FAB_NONE) {
		sim_drop(p, a->port, a->packet, SIM_UNROUTABLE);
		return;
	}
	if (!SIM_PLAIN && s->host.is_down &&
	    s->host.is_down(p, (uint32_t)(out - s->port))) {
		if (sim_is_adaptive(s) && out->peer < s->net.n_ports) /* room taken */
			sim_credit_add(p, (uint32_t)(out - s->port), vl,
				       (uint32_t)sim_units(s, packet->size), p->now);
		sim_drop(p, a->port, a->packet, SIM_DOWN);
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
	ask(p, in, a->packet, to, vl);
}

/* A head that has waited because its cable is slower than the output's. */
static void be_ready(struct sim_part *p, uint32_t in_id, uint32_t id)
{
	struct sim_port *in = &p->sim->port[in_id];
	struct sim_arrival a = {.port = in_id, .packet = id};
	uint32_t to;

	if (p->sim->failure && sim_is_swallowed(p, &a))
		return;
	if (sim_packet(p, id)->source & SIM_TO_GROUP) {
		sim_group_arrive(p, in_id, id, true);
		return;
	}
	to = sim_packet(p, id)->next;
	ask(p, in, id, to & 0xffff, to >> 16);
}

/* An adaptive packet chooses; false: it waits. */
static bool decide(struct sim_part *p, uint64_t which, struct sim_arrival *a)
{
	const struct sim *s = p->sim;
	struct sim_port *in;
	enum sim_choice choice;
	struct sim_copy to;

	*a = (struct sim_arrival){.time = p->now,
				  .port = (uint32_t)(which >> 32),
				  .packet = (uint32_t)which};
	sim_packet(p, a->packet)->next = OUT_NONE;
	in = &p->sim->port[a->port];
	choice = sim_choose(p, a->port, a->packet, &to);
	if (choice == SIM_CHOSEN) {
		sim_packet(p, a->packet)->next = to.vl << 16 | to.out;
		__builtin_prefetch(sim_queue_of(s, in, 0, to.out, to.vl));
		__builtin_prefetch(in - in->local + to.out);
		__builtin_prefetch(sim_lane(s, a->port - in->local + to.out, to.vl));
		__builtin_prefetch(sim_lane_sums(s, a->port - in->local + to.out, to.vl));
	}
	return choice != SIM_LATER;
}

/* Is there room behind an output that a packet waits for? */
static bool may_take(const struct sim *s, const struct sim_waiter *w, uint32_t id)
{
	uint32_t local = s->port[id].local;
	bool may = false;

	for (unsigned i = 0; i < 2; i++) {
		if (w->bits[i] >> local % SIM_WORD & 1)
			may |= sim_room(s, id, s->n_vls - 1 - i) >= w->units;
		if (w->out[i] == local)
			may |= sim_room(s, id, w->vl[i]) >= w->units;
	}
	return may;
}

/* Room has come behind an output: packets that wait at its switch choose again, while
 * there is any. */
static void decide_again(struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_waiting *w = &p->waiting[s->port[id].sw];
	int32_t most = 1;
	size_t n = 0, i = 0;
	struct sim_arrival a;

	for (; i < w->of.n && most > 0; i++) {
		struct sim_waiter *waiter = &w->of.v[i];

		if (may_take(s, waiter, id) && decide(p, waiter->which, &a)) {
			arrive(p, &a);
			most = 0;
			for (unsigned vl = 0; vl < s->n_vls; vl++)
				if (sim_room(s, id, vl) > most)
					most = sim_room(s, id, vl);
			continue;
		}
		if (n < i)
			w->of.v[n] = *waiter;
		n++;
	}
	if (n < i)
		memmove(w->of.v + n, w->of.v + i, (w->of.n - i) * sizeof(*w->of.v));
	w->of.n -= i - n;
	p->n_waiting -= i - n;
}

/* The adaptive packets of this time choose, in the order of ports: first those that have
 * waited. */
static void decide_all(struct sim_part *p)
{
	sim_sort(p, p->credited.v, p->credited.n);
	for (size_t i = 0; i < p->credited.n; i++)
		if (!i || p->credited.v[i] != p->credited.v[i - 1])
			decide_again(p, (uint32_t)p->credited.v[i]);
	p->credited.n = 0;
	sim_sort(p, p->undecided.v, p->undecided.n);
	for (size_t from = 0, to; from < p->undecided.n; from = to) {
		struct sim_arrival a[DECISIONS];
		uint64_t late = 0;

		/* several choose before their queues, which are fetched meanwhile, are
		 * changed: the order of packets is the same */
		to = from + DECISIONS < p->undecided.n ? from + DECISIONS
						       : p->undecided.n;
		for (size_t i = from; i < to; i++)
			if (!decide(p, p->undecided.v[i], &a[i - from]))
				late |= 1ull << (i - from);
		for (size_t i = from; i < to; i++)
			if (late >> (i - from) & 1)
				sim_wait(p, p->undecided.v[i]);
			else
				arrive(p, &a[i - from]);
	}
	p->undecided.n = 0;
}

/* Is the first packet of a unit, for an output, a copy of the multicast packet that the
 * input is reading? Then both can be sent together. */
static bool is_reading(const struct sim_part *p, const struct sim_switch *sw,
		       uint32_t unit, uint32_t out, unsigned vl)
{
	const struct sim *s = p->sim;
	const struct sim_port *in = &s->port[sw->port_first + sim_input(s, unit)];
	uint32_t head = sim_queue(s, sw, unit, out, vl)->first;

	if (in->reading == FAB_NONE || !(p->cell.v[head].packet.source & SIM_TO_GROUP))
		return false;
	return in->reading == (sim_is_fifo(s) ? head : p->cell.v[head].packet.row);
}

/* Rotate so that bit `first` comes first. */
SIM_HOT uint64_t rotate(uint64_t bits, uint32_t first)
{
	return bits >> first % SIM_WORD | bits << -first % SIM_WORD;
}

/* Credits that the first packet of a unit for a lane of an output takes. */
SIM_HOT int32_t head_units(const struct sim_part *p, const struct sim_switch *sw,
			   uint32_t unit, uint32_t out, unsigned vl)
{
	uint32_t head = sim_queue(p->sim, sw, unit, out, vl)->first;

	return sim_units(p->sim, sim_packet(p, head)->size);
}

/* The first waiting unit, from `from` around, whose input is free and whose packet takes
 * at most `most` credits; FAB_NONE. For any switch and all packets. */
static uint32_t search(const struct sim_part *p, struct sim_switch *sw, uint32_t out,
		       unsigned vl, uint32_t from, int32_t most)
{
	const struct sim *s = p->sim;
	const uint64_t *wait = sim_waiters(s, sw, out, vl);
	const uint64_t *free = sim_free_units(s, sw);
	uint32_t n = sw->unit_words, w = from / SIM_WORD;
	uint64_t mask = ~0ull << from % SIM_WORD;

	for (uint32_t i = 0; i <= n; i++) {
		uint64_t bits = wait[w] & mask;

		if (i == n)
			bits &= ~(~0ull << from % SIM_WORD);
		if (!sim_with_groups(s))
			bits &= sim_one_read(s) ? free[w] : ~0ull;
		for (; bits; bits &= bits - 1) {
			uint32_t unit = w * SIM_WORD + (uint32_t)__builtin_ctzll(bits);

			if (sim_with_groups(s) && sim_one_read(s) &&
			    !sim_bit(free, unit) && !is_reading(p, sw, unit, out, vl))
				continue;
			if (most == INT32_MAX || head_units(p, sw, unit, out, vl) <= most)
				return unit;
		}
		w = w + 1 == n ? 0 : w + 1;
		mask = ~0ull;
	}
	return FAB_NONE;
}

/* The unit that a lane of an output serves next; FAB_NONE. */
SIM_HOT uint32_t pick(const struct sim_part *p, struct sim_switch *sw, uint32_t out,
		      unsigned vl, const struct sim_lane *lane)
{
	uint64_t bits;

	if (sim_with_groups(p->sim) || !sim_is_small(sw))
		return search(p, sw, out, vl, lane->last, INT32_MAX);
	bits = lane->waiters & (sim_one_read(p->sim) ? sw->free_units : ~0ull);
	if (!bits)
		return FAB_NONE;
	bits = rotate(bits, lane->last);
	return (lane->last + (uint32_t)__builtin_ctzll(bits)) % SIM_WORD;
}

/* Set or clear the free bits of the units of an input. */
SIM_HOT void set_input(const struct sim *s, struct sim_switch *sw, uint32_t in,
		       bool is_free)
{
	uint32_t n = sim_units_of_input(s);

	for (uint32_t u = in * n; u < (in + 1) * n; u++)
		if (is_free)
			sim_set(sim_free_units(s, sw), u);
		else
			sim_unset(sim_free_units(s, sw), u);
}

/* An input reads a packet for an output, usually until that has sent it. */
SIM_HOT void read_packet(struct sim_part *p, struct sim_switch *sw, struct sim_port *in,
			 uint64_t wire)
{
	const struct sim *s = p->sim;
	uint64_t until = p->now + wire;

	set_input(s, sw, in->local, false);
	if (!sim_reads_apart(s))
		return;
	if (s->speedup != 1) {
		until = p->now + (wire + s->speedup - 1) / s->speedup;
		fab_wheel_add(&p->wheel, until,
			      sim_what(SIM_READ, sw->port_first + in->local), 0);
	}
	in->busy = until > in->busy ? until : in->busy;
}

/* A unit sends its first packet to an output. */
SIM_HOT void send(struct sim_part *p, struct sim_switch *sw, uint32_t unit,
		  struct sim_port *out, unsigned vl)
{
	struct sim *s = p->sim;
	struct sim_port *in = out - out->local + sim_input(s, unit);
	struct sim_queue *queue = sim_queue_of(s, in, unit, out->local, vl);
	uint32_t out_id = sw->port_first + out->local, id = queue->first;
	const struct sim_packet *packet = sim_packet(p, id);
	uint32_t size = packet->size;
	uint64_t wire = sim_wire(out->per_byte, size), end = p->now + wire;

	out->out_from = in->local;
	sim_unset(sim_free_outs(s, sw), out->local);
	if (end < p->ends.last)
		fab_wheel_add(&p->wheel, end, sim_what(SIM_END, out_id), 0);
	else
		sim_ring_add(&p->ends, end, out_id, 0);
	if (sim_one_read(s))
		read_packet(p, sw, in, wire);
	if (sim_with_groups(s) && packet->source & SIM_TO_GROUP) {
		id = sim_group_copy(p, out->sw, unit, out->local, vl, wire);
	} else { /* out of the queue, and out of the buffer when it has left */
		bool is_empty = sim_queue_pop(p, queue);

		in->reading = FAB_NONE;
		if (!SIM_PLAIN && s->queued)
			s->queued[(size_t)out_id * sim_n_vls(s) + vl] -= size;
		sim_release(p, in, packet->vl, (uint32_t)sim_units(s, size),
			    end + s->cable_delay);
		if (is_empty || sim_is_fifo(s))
			sim_unwant(s, sw, unit, in, out, vl);
		if (!is_empty && sim_is_fifo(s))
			ask_for_unit(p, in->sw, unit);
	}
	/* endpoints accept all packets; adaptive ones have taken their room */
	if (!sim_is_adaptive(s))
		sim_take(s, out_id, vl,
			 sim_units(s, size) & -(int32_t)(out->peer < s->net.n_ports));
	sim_start(p, out_id, id, vl, wire, 0);
}

/* An output chooses. Did it start a packet? */
SIM_HOT bool serve(struct sim_part *p, struct sim_switch *sw, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_port *out = &s->port[id];
	uint32_t local = out->local;

	if (!sim_bit(sim_free_outs(s, sw), local))
		return false;
	if (out->is_blocked)
		sim_count_blocked(s, p->now, id);
	if (!out->waited)
		return false;
	for (unsigned i = 1; i <= sim_n_vls(s); i++) {
		unsigned vl = out->last_vl + i < sim_n_vls(s)
				      ? out->last_vl + i
				      : out->last_vl + i - sim_n_vls(s);
		struct sim_lane *lane = sim_lane(s, id, vl);
		uint32_t unit;

		if (!(out->waited >> vl & 1))
			continue;
		unit = pick(p, sw, local, vl, lane);
		if (unit == FAB_NONE)
			continue;
		if (!sim_is_adaptive(s) &&
		    !sim_credit_has(p, id, vl, head_units(p, sw, unit, local, vl))) {
			/* a smaller packet may have credit */
			int32_t most = sim_room(s, id, vl);

			unit = most < s->least_units
				       ? FAB_NONE
				       : search(p, sw, local, vl, lane->last, most);
			if (unit == FAB_NONE) {
				sim_block(p, id, vl);
				continue;
			}
		}
		if (out->is_blocked)
			sim_count_blocked(s, p->now, id);
		lane->last = (uint16_t)(unit + 1 == sw->n_units ? 0 : unit + 1);
		out->last_vl = (uint8_t)vl;
		send(p, sw, unit, out, vl);
		return true;
	}
	return false;
}

/* An input may be free again: mark the free outputs for which it has packets. */
SIM_HOT void free_input(struct sim_part *p, uint32_t sw_id, uint32_t in)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	const uint64_t *wants = sim_wants(s, sw, in), *free = sim_free_outs(s, sw);

	if (sim_reads_apart(s) && s->port[sw->port_first + in].busy > p->now)
		return;
	set_input(s, sw, in, true);
	for (uint32_t w = 0; w < sw->out_words; w++)
		sim_mark(p, sw, sw_id, w, wants[w] & free[w]);
}

/* An output has sent a packet. */
SIM_HOT void free_output(struct sim_part *p, uint32_t id)
{
	struct sim *s = p->sim;
	const struct sim_port *port = &s->port[id];
	struct sim_switch *sw = &s->sw[port->sw];
	bool is_waited = port->waited;

	p->sums.events++;
	sim_set(sim_free_outs(s, sw), port->local);
	if (sim_is_small(sw) && sim_units_of_input(s) == 1 &&
	    !sim_reads_apart(s)) { /* no branches */
		uint64_t wants =
			sim_one_read(s) ? port[port->out_from - port->local].wants : 0;

		if (sim_one_read(s))
			sw->free_units |= 1ull << port->out_from % SIM_WORD;
		sim_mark(p, sw, port->sw, 0,
			 (uint64_t)is_waited << port->local % SIM_WORD |
				 (wants & sw->free_outs));
		return;
	}
	sim_mark(p, sw, port->sw, port->local / SIM_WORD,
		 (uint64_t)is_waited << port->local % SIM_WORD);
	if (sim_one_read(s))
		free_input(p, port->sw, port->out_from);
}

/* A credit has come: adaptive packets that wait at its switch may choose, its output or
 * endpoint may send. Only such credits are counted: of others the number that are events
 * depends on threads. */
SIM_HOT void take_credit(struct sim_part *p, uint32_t id, uint32_t credit)
{
	struct sim *s = p->sim;
	const struct sim_port *port = &s->port[id];
	unsigned vl = credit >> SIM_UNIT_BITS, end = sim_shares(s) ? s->n_vls : vl + 1;
	int32_t *credits = sim_credits(s, id, vl);
	int32_t before = *credits < 0 ? *credits : 0;
	bool was_blocked = false;

	*credits += (int32_t)(credit & ((1u << SIM_UNIT_BITS) - 1));
	if (sim_shares(s))
		s->pool[id] += (*credits < 0 ? *credits : 0) - before;
	if (sim_is_adaptive(s) && id < s->net.n_ports) {
		if (!p->n_waiting || !p->waiting[port->sw].of.n)
			return;
		FAB_PUSH(&p->credited, id);
		p->sums.events++;
		return;
	}
	for (vl = sim_shares(s) ? 0 : vl; vl < end; vl++) {
		struct sim_lane *lane = sim_lane(s, id, vl);

		p->n_blocked -= lane->is_blocked;
		was_blocked |= lane->is_blocked;
		lane->is_blocked = false;
	}
	if (!was_blocked)
		return;
	p->sums.events++;
	if (id >= s->net.n_ports)
		FAB_PUSH(&p->dirty_ends, id - s->net.n_ports);
	else
		sim_mark(p, &s->sw[port->sw], port->sw, port->local / SIM_WORD,
			 1ull << port->local % SIM_WORD);
}

/* Take the credits of the ring that have come. While no lane waits for any, many at a
 * time: sim_credit_has() takes them where it finds too few. Without this fabric-sim takes
 * 1.05 times the time in picoseconds, where each event has a time of its own. */
SIM_HOT void take_credits(struct sim_part *p)
{
	struct sim_ring *r = &p->credits;

	if (SIM_LANES == 1 && !p->n_blocked &&
	    (r->tail - r->head <= CREDITS || r->v[r->head + CREDITS].time > p->now))
		return;
	while (sim_ring_first(r) <= p->now) {
		const struct sim_arrival *a = &r->v[r->head++];

		__builtin_prefetch(sim_credits(p->sim, a[MIDDLE].port,
					       a[MIDDLE].packet >> SIM_UNIT_BITS));
		take_credit(p, a->port, a->packet);
	}
}

/* A head that comes late, or a packet at its endpoint. */
static void arrive_late(struct sim_part *p, uint32_t id, uint32_t packet)
{
	struct sim_arrival a = {.time = p->now, .port = id, .packet = packet};

	if (id < p->sim->net.n_ports) {
		route(p, &a);
		arrive(p, &a);
		return;
	}
	p->sums.delivered++;
	p->sim->host.arrived(p, id - p->sim->net.n_ports, packet);
}

#if SIM_LANES == 0
void sim_part_arrive(struct sim_part *p, uint32_t in, uint32_t packet)
{
	arrive_late(p, in, packet);
}
#endif

/* An event of the wheel. */
SIM_HOT void handle(struct sim_part *p, uint32_t what, uint32_t item)
{
	enum sim_event_kind kind = (enum sim_event_kind)(what >> SIM_ID_BITS);
	uint32_t id = what & SIM_ID;
	struct sim *s = p->sim;

	if (kind == SIM_END) {
		free_output(p, id);
		return;
	}
	if (kind == SIM_READ) {
		p->sums.events++;
		free_input(p, s->port[id].sw, s->port[id].local);
		return;
	}
	if (kind == SIM_CREDIT) {
		p->n_early--;
		take_credit(p, id, item);
		return;
	}
	p->n_live--;
	p->sums.events++;
	if (kind == SIM_HEAD)
		arrive_late(p, id, item);
	else if (kind == SIM_READY)
		be_ready(p, id, item);
	else if (kind == SIM_SEND)
		FAB_PUSH(&p->dirty_ends, id);
	else
		s->host.event(p, what, item);
}

/* Add the marked outputs of a switch to the list of choices, from its turn around. */
SIM_HOT void list_outputs(struct sim_part *p, struct sim_switch *sw)
{
	uint64_t *dirty = sim_dirty(p->sim, sw);
	uint32_t n = sw->out_words, w = sw->turn / SIM_WORD;
	uint64_t mask = ~0ull << sw->turn % SIM_WORD;

	sw->is_dirty = false;
	if (sim_is_small(sw)) {
		uint64_t bits = rotate(*dirty, sw->turn);
		uint32_t *to = p->choice + p->n_choices;

		/* the number of outputs is random: the first few are always written */
		p->n_choices += (uint32_t)__builtin_popcountll(bits);
		*dirty = 0;
		for (uint32_t i = 0; i < FEW_OUTS || bits; i++) {
			uint32_t is_one = -(uint32_t)(bits != 0);
			uint32_t out =
				sw->turn + (uint32_t)__builtin_ctzll(bits | 1ull << 63);

			to[i] = sw->port_first + (out % SIM_WORD & is_one);
			bits &= bits - 1;
		}
		return;
	}
	for (uint32_t i = 0; i <= n; i++) {
		uint64_t bits = dirty[w] & mask;

		dirty[w] &= ~mask;
		for (; bits; bits &= bits - 1)
			p->choice[p->n_choices++] = sw->port_first + w * SIM_WORD +
						    (uint32_t)__builtin_ctzll(bits);
		w = w + 1 == n ? 0 : w + 1;
		mask = ~0ull;
	}
}

/* Queues that the next choices will look at first, and their inputs. */
struct expected {
	const struct sim_queue *queue[EXPECTED];
	const struct sim_port *in[EXPECTED];
};

/* Expected queue number `at`: the one that an output will look at first. */
SIM_HOT void expect(const struct sim_part *p, struct expected *x, uint32_t at,
		    uint32_t id)
{
	const struct sim *s = p->sim;
	const struct sim_port *out = &s->port[id];
	unsigned vl = sim_n_vls(s) - 1; /* most packets are on it */
	uint32_t unit = pick(p, &s->sw[out->sw], out->local, vl, sim_lane(s, id, vl));

	x->queue[at % EXPECTED] = NULL;
	if (unit == FAB_NONE)
		return;
	x->in[at % EXPECTED] = out - out->local + unit;
	x->queue[at % EXPECTED] =
		sim_queue_of(s, x->in[at % EXPECTED], unit, out->local, vl);
	__builtin_prefetch(x->in[at % EXPECTED]);
	__builtin_prefetch(x->queue[at % EXPECTED]);
}

/* The first packet of an expected queue; NULL: none. */
SIM_HOT const struct sim_packet *expected_packet(const struct sim_part *p,
						 const struct expected *x, uint32_t at)
{
	const struct sim_queue *q = x->queue[at % EXPECTED];

	return q && !sim_queue_is_empty(q) ? sim_packet(p, q->first) : NULL;
}

/* The second one, or the first if there is no other; NULL: none. */
SIM_HOT const struct sim_packet *expected_next(const struct sim_part *p,
					       const struct expected *x, uint32_t at)
{
	const struct sim_queue *q = x->queue[at % EXPECTED];
	const struct sim_packet *first = expected_packet(p, x, at);

	return first && q->first != q->last ? sim_packet(p, first->next) : first;
}

/* Prefetch for the choices after number i. */
SIM_HOT void look_ahead_of_choice(const struct sim_part *p, struct expected *x,
				  uint32_t i)
{
	const struct sim *s = p->sim;
	uint32_t id = p->choice[i + 3 * CHOICES_SOON];
	const struct sim_packet *packet;

	if (sim_is_fifo(s) && !sim_is_adaptive(s)) { /* the next packet asks then */
		__builtin_prefetch(expected_next(p, x, i + 1));
		packet = expected_next(p, x, i);
		if (packet) {
			__builtin_prefetch(
				&s->net.next[(size_t)packet->row * s->n_switches +
					     x->in[i % EXPECTED]->sw]);
			__builtin_prefetch(&s->net.end_port[packet->target]);
		}
	}
	__builtin_prefetch(&s->port[id]);
	__builtin_prefetch(sim_lane(s, id, sim_n_vls(s) - 1));
	expect(p, x, i, p->choice[i + 2 * CHOICES_SOON]);
	packet = expected_packet(p, x, i + CHOICES_SOON);
	if (packet) {
		__builtin_prefetch(packet);
		__builtin_prefetch(
			&s->port[x->in[(i + CHOICES_SOON) % EXPECTED]->peer].lane);
	}
}

/* All marked outputs choose, and endpoints that may send do. The first output of a switch
 * that starts a packet moves its turn. */
SIM_HOT void choose(struct sim_part *p)
{
	struct sim *s = p->sim;
	struct expected x = {0};
	bool looks_ahead;

	p->n_choices = 0;
	for (uint32_t i = 0; i < p->n_dirty; i++)
		list_outputs(p, &s->sw[p->dirty[i]]);
	p->n_dirty = 0;
	looks_ahead = (SIM_PLAIN || sim_n_vls(s) == 1) && !sim_with_groups(s) &&
		      p->n_choices >= FEW_CHOICES;
	for (uint32_t i = 0; i < p->n_choices; i++) {
		struct sim_switch *sw = &s->sw[s->port[p->choice[i]].sw];
		uint32_t next = s->port[p->choice[i]].local + 1u;
		uint16_t is_first = (uint16_t) - (sw->turned != p->now); /* no branch */

		if (looks_ahead)
			look_ahead_of_choice(p, &x, i);
		if (!serve(p, sw, p->choice[i]))
			continue;
		next = next == sw->n_ports ? 0 : next;
		sw->turn ^= (uint16_t)((sw->turn ^ next) & is_first);
		sw->turned = p->now;
	}
	for (size_t i = 0; i < p->dirty_ends.n; i++)
		s->host.send(p, p->dirty_ends.v[i]);
	p->dirty_ends.n = 0;
}

/* The output that ends next. */
SIM_HOT uint32_t take_end(struct sim_part *p)
{
	const struct sim_arrival *end = &p->ends.v[p->ends.head++];
	const struct sim *s = p->sim;
	const struct sim_port *port = &s->port[end[FAR].port];

	__builtin_prefetch(port);
	__builtin_prefetch(&port->lane);
	port = &s->port[end[MIDDLE].port];
	__builtin_prefetch(&s->sw[port->sw]);
	if (sim_one_read(s))
		__builtin_prefetch(port - port->local + port->out_from);
	return end->port;
}

#if SIM_LANES == 1 && !SIM_SMALL
#define sim_part_run sim_part_run_large
#elif SIM_LANES == 1
#define sim_part_run sim_part_run_plain
#elif SIM_LANES == 2
#define sim_part_run sim_part_run_adaptive
#endif
FAB_BITS void sim_part_run(struct sim_part *p, uint64_t limit)
{
	while (!p->rc) {
		uint64_t ring = sim_ring_first(&p->ring), end = sim_ring_first(&p->ends);
		uint64_t credit = sim_credit_first(p), time;
		uint64_t first = ring < end ? ring : end;

		if (!sim_go_on(p, credit < first ? credit : first, limit))
			return;
		time = p->now;
		for (; end == time; end = sim_ring_first(&p->ends))
			free_output(p, take_end(p));
		take_credits(p);
		for (; ring == time; ring = sim_ring_first(&p->ring)) {
			struct sim_arrival a = take_head(p);

			p->sums.events++;
			if (!SIM_PLAIN && p->sim->failure && sim_is_swallowed(p, &a))
				continue;
			if (!SIM_PLAIN && p->sim->dodges)
				route(p, &a);
			arrive(p, &a);
		}
		sim_take_events(p, handle);
		if (SIM_LANES != 1 && (p->undecided.n || p->credited.n))
			decide_all(p);
		if (p->n_dirty || p->dirty_ends.n)
			choose(p);
	}
}
