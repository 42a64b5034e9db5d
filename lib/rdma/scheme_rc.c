/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rc: as the paper tells it of TianHe-1 and InfiniBand: the receiver counts packets, and
 * when none has come for a while asks for the whole transfer again. An index of
 * retransmissions, 8 bits of every packet, tells which pass a packet belongs to; those of
 * another pass do not count. What InfiniBand's RC really does is gbn.
 */
#include "rdma/state.h"

enum { EPOCHS = 256 };

static void open_rx(struct rdma *r, struct rdma_session *s)
{
	rdma_rx_timer(r, s, r->now + r->rto);
}

static uint32_t next(struct rdma *r, struct rdma_session *s)
{
	return rdma_next_due_or_new(r, s, s->n);
}

/* Is index a of a later pass than b? It wraps. */
static bool is_later(uint32_t a, uint32_t b)
{
	return a != b && (a - b) % EPOCHS <= EPOCHS / 2;
}

static void data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (is_later(p->value, s->rx_epoch)) {
		s->rx_epoch = p->value;
		s->rx_count = 0;
	}
	if (p->value != s->rx_epoch) {
		r->result->n.stale++;
		return;
	}
	r->result->n.duplicates += rdma_bit(s->written, p->number);
	rdma_memory_write(r, s, p);
	if (++s->rx_count == s->n)
		rdma_complete(r, s);
	else
		rdma_rx_timer(r, s, r->now + r->rto);
}

static void rx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	rdma_control(r, s, false, FAB_RDMA_NAK, 0, s->rx_epoch, true);
	rdma_rx_timer(r, s, r->now + r->rto);
}

/* The pass has failed. Of one before this: so has this, if all of it has been sent. */
static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (p->kind != FAB_RDMA_NAK || is_later(p->value, s->epoch) ||
	    (p->value != s->epoch && s->next_new < s->n))
		return;
	s->epoch = (s->epoch + 1) % EPOCHS;
	s->next_new = 0;
	r->result->n.multi++;
	rdma_ready(r, s);
}

static const struct rdma_scheme_code code = {
	.open_rx = open_rx,
	.next = next,
	.data = data,
	.answer = answer,
	.rx_expired = rx_expired,
};

const struct fab_rdma_scheme fab_rdma_scheme_rc = {
	.name = "rc",
	.summary = "the whole transfer again, as the paper tells it of InfiniBand",
	.manual =
		"The receiver counts packets and asks for the whole transfer again when "
		"none has come for a while, as the paper tells it of TianHe-1 and of "
		"InfiniBand. InfiniBand's reliable connection is `gbn`.",
	.sender = "index of retransmissions",
	.receiver = "count, index of retransmissions, a timer",
	.answers = "NAK of the whole transfer on timeout",
	.origin = "Wang et al. 2015, of TianHe-1",
	.is_literal = true,
	.code = &code,
};
