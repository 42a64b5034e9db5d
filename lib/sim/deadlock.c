/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Deadlocks: packets that can never move again. A packet at a switch holds room in the
 * buffer behind one channel (a lane of a direction of a cable) and wants room in that
 * behind another, of multicast in several. At first all are held to be stuck; then again
 * and again those are freed for which there would be room, were all that are free gone
 * (and which are not behind a stuck one in their queue). What remains waits for nothing
 * but itself: a deadlock, whatever comes. From channel to channel along what remains
 * leads into a cycle. O(packets * rounds), a round frees one at least.
 */
#include <stdlib.h>

#include "sim/state.h"

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
	/* of multicast packets: their body, by cell, one part at a time */
	uint32_t *body_of;
};

static uint32_t channel_of(const struct sim *s, uint32_t port, unsigned vl)
{
	if (s->port[port].peer >= s->net.n_ports)
		return FAB_NONE;
	return port * s->n_vls + vl;
}

/* A packet that came by a port of a switch. */
static uint32_t add_body(struct search *x, const struct sim_part *p, uint32_t in,
			 uint32_t cell)
{
	const struct sim *s = x->s;
	const struct sim_packet *packet = sim_packet(p, cell);
	struct body b = {.cell = cell,
			 .part = p->index,
			 .channel = s->port[in].peer * s->n_vls + packet->vl,
			 .before = FAB_NONE,
			 .units = sim_units(s, packet->size)};

	x->stuck[b.channel] += b.units;
	FAB_PUSH(&x->bodies, b);
	return (uint32_t)x->bodies.n - 1;
}

static void add_want(struct search *x, uint32_t body, uint32_t channel, uint32_t before)
{
	struct want w = {.body = body, .channel = channel, .before = before};

	x->bodies.v[body].n_stuck++;
	FAB_PUSH(&x->wants, w);
}

/* The queues of a pair of ports: one want behind the other. */
static void add_queue(struct search *x, const struct sim_part *p,
		      const struct sim_switch *sw, uint32_t in, uint32_t out, unsigned vl)
{
	const struct sim *s = x->s;
	const struct sim_queue *queue = sim_queue(s, sw, in, out, vl);
	uint32_t cell = queue->first, before = FAB_NONE;
	uint32_t channel = channel_of(s, sw->port_first + out, vl);

	for (bool more = !sim_queue_is_empty(queue); more;) {
		const struct sim_packet *packet;
		uint32_t body;

		packet = sim_packet(p, cell);
		if (!(packet->source & SIM_TO_GROUP)) {
			body = add_body(x, p, sw->port_first + in, cell);
		} else {
			if (x->body_of[packet->row] == FAB_NONE)
				x->body_of[packet->row] =
					add_body(x, p, sw->port_first + in, packet->row);
			body = x->body_of[packet->row];
		}
		add_want(x, body, channel, before);
		before = (uint32_t)x->wants.n - 1;
		more = cell != queue->last;
		cell = p->cell.v[cell].packet.next;
	}
}

/* The outputs that a packet in a fifo needs, or the first one still does. */
static void add_wants(struct search *x, const struct sim_part *p, uint32_t sw_id,
		      uint32_t unit, uint32_t body, bool is_first)
{
	const struct sim *s = x->s;
	const struct sim_switch *sw = &s->sw[sw_id];
	uint32_t cell = x->bodies.v[body].cell, in = sim_input(s, unit);
	struct sim_copy copy[1], *all = copy;
	uint32_t n = sim_outputs(p, sw_id, in, cell, copy, 1);

	if (n > 1) {
		all = FAB_NEW(n, struct sim_copy);
		(void)sim_outputs(p, sw_id, in, cell, all, n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (!is_first || sim_bit(sim_waiters(s, sw, all[i].out, all[i].vl), unit))
			add_want(x, body,
				 channel_of(s, sw->port_first + all[i].out, all[i].vl),
				 FAB_NONE);
	if (all != copy)
		free(all);
}

static void add_fifo(struct search *x, const struct sim_part *p, uint32_t sw_id,
		     uint32_t unit)
{
	const struct sim *s = x->s;
	const struct sim_switch *sw = &s->sw[sw_id];
	const struct sim_queue *queue = sim_queue(s, sw, unit, 0, 0);
	uint32_t cell = queue->first, before = FAB_NONE;

	for (bool more = !sim_queue_is_empty(queue); more;) {
		uint32_t body;

		body = add_body(x, p, sw->port_first + sim_input(s, unit), cell);
		x->bodies.v[body].before = before;
		add_wants(x, p, sw_id, unit, body, before == FAB_NONE);
		before = body;
		more = cell != queue->last;
		cell = p->cell.v[cell].packet.next;
	}
}

static void collect(struct search *x)
{
	const struct sim *s = x->s;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_part *p = &s->part[i];

		x->body_of = FAB_NEW(p->cell.n + 1, uint32_t);
		for (size_t k = 0; k < p->cell.n; k++)
			x->body_of[k] = FAB_NONE;
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

/* Would there be room, and is nothing in front of it? */
static bool can_go(const struct search *x, const struct want *w)
{
	const struct body *b = &x->bodies.v[w->body];

	if (w->before != FAB_NONE && !x->wants.v[w->before].is_free)
		return false;
	if (b->before != FAB_NONE && x->bodies.v[b->before].n_stuck)
		return false;
	return w->channel == FAB_NONE || b->units <= x->s->credits - x->stuck[w->channel];
}

static void reduce(struct search *x)
{
	bool is_over = false;

	while (!is_over) {
		is_over = true;
		for (size_t i = 0; i < x->wants.n; i++) {
			struct want *w = &x->wants.v[i];
			struct body *b = &x->bodies.v[w->body];

			if (w->is_free || !can_go(x, w))
				continue;
			w->is_free = true;
			is_over = false;
			if (!--b->n_stuck)
				x->stuck[b->channel] -= b->units;
		}
	}
}

/* Of what the first of a queue waits for: others wait for it. */
static bool is_first(const struct search *x, const struct want *w)
{
	const struct body *b = &x->bodies.v[w->body];

	return (w->before == FAB_NONE || x->wants.v[w->before].is_free) &&
	       (b->before == FAB_NONE || !x->bodies.v[b->before].n_stuck);
}

/* The packet whose want leads from a channel on. */
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

/* From channel to channel until one comes again. */
static void find_cycle(const struct search *x, uint32_t from,
		       struct fab_sim_result *result)
{
	size_t n = (size_t)x->s->net.n_all * x->s->n_vls;
	uint8_t *seen = FAB_NEW0(n + 1, uint8_t);
	uint32_t at = from;

	while (!seen[at]) {
		seen[at] = 1;
		at = x->wants.v[x->leads[at]].channel;
	}
	for (; seen[at] == 1; at = x->wants.v[x->leads[at]].channel) {
		seen[at] = 2;
		FAB_PUSH(&result->cycle, describe(x, at));
	}
	free(seen);
}

/* Which stuck want leads from each channel on; a channel that one leads to. */
static uint32_t follow(struct search *x, struct fab_sim_result *result)
{
	uint32_t from = FAB_NONE;

	for (size_t i = 0; i < x->bodies.n; i++) {
		const struct body *b = &x->bodies.v[i];

		if (!b->n_stuck)
			continue;
		result->stuck_packets++;
		result->stuck_channels += !x->count[b->channel]++;
	}
	for (size_t i = x->wants.n; i-- > 0;) {
		const struct want *w = &x->wants.v[i];

		if (w->is_free || w->channel == FAB_NONE || !is_first(x, w))
			continue;
		x->leads[x->bodies.v[w->body].channel] = (uint32_t)i;
		from = w->channel;
	}
	return from;
}

void sim_find_deadlock(const struct sim *s, struct fab_sim_result *result)
{
	size_t n = (size_t)s->net.n_all * s->n_vls;
	struct search x = {.s = s,
			   .stuck = FAB_NEW0(n + 1, int32_t),
			   .leads = FAB_NEW(n + 1, uint32_t),
			   .count = FAB_NEW0(n + 1, uint32_t)};
	uint32_t from;

	collect(&x);
	reduce(&x);
	from = follow(&x, result);
	if (from != FAB_NONE) {
		result->is_deadlocked = true;
		find_cycle(&x, from, result);
	}
	free(x.bodies.v);
	free(x.wants.v);
	free(x.stuck);
	free(x.leads);
	free(x.count);
}
