/* SPDX-License-Identifier: BSD-2-Clause */
/* A packet starts on a cable: of a switch, or of an endpoint. */
#pragma once

#include "sim/arrivals.h"

/* What is counted of it. */
SIM_HOT void sim_count_start(struct sim_shape k, struct sim_part *p, uint32_t id,
			     const struct sim_packet *packet, unsigned vl, uint64_t wire)
{
	const struct sim *s = p->sim;

	p->sums.packet_hops++;
	p->last_move = p->now;
	if (sim_in_window(s, p->now)) {
		struct sim_lane_sums *sums = &s->sums[sim_lane_id(k, s, id, vl)];

		sums->busy += wire;
		sums->bytes += packet->size;
		sums->packets++;
		sums->waited += (uint32_t)p->now - packet->since;
	}
	if (packet->source & SIM_TRACED)
		sim_trace(p, packet, id, vl);
}

/* It takes the cable for `wire` ticks, and is at the other end, or delivered, when it is
 * time. O(1). */
SIM_HOT void sim_start(struct sim_shape k, struct sim_part *p, uint32_t id,
		       uint32_t packet_id, unsigned vl, uint64_t wire)
{
	const struct sim *s = p->sim;
	const struct sim_port *port = &s->port[id];
	struct sim_packet *packet = sim_packet(p, packet_id);
	uint64_t then = p->now + s->hop_delay;

	sim_count_start(k, p, id, packet, vl, wire);
	packet->vl = vl & 15;
	packet->hops++;
	if (port->peer >= s->net.n_ports) {
		sim_deliver(p, port->peer - s->net.n_ports, packet_id, wire);
	} else if (port->part == p->index) {
		sim_ring_add(&p->ring, then, port->peer, packet_id);
	} else {
		sim_write(p, port->part, then, SIM_LETTER_PACKET, port->peer)->packet =
			*packet;
		sim_cell_free(p, packet_id);
	}
}
