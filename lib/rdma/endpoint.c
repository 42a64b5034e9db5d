/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that wait for the wire of an endpoint: a queue of packets of control, and a
 * ring of sessions that may have data. Numbers that are due to be sent again are bits of
 * the session.
 */
#include "rdma/state.h"

#include <string.h>

#include "base/rng.h"
#include "event/stream.h"

/* Numbers that are due */

void rdma_due_add(struct rdma_session *s, uint32_t number)
{
	if (!rdma_bit_set(s->due, number))
		return;
	if (!s->n_due++ || number < s->due_first)
		s->due_first = number;
}

/* The lowest one that is due; there is one. */
static uint32_t lowest_due(struct rdma_session *s)
{
	uint32_t at = s->due_first / 64;

	while (!s->due[at])
		at++;
	s->due_first = at * 64 + (uint32_t)__builtin_ctzll(s->due[at]);
	return s->due_first;
}

uint32_t rdma_due_take(struct rdma_session *s)
{
	uint32_t number;

	if (!s->n_due)
		return FAB_NONE;
	number = lowest_due(s);
	s->due[number / 64] &= ~(UINT64_C(1) << number % 64);
	s->n_due--;
	return number;
}

void rdma_due_drop(struct rdma_session *s, uint32_t number)
{
	if (!rdma_bit(s->due, number))
		return;
	s->due[number / 64] &= ~(UINT64_C(1) << number % 64);
	s->n_due--;
}

void rdma_due_drop_below(struct rdma_session *s, uint32_t number)
{
	while (s->n_due && lowest_due(s) < number)
		(void)rdma_due_take(s);
}

uint32_t rdma_next_due_or_new(const struct rdma *r, struct rdma_session *s,
			      uint32_t limit)
{
	bool has_new;

	if (limit > s->n)
		limit = s->n;
	has_new = s->next_new < limit;
	if (s->n_due && !(has_new && r->params->new_first) && lowest_due(s) < limit)
		return rdma_due_take(s);
	return has_new ? s->next_new++ : FAB_NONE;
}

uint32_t rdma_next_any(struct rdma *r, struct rdma_session *s)
{
	return rdma_next_due_or_new(r, s, s->n);
}

/* The wire */

void rdma_wake(struct rdma *r, uint32_t end)
{
	struct rdma_end *e = &r->end[end];
	uint64_t busy = rdma_wire_free(r, end);

	if (e->is_due || (sim_queue_is_empty(&e->control) && e->ring_head == FAB_NONE))
		return;
	e->is_due = true;
	sim_event_at(r->part, busy > r->now ? busy : r->now, SIM_SEND, end, 0);
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

void rdma_address(const struct rdma *r, struct rdma_packet *p, uint32_t from, uint32_t to)
{
	const struct sim *s = &r->sim;
	unsigned sl;

	p->to = to;
	if (r->sim_params.chooser) {
		p->row = s->net.end_near[to];
		p->vl = (uint8_t)(s->open ? 0 : s->adaptive_vl);
		return;
	}
	p->row = s->net.end_row[to];
	if (!s->open && s->n_vls > 1) {
		sl = sim_net_sl(&s->net, from, to);
		p->sl = (uint8_t)(sl < 16 ? sl : 0);
		p->vl = (uint8_t)sim_net_first_vl(&s->net, p->sl);
	}
}

static void send_control(struct rdma *r, struct rdma_session *s, bool by_sender,
			 enum fab_rdma_kind kind, uint32_t number, uint32_t value,
			 uint8_t flags, uint32_t more_bytes)
{
	uint32_t from = by_sender ? s->sender : s->receiver;
	uint32_t to = by_sender ? s->receiver : s->sender, id;
	struct rdma_packet p = {.transfer = s->transfer,
				.number = number,
				.value = value,
				.bytes = (uint16_t)(r->params->control + more_bytes),
				.cid = s->cid,
				.kind = (uint8_t)kind,
				.flags = flags};
	struct rdma_end *e = &r->end[from];
	uint64_t chance;

	if (!by_sender && r->report.is_due && r->report.transfer == s->transfer) {
		p.flags |= RDMA_REPORT;
		p.transmission = r->report.transmission;
		p.is_marked = r->report.is_marked;
		r->report.is_due = false;
	}
	rdma_address(r, &p, from, to);
	chance = (uint64_t)s->control_sent[by_sender]++ * 2 + by_sender;
	if (r->params->bad.drop_control > 0 &&
	    fab_unit(fab_stream_at(r->control_seed, s->transfer, chance)) <
		    r->params->bad.drop_control)
		p.flags |= RDMA_DOOMED;
	id = rdma_packet_new(r, &p);
	(void)sim_queue_push(r->part, &e->control, id);
	rdma_wake(r, from);
}

void rdma_control(struct rdma *r, struct rdma_session *s, bool by_sender,
		  enum fab_rdma_kind kind, uint32_t number, uint32_t value, bool multi)
{
	send_control(r, s, by_sender, kind, number, value, multi ? RDMA_MULTI : 0, 0);
}

void rdma_request_gaps(struct rdma *r, struct rdma_session *s, uint32_t from,
		       uint32_t limit)
{
	size_t words = fab_rdma_window_words(s->window.width);
	uint32_t id = r->free_vector;

	if (id != FAB_NONE) {
		r->free_vector = r->vector.v[id].base;
	} else {
		id = (uint32_t)r->vector.n;
		FAB_PUSH(&r->vector,
			 ((struct rdma_vector){
				 .ring = FAB_ARENA_NEW(&r->arena, words, uint64_t)}));
	}
	r->vector.v[id].base = s->window.base;
	r->vector.v[id].from = from;
	memcpy(r->vector.v[id].ring, s->window.ring, words * sizeof(uint64_t));
	send_control(r, s, false, FAB_RDMA_RESEND, limit, id, RDMA_VECTOR,
		     (s->window.width + 7) / 8);
}
