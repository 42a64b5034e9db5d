/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast at a switch: one packet in the input buffer, a copy for each output of the
 * tree but the one it came by. */
#include "sim/hot.h"

/* The lane of a copy; FAB_VL_UNKNOWN: none. */
static unsigned lane_of(const struct sim *s, uint32_t sw, uint32_t in, uint32_t out,
			unsigned sl)
{
	unsigned vl;

	if (s->n_vls == 1)
		return 0;
	vl = sim_net_vl(&s->net, sw, in, out, sl);
	if (vl < s->n_vls)
		return vl;
	return out >= s->sw[sw].n_arcs ? sim_net_first_vl(&s->net, sl) : FAB_VL_UNKNOWN;
}

/* Copies of the packet of a fan, or of a fifo's first packet, begin to wait. */
static void ask(struct sim_part *p, uint32_t sw_id, uint32_t unit, uint32_t id)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	struct sim_port *first = &s->port[sw->port_first];
	uint32_t row = p->cell.v[p->cell.v[id].packet.row].fan.row;
	uint32_t in = sim_input(s, unit);

	for (uint64_t i = s->net.row_first[row]; i < s->net.row_first[row + 1]; i++) {
		uint32_t out = s->net.out[i];
		unsigned vl = lane_of(s, sw_id, in, out, p->cell.v[id].packet.sl);
		bool is_new = true;

		if (out == in || vl == FAB_VL_UNKNOWN)
			continue;
		if (!s->is_fifo) { /* a copy of its own in the queue of its output */
			uint32_t copy = sim_cell_new(p);

			p->cell.v[copy].packet = p->cell.v[id].packet;
			p->cell.v[copy].packet.row = id;
			p->cell.v[copy].packet.target =
				(uint32_t)(i - s->net.row_first[row]);
			is_new = sim_queue_push(p, sim_queue(s, sw, in, out, vl), copy);
		}
		if (is_new)
			sim_want(s, sw, unit, first + in, first + out, vl);
		sim_touch(p, sw, first + in, first + out);
	}
}

void sim_fifo_head(struct sim_part *p, uint32_t sw_id, uint32_t unit)
{
	uint32_t id = sim_queue(p->sim, &p->sim->sw[sw_id], unit, 0, 0)->first;

	if (p->cell.v[id].packet.source & SIM_TO_GROUP)
		ask(p, sw_id, unit, id);
	else
		sim_unit_asks(p, sw_id, unit);
}

void sim_group_arrive(struct sim_part *p, uint32_t in_id, uint32_t id, bool has_waited)
{
	struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, id);
	const struct sim_port *in = &s->port[in_id];
	const struct sim_net *net = &s->net;
	bool is_dead = packet->hops >= FAB_SIM_HOPS_MAX || packet->row == FAB_NONE;
	uint64_t slow = sim_wire(in->per_byte, packet->size), wait = 0;
	uint64_t from = is_dead ? 0 : net->row_first[packet->row];
	uint64_t to = is_dead ? 0 : net->row_first[packet->row + 1];
	uint32_t n = 0, fan, unit;

	/* number of copies, and how much longer the slow cable takes than the fastest of
	 * theirs */
	for (uint64_t i = from; i < to; i++) {
		uint32_t out = net->out[i];
		uint64_t fast = sim_wire(in[(int)out - in->local].per_byte, packet->size);

		if (out == in->local ||
		    lane_of(s, in->sw, in->local, out, packet->sl) == FAB_VL_UNKNOWN)
			continue;
		n++;
		if (slow > fast && slow - fast > wait)
			wait = slow - fast;
	}
	if (!n) {
		sim_drop(p, in_id, id,
			 packet->hops >= FAB_SIM_HOPS_MAX ? SIM_LOOPED : SIM_UNROUTABLE);
		return;
	}
	if (wait && !has_waited) {
		sim_event_at(p, p->now + wait, SIM_READY, in_id, id);
		return;
	}
	p->sums.copied += n - 1;
	p->sums.window_in_flight += sim_in_window(s, packet->birth) ? n - 1 : 0;
	sim_message_copies(p, sim_endpoint_of(packet), packet->target, (int64_t)n - 1, 0,
			   false);
	fan = sim_cell_new(p);
	packet = sim_packet(p, id);
	p->cell.v[fan].fan = (struct sim_fan){.row = packet->row, .left = n};
	packet->row = fan;
	packet->since = (uint32_t)p->now;
	unit = s->is_fifo ? in->local * s->n_vls + packet->vl : in->local;
	if (!s->is_fifo)
		ask(p, in->sw, unit, id);
	else if (sim_queue_push(p, sim_queue(s, &s->sw[in->sw], unit, 0, 0), id))
		sim_fifo_head(p, in->sw, unit);
}

uint32_t sim_group_copy(struct sim_part *p, uint32_t sw_id, uint32_t unit, uint32_t out,
			unsigned vl, uint64_t wire)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[sw_id];
	struct sim_port *in = &s->port[sw->port_first + sim_input(s, unit)];
	struct sim_queue *queue = sim_queue(s, sw, unit, out, vl);
	uint32_t id = queue->first, parent = id, fan_id, copy = 0;
	bool is_empty = true;
	struct sim_fan *fan;

	if (s->is_fifo) { /* the packet stays first in its queue, a copy goes */
		id = sim_cell_new(p);
		p->cell.v[id].packet = p->cell.v[parent].packet;
	} else {
		parent = p->cell.v[id].packet.row;
		copy = p->cell.v[id].packet.target;
		is_empty = sim_queue_pop(p, queue);
	}
	if (is_empty)
		sim_unwant(s, sw, unit, in, &s->port[sw->port_first + out], vl);
	fan_id = p->cell.v[parent].packet.row;
	fan = &p->cell.v[fan_id].fan;
	while (s->is_fifo && s->net.out[s->net.row_first[fan->row] + copy] != out)
		copy++;
	p->cell.v[id].packet.row = s->net.out_row[s->net.row_first[fan->row] + copy];
	p->cell.v[id].packet.target = p->cell.v[parent].packet.target;
	if (p->now + wire > fan->end)
		fan->end = p->now + wire;
	in->reading = parent;
	if (--fan->left)
		return id;
	/* all copies have started: the buffer gets free when they have left */
	in->reading = FAB_NONE;
	sim_release(p, in, p->cell.v[parent].packet.vl,
		    (uint32_t)sim_units(s, p->cell.v[parent].packet.size),
		    fan->end + s->cable_delay);
	sim_cell_free(p, fan_id);
	if (s->is_fifo && !sim_queue_pop(p, queue))
		sim_fifo_head(p, sw_id, unit);
	sim_cell_free(p, parent);
	return id;
}

uint32_t sim_outputs(const struct sim_part *p, uint32_t sw, uint32_t in, uint32_t id,
		     struct sim_copy *to)
{
	const struct sim *s = p->sim;
	struct sim_packet *packet = sim_packet(p, id);
	uint32_t n = 0, row;

	if (!(packet->source & SIM_TO_GROUP))
		return sim_look_up(s, sw, in, packet, packet->row, to) &&
		       s->port[s->sw[sw].port_first + to->out].peer != FAB_NONE;
	row = p->cell.v[packet->row].fan.row;
	for (uint64_t i = s->net.row_first[row]; i < s->net.row_first[row + 1]; i++) {
		unsigned vl = lane_of(s, sw, in, s->net.out[i], packet->sl);

		if (s->net.out[i] == in || vl == FAB_VL_UNKNOWN)
			continue;
		to[n++] = (struct sim_copy){s->net.out[i], vl};
	}
	return n;
}
