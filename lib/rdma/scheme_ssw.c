/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ssw: the sender's sliding window as the paper tells it of Cray: packets stay in a
 * buffer until they are acknowledged, one by one; on a timeout the whole buffer is sent
 * again, and nothing new meanwhile. The receiver keeps nothing but its context: data go
 * to memory, whatever comes, and only the sender knows when all is there.
 *
 * The buffer is that of the transfer, where the paper has one for each destination.
 */
#include "rdma/state.h"

static uint32_t window(const struct rdma *r)
{
	return r->params->sender_window ? r->params->sender_window : r->params->window;
}

static void count_buffer(struct rdma *r, struct rdma_session *s, int64_t packets)
{
	struct rdma_end *e = &r->end[s->sender];

	e->send_buffer += (uint64_t)(packets * (int64_t)r->params->mtu);
	if (e->send_buffer > r->result->peak_send_buffer)
		r->result->peak_send_buffer = e->send_buffer;
}

static uint32_t next(struct rdma *r, struct rdma_session *s)
{
	uint64_t limit = (uint64_t)s->base + window(r);
	uint32_t number;

	if (s->n_due)
		return rdma_due_take(s);
	s->is_stalled = false;
	if (limit > s->n)
		limit = s->n;
	if (s->next_new >= limit)
		return FAB_NONE;
	number = s->next_new++;
	count_buffer(r, s, 1);
	return number;
}

static void sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	if (number == s->base || s->tx_deadline == UINT64_MAX)
		rdma_tx_timer(r, s, r->now + r->rto);
}

static void data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	r->result->n.duplicates += rdma_bit(s->written, p->number);
	rdma_memory_write(r, s, p);
	rdma_control(r, s, false, FAB_RDMA_ACK, p->number, p->number, false);
}

static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t base;

	if (p->kind != FAB_RDMA_ACK || p->number >= s->next_new)
		return;
	(void)rdma_bit_set(s->acked, p->number);
	base = rdma_bit_next_zero(s->acked, s->base, s->n);
	if (base == s->base)
		return;
	count_buffer(r, s, -(int64_t)(base - s->base));
	s->base = base;
	rdma_due_drop_below(s, base);
	if (base == s->n) {
		rdma_sender_done(r, s);
		return;
	}
	rdma_tx_timer(r, s, base < s->next_new ? r->now + r->rto : UINT64_MAX);
	rdma_ready(r, s);
}

static void tx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	s->is_stalled = true;
	for (uint32_t i = s->base; i < s->next_new; i++)
		rdma_due_add(s, i);
	rdma_tx_timer(r, s, r->now + r->rto);
	rdma_ready(r, s);
}

static const struct rdma_scheme_code code = {
	.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_ACKED | RDMA_SENDER_KNOWS,
	.next = next,
	.sent = sent,
	.data = data,
	.answer = answer,
	.tx_expired = tx_expired,
};

const struct fab_rdma_scheme fab_rdma_scheme_ssw = {
	.name = "ssw",
	.summary = "sender's sliding window, as the paper tells it of Cray",
	.manual = "The sender's sliding window as the paper tells it: packets stay in a "
		  "buffer until each is acknowledged; on a timeout the whole buffer is "
		  "sent again and nothing new meanwhile.",
	.sender = "a buffer of whole packets, a timer",
	.receiver = "its context only",
	.answers = "ACK of each packet",
	.origin = "Wang et al. 2015, of Cray",
	.is_literal = true,
	.code = &code,
};
