/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The next packet on the wire of an endpoint: packets of control go first; sessions with
 * data take turns, a packet each, and leave the ring when they have nothing to send.
 */
#include "rdma/state.h"

static void count_sent(struct rdma *r, unsigned kind, uint32_t bytes)
{
	r->result->n.packets[kind]++;
	r->result->n.bytes[kind] += bytes;
	r->result->n.wire_bytes += bytes;
}

/* Packet `number` of a session goes onto the wire. */
static void send_data(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	const struct fab_rdma_transfer *t = &r->problem->transfer[s->transfer];
	uint32_t payload = rdma_payload(t->bytes, r->params->mtu, number);
	struct rdma_packet p = {.transfer = s->transfer,
				.number = number,
				.value = s->epoch,
				.bytes = (uint16_t)(payload + r->params->header),
				.cid = s->cid,
				.kind = FAB_RDMA_DATA,
				.flags = s->sent[number] ? 0 : RDMA_FIRST,
				.transmission = s->rate ? s->rate->sent & 0xffff : 0};
	uint64_t held_up = 0;

	rdma_address(r, &p, s->sender, s->receiver);
	if (r->harms_data)
		held_up = rdma_chance_data(r, &p, s->sent[number]);
	if (s->sent[number]) {
		r->result->n.retransmitted++;
		r->result->n.spurious += rdma_bit(s->written, number);
	}
	s->sent[number]++;
	r->result->fate[s->transfer].sent++;
	count_sent(r, FAB_RDMA_DATA, p.bytes);
	if (s->time)
		s->time[number] = r->now;
	rdma_put(r, s->sender, rdma_packet_new(r, &p), held_up);
	rdma_rate_sent(r, s, p.bytes);
	if (r->code->sent)
		r->code->sent(r, s, number);
}

void rdma_send(struct rdma *r, uint32_t end)
{
	struct rdma_end *e = &r->end[end];
	uint32_t id = e->control.first, last = e->ring_tail;
	const struct sim_packet *control =
		id == FAB_NONE ? NULL : sim_packet(r->part, id);
	bool has_sent = false, is_last = false;

	if (rdma_wire_free(r, end) > r->now) { /* by a credit */
		rdma_wake(r, end);
		return;
	}
	e->is_due = true; /* no other event wakes it now */
	if (control && rdma_may_send(r, end, control->vl, control->size)) {
		(void)sim_queue_pop(r->part, &e->control);
		count_sent(r, r->rest[id].kind, control->size);
		rdma_put(r, end, id, 0);
		has_sent = true;
	}
	/* a packet of the first session that has one; those that have none leave the ring
	 */
	while (!has_sent && e->ring_head != FAB_NONE && !is_last) {
		struct rdma_session *s = r->session.v[e->ring_head];
		struct rdma_packet p = {0};
		uint32_t number;

		rdma_ring_drop(r, s);
		is_last = s->id == last;
		if (!r->sim.open)
			rdma_address(r, &p, s->sender, s->receiver);
		if (!rdma_may_send(r, end, p.vl, r->params->mtu + r->params->header)) {
			rdma_ready(r, s);
			continue;
		}
		number = rdma_rate_may_send(r, s) ? r->code->next(r, s) : FAB_NONE;
		if (number == FAB_NONE)
			continue;
		rdma_ready(r, s);
		send_data(r, s, number);
		has_sent = true;
	}
	r->end[end].is_due = false;
	/* without room on its lanes it is woken by room */
	if (has_sent)
		rdma_wake(r, end);
}
