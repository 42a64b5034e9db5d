/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endpoints: what they put on their wire, and what is delivered to them. Packets of
 * control go first; sessions with data take turns, a packet each.
 */
#include "rdma/state.h"

void rdma_wake(struct rdma *r, uint32_t end)
{
	struct rdma_end *e = &r->end[end];
	uint64_t busy = r->busy[r->n_ports + end];

	if (e->is_due || (e->control_head == FAB_NONE && e->ring_head == FAB_NONE))
		return;
	e->is_due = true;
	fab_wheel_add(&r->wheel, busy > r->now ? busy : r->now, rdma_what(RDMA_SEND, end),
		      0);
}

void rdma_ready(struct rdma *r, struct rdma_session *s)
{
	struct rdma_end *e = &r->end[s->sender];

	if (s->in_ring || s->tx != RDMA_TX_SENDING)
		return;
	s->in_ring = true;
	s->next_ring = FAB_NONE;
	s->before_ring = e->ring_tail;
	if (e->ring_tail == FAB_NONE)
		e->ring_head = s->id;
	else
		r->session.v[e->ring_tail]->next_ring = s->id;
	e->ring_tail = s->id;
	rdma_wake(r, s->sender);
}

/* The session whose turn it is leaves the ring. */
static struct rdma_session *ring_take(struct rdma *r, struct rdma_end *e)
{
	struct rdma_session *s = r->session.v[e->ring_head];

	rdma_ring_drop(r, s);
	return s;
}

/* Row and lanes by which a packet goes to an endpoint. */
static void address(const struct rdma *r, struct rdma_packet *p, uint32_t from,
		    uint32_t to)
{
	const struct fab_rdma_net *net = r->net;

	p->to = to;
	p->sl = p->vl = 0;
	p->life = FAB_RDMA_HOPS_MAX;
	if (net->params.routing != FAB_RDMA_BY_TABLE) {
		p->row = net->sim.port_sw[net->sim.end_port[to]];
		p->vl = r->lane ? (r->n_vls - 1) & 15 : 0;
		return;
	}
	p->row = net->sim.end_row[to];
	if (r->lane && r->n_vls > 1) {
		unsigned sl = sim_net_sl(&net->sim, from, to);

		p->sl = (sl < 16 ? sl : 0) & 15;
		p->vl = sim_net_first_vl(&net->sim, p->sl) & 15;
	}
}

void rdma_control(struct rdma *r, struct rdma_session *s, bool by_sender,
		  enum fab_rdma_kind kind, uint32_t number, uint32_t value, bool multi)
{
	uint32_t from = by_sender ? s->sender : s->receiver;
	uint32_t to = by_sender ? s->receiver : s->sender, id = rdma_packet_new(r);
	struct rdma_packet *p = &r->packet.v[id];
	struct rdma_end *e = &r->end[from];

	*p = (struct rdma_packet){.next = FAB_NONE,
				  .transfer = s->transfer,
				  .number = number,
				  .value = value,
				  .bytes = (uint16_t)r->params->control,
				  .cid = s->cid,
				  .kind = (uint8_t)kind & 15,
				  .flags = multi ? RDMA_MULTI : 0};
	address(r, p, from, to);
	if (rdma_chance_control(r, s->transfer, s->control_sent[by_sender]++, by_sender))
		p->flags |= RDMA_DOOMED;
	if (e->control_tail == FAB_NONE)
		e->control_head = id;
	else
		r->packet.v[e->control_tail].next = id;
	e->control_tail = id;
	rdma_wake(r, from);
}

static void count_sent(struct rdma *r, const struct rdma_packet *p)
{
	r->result->n.packets[p->kind]++;
	r->result->n.bytes[p->kind] += p->bytes;
	r->result->wire_bytes += p->bytes;
}

/* Packet `number` of a session goes onto the wire. */
static void send_data(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	const struct fab_rdma_transfer *t = &r->problem->transfer[s->transfer];
	uint32_t payload = rdma_payload(t->bytes, r->params->mtu, number);
	uint32_t id = rdma_packet_new(r);
	struct rdma_packet *p = &r->packet.v[id];
	uint64_t held_up = 0;

	*p = (struct rdma_packet){.transfer = s->transfer,
				  .number = number,
				  .value = s->epoch,
				  .bytes = (uint16_t)(payload + r->params->header),
				  .cid = s->cid,
				  .kind = FAB_RDMA_DATA,
				  .flags = s->sent[number] ? 0 : RDMA_FIRST};
	address(r, p, s->sender, s->receiver);
	if (r->harms_data)
		held_up = rdma_chance_data(r, p, s->sent[number]);
	if (s->sent[number]) {
		r->result->n.retransmitted++;
		r->result->n.retransmitted_bytes += p->bytes;
		if (rdma_bit(s->written, number)) {
			r->result->n.spurious++;
			r->result->n.spurious_bytes += p->bytes;
		}
	}
	s->sent[number]++;
	r->result->fate[s->transfer].sent++;
	count_sent(r, p);
	if (s->time)
		s->time[number] = r->now;
	rdma_put(r, s->sender, id, held_up);
	if (r->code->sent)
		r->code->sent(r, s, number);
}

/* The lane on which a session's data begin, and whether it has room. */
static bool may_send(const struct rdma *r, const struct rdma_session *s)
{
	struct rdma_packet p = {0};

	if (!r->lane)
		return true;
	address(r, &p, s->sender, s->receiver);
	return rdma_bounded_may_send(r, r->n_ports + s->sender, p.vl,
				     r->params->mtu + r->params->header);
}

static bool send_control(struct rdma *r, uint32_t end)
{
	struct rdma_end *e = &r->end[end];
	uint32_t id = e->control_head;
	const struct rdma_packet *p;

	if (id == FAB_NONE)
		return false;
	p = &r->packet.v[id];
	if (r->lane && !rdma_bounded_may_send(r, r->n_ports + end, p->vl, p->bytes))
		return false;
	e->control_head = p->next;
	if (e->control_head == FAB_NONE)
		e->control_tail = FAB_NONE;
	count_sent(r, p);
	rdma_put(r, end, id, 0);
	return true;
}

void rdma_ring_drop(struct rdma *r, struct rdma_session *s)
{
	struct rdma_end *e = &r->end[s->sender];

	if (!s->in_ring)
		return;
	if (s->before_ring == FAB_NONE)
		e->ring_head = s->next_ring;
	else
		r->session.v[s->before_ring]->next_ring = s->next_ring;
	if (s->next_ring == FAB_NONE)
		e->ring_tail = s->before_ring;
	else
		r->session.v[s->next_ring]->before_ring = s->before_ring;
	s->in_ring = false;
}

/* A packet of the first session that has one; those that have none leave the ring. */
static bool send_of_ring(struct rdma *r, uint32_t end)
{
	struct rdma_end *e = &r->end[end];
	uint32_t last = e->ring_tail;
	bool is_last = false;

	while (e->ring_head != FAB_NONE && !is_last) {
		struct rdma_session *s = ring_take(r, e);
		uint32_t number;

		is_last = s->id == last;
		if (!may_send(r, s)) {
			rdma_ready(r, s);
			continue;
		}
		number = r->code->next(r, s);
		if (number == FAB_NONE)
			continue;
		rdma_ready(r, s);
		send_data(r, s, number);
		return true;
	}
	return false;
}

void rdma_send(struct rdma *r, uint32_t end)
{
	bool has_sent;

	r->end[end].is_due = true; /* nobody else wakes it now */
	has_sent = send_control(r, end) || send_of_ring(r, end);
	r->end[end].is_due = false;
	/* without room on its lanes it is woken by room */
	if (has_sent)
		rdma_wake(r, end);
}

static void on_data(struct rdma *r, uint32_t end, const struct rdma_packet *p)
{
	struct rdma_session *s = rdma_session_of_data(r, end, p);

	if (!s) {
		r->result->n.zombies++;
		return;
	}
	rdma_memory_arrival(r, s, p);
	r->code->data(r, s, p);
}

static void on_answer(struct rdma *r, const struct rdma_packet *p)
{
	struct rdma_session *s = rdma_session_of_answer(r, p);

	if (!s || s->tx != RDMA_TX_SENDING) {
		r->result->n.zombies++;
		return;
	}
	s->heard = r->now;
	if (r->code->answer)
		r->code->answer(r, s, p);
}

void rdma_deliver(struct rdma *r, uint32_t end, uint32_t id)
{
	/* a copy: what it causes may move the pool */
	struct rdma_packet p = r->packet.v[id];

	if (p.flags & RDMA_DOOMED || p.life <= 1) {
		rdma_lose(r, id);
		return;
	}
	rdma_packet_free(r, id);
	switch ((enum fab_rdma_kind)p.kind) {
	case FAB_RDMA_DATA:
		on_data(r, end, &p);
		break;
	case FAB_RDMA_RESEND:
	case FAB_RDMA_ACK:
	case FAB_RDMA_NAK:
	case FAB_RDMA_CREDIT:
		on_answer(r, &p);
		break;
	default:
		rdma_session_packet(r, end, &p);
		break;
	}
}
