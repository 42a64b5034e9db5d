/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rsw: the receiver's sliding window, to the letter of the paper: packets go straight to
 * memory in any order within WBASE .. WBASE + W, one beyond is dropped and asked for at
 * once, one timer watches WBASE. Nothing is acknowledged.
 */
#include "rdma/rsw.h"

void rdma_rsw_open_rx(struct rdma *r, struct rdma_session *s)
{
	rdma_rx_timer(r, s, r->now + r->rto);
}

uint32_t rdma_rsw_next(struct rdma *r, struct rdma_session *s)
{
	return rdma_next_due_or_new(r, s, s->n);
}

void rdma_rsw_resend(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t end = p->flags & RDMA_MULTI ? s->next_new : p->number + 1;

	/* what was never sent comes by itself */
	for (uint32_t i = p->number; i < end && i < s->next_new; i++)
		rdma_due_add(s, i);
	rdma_ready(r, s);
}

void rdma_rsw_ask_for(struct rdma *r, struct rdma_session *s, uint32_t number, bool multi)
{
	rdma_control(r, s, false, FAB_RDMA_RESEND, number, s->window.base, multi);
}

bool rdma_rsw_take(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	switch (fab_rdma_window_take(&s->window, p->number)) {
	case FAB_RDMA_PLACED:
		rdma_memory_write(r, s, p);
		return true;
	case FAB_RDMA_DUPLICATE:
		r->result->n.duplicates++;
		break;
	case FAB_RDMA_BEYOND:
		r->result->n.beyond++;
		rdma_rsw_ask_for(r, s, p->number, false);
		break;
	}
	return false;
}

bool rdma_rsw_has_all(const struct rdma_session *s)
{
	return s->window.base >= s->n;
}

static void data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t base = s->window.base;

	(void)rdma_rsw_take(r, s, p);
	if (s->window.base == base)
		return;
	if (rdma_rsw_has_all(s)) {
		rdma_complete(r, s);
		return;
	}
	s->rx_expired = 0;
	rdma_rx_timer(r, s, r->now + r->rto);
}

void rdma_rsw_expired(struct rdma *r, struct rdma_session *s)
{
	bool multi = s->rx_expired >= r->params->singles;

	r->result->n.timeouts++;
	r->result->n.multi += multi;
	s->rx_expired = multi ? 0 : s->rx_expired + 1;
	rdma_rsw_ask_for(r, s, s->window.base, multi);
	rdma_rx_timer(r, s, r->now + r->rto);
}

static const struct rdma_scheme_code code = {
	.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_WINDOW,
	.open_rx = rdma_rsw_open_rx,
	.next = rdma_rsw_next,
	.data = data,
	.answer = rdma_rsw_resend,
	.rx_expired = rdma_rsw_expired,
};

const struct fab_rdma_scheme fab_rdma_scheme_rsw = {
	.name = "rsw",
	.summary = "receiver's sliding window, as the paper has it",
	.manual =
		"The receiver's sliding window to the letter of the paper, with its rule "
		"for sliding corrected: data within the window go to memory in any "
		"order; a packet beyond it is dropped and asked for at once; one timer "
		"asks for the lowest number missing, after some times for all from it "
		"on. Nothing is acknowledged, nothing is kept to be sent again.",
	.sender = "numbers to send again",
	.receiver = "WBASE, WVEC of W bits, a timer",
	.answers = "RESEND beyond the window and on timeout",
	.origin = "Wang et al. 2015",
	.has_window = true,
	.is_literal = true,
	.code = &code,
};
