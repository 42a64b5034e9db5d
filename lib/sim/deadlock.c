/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlocks: packets that can never move again. A packet at a switch holds room in the
 * buffer behind one channel (a lane of a direction of a cable) and wants room in that
 * behind another, of multicast in several. At first all are held to be stuck; then again
 * and again those are freed for which there would be room, were all that are free gone
 * (and which are not behind a stuck one in their queue). What remains waits for nothing
 * but itself: a deadlock, whatever comes. From channel to channel along what remains
 * leads into a cycle. O(packets * lanes * rounds), a round frees one at least.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/hot.h"

/* A packet in a buffer. */
struct body {
	uint32_t cell, part;
	uint32_t channel; /* that it holds: output * n_vls + lane */
	uint32_t before;  /* fifo: body in front of it, FAB_NONE */
	int32_t units;
	uint32_t n_stuck; /* of its wants */
};

/* An output that a packet waits for. */
struct want {
	uint32_t body, channel; /* channel FAB_NONE: an endpoint's cable */
	uint32_t before;	/* want in front of it in its queue, FAB_NONE */
	bool is_free;
};

struct search {
	const struct sim *s;
	FAB_VEC(struct body) bodies;
	FAB_VEC(struct want) wants;
	int32_t *stuck;	 /* [channels] units that do not move */
	uint32_t *leads; /* [channels] a stuck want of a packet in its buffer */
	uint32_t *count; /* [channels] stuck packets */
	/* of packets: their body, by cell, one part at a time */
	uint32_t *body_of;
};

/* A packet that came by a port of a switch. */
static uint32_t add_body(struct search *x, const struct sim_part *p, uint32_t in,
			 uint32_t cell, uint32_t before)
{
	const struct sim *s = x->s;
	const struct sim_packet *packet = sim_packet(p, cell);
	struct body b = {.cell = cell,
			 .part = p->index,
			 .channel = s->port[in].peer * s->n_vls + packet->vl,
			 .before = before,
			 .units = sim_units(s, packet->size)};

	x->stuck[b.channel] += b.units;
	FAB_PUSH(&x->bodies, b);
	return (uint32_t)x->bodies.n - 1;
}

static uint32_t add_want(struct search *x, uint32_t body, uint32_t port, unsigned vl,
			 uint32_t before)
{
	const struct sim *s = x->s;
	bool to_end = s->port[port].peer >= s->net.n_ports;
	struct want w = {.body = body,
			 .channel = to_end ? FAB_NONE : port * s->n_vls + vl,
			 .before = before};

	x->bodies.v[body].n_stuck++;
	FAB_PUSH(&x->wants, w);
	return (uint32_t)x->wants.n - 1;
}

/* The packets of a queue for one output: one want behind the other. The copies of a
 * multicast packet have one body. */
static void add_queue(struct search *x, const struct sim_part *p,
		      const struct sim_switch *sw, uint32_t in, uint32_t out, unsigned vl)
{
	const struct sim_queue *queue = sim_queue(x->s, sw, in, out, vl);
	uint32_t cell = queue->first, before = FAB_NONE;

	for (bool more = !sim_queue_is_empty(queue); more;
	     cell = p->cell.v[cell].packet.next) {
		const struct sim_packet *packet = sim_packet(p, cell);
		uint32_t id = packet->source & SIM_TO_GROUP ? packet->row : cell;

		if (x->body_of[id] == FAB_NONE)
			x->body_of[id] =
				add_body(x, p, sw->port_first + in, id, FAB_NONE);
		before = add_want(x, x->body_of[id], sw->port_first + out, vl, before);
		more = cell != queue->last;
	}
}

/* The packets of a fifo, with the outputs that they need, or the first one still does. */
static void add_fifo(struct search *x, const struct sim_part *p, uint32_t sw_id,
		     uint32_t unit)
{
	const struct sim *s = x->s;
	const struct sim_switch *sw = &s->sw[sw_id];
	const struct sim_queue *queue = sim_queue(s, sw, unit, 0, 0);
	uint32_t cell = queue->first, body = FAB_NONE, in = sim_input(s, unit);
	FAB_AUTOFREE struct sim_copy *all = FAB_NEW(sw->n_ports, struct sim_copy);

	for (bool more = !sim_queue_is_empty(queue); more;
	     cell = p->cell.v[cell].packet.next) {
		uint32_t n = sim_outputs(p, sw_id, in, cell, all);
		bool is_first = body == FAB_NONE;

		body = add_body(x, p, sw->port_first + in, cell, body);
		for (uint32_t i = 0; i < n; i++)
			if (!is_first ||
			    sim_bit(sim_waiters(s, sw, all[i].out, all[i].vl), unit))
				(void)add_want(x, body, sw->port_first + all[i].out,
					       all[i].vl, FAB_NONE);
		more = cell != queue->last;
	}
}

static void collect(struct search *x)
{
	const struct sim *s = x->s;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_part *p = &s->part[i];

		x->body_of = fab_none_new(p->cell.n + 1);
		for (uint32_t id = 0; id < s->net.n_switches; id++) {
			const struct sim_switch *sw = &s->sw[id];

			if (sw->part != i)
				continue;
			for (uint32_t u = 0; s->is_fifo && u < sw->n_units; u++)
				add_fifo(x, p, id, u);
			for (uint32_t in = 0; !s->is_fifo && in < sw->n_ports; in++)
				for (uint32_t out = 0; out < sw->n_ports; out++)
					for (unsigned vl = 0; vl < s->n_vls; vl++)
						add_queue(x, p, sw, in, out, vl);
		}
		free(x->body_of);
	}
}

/* Is nothing in front of a want in its queue? */
static bool is_first(const struct search *x, const struct want *w)
{
	const struct body *b = &x->bodies.v[w->body];

	return (w->before == FAB_NONE || x->wants.v[w->before].is_free) &&
	       (b->before == FAB_NONE || !x->bodies.v[b->before].n_stuck);
}

/* Is there room behind a channel in addition to what is stuck, on its lane and on those
 * that share with it? */
static bool has_room(const struct search *x, uint32_t channel, int32_t units)
{
	const struct sim *s = x->s;
	uint32_t first = channel - channel % s->n_vls;
	int32_t room = s->shared;

	for (uint32_t c = first; c < first + s->n_vls; c++) {
		int32_t used = x->stuck[c] + (c == channel ? units : 0);

		room -= used > s->credits ? used - s->credits : 0;
	}
	return room >= 0;
}

/* A channel with stuck packets for which those that want a channel wait: itself, or where
 * it has none one that shares with it. */
static uint32_t holder(const struct search *x, uint32_t channel)
{
	unsigned n = x->s->n_vls;
	uint32_t first = channel - channel % n, c = channel;

	for (unsigned i = 0; i < n && !x->count[c]; i++)
		c = first + (c - first + 1) % n;
	return c;
}

/* Free all wants for which there would be room. */
static void reduce(struct search *x)
{
	bool is_over = false;

	while (!is_over) {
		is_over = true;
		for (size_t i = 0; i < x->wants.n; i++) {
			struct want *w = &x->wants.v[i];
			struct body *b = &x->bodies.v[w->body];

			if (w->is_free || !is_first(x, w) ||
			    (w->channel != FAB_NONE &&
			     !has_room(x, w->channel, b->units)))
				continue;
			w->is_free = true;
			is_over = false;
			if (!--b->n_stuck)
				x->stuck[b->channel] -= b->units;
		}
	}
}

/* A channel of the cycle, and the packet whose want leads on from it. */
static struct fab_sim_channel describe(const struct search *x, uint32_t channel)
{
	const struct sim *s = x->s;
	const struct body *b = &x->bodies.v[x->wants.v[x->leads[channel]].body];
	const struct sim_packet *packet = sim_packet(&s->part[b->part], b->cell);
	uint32_t source = sim_endpoint_of(packet), target = packet->target;

	if (packet->source & SIM_TO_GROUP)
		target = s->part[s->end_part[source]].message.v[target].group;
	return (struct fab_sim_channel){.port = s->net.fabric_port[channel / s->n_vls],
					.vl = (uint8_t)(channel % s->n_vls),
					.packets = x->count[channel],
					.source = source,
					.target = target,
					.to_group = packet->source & SIM_TO_GROUP};
}

void sim_find_deadlock(const struct sim *s, struct fab_sim_result *result)
{
	size_t n = (size_t)s->net.n_all * s->n_vls;
	struct search x = {.s = s,
			   .stuck = FAB_NEW0(n + 1, int32_t),
			   .leads = FAB_NEW(n + 1, uint32_t),
			   .count = FAB_NEW0(n + 1, uint32_t)};
	FAB_AUTOFREE uint8_t *seen = FAB_NEW0(n + 1, uint8_t);
	uint32_t at = FAB_NONE;

	collect(&x);
	reduce(&x);
	for (size_t i = 0; i < x.bodies.n; i++)
		if (x.bodies.v[i].n_stuck) {
			result->stuck_packets++;
			result->stuck_channels += !x.count[x.bodies.v[i].channel]++;
		}
	/* the first of a queue leads on, else one behind a packet of another lane, which
	 * wants the same channel */
	for (size_t i = 2 * x.wants.n; i-- > 0;) {
		const struct want *w = &x.wants.v[i % x.wants.n];
		const struct body *b = &x.bodies.v[w->body];
		bool leads = i < x.wants.n ? is_first(&x, w)
					   : b->before == FAB_NONE ||
						     !x.bodies.v[b->before].n_stuck;

		if (w->is_free || w->channel == FAB_NONE || !leads)
			continue;
		x.leads[b->channel] = (uint32_t)(i % x.wants.n);
		at = holder(&x, w->channel);
	}
	result->is_deadlocked = at != FAB_NONE;
	/* from channel to channel until one comes again, then once around */
	for (; result->is_deadlocked && !seen[at];
	     at = holder(&x, x.wants.v[x.leads[at]].channel))
		seen[at] = 1;
	for (; result->is_deadlocked && seen[at] == 1;
	     at = holder(&x, x.wants.v[x.leads[at]].channel)) {
		seen[at] = 2;
		FAB_PUSH(&result->cycle, describe(&x, at));
	}
	FAB_FREE_ALL(x.bodies.v, x.wants.v, x.stuck, x.leads, x.count);
}
