/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that lose packets: each output has a queue, first come, first served, whatever
 * the inputs, and no lanes. What arrives (a packet whose head may leave) takes room for
 * all of it, until its tail has left, or is lost: whole (tail), or without its payload
 * (trim: Cheng et al. 2014, Handley et al., "Re-architecting datacenter networks and
 * stacks for low latency and high performance", SIGCOMM 2017). Headers, and packets that
 * the host calls urgent, have a queue of their own, which is served first. A packet is
 * marked (ECN) when it finds more than a threshold in the queue.
 *
 * The loop: outputs that have sent a packet and heads come as in sim/engine.c. Packets
 * that come at one time take room in the order of their ports, then idle outputs start.
 */
#include "sim/hot.h"

/* Events ahead that are fetched: without this uniform traffic of 4341 hosts takes 1.4
 * times as long. */
enum { NEAR = 4, FAR = SIM_RING_ROOM };

/* Of undecided packets: since is the output that it may have now. */
static const uint64_t READY = 1ull << 63;

static const struct fab_choice drops[] = {
	{"none", "credits: nothing is sent to a full buffer",
	 "Nothing is sent to a full buffer: credits, as in InfiniBand.", true},
	{"tail", "what arrives at a full buffer is lost",
	 "What arrives at a full buffer is lost.", true},
	{"trim", "its payload is lost, and the header goes on first",
	 "Its payload is lost; the header goes on before all payload.", true},
};

FAB_CHOICES(fab_sim_drop_choices, "drop", drops);

/* Bytes of the data queue of an output beyond its private part: in the part that all
 * outputs of the switch share. */
static int32_t beyond(const struct sim *s, int32_t credits)
{
	int32_t more = s->lane_room - credits - (int32_t)s->params->buffer_private;

	return more > 0 ? more : 0;
}

/* Room in a lane of an output; that of data may be shared. */
static bool take(struct sim *s, uint32_t out, unsigned vl, uint32_t size)
{
	int32_t *credits = sim_credits(s, out, vl), left = *credits - (int32_t)size;
	int64_t *room = !vl && s->room ? &s->room[s->port[out].sw] : NULL;
	int32_t more = room ? beyond(s, left) - beyond(s, *credits) : 0;

	if (room ? more > *room : left < 0)
		return false;
	*credits = left;
	if (room)
		*room -= more;
	return true;
}

/* Room in the queue of an output for a packet that came by a port, and its lane; false:
 * it is lost. */
SIM_HOT bool admit(struct sim_part *p, uint32_t in, uint32_t id, uint32_t out,
		   unsigned *vl)
{
	struct sim *s = p->sim;
	const struct fab_sim_params *params = s->params;
	struct sim_packet *packet = sim_packet(p, id);
	bool trims = params->drop == FAB_SIM_TRIM;
	uint32_t header = params->header ? params->header : 1;

	*vl = trims && packet->sl & (SIM_TRIMMED | SIM_URGENT);
	if (take(s, out, *vl, packet->size)) {
		int64_t queued = (int64_t)s->lane_room - *sim_credits(s, out, 0);

		if (!*vl && params->ecn && !(packet->sl & SIM_MARKED) &&
		    queued - packet->size > params->ecn) {
			packet->sl |= SIM_MARKED;
			p->sums.marked++;
		}
		return true;
	}
	if (trims && !*vl && packet->size > header) {
		packet->size = (uint16_t)header;
		packet->sl |= SIM_TRIMMED;
		p->sums.trimmed++;
		*vl = 1;
		if (take(s, out, 1, header))
			return true;
	}
	sim_drop(p, in, id, SIM_FULL);
	return false;
}

/* An output has sent a packet. */
SIM_HOT void leave(struct sim_part *p, uint32_t out)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[out];
	uint32_t size = (uint32_t)(port->busy >> 1);
	unsigned vl = port->busy & 1;
	int32_t *credits = sim_credits(s, out, vl), before = *credits;

	*credits += (int32_t)size;
	if (!vl && s->room)
		s->room[port->sw] += beyond(s, before) - beyond(s, *credits);
	port->busy = 0;
	p->choice[p->n_choices] = out;
	p->n_choices += port->waited != 0;
	p->sums.events++;
}

/* A packet waits for its output. */
SIM_HOT void ask(struct sim_part *p, uint32_t in, uint32_t id, uint32_t out)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[out];
	struct sim_packet *packet = sim_packet(p, id);
	unsigned vl;

	packet->since = (uint32_t)p->now;
	if (!admit(p, in, id, out, &vl))
		return;
	if (s->queued)
		sim_count_queued(s, out, vl, packet->size);
	p->choice[p->n_choices] = out;
	p->n_choices += !port->busy && !port->waited;
	port->waited |= (uint16_t)(1u << vl);
	sim_queue_push(p, &s->queue[vl * s->n_queues + port->queue], id);
}

/* A head is at a switch. */
SIM_HOT void arrive(struct sim_part *p, uint32_t in, uint32_t id)
{
	const struct sim *s = p->sim;
	uint8_t hops = sim_packet(p, id)->hops;

	if (hops >= FAB_SIM_HOPS_MAX && (s->host.ends_hops || !s->params->chooser ||
					 hops >= FAB_SIM_ADAPTIVE_HOPS_MAX))
		sim_drop(p, in, id, SIM_LOOPED);
	else
		FAB_PUSH(&p->undecided, (uint64_t)in << 32 | id);
}

/* It chooses its output, and waits for it when a tail on a slower cable is near enough.
 */
SIM_HOT void decide(struct sim_part *p, uint64_t which)
{
	const struct sim *s = p->sim;
	uint32_t in_id = (uint32_t)((which & ~READY) >> 32), id = (uint32_t)which, out;
	struct sim_packet *packet = sim_packet(p, id);
	const struct sim_port *in = &s->port[in_id];
	struct sim_copy to = {0, 0};
	bool has_path;

	if (which & READY) {
		ask(p, in_id, id, packet->since);
		return;
	}
	has_path = s->params->chooser ? sim_choose(p, in_id, id, &to) == SIM_CHOSEN
				      : sim_look_up(s, in->sw, in->local, packet,
						    s->net.end_row[packet->target], &to);
	out = in_id - in->local + to.out;
	if (!has_path || s->port[out].peer == FAB_NONE) {
		sim_drop(p, in_id, id, SIM_UNROUTABLE);
	} else if (s->host.is_down && s->host.is_down(p, out)) {
		sim_drop(p, in_id, id, SIM_DOWN);
	} else if (!s->net.is_even && in->per_byte > s->port[out].per_byte) {
		packet->since = out;
		sim_event_at(p,
			     p->now + sim_wire(in->per_byte, packet->size) -
				     sim_wire(s->port[out].per_byte, packet->size),
			     SIM_READY, in_id, id);
	} else {
		ask(p, in_id, id, out);
	}
}

/* An idle output starts the first packet. */
SIM_HOT void start(struct sim_part *p, uint32_t out)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[out];
	unsigned vl = port->waited >> 1;
	struct sim_queue *queue = &s->queue[vl * s->n_queues + port->queue];
	uint32_t id = queue->first, size = sim_packet(p, id)->size;
	uint64_t wire = sim_wire(port->per_byte, size), end = p->now + wire;

	if (sim_queue_pop(p, queue))
		port->waited &= (uint16_t) ~(1u << vl);
	if (s->queued)
		s->queued[(size_t)out * s->n_vls + vl] -= size;
	port->busy = size << 1 | vl;
	if (end >= p->ends.last)
		sim_ring_add(&p->ends, end, out, 0);
	else if (end >= p->short_ends.last)
		sim_ring_add(&p->short_ends, end, out, 0);
	else
		fab_wheel_add(&p->wheel, end, sim_what(SIM_END, out), 0);
	sim_start(p, out, id, vl, wire, 0);
}

/* An event of the wheel. */
SIM_HOT void handle(struct sim_part *p, uint32_t what, uint32_t item)
{
	enum sim_event_kind kind = (enum sim_event_kind)(what >> SIM_ID_BITS);
	uint32_t id = what & SIM_ID;
	const struct sim *s = p->sim;

	if (kind == SIM_END) {
		leave(p, id);
		return;
	}
	p->n_live--;
	p->sums.events++;
	if (kind == SIM_HEAD && id < s->net.n_ports) {
		arrive(p, id, item);
	} else if (kind == SIM_HEAD) {
		p->sums.delivered++;
		s->host.arrived(p, id - s->net.n_ports, item);
	} else if (kind == SIM_READY) {
		FAB_PUSH(&p->undecided, (uint64_t)id << 32 | item | READY);
	} else if (kind == SIM_SEND) {
		FAB_PUSH(&p->dirty_ends, id);
	} else {
		s->host.event(p, what, item);
	}
}

/* The next output that has sent a packet. */
SIM_HOT void take_end(struct sim_part *p, struct sim_ring *r)
{
	const struct sim_arrival *a = &r->v[r->head++];

	__builtin_prefetch(&p->sim->port[a[FAR].port]);
	__builtin_prefetch(&p->sim->port[a[FAR].port].lane);
	leave(p, a->port);
}

/* The next head of the ring. */
SIM_HOT void take_head(struct sim_part *p)
{
	const struct sim *s = p->sim;
	const struct sim_arrival *a = &p->ring.v[p->ring.head++];
	const struct sim_packet *near = sim_packet(p, a[NEAR].packet);

	/* behind the last event are old ones, or zeros: harmless */
	__builtin_prefetch(&s->port[a[FAR].port]);
	__builtin_prefetch(&p->cell.v[a[FAR].packet]);
	if (s->net.next)
		__builtin_prefetch(&s->net.next[(size_t)s->net.end_row[near->target] *
							s->n_switches +
						s->port[a[NEAR].port].sw]);
	p->sums.events++;
	arrive(p, a->port, a->packet);
}

FAB_BITS void sim_part_run_drops(struct sim_part *p, uint64_t limit)
{
	const struct sim *s = p->sim;

	while (!p->rc) {
		uint64_t ring = sim_ring_first(&p->ring), end = sim_ring_first(&p->ends);
		uint64_t short_end = sim_ring_first(&p->short_ends), time;
		uint64_t first = ring < end ? ring : end;

		if (!sim_go_on(p, short_end < first ? short_end : first, limit))
			return;
		time = p->now;
		for (; end == time; end = sim_ring_first(&p->ends))
			take_end(p, &p->ends);
		for (; short_end == time; short_end = sim_ring_first(&p->short_ends))
			take_end(p, &p->short_ends);
		for (; ring == time; ring = sim_ring_first(&p->ring))
			take_head(p);
		sim_take_events(p, handle);
		sim_sort(p, p->undecided.v, p->undecided.n);
		for (size_t i = 0; i < p->undecided.n; i++)
			decide(p, p->undecided.v[i]);
		p->undecided.n = 0;
		for (uint32_t i = 0; i < p->n_choices; i++) {
			__builtin_prefetch(&s->port[p->choice[i + NEAR]]);
			start(p, p->choice[i]);
		}
		p->n_choices = 0;
		for (size_t i = 0; i < p->dirty_ends.n; i++)
			s->host.send(p, p->dirty_ends.v[i]);
		p->dirty_ends.n = 0;
	}
}
