/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/naive.h"

#include "base/rng.h"
#include "unicast/path.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 16, FAR = 1000 };

/* An output, and the input of the same number. */
struct port {
	uint32_t sw, arc, end;	    /* at a switch: to another one, or to an endpoint */
	uint32_t cable, id;	    /* id: of the fabric's port that sends */
	uint32_t peer;		    /* at the other end of the cable */
	uint64_t out_busy, in_busy; /* until then */
	uint64_t reading;	    /* body that the input reads */
	unsigned next_vl;
	bool is_credited;	   /* credit came now */
	int used[LANES];	   /* of the buffer behind the output */
	uint32_t next_unit[LANES]; /* queue that is served next, as unit_of() has it */
};

/* A packet at a switch or on its way there; copies of multicast are one each. */
struct packet {
	bool exists, is_asking; /* asking: it has been routed */
	struct fab_delivery of; /* its message */
	uint32_t message, number, size, column;
	bool is_last;
	unsigned sl, vl;
	uint16_t hops;
	uint32_t in;
	uint64_t ready, order, body; /* order: of coming; copies share their body */
	uint64_t waits_since; /* adaptive, without room: a number; 0: it does not wait */
	uint64_t end;	      /* of the tails of the same body that have started */
	uint32_t out;	      /* for which it asks */
	unsigned vl_out;
};

struct credit {
	uint64_t time;
	uint32_t port;
	unsigned vl;
	int units;
};

struct note {
	uint32_t e;
	bool is_completed;
	struct fab_delivery of;
};

/* The message that an endpoint sends. */
struct message {
	struct fab_delivery of;
	uint32_t left, id;
	bool is_there, is_begun;
};

/* A message to a group: packets and copies under way. */
struct flight {
	int64_t n;
	bool is_open;
	struct fab_delivery of;
};

struct naive {
	const struct fab_sim_problem *p;
	const struct fab_sim_params *params;
	const struct fab_messages *messages;
	struct naive_result *result;
	uint32_t *first;   /* [n_switches + 1] ports; those of endpoints are behind */
	struct port *port; /* of arcs, then of endpoints, of each switch */
	unsigned n_vls;
	int own, shared; /* room of a lane alone, and of all lanes of a port together */
	uint64_t hop;	 /* ticks from the start to the choices of the next switch */
	uint64_t now, n_ready, n_bodies, n_waits;
	uint32_t n_sent;
	uint32_t *turn, *robin; /* by switch: the output, the choice that is next */
	FAB_VEC(struct packet) packets;
	FAB_VEC(struct credit) credits;
	FAB_VEC(struct note) notes;
	FAB_VEC(struct flight) flights;
	struct message *sending; /* by endpoint */
	uint32_t *column;	 /* of tables, by endpoint */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Ticks of a packet on the cable of a port. */
static uint64_t wire(const struct naive *n, uint32_t port, uint32_t size)
{
	double gbps = n->params->all_rates
			      ? 0
			      : fab_cable_data_gbps(n->p->f, n->port[port].cable);
	long per;

	if (n->params->by_flit)
		return size;
	per = lround(8000 / (gbps > 0 ? gbps : n->params->rate_gbps) * 1048576);
	per = lround(((double)size * (double)per) / 1048576);
	return per > 0 ? (uint64_t)per : 1;
}

/* What a packet takes of a buffer. */
static int units(const struct naive *n, uint32_t size)
{
	return n->params->by_flit ? 1 : (int)((size + 63) / 64);
}

/* Room for a lane behind an output. */
static int room(const struct naive *n, uint32_t port, unsigned vl)
{
	const int *used = n->port[port].used;
	int left = n->shared;

	for (unsigned v = 0; v < n->n_vls; v++)
		left -= used[v] > n->own ? used[v] - n->own : 0;
	return left + (used[vl] < n->own ? n->own - used[vl] : 0);
}

static void give_back(struct naive *n, const struct packet *p, uint64_t time)
{
	FAB_PUSH(&n->credits,
		 ((struct credit){time + n->params->cable_delay, n->port[p->in].peer,
				  p->vl, units(n, p->size)}));
}

static void note(struct naive *n, uint32_t e, bool is_completed, struct fab_delivery of,
		 uint64_t time)
{
	of.time = time;
	if (is_completed ? n->messages->completed != NULL : n->messages->received != NULL)
		FAB_PUSH(&n->notes, ((struct note){e, is_completed, of}));
}

static void flight_change(struct naive *n, uint32_t id, int by, uint64_t time, bool lost)
{
	struct flight *f = &n->flights.v[id];

	f->n += by;
	f->of.is_lost |= lost;
	f->of.time = larger(f->of.time, time);
	if (!f->n && !f->is_open)
		note(n, f->of.source, true, f->of, f->of.time);
}

static void drop(struct naive *n, struct packet *p)
{
	n->result->dropped++;
	give_back(n, p, n->now + wire(n, p->in, p->size));
	p->exists = false;
	p->of.is_lost = true;
	if (p->of.to_group)
		flight_change(n, p->message, -1, n->now + n->hop, true);
	else if (p->is_last)
		note(n, p->of.source, true, p->of, n->now + n->hop);
}

static void record(struct naive *n, const struct packet *p, uint32_t port, unsigned vl)
{
	FAB_PUSH(&n->result->starts, ((struct fab_sim_step){.birth = p->of.birth,
							    .arrived = p->ready,
							    .left = n->now,
							    .packet = p->number,
							    .source = p->of.source,
							    .target = p->of.target,
							    .port = n->port[port].id,
							    .hop = p->hops,
							    .vl = (uint8_t)vl,
							    .to_group = p->of.to_group}));
}

/* On the way to the other end of the cable at a port. */
static void move(struct naive *n, struct packet p, uint32_t port)
{
	p.exists = true;
	p.in = n->port[port].peer;
	p.ready = n->now + n->hop;
	p.body = ++n->n_bodies;
	p.hops++;
	FAB_PUSH(&n->packets, p);
}

/* Tables */

static unsigned lane(const struct naive *n, const struct packet *p, uint32_t out)
{
	uint32_t sw = n->port[out].sw, d = fab_degree(n->p->f, sw);
	uint32_t from = p->in - n->first[sw], to = out - n->first[sw];
	unsigned vl;

	if (n->n_vls == 1)
		return 0;
	vl = fab_routes_vl(n->p->routes, sw, from < d ? from : d, to < d ? to : d, p->sl);
	return vl >= n->n_vls && to >= d ? p->sl % n->n_vls : vl;
}

/* The output of the tables for a packet at its switch; FAB_NONE. */
static uint32_t by_table(const struct naive *n, const struct packet *p)
{
	uint32_t sw = n->port[p->in].sw;
	uint32_t next = fab_routes_next(n->p->routes, p->column)[sw];

	for (uint32_t o = n->first[sw]; o < n->first[sw + 1]; o++) {
		const struct port *x = &n->port[o];

		if (x->end == FAB_NONE ? o - n->first[sw] == next &&
						 fab_arc_is_live(n->p->faults, x->arc)
				       : next == FAB_ARC_HERE && x->end == p->of.target)
			return o;
	}
	return FAB_NONE;
}

/* Does a group's packet leave a switch by this output, wherever it came from? */
static bool is_of_group(const struct naive *n, uint32_t group, uint32_t out)
{
	const struct fab_forest *t = n->p->forest;
	const struct fab_groups *g = n->p->groups;
	const struct port *x = &n->port[out];

	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++)
		if (x->end != FAB_NONE && n->p->f->port_cable[g->member[m]] == x->cable)
			return true;
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		if (x->end == FAB_NONE && t->cable[e] == x->cable &&
		    fab_cable_is_live(n->p->faults, x->cable))
			return true;
	return false;
}

/* Where the cable out is faster, the head waits. */
static uint64_t slower_by(struct naive *n, const struct packet *p, uint32_t out)
{
	uint64_t to = wire(n, out, p->size);

	return larger(wire(n, p->in, p->size), to) - to;
}

/* A head that may leave: a copy of it asks for each output. */
static void route(struct naive *n, size_t id)
{
	struct packet p = n->packets.v[id];
	uint32_t sw = n->port[p.in].sw;
	uint32_t next = p.of.to_group ? FAB_NONE : by_table(n, &p);
	uint64_t wait = 0;
	int n_out = 0;

	n->packets.v[id].exists = false;
	p.order = n->n_ready++;
	p.is_asking = true;
	for (p.out = n->first[sw]; p.out < n->first[sw + 1]; p.out++) {
		p.vl_out = lane(n, &p, p.out);
		if (p.hops >= FAB_SIM_HOPS_MAX || p.vl_out >= n->n_vls ||
		    !(p.of.to_group ? p.out != p.in && is_of_group(n, p.of.target, p.out)
				    : p.out == next))
			continue;
		wait = larger(wait, slower_by(n, &p, p.out));
		n_out++;
		FAB_PUSH(&n->packets, p);
	}
	for (size_t i = 0; i < n->packets.n; i++)
		if (n->packets.v[i].body == p.body)
			n->packets.v[i].ready += wait;
	if (!n_out)
		drop(n, &p);
	else if (p.of.to_group)
		flight_change(n, p.message, n_out - 1, 0, false);
}

/* Adaptive packets, which escape to tables of one lane */

/* Hops of live cables between two switches. */
static int hops(const struct naive *n, uint32_t from, uint32_t to)
{
	const struct fab_fabric *f = n->p->f;
	FAB_AUTOFREE int *at = FAB_NEW(f->n_switches, int);

	for (uint32_t s = 0; s < f->n_switches; s++)
		at[s] = s == to ? 0 : FAR;
	for (uint32_t round = 0; round < f->n_switches; round++)
		for (uint32_t s = 0; s < f->n_switches; s++)
			for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
				if (fab_arc_is_live(n->p->faults, a) &&
				    at[f->arc_peer[a]] + 1 < at[s])
					at[s] = at[f->arc_peer[a]] + 1;
	return at[from];
}

/* Does an output lead nearer, and has it room? */
static bool is_good(const struct naive *n, const struct packet *p, uint32_t out)
{
	const struct port *x = &n->port[out];
	uint32_t to = n->p->ends->sw[p->of.target];

	return x->end == FAB_NONE && fab_arc_is_live(n->p->faults, x->arc) &&
	       hops(n, n->p->f->arc_peer[x->arc], to) + 1 == hops(n, x->sw, to) &&
	       room(n, out, n->n_vls - 1) >= units(n, p->size);
}

/* One of `n_out` outputs with room, as the rule of the parameters says. */
static uint32_t pick(struct naive *n, const struct packet *p, const uint32_t *out,
		     uint32_t n_out)
{
	uint64_t random =
		fab_mix64(n->params->seed ^ fab_mix64(n->now ^ (uint64_t)p->in << 40));
	uint32_t a = out[random % n_out], b = out[(random >> 32) % n_out], best[64];
	unsigned vl = n->n_vls - 1;
	uint32_t n_best = 0;
	int most = 0;

	switch (n->params->chooser - 1) {
	case 0: /* one of those with most room */
		for (uint32_t i = 0; i < n_out; i++) {
			if (room(n, out[i], vl) > most)
				n_best = 0;
			if (room(n, out[i], vl) >= most) {
				best[n_best++] = out[i];
				most = room(n, out[i], vl);
			}
		}
		return best[random % n_best];
	case 1:
		return a;
	case 2:
		return room(n, b, vl) > room(n, a, vl) ? b : a;
	default:
		return out[n->robin[n->port[p->in].sw]++ % n_out];
	}
}

/* Where does a packet go on? false: it waits. */
static bool decide(struct naive *n, struct packet *p)
{
	uint32_t sw = n->port[p->in].sw, out[64], n_out = 0;

	for (uint32_t o = n->first[sw]; o < n->first[sw + 1]; o++)
		if (is_good(n, p, o))
			out[n_out++] = o;
	p->vl_out = n_out ? n->n_vls - 1 : 0;
	p->out = n_out ? pick(n, p, out, n_out) : by_table(n, p);
	if (p->out == FAB_NONE) {
		drop(n, p);
		return true;
	}
	if (n->port[p->out].end == FAB_NONE) {
		if (room(n, p->out, p->vl_out) < units(n, p->size))
			return false;
		n->port[p->out].used[p->vl_out] += units(n, p->size);
	}
	p->is_asking = true;
	p->waits_since = 0;
	p->ready = n->now + slower_by(n, p, p->out);
	p->order = p->ready << 32 | n->n_ready++;
	return true;
}

/* The packet that waits at a switch and is next after `after`; NULL. */
static struct packet *next_waiting(struct naive *n, uint32_t sw, uint64_t after)
{
	struct packet *best = NULL;

	for (size_t i = 0; i < n->packets.n; i++) {
		struct packet *p = &n->packets.v[i];

		if (p->exists && p->waits_since > after && n->port[p->in].sw == sw &&
		    (!best || p->waits_since < best->waits_since))
			best = p;
	}
	return best;
}

/* First those that wait, where credit came; then those that come, by input. */
static void adapt(struct naive *n)
{
	uint32_t n_ports = n->first[n->p->f->n_switches];

	for (uint32_t o = 0; o < n_ports; o++) {
		bool is_credited = n->port[o].is_credited && n->port[o].end == FAB_NONE;
		struct packet *p;
		uint64_t at = 0;

		n->port[o].is_credited = false;
		while (is_credited && (p = next_waiting(n, n->port[o].sw, at))) {
			at = p->waits_since;
			if (is_good(n, p, o) ||
			    (by_table(n, p) == o && room(n, o, 0) >= units(n, p->size)))
				(void)decide(n, p);
		}
	}
	for (uint32_t in = 0; in < n_ports; in++)
		for (size_t i = 0; i < n->packets.n; i++) {
			struct packet *p = &n->packets.v[i];

			if (p->exists && !p->is_asking && p->ready == n->now &&
			    p->in == in && !decide(n, p))
				p->waits_since = ++n->n_waits;
		}
}

/* Switches */

/* A packet is at its endpoint as a whole at `time`. */
static void deliver(struct naive *n, const struct packet *p, uint32_t e, uint64_t time)
{
	FAB_PUSH(&n->result->deliveries,
		 ((struct fab_sim_delivery){.birth = p->of.birth,
					    .delivered = time,
					    .source = p->of.source,
					    .target = e,
					    .group = p->of.to_group ? p->of.target
								    : FAB_NONE,
					    .wire = p->size}));
	if (p->of.to_group)
		flight_change(n, p->message, -1, time, false);
	if (p->is_last)
		note(n, e, false, p->of, time);
	if (p->is_last && !p->of.to_group)
		note(n, p->of.source, true, p->of, time);
}

/* The packet starts on its output. */
static void start(struct naive *n, size_t id)
{
	struct packet p = n->packets.v[id];
	struct port *in = &n->port[p.in], *out = &n->port[p.out];
	uint64_t ticks = wire(n, p.out, p.size), speed = n->params->speedup;
	bool is_last = true;

	n->packets.v[id].exists = false;
	out->out_busy = n->now + ticks;
	if (n->params->kind->one_read) {
		in->in_busy = larger(in->in_busy, n->now + (ticks + speed - 1) / speed);
		in->reading = p.body;
	}
	record(n, &p, p.out, p.vl_out);
	p.end = larger(p.end, out->out_busy);
	for (size_t i = 0; i < n->packets.n; i++)
		if (n->packets.v[i].exists && n->packets.v[i].body == p.body) {
			n->packets.v[i].end = p.end;
			is_last = false;
		}
	if (is_last)
		give_back(n, &p, p.end);
	p.vl = p.vl_out;
	p.is_asking = false;
	p.end = 0;
	if (out->end != FAB_NONE) {
		deliver(n, &p, out->end,
			out->out_busy + n->params->cable_delay + n->params->host_delay);
		return;
	}
	if (!n->params->chooser) /* adaptive packets took it before */
		out->used[p.vl] += units(n, p.size);
	move(n, p, p.out);
}

/* The queue of a packet: its input; of a fifo switch that and its lane. */
static uint32_t unit_of(const struct naive *n, const struct packet *p)
{
	return n->params->kind->is_fifo ? p->in * n->n_vls + p->vl : p->in;
}

/* Nothing is before it in its queue, and there is room. */
static bool may_start(const struct naive *n, const struct packet *p)
{
	const struct fab_sim_switch *kind = n->params->kind;
	const struct port *in = &n->port[p->in], *out = &n->port[p->out];

	if (!p->is_asking || p->ready > n->now || out->out_busy > n->now ||
	    (kind->one_read && in->in_busy > n->now && in->reading != p->body) ||
	    (out->end == FAB_NONE && !n->params->chooser &&
	     room(n, p->out, p->vl_out) < units(n, p->size)))
		return false;
	for (size_t i = 0; i < n->packets.n; i++) {
		const struct packet *q = &n->packets.v[i];

		if (q->exists && q->is_asking && q->ready <= n->now &&
		    q->order < p->order && unit_of(n, q) == unit_of(n, p) &&
		    (kind->is_fifo || (q->out == p->out && q->vl_out == p->vl_out)))
			return false;
	}
	return true;
}

/* Does a lane of an output start something? */
static bool serve(struct naive *n, uint32_t out, unsigned vl)
{
	struct port *x = &n->port[out];
	uint32_t best = FAB_NONE, least = FAB_NONE;

	for (uint32_t i = 0; i < n->packets.n; i++) {
		const struct packet *p = &n->packets.v[i];
		uint32_t turn = unit_of(n, p) - x->next_unit[vl]; /* around below 0 */

		if (p->exists && p->out == out && p->vl_out == vl && turn <= least &&
		    may_start(n, p)) {
			best = i;
			least = turn;
		}
	}
	if (best == FAB_NONE)
		return false;
	x->next_unit[vl] += least + 1;
	x->next_vl = vl + 1;
	start(n, best);
	return true;
}

static void choose(struct naive *n, uint32_t sw)
{
	uint32_t begin = n->turn[sw], n_here = n->first[sw + 1] - n->first[sw];
	bool is_first = true;

	for (uint32_t k = 0; k < n_here; k++) {
		uint32_t out = (begin + k) % n_here;
		const struct port *x = &n->port[n->first[sw] + out];
		unsigned from = x->next_vl;
		bool has = false;

		for (unsigned v = 0; v < n->n_vls && x->out_busy <= n->now; v++)
			has |= serve(n, n->first[sw] + out, (from + v) % n->n_vls);
		if (has && is_first) {
			n->turn[sw] = out + 1;
			is_first = false;
		}
	}
}

/* Endpoints */

static void pull(struct naive *n, uint32_t e)
{
	struct message *s = &n->sending[e];
	struct fab_message m = {0};

	s->is_there = n->messages->next(n->messages->context, e, n->now, &m) &&
		      m.time < 1ull << FAB_MESSAGE_TIME_BITS;
	s->is_begun = false;
	s->left = m.bytes;
	s->of = (struct fab_delivery){.birth = m.time,
				      .source = e,
				      .target = m.target,
				      .tag = m.tag,
				      .to_group = m.to_group};
}

/* Has the message of an endpoint a path? Column and service level of the packet. */
static bool find(const struct naive *n, uint32_t e, struct packet *p)
{
	const struct fab_routes *r = n->p->routes;
	uint32_t sw = n->p->ends->sw[e], row = FAB_NONE;

	if (p->of.to_group) {
		for (uint32_t o = n->first[sw]; o < n->first[sw + 1]; o++)
			if (is_of_group(n, p->of.target, o))
				return true;
		return false;
	}
	p->column = n->column[p->of.target];
	if (p->column == FAB_NONE)
		return false;
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		if (r->sl_source[i] == n->p->f->port_node[n->p->ends->port[e]] ||
		    (row == FAB_NONE && r->sl_source[i] == sw))
			row = i;
	if (r->sl)
		p->sl = row == FAB_NONE ? r->sl_default
					: r->sl[(size_t)row * r->n_columns + p->column];
	return p->sl < 16;
}

static void inject(struct naive *n, uint32_t e)
{
	const struct fab_sim_params *params = n->params;
	uint32_t o = n->first[n->p->f->n_switches] + e, payload;
	struct message *m = &n->sending[e];
	struct packet p = {0};

	if (n->port[o].out_busy > n->now)
		return;
	for (;; pull(n, e)) { /* gives up what has no path */
		if (!m->is_there || m->of.birth > n->now)
			return;
		p = (struct packet){.of = m->of, .ready = m->of.birth};
		if (find(n, e, &p))
			break;
		n->result->lost += (m->left + params->mtu - 1) / params->mtu;
		p.of.is_lost = true;
		note(n, e, true, p.of, n->now + n->hop);
	}
	p.vl = params->chooser ? n->n_vls - 1 : p.sl % n->n_vls;
	payload = m->left < params->mtu ? m->left : params->mtu;
	p.size = payload + (p.of.to_group ? params->group_header : params->header);
	if (room(n, o, p.vl) < units(n, p.size))
		return;
	n->port[o].used[p.vl] += units(n, p.size);
	n->port[o].out_busy = n->now + wire(n, o, p.size);
	if (p.of.to_group && !m->is_begun) {
		m->id = (uint32_t)n->flights.n;
		FAB_PUSH(&n->flights, ((struct flight){.of = m->of}));
	}
	m->is_begun = true;
	m->left -= payload;
	p.is_last = !m->left;
	p.message = m->id;
	p.number = ++n->n_sent;
	if (p.of.to_group) {
		n->flights.v[m->id].n++;
		n->flights.v[m->id].is_open = m->left > 0;
	}
	record(n, &p, o, p.vl);
	move(n, p, o);
	if (!m->left)
		pull(n, e);
}

/* All of it */

/* What is due before the choices of a tick. */
static void arrive(struct naive *n)
{
	const struct fab_messages *m = n->messages;
	size_t n_packets = n->packets.n;

	for (size_t i = 0; i < n->notes.n; i++) {
		const struct note x = n->notes.v[i];

		if (x.of.time != n->now)
			continue;
		(x.is_completed ? m->completed : m->received)(m->context, x.e, &x.of);
		if (!n->sending[x.e].is_there)
			pull(n, x.e);
	}
	for (size_t i = 0; i < n->credits.n; i++) {
		const struct credit *c = &n->credits.v[i];

		if (c->time != n->now)
			continue;
		n->port[c->port].used[c->vl] -= c->units;
		n->port[c->port].is_credited = true;
	}
	if (n->params->chooser) {
		adapt(n);
		return;
	}
	for (size_t i = 0; i < n_packets; i++)
		if (n->packets.v[i].exists && !n->packets.v[i].is_asking &&
		    n->packets.v[i].ready == n->now)
			route(n, i);
}

static void begin(struct naive *n)
{
	const struct fab_fabric *f = n->p->f;
	const struct fab_flow_ends *ends = n->p->ends;
	const struct fab_sim_params *params = n->params;
	uint32_t unit = params->by_flit ? 1 : 64, sum = 0, k = 0;

	n->first = FAB_NEW0(f->n_switches + 1, uint32_t);
	n->turn = FAB_NEW0(f->n_switches, uint32_t);
	n->robin = FAB_NEW0(f->n_switches, uint32_t);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		sum += fab_degree(f, sw);
		for (uint32_t e = 0; e < ends->n; e++)
			sum += ends->sw[e] == sw;
		n->first[sw + 1] = sum;
	}
	n->port = FAB_NEW0(sum + ends->n, struct port);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
			n->port[k++] = (struct port){.sw = sw,
						     .arc = a,
						     .end = FAB_NONE,
						     .cable = f->arc_cable[a],
						     .id = fab_arc_port(f, sw, a),
						     .peer = n->first[f->arc_peer[a]] +
							     f->arc_reverse[a]};
		for (uint32_t e = 0; e < ends->n; e++) {
			struct port *end = &n->port[sum + e];

			if (ends->sw[e] != sw)
				continue;
			*end = (struct port){.cable = f->port_cable[ends->port[e]],
					     .id = ends->port[e],
					     .peer = k};
			n->port[k++] = (struct port){.sw = sw,
						     .end = e,
						     .cable = end->cable,
						     .id = fab_port_peer(f, end->id),
						     .peer = sum + e};
		}
	}
	n->hop = params->cable_delay + params->switch_delay;
	n->n_vls = params->n_vls ? params->n_vls : n->p->routes->n_vls;
	n->n_vls += params->chooser != 0;
	n->own = (int)(params->buffer / (params->buffer_per_vl ? 1 : n->n_vls) / unit);
	if (params->buffer_shared) {
		n->own = (int)(params->buffer_private / unit);
		n->shared = (int)((params->buffer - n->n_vls * params->buffer_private) /
				  unit);
	}
	for (uint32_t o = 0; o < sum && n->n_vls > 1; o++)
		n->port[o].next_vl = 1;
	n->column = fab_path_columns(n->p->routes, ends->n, ends->sw, ends->port);
	n->sending = FAB_NEW0(ends->n, struct message);
	for (uint32_t e = 0; e < ends->n; e++)
		pull(n, e);
}

void naive_run(const struct fab_sim_problem *problem, const struct fab_sim_params *params,
	       const struct fab_messages *messages, uint64_t end,
	       struct naive_result *result)
{
	struct naive n = {
		.p = problem, .params = params, .messages = messages, .result = result};

	*result = (struct naive_result){0};
	begin(&n);
	for (n.now = 0; n.now < end; n.now++) {
		size_t n_left = 0;

		arrive(&n);
		for (uint32_t sw = 0; sw < problem->f->n_switches; sw++)
			choose(&n, sw);
		for (size_t i = 0; i < n.packets.n; i++)
			result->idle +=
				n.packets.v[i].exists && may_start(&n, &n.packets.v[i]);
		for (uint32_t e = 0; e < problem->ends->n; e++)
			inject(&n, e);
		for (size_t i = 0; i < n.packets.n; i++)
			if (n.packets.v[i].exists)
				n.packets.v[n_left++] = n.packets.v[i];
		n.packets.n = n_left;
	}
	FAB_FREE_ALL(n.first, n.port, n.turn, n.robin, n.packets.v, n.credits.v,
		     n.notes.v, n.flights.v, n.sending, n.column);
}

void naive_fini(struct naive_result *result)
{
	FAB_FREE_ALL(result->starts.v, result->deliveries.v);
}
