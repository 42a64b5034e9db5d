/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers with bounds: each lane of an input has so many bytes. A packet that has chosen
 * its output waits there in the queue of its lane, first come, first served, and starts
 * when the buffer behind it has room for all of it; it frees its own when its tail has
 * left, which the sender learns a cable delay later. Lanes take turns.
 *
 * Adaptive packets have a lane of their own, above those of the tables. One takes it only
 * where the buffer behind has room at once, which is then its; else it goes on by the
 * tables as if it came from an adapter of this switch, and stays on their lanes to its
 * end. So packets on the adaptive lane always move, and those on the lanes of the tables
 * wait for nothing but these lanes (Duato 1993, with escapes for good).
 */
#include "rdma/state.h"

#include <stdlib.h>

static struct rdma_lane *lane_of(struct rdma *r, uint32_t port, unsigned vl)
{
	return &r->lane[(size_t)port * r->n_vls + vl];
}

void rdma_bounded_init(struct rdma *r)
{
	const struct sim_net *s = &r->net->sim;

	r->lane = FAB_NEW((size_t)s->n_all * r->n_vls + 1, struct rdma_lane);
	r->turn = FAB_NEW0(s->n_all + 1, uint8_t);
	r->is_waiting = FAB_NEW0(s->n_all + 1, bool);
	for (uint32_t p = 0; p < s->n_all; p++)
		for (unsigned vl = 0; vl < r->n_vls; vl++)
			*lane_of(r, p, vl) = (struct rdma_lane){
				.head = FAB_NONE,
				.tail = FAB_NONE,
				.room = s->peer[p] != FAB_NONE && s->peer[p] < s->n_ports
						? r->net->params.buffer
						: INT64_MAX / 2};
}

/* The packet goes onto the cable; room for it behind is taken already. */
static void start(struct rdma *r, uint32_t out, uint32_t id, unsigned vl,
		  uint64_t held_up)
{
	struct rdma_port *port = &r->port[out];
	struct rdma_packet *p = &r->packet.v[id];
	const struct fab_rdma_params *params = &r->net->params;
	uint64_t wire = sim_wire(port->per_byte, p->bytes), time;
	uint32_t in = r->in_port[id];

	if (in != FAB_NONE) {
		fab_wheel_add(&r->wheel, r->now + wire + params->cable_ps,
			      rdma_what(RDMA_ROOM, r->port[in].peer),
			      (uint32_t)p->vl << 24 | p->bytes);
		r->n_held--;
	}
	p->vl = vl & 15;
	if (r->cable_chance)
		rdma_chance_cable(r, out, p);
	r->busy[out] = r->now + wire;
	r->moved = r->now;
	r->result->packet_hops++;
	time = r->now + params->cable_ps + held_up;
	time += port->peer >= r->n_ports ? wire + params->host_ps : params->switch_ps;
	fab_wheel_add(&r->wheel, time, rdma_what(RDMA_ARRIVE, port->peer), id);
}

/* The packet leaves the network here, and its buffer. */
static void drop(struct rdma *r, uint32_t in, uint32_t id)
{
	const struct rdma_packet *p = &r->packet.v[id];

	fab_wheel_add(&r->wheel, r->now + r->net->params.cable_ps,
		      rdma_what(RDMA_ROOM, r->port[in].peer),
		      (uint32_t)p->vl << 24 | p->bytes);
	rdma_lose(r, id);
}

/* Start what can start on a port that is free. */
static void serve(struct rdma *r, uint32_t out)
{
	bool waits = false;

	if (r->is_waiting[out])
		return;
	for (unsigned i = 0; i < r->n_vls && r->busy[out] <= r->now; i++) {
		unsigned vl = (r->turn[out] + i) % r->n_vls;
		struct rdma_lane *lane = lane_of(r, out, vl);
		uint32_t id = lane->head;
		struct rdma_packet *p;

		if (id == FAB_NONE)
			continue;
		p = &r->packet.v[id];
		/* adaptive packets have taken their room when they chose */
		if (vl < r->net->sim.n_vls || r->net->n_vls == r->net->sim.n_vls) {
			if (lane->room < p->bytes)
				continue;
			lane->room -= p->bytes;
		}
		lane->head = p->next;
		if (lane->head == FAB_NONE)
			lane->tail = FAB_NONE;
		lane->waiting -= p->bytes;
		r->turn[out] = (uint8_t)((vl + 1) % r->n_vls);
		start(r, out, id, vl, 0);
	}
	if (r->busy[out] <= r->now)
		return;
	for (unsigned vl = 0; vl < r->n_vls; vl++)
		waits |= lane_of(r, out, vl)->head != FAB_NONE;
	if (waits) {
		r->is_waiting[out] = true;
		fab_wheel_add(&r->wheel, r->busy[out], rdma_what(RDMA_FREE, out), 0);
	}
}

void rdma_bounded_free(struct rdma *r, uint32_t port)
{
	r->is_waiting[port] = false;
	serve(r, port);
}

void rdma_bounded_room(struct rdma *r, uint32_t port, uint32_t item)
{
	lane_of(r, port, item >> 24)->room += item & 0xffffff;
	if (port >= r->n_ports)
		rdma_wake(r, port - r->n_ports);
	else
		serve(r, port);
}

/* The lane by the tables from port `in` to `out`; n_vls: none. */
static unsigned table_lane(const struct rdma *r, uint32_t in, uint32_t out,
			   const struct rdma_packet *p, bool from_adapter)
{
	const struct rdma_port *port = &r->port[in];
	uint32_t sw = port->sw,
		 n = r->problem->f->arc_first[sw + 1] - r->problem->f->arc_first[sw];

	if (out - port->first >= n)
		return 0; /* to an endpoint, which takes whatever comes */
	return sim_net_vl(&r->net->sim, sw, from_adapter ? n : in - port->first,
			  out - port->first, p->sl);
}

/* An adaptive packet that finds no room goes on by the tables. */
static uint32_t escape(struct rdma *r, uint32_t in, struct rdma_packet *p)
{
	const struct sim_net *s = &r->net->sim;
	const struct fab_routes *routes = r->problem->routes;
	uint32_t row = s->end_row[p->to], source;

	if (row == FAB_NONE)
		return FAB_NONE;
	p->row = row;
	p->flags |= RDMA_ESCAPED;
	p->sl = 0;
	if (routes->sl) {
		/* as from an adapter of this switch */
		source = r->net->sl_row[r->port[in].sw];
		p->sl = source == FAB_NONE
				? routes->sl_default
				: routes->sl[(size_t)source * routes->n_columns +
					     s->end_column[p->to]] &
					  15;
	}
	return rdma_choose(r, in, p);
}

/* Output and lane of a packet; FAB_NONE: there is none. */
static uint32_t route(struct rdma *r, uint32_t in, struct rdma_packet *p, unsigned *vl)
{
	bool is_adaptive = r->net->n_vls > r->net->sim.n_vls;
	bool had_escaped = p->flags & RDMA_ESCAPED;
	uint32_t out = rdma_choose(r, in, p);

	if (out == FAB_NONE || r->port[out].peer == FAB_NONE)
		return FAB_NONE;
	if (r->port[out].peer >= r->n_ports) {
		*vl = 0;
		return out;
	}
	if (is_adaptive && !had_escaped) {
		struct rdma_lane *lane = lane_of(r, out, r->n_vls - 1);

		*vl = r->n_vls - 1;
		if (lane->room >= p->bytes) {
			lane->room -= p->bytes;
			return out;
		}
		out = escape(r, in, p);
		if (out == FAB_NONE || r->port[out].peer == FAB_NONE)
			return FAB_NONE;
	}
	*vl = table_lane(r, in, out, p, is_adaptive && !had_escaped);
	return *vl < r->n_vls ? out : FAB_NONE;
}

/* Behind a slower cable the head leaves later, lest the tail be missing. */
static bool waits_for_tail(struct rdma *r, uint32_t in, uint32_t id)
{
	struct rdma_packet *p = &r->packet.v[id];
	uint32_t out = rdma_choose(r, in, p);
	uint64_t before = sim_wire(r->port[in].per_byte, p->bytes), wire;

	if (out == FAB_NONE)
		return false;
	wire = sim_wire(r->port[out].per_byte, p->bytes);
	if (before <= wire)
		return false;
	fab_wheel_add(&r->wheel, r->now + before - wire, rdma_what(RDMA_READY, in), id);
	return true;
}

void rdma_bounded_arrive(struct rdma *r, uint32_t in, uint32_t id, bool is_ready)
{
	struct rdma_packet *p = &r->packet.v[id];
	struct rdma_lane *lane;
	uint32_t out;
	unsigned vl = 0;

	r->in_port[id] = in;
	if (!is_ready && !--p->life) {
		r->result->n.looped +=
			!r->params->bad.per_hop || p->kind != FAB_RDMA_DATA;
		drop(r, in, id);
		return;
	}
	if (!is_ready && !r->net->sim.is_even && waits_for_tail(r, in, id))
		return;
	out = route(r, in, p, &vl);
	if (out == FAB_NONE) {
		r->result->n.unroutable++;
		drop(r, in, id);
		return;
	}
	if (r->outages.first && rdma_is_out(r, out)) {
		if (vl == r->n_vls - 1 && r->net->n_vls > r->net->sim.n_vls)
			lane_of(r, out, vl)->room += p->bytes;
		drop(r, in, id);
		return;
	}
	lane = lane_of(r, out, vl);
	p->next = FAB_NONE;
	if (lane->tail == FAB_NONE)
		lane->head = id;
	else
		r->packet.v[lane->tail].next = id;
	lane->tail = id;
	lane->waiting += p->bytes;
	if (lane->waiting > r->result->peak_queue_bytes)
		r->result->peak_queue_bytes = lane->waiting;
	r->n_held++;
	serve(r, out);
}

bool rdma_bounded_may_send(const struct rdma *r, uint32_t port, unsigned vl,
			   uint32_t bytes)
{
	return r->lane[(size_t)port * r->n_vls + vl].room >= bytes;
}

void rdma_bounded_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up)
{
	uint32_t port = r->n_ports + end;
	unsigned vl = r->packet.v[id].vl;

	lane_of(r, port, vl)->room -= r->packet.v[id].bytes;
	r->in_port[id] = FAB_NONE;
	start(r, port, id, vl, held_up);
}
