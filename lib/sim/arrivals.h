/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heads on their way to switches. All take the same time, so that they arrive in the
 * order in which they started: a ring, no event of the wheel. What an arrival needs is
 * asked for in three steps while others are handled: packet and port; the table's entry;
 * the output to which that leads, which is kept.
 */
#pragma once

#include "sim/queues.h"

enum { SIM_NEAR = 4, SIM_MIDDLE = 9, SIM_FAR = 16 }; /* arrivals ahead */

/* sim_arrival.out: not looked up by unicast tables; nowhere. */
enum { SIM_OUT_GROUP = 0xffff, SIM_OUT_NONE = 0xfffe };

/* Room for as many more. */
void sim_ring_grow(struct sim_ring *r, uint64_t more);
/* Put the packets of letters, which come by time, to the others. */
void sim_ring_merge(struct sim_part *p, const struct sim_post *post);

static inline struct sim_arrival *sim_ring_at(const struct sim_ring *r, uint64_t i)
{
	return &r->v[i & (r->room - 1)];
}

/* When the next head arrives; UINT64_MAX: none. */
static inline uint64_t sim_ring_first(const struct sim_ring *r)
{
	return r->head < r->tail ? sim_ring_at(r, r->head)->time : UINT64_MAX;
}

/* Not before the one that was added last. */
static inline void sim_ring_add(struct sim_ring *r, uint64_t time, uint32_t port,
				uint32_t packet)
{
	struct sim_arrival *a;

	if (r->tail - r->head == r->room)
		sim_ring_grow(r, 1);
	a = sim_ring_at(r, r->tail++);
	a->time = time;
	a->port = port;
	a->packet = packet;
}

/* Where a packet to an endpoint goes from a switch, by the entry of its table. */
SIM_HOT bool sim_leave(struct sim_shape k, const struct sim *s, uint32_t id, uint32_t in,
		       const struct sim_packet *packet, struct sim_copy *to)
{
	const struct sim_net *net = &s->net;
	const struct sim_switch *sw = &s->sw[id];
	uint32_t out = s->next[(size_t)packet->row * s->n_switches + id];

	to->vl = 0;
	to->out = out;
	if (out == FAB_ARC_HERE) {
		to->out = net->end_port[packet->target] - sw->port_first;
		if (to->out >= sw->n_ports)
			return false;
	} else if (out >= sw->n_arcs || s->port[sw->port_first + out].peer == FAB_NONE) {
		return false;
	}
	if (k.one_lane)
		return true;
	to->vl = sim_net_vl(net, id, in, to->out, packet->sl);
	if (out == FAB_ARC_HERE && to->vl >= s->n_vls)
		to->vl = sim_net_first_vl(net, packet->sl);
	return to->vl < s->n_vls;
}

/* The third step. */
SIM_HOT void sim_arrival_route(struct sim_shape k, const struct sim_part *p,
			       struct sim_arrival *a)
{
	const struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, a->packet);
	const struct sim_port *in = &s->port[a->port];
	const struct sim_switch *sw = &s->sw[in->sw];
	struct sim_copy to = {0};
	uint32_t out;

	if (k.with_groups && packet->source & SIM_TO_GROUP) {
		a->out = SIM_OUT_GROUP;
		return;
	}
	if (!sim_leave(k, s, in->sw, in->local, packet, &to)) {
		a->out = SIM_OUT_NONE;
		return;
	}
	a->out = (uint16_t)to.out;
	a->vl = (uint16_t)to.vl;
	out = sw->port_first + to.out;
	__builtin_prefetch(sim_lane(k, s, out, to.vl));
	__builtin_prefetch(&s->sums[sim_lane_id(k, s, out, to.vl)]);
	if (!k.is_small && !sw->is_small)
		__builtin_prefetch(sim_waiters(k, s, sw, to.out, to.vl));
	if (!k.is_fifo)
		__builtin_prefetch(sim_queue(k, s, sw, in->local, to.out, to.vl));
}

/* The second. */
SIM_HOT void sim_arrival_table(struct sim_shape k, const struct sim_part *p,
			       const struct sim_arrival *a)
{
	const struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, a->packet);
	const struct sim_port *in = &s->port[a->port];

	__builtin_prefetch(&s->sw[in->sw]);
	__builtin_prefetch(sim_lane(k, s, in->peer, packet->vl));
	if (k.with_groups && packet->source & SIM_TO_GROUP)
		return;
	__builtin_prefetch(&s->next[(size_t)packet->row * s->n_switches + in->sw]);
	__builtin_prefetch(&s->net.end_port[packet->target]);
}

/* The next head, and the steps of those behind it. */
SIM_HOT struct sim_arrival sim_ring_take(struct sim_shape k, struct sim_part *p)
{
	struct sim_ring *r = &p->ring;
	uint64_t at = r->head++;

	if (at + SIM_FAR < r->tail) {
		const struct sim_arrival *far = sim_ring_at(r, at + SIM_FAR);

		__builtin_prefetch(&p->sim->port[far->port]);
		__builtin_prefetch(&p->cell.v[far->packet]);
	}
	if (at + SIM_MIDDLE < r->tail)
		sim_arrival_table(k, p, sim_ring_at(r, at + SIM_MIDDLE));
	for (; r->routed < r->tail && r->routed <= at + SIM_NEAR; r->routed++)
		sim_arrival_route(k, p, sim_ring_at(r, r->routed));
	return *sim_ring_at(r, at);
}
