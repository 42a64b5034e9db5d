/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network without bounds on buffers, in one part: packets take an output in the order
 * in which they choose it, so that the time of leaving is known then, and a hop is one
 * event. Adaptive packets choose, of the outputs on shortest paths, the one that is free
 * first, of equals a random one (chooser `random`: any of them).
 *
 * Memory of packets, ports and tables is fetched some events ahead.
 */
#include "sim/hot.h"

#include "base/rng.h"

enum {
	SLOT_BITS = 14, /* of the wheel: ticks of a slot */
	AHEAD = 12,	/* events whose packets are fetched into the cache */
	NEAR = 5,	/* whose outputs are */
};

/* A random number of a packet at a switch. */
static inline uint64_t chance_of(const struct sim *s, uint32_t sw,
				 const struct sim_packet *packet)
{
	return s->params->seed ^
	       fab_mix64(((uint64_t)packet->source << 32 | packet->birth) +
			 ((uint64_t)sw << 40) + FAB_SIM_HOPS_MAX - packet->hops);
}

/* Without the outputs whose cables are down, which a switch knows, if any are left. */
static uint32_t drop_down(const struct sim_part *p, uint32_t first, uint16_t *arc,
			  uint32_t n)
{
	uint32_t up = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!p->sim->host.is_down(p, first + arc[i]))
			arc[up++] = arc[i];
	return up ? up : n;
}

/* The output on a shortest path; FAB_NONE: none. */
static inline uint32_t choose_near(const struct sim_part *p,
				   const struct sim_open_port *port,
				   const struct sim_packet *packet)
{
	const struct sim *s = p->sim;
	uint64_t now = p->now;
	uint64_t best = UINT64_MAX, chance = 0;
	uint32_t n, equals = 0, out = FAB_NONE;
	uint16_t arc[SIM_NEAR_MAX];

	n = sim_net_near(&s->net, packet->row, port->sw, arc);
	if (!n && s->net.port_sw[s->net.end_port[packet->target]] == port->sw)
		return s->net.end_port[packet->target];
	if (s->host.is_down)
		n = drop_down(p, port->first, arc, n);
	if (n <= 1)
		return n ? port->first + arc[0] : FAB_NONE;
	if (s->is_spray)
		return port->first + arc[fab_mix64(chance_of(s, port->sw, packet)) % n];
	for (uint32_t i = 0; i < n; i++) {
		uint64_t busy = s->busy[port->first + arc[i]];

		busy = busy < now ? now : busy;
		if (busy < best) {
			best = busy;
			equals = 1;
			out = port->first + arc[i];
		} else if (busy == best) {
			/* the i-th of equals takes the place of those before with 1 / i
			 */
			chance = ++equals == 2 ? chance_of(s, port->sw, packet) : chance;
			if (fab_mix64(chance + equals) % equals == 0)
				out = port->first + arc[i];
		}
	}
	return out;
}

/* The output that a packet takes at the switch of a port; FAB_NONE: none. */
static inline uint32_t choose(const struct sim_part *p, const struct sim_open_port *port,
			      const struct sim_packet *packet)
{
	const struct sim *s = p->sim;
	uint32_t out, next;

	if (s->params->chooser) {
		out = choose_near(p, port, packet);
	} else {
		next = sim_net_next(&s->net, packet->row, port->sw);
		if (next == FAB_ARC_HERE)
			return s->net.end_port[packet->target];
		out = next < FAB_ARC_BROKEN ? port->first + next : FAB_NONE;
	}
	return out != FAB_NONE && s->open[out].peer == FAB_NONE ? FAB_NONE : out;
}

/* A packet takes a port at `ready`, or when it is free. */
static inline void forward(struct sim_part *p, uint32_t out, uint32_t id, uint64_t ready,
			   uint64_t late)
{
	struct sim *s = p->sim;
	const struct sim_open_port *port = &s->open[out];
	uint64_t start = s->busy[out] > ready ? s->busy[out] : ready;
	uint64_t wire = sim_wire(port->per_byte, sim_packet(p, id)->size);
	uint64_t time = start + s->cable_delay + late;

	if (start - ready > s->longest_wait) {
		s->longest_wait = start - ready;
		s->longest_port = out;
	}
	if (s->host.starts)
		s->host.starts(p, out, id);
	sim_packet(p, id)->hops++;
	s->busy[out] = start + wire;
	p->sums.packet_hops++;
	time += port->peer >= s->net.n_ports ? wire + s->host_delay
					     : s->params->switch_delay;
	fab_wheel_add(&p->wheel, time, sim_what(SIM_HEAD, port->peer), id);
}

/* A head is at a switch. Behind a slower cable it leaves later, so that the tail is there
 * in time. */
static inline void arrive(struct sim_part *p, uint32_t in, uint32_t id)
{
	const struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, id);
	uint64_t before, wire, ready = p->now;
	uint32_t out;

	if (packet->hops >= FAB_SIM_HOPS_MAX) {
		sim_lose(p, id, SIM_LOOPED);
		return;
	}
	out = choose(p, &s->open[in], packet);
	if (out == FAB_NONE || (s->host.is_down && s->host.is_down(p, out))) {
		sim_lose(p, id, out == FAB_NONE ? SIM_UNROUTABLE : SIM_DOWN);
		return;
	}
	if (!s->net.is_even) {
		before = sim_wire(s->open[in].per_byte, packet->size);
		wire = sim_wire(s->open[out].per_byte, packet->size);
		ready += before > wire ? before - wire : 0;
	}
	forward(p, out, id, ready, 0);
}

void sim_open_put(struct sim_part *p, uint32_t end, uint32_t id, uint64_t late)
{
	p->sums.injected++;
	forward(p, p->sim->net.n_ports + end, id, p->now, late);
}

static inline void handle(struct sim_part *p, uint32_t what, uint32_t item)
{
	enum sim_event_kind kind = (enum sim_event_kind)(what >> SIM_ID_BITS);
	uint32_t id = what & SIM_ID, n_ports = p->sim->net.n_ports;

	if (kind == SIM_HEAD && id < n_ports) {
		arrive(p, id, item);
	} else if (kind == SIM_HEAD) {
		p->sums.delivered++;
		p->sim->host.arrived(p, id - n_ports, item);
	} else if (kind == SIM_SEND) {
		p->sim->host.send(p, id);
	} else {
		p->sim->host.event(p, what, item);
	}
}

/* Fetch the packet and the port of an event. */
static inline void fetch(const struct sim_part *p, uint32_t what, uint32_t item)
{
	uint32_t port = what & SIM_ID;

	if (what >> SIM_ID_BITS != SIM_HEAD)
		return;
	__builtin_prefetch(&p->cell.v[item]);
	if (port >= p->sim->net.n_ports) {
		__builtin_prefetch(&p->sim->beside[item]);
		return;
	}
	__builtin_prefetch(&p->sim->open[port]);
	__builtin_prefetch(&p->sim->busy[port]);
}

/* Fetch its entry of the tables: packet and port are there by now. */
static inline void fetch_route(const struct sim_part *p, uint32_t what, uint32_t item)
{
	const struct sim *s = p->sim;
	uint32_t in = what & SIM_ID, row;

	if (what >> SIM_ID_BITS != SIM_HEAD || in >= s->net.n_ports)
		return;
	row = sim_packet(p, item)->row;
	if (!s->params->chooser)
		__builtin_prefetch(
			&s->net.next[(size_t)row * s->n_switches + s->open[in].sw]);
	else if (s->net.towards)
		__builtin_prefetch(sim_net_towards_at(&s->net, row, s->open[in].sw));
}

/* Fetch what the event number i of this time needs, or one behind them. */
static inline void fetch_of(const struct sim_part *p, size_t i, bool is_near)
{
	const struct fab_wheel *w = &p->wheel;
	struct fab_wheel_event e;

	if (i < p->batch.n)
		e = (struct fab_wheel_event){
			.what = (uint32_t)(p->batch.v[i] >> 32),
			.item = (uint32_t)p->batch.v[i],
		};
	else if (i - p->batch.n < fab_wheel_ahead(w))
		e = w->now.v[w->at + i - p->batch.n];
	else
		return;
	if (is_near)
		fetch_route(p, e.what, e.item);
	else
		fetch(p, e.what, e.item);
}

static void handle_several(struct sim_part *p)
{
	sim_batch(p);
	for (size_t i = 0; i < AHEAD; i++)
		fetch_of(p, i, false);
	for (size_t i = 0; i < NEAR; i++)
		fetch_of(p, i, true);
	for (size_t i = 0; i < p->batch.n; i++) {
		fetch_of(p, i + AHEAD, false);
		fetch_of(p, i + NEAR, true);
		handle(p, (uint32_t)(p->batch.v[i] >> 32), (uint32_t)p->batch.v[i]);
	}
	p->sums.events += p->batch.n;
}

static void run(struct sim_part *p, uint64_t limit)
{
	struct fab_wheel *w = &p->wheel;

	while (!p->rc && fab_wheel_next(w, limit) != UINT64_MAX) {
		const struct fab_wheel_event *next = &w->now.v[w->at];
		uint32_t what = next->what, item = next->item;
		size_t ahead = fab_wheel_ahead(w);

		p->now = next->time;
		for (size_t i = 1; !w->at && i < AHEAD && i < ahead; i++) /* a new slot */
			fetch(p, next[i].what, next[i].item);
		if (ahead > 1 && next[1].time == p->now) {
			handle_several(p);
			continue;
		}
		(void)fab_wheel_take(w);
		if (ahead > AHEAD + 1)
			fetch(p, next[AHEAD + 1].what, next[AHEAD + 1].item);
		if (ahead > NEAR + 1)
			fetch_route(p, next[NEAR + 1].what, next[NEAR + 1].item);
		handle(p, what, item);
		p->sums.events++;
	}
}

void sim_init_open(struct sim *s, const struct fab_sim_params *params, uint32_t n_slots,
		   const struct sim_host *host, void *context)
{
	struct fab_arena *a = &s->net.arena;
	uint32_t random = fab_choices_find(&fab_sim_chooser_choices, "random", 6);

	s->params = params;
	s->host = *host;
	s->context = context;
	s->is_spray = params->chooser == random + 1;
	s->n_switches = s->net.n_switches;
	s->cable_delay = params->cable_delay;
	s->host_delay = params->host_delay;
	s->begin = s->end = UINT64_MAX;
	s->run = run;
	s->open = FAB_ARENA_NEW(a, s->net.n_all + 1, struct sim_open_port);
	s->busy = FAB_ARENA_NEW0(a, s->net.n_all + 1, uint64_t);
	for (uint32_t port = 0; port < s->net.n_all; port++) {
		uint32_t sw = port < s->net.n_ports ? s->net.port_sw[port] : FAB_NONE;

		s->open[port] = (struct sim_open_port){
			.per_byte = s->net.per_byte[port],
			.peer = s->net.peer[port],
			.sw = sw,
			.first = sw == FAB_NONE ? FAB_NONE : s->net.port_first[sw]};
	}
	s->n_parts = 1;
	s->part = FAB_ARENA_NEW0(a, 1, struct sim_part);
	s->part->sim = s;
	s->part->free_cell = FAB_NONE;
	fab_wheel_init(&s->part->wheel, SLOT_BITS, params->by_heap ? 0 : n_slots);
}
