/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gbn: InfiniBand's reliable connection: the receiver takes packets in order only. One
 * out of order is dropped; the first one causes a NAK, upon which the sender goes back to
 * the number expected. Acknowledgements are cumulative, every 8 packets and at the end;
 * the sender's timer goes back, too. InfiniBand Architecture Specification, volume 1,
 * 9.7.
 */
#include "rdma/state.h"

enum { PER_ACK = 8 };

static uint32_t next(struct rdma *r, struct rdma_session *s)
{
	return rdma_next_due_or_new(r, s, s->n);
}

static void sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	if (number == s->base || s->tx_deadline == UINT64_MAX)
		rdma_tx_timer(r, s, r->now + r->rto);
}

static void data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (p->number < s->rx_base) {
		r->result->n.duplicates++;
		rdma_control(r, s, false, FAB_RDMA_ACK, s->rx_base, s->rx_base, false);
		return;
	}
	if (p->number > s->rx_base) {
		r->result->n.beyond++;
		if (s->rx_nak != s->rx_base) {
			s->rx_nak = s->rx_base;
			rdma_control(r, s, false, FAB_RDMA_NAK, s->rx_base, s->rx_base,
				     true);
		}
		return;
	}
	rdma_memory_write(r, s, p);
	if (++s->rx_base == s->n)
		rdma_complete(r, s);
	else if (s->rx_base % PER_ACK == 0)
		rdma_control(r, s, false, FAB_RDMA_ACK, s->rx_base, s->rx_base, false);
}

static void asked(struct rdma *r, struct rdma_session *s)
{
	rdma_control(r, s, false, FAB_RDMA_ACK, s->rx_base, s->rx_base, false);
}

static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	/* a late one says nothing new */
	if (p->number < s->base)
		return;
	if (p->number > s->base) {
		s->base = p->number;
		rdma_tx_timer(r, s, r->now + r->rto);
	}
	/* after going back, what was sent before may be acknowledged still */
	if (s->next_new < s->base)
		s->next_new = s->base;
	if (p->kind == FAB_RDMA_NAK) {
		s->next_new = s->base;
		r->result->n.multi++;
	}
	rdma_ready(r, s);
}

static void tx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	s->next_new = s->base;
	rdma_tx_timer(r, s, r->now + r->rto);
	rdma_ready(r, s);
}

static const struct rdma_scheme_code code = {
	.next = next,
	.sent = sent,
	.data = data,
	.answer = answer,
	.asked = asked,
	.tx_expired = tx_expired,
};

const struct fab_rdma_scheme fab_rdma_scheme_gbn = {
	.name = "gbn",
	.summary = "go back N: InfiniBand's reliable connection as it is",
	.manual =
		"What InfiniBand's reliable connection does today: packets are taken in "
		"order only, the first one out of order causes a NAK, the sender goes "
		"back to what was expected; acknowledgements are cumulative.",
	.sender = "number acknowledged, a timer",
	.receiver = "number expected",
	.answers = "ACK every 8 packets, NAK of the first out of order",
	.origin = "InfiniBand",
	.code = &code,
};
