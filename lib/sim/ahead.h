/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory is asked for what the events to come need, in three steps: the port and the
 * packet; the table's entry; the output where it goes.
 */
#pragma once

#include "sim/queues.h"

enum { SIM_NEAR = 4, SIM_MIDDLE = 8, SIM_FAR = 14 }; /* events ahead */

SIM_HOT void sim_ahead_first(const struct sim_part *p, const struct fab_wheel_event *event)
{
	const struct sim *s = p->sim;
	uint32_t id = event->what & SIM_ID, kind = event->what >> SIM_ID_BITS;

	if (kind >= SIM_INJECT) {
		__builtin_prefetch(&s->source[id]);
		__builtin_prefetch(&s->port[s->net.n_ports + id]);
		__builtin_prefetch(&s->lane[(s->net.n_ports + id) * s->n_vls]);
		return;
	}
	__builtin_prefetch(&s->port[id]);
	if (kind == SIM_ARRIVE)
		__builtin_prefetch(&p->cell.v[event->item]);
}

SIM_HOT void sim_ahead_second(struct sim_shape k, const struct sim_part *p,
			      const struct fab_wheel_event *event)
{
	const struct sim *s = p->sim;
	uint32_t id = event->what & SIM_ID, kind = event->what >> SIM_ID_BITS;
	const struct sim_packet *packet;
	const struct sim_port *port;

	if (kind >= SIM_INJECT)
		return;
	port = &s->port[id];
	if (port->sw == FAB_NONE)
		return;
	__builtin_prefetch(&s->sw[port->sw]);
	if (kind == SIM_END) {
		__builtin_prefetch(sim_lane(k, s, id, 0));
		__builtin_prefetch(port - port->local + port->out_from);
	}
	if (kind != SIM_ARRIVE)
		return;
	packet = sim_packet(p, event->item);
	if (k.with_groups && packet->source & SIM_TO_GROUP)
		return;
	__builtin_prefetch(&s->next[(size_t)packet->row * s->net.n_switches + port->sw]);
	__builtin_prefetch(&s->net.end_port[packet->target]);
	__builtin_prefetch(sim_lane(k, s, port->peer, 0));
}

SIM_HOT void sim_ahead_third(struct sim_shape k, const struct sim_part *p,
			     const struct fab_wheel_event *event)
{
	const struct sim_packet *packet;
	const struct sim *s = p->sim;
	const struct sim_port *in;
	const struct sim_switch *sw;
	uint32_t out;

	if (event->what >> SIM_ID_BITS != SIM_ARRIVE)
		return;
	packet = sim_packet(p, event->item);
	if (k.with_groups && packet->source & SIM_TO_GROUP)
		return;
	in = &s->port[event->what & SIM_ID];
	sw = &s->sw[in->sw];
	out = s->next[(size_t)packet->row * s->net.n_switches + in->sw];
	if (out == FAB_ARC_HERE)
		out = s->net.end_port[packet->target] - sw->port_first;
	if (out >= sw->n_ports)
		return;
	__builtin_prefetch(&s->port[sw->port_first + out]);
	__builtin_prefetch(sim_lane(k, s, sw->port_first + out, 0));
	__builtin_prefetch(&s->sums[sim_lane_id(k, s, sw->port_first + out, 0)]);
	if (!sw->is_small)
		__builtin_prefetch(sim_waiters(k, s, sw, out, 0));
	__builtin_prefetch(sim_queue(k, s, sw, in->local, k.is_fifo ? 0 : out, 0));
}

SIM_HOT void sim_look_ahead(struct sim_shape k, const struct sim_part *p)
{
	const struct fab_wheel_event *event = &p->wheel.now.v[p->wheel.at];
	size_t n = fab_wheel_ahead(&p->wheel);

	if (n <= SIM_FAR)
		return;
	sim_ahead_first(p, event + SIM_FAR);
	sim_ahead_second(k, p, event + SIM_MIDDLE);
	sim_ahead_third(k, p, event + SIM_NEAR);
}
