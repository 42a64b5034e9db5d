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
void sim_ring_grow(struct sim_ring *r, size_t more);
/* Put the packets of letters, which come by time, to the others. */
void sim_ring_merge(struct sim_part *p, const struct sim_post *post);

/* When the next head arrives; UINT64_MAX: none. */
static inline uint64_t sim_ring_first(const struct sim_ring *r)
{
	return r->head < r->tail ? r->v[r->head].time : UINT64_MAX;
}

/* Not before the one that was added last. */
static inline void sim_ring_add(struct sim_ring *r, uint64_t time, uint32_t port,
				uint32_t packet)
{
	if (r->tail == r->cap)
		sim_ring_grow(r, 1);
	r->v[r->tail++] = (struct sim_arrival){time, port, packet, 0, 0};
}

/* Where a packet to an endpoint goes from a switch by the entry of its table, whether
 * that cable is live or not. */
SIM_HOT bool sim_look_up(struct sim_shape k, const struct sim *s, uint32_t id,
			 uint32_t in, const struct sim_packet *packet,
			 struct sim_copy *to)
{
	const struct sim_net *net = &s->net;
	const struct sim_switch *sw = &s->sw[id];
	uint32_t entry = sim_tables_next(&s->tables, packet->row, id);
	uint32_t here = -(uint32_t)(entry == FAB_ARC_HERE); /* no branches */
	uint32_t last = net->end_port[packet->target] - sw->port_first;
	uint32_t out = entry ^ ((entry ^ last) & here);
	uint32_t most = sw->n_arcs + ((uint32_t)(sw->n_ports - sw->n_arcs) & here);

	to->vl = 0;
	to->out = out;
	if (out >= most)
		return false;
	if (k.one_lane)
		return true;
	to->vl = sim_net_vl(net, id, in, out, packet->sl);
	if (entry == FAB_ARC_HERE && to->vl >= s->n_vls)
		to->vl = sim_net_first_vl(net, packet->sl);
	return to->vl < s->n_vls;
}

/* The same; false: nowhere, because the cable is dead, too. */
SIM_HOT bool sim_leave(struct sim_shape k, const struct sim *s, uint32_t id, uint32_t in,
		       const struct sim_packet *packet, struct sim_copy *to)
{
	return sim_look_up(k, s, id, in, packet, to) &&
	       s->port[s->sw[id].port_first + to->out].peer != FAB_NONE;
}

/* The third step. */
SIM_HOT void sim_arrival_route(struct sim_shape k, const struct sim_part *p,
			       struct sim_arrival *a)
{
	const struct sim *s = p->sim;
	const struct sim_packet *packet = sim_packet(p, a->packet);
	const struct sim_port *in = &s->port[a->port];
	struct sim_copy to;
	uint32_t out;

	if (k.with_groups && packet->source & SIM_TO_GROUP) {
		a->out = SIM_OUT_GROUP;
		return;
	}
	if (!sim_look_up(k, s, in->sw, in->local, packet, &to)) {
		a->out = SIM_OUT_NONE;
		return;
	}
	a->out = (uint16_t)to.out;
	a->vl = (uint16_t)to.vl;
	out = a->port - in->local + to.out;
	__builtin_prefetch(&s->port[out]);
	__builtin_prefetch(sim_lane(k, s, out, to.vl));
	__builtin_prefetch(&s->sums[sim_lane_id(k, s, out, to.vl)]);
	if (!k.is_small && !s->sw[in->sw].is_small)
		__builtin_prefetch(sim_waiters(k, s, &s->sw[in->sw], to.out, to.vl));
	if (!k.is_fifo)
		__builtin_prefetch(sim_queue_of(k, s, in, 0, to.out, to.vl));
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
	if (k.with_groups && (packet->source & SIM_TO_GROUP || !s->tables.next))
		return;
	__builtin_prefetch(sim_tables_at(&s->tables, packet->row, in->sw));
	__builtin_prefetch(&s->net.end_port[packet->target]);
}

/* The next head, and the steps of those behind it. */
SIM_HOT struct sim_arrival sim_ring_take(struct sim_shape k, struct sim_part *p)
{
	struct sim_ring *r = &p->ring;
	struct sim_arrival *a = &r->v[r->head++];
	size_t ahead = r->tail - r->head;

	/* behind the last one are old ones, or zeroes: no harm */
	__builtin_prefetch(&p->sim->port[a[SIM_FAR].port]);
	__builtin_prefetch(&p->cell.v[a[SIM_FAR].packet]);
	sim_arrival_table(k, p, &a[SIM_MIDDLE]);
	for (ahead = ahead < SIM_NEAR ? ahead : SIM_NEAR; r->routed < r->head + ahead;)
		sim_arrival_route(k, p, &r->v[r->routed++]);
	return *a;
}
